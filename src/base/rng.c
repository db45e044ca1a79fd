#include "base/rng.h"

static uint64_t rotate_left(uint64_t x, unsigned bits)
{
    return (x << bits) | (x >> (64U - bits));
}

/* splitmix64 (Steele, Lea and Flood, 2014): the authors of xoshiro advise it for
 * seeding, since it never yields the all-zero state from which xoshiro cannot leave. */
static uint64_t splitmix(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void fb_rng_seed(struct fb_rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        rng->state[i] = splitmix(&seed);
}

static uint64_t fnv1a(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *at = text; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    return hash;
}

/* The seed is scrambled before the hash goes in: seeds 1, 2, 3 … differ in a few
 * low bits only and would else meet the hashes of similar names. */
void fb_rng_seed_named(struct fb_rng *rng, uint64_t seed, const char *name)
{
    uint64_t mixed = splitmix(&seed);
    fb_rng_seed(rng, mixed ^ fnv1a(name));
}

uint64_t fb_rng_next(struct fb_rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate_left(s[1] * 5U, 7) * 9U;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

/* Lemire, "Fast random integer generation in an interval" (2019): the high half of
 * a 128-bit product, redrawn in the few cases that would favour small values. */
uint64_t fb_rng_below(struct fb_rng *rng, uint64_t bound)
{
    __extension__ unsigned __int128 product = fb_rng_next(rng);
    product *= bound;
    if ((uint64_t)product < bound) {
        uint64_t unfair = (UINT64_C(0) - bound) % bound;
        while ((uint64_t)product < unfair) {
            product = fb_rng_next(rng);
            product *= bound;
        }
    }
    return (uint64_t)(product >> 64);
}

double fb_rng_unit(struct fb_rng *rng)
{
    return (double)(fb_rng_next(rng) >> 11) * 0x1.0p-53;
}
