/* Deterministic random numbers: the same seed gives the same sequence on every
 * machine and every compiler. Integer arithmetic only.
 *
 * xoshiro256** 1.0 (Blackman and Vigna, 2018), seeded through splitmix64.
 * Independent streams come from a name, so that adding an object class to a
 * workload does not shift the draws of another.
 */
#ifndef FB_BASE_RNG_H
#define FB_BASE_RNG_H

#include <stdint.h>

struct fb_rng {
    uint64_t state[4];
};

void fb_rng_seed(struct fb_rng *rng, uint64_t seed);
/* Stream `name` of `seed`: FNV-1a of the name mixed into the seed. */
void fb_rng_seed_named(struct fb_rng *rng, uint64_t seed, const char *name);
uint64_t fb_rng_next(struct fb_rng *rng);
/* Uniform in [0, bound), without modulo bias (Lemire's method); bound ≥ 1. */
uint64_t fb_rng_below(struct fb_rng *rng, uint64_t bound);
/* Uniform in [0, 1), a multiple of 2^-53. */
double fb_rng_unit(struct fb_rng *rng);

#endif
