/* Hand-made repetitions for the measures: a few readings whose results are worked out on paper. */
#ifndef FB_TESTS_UNIT_METRICS_FIXTURE_H
#define FB_TESTS_UNIT_METRICS_FIXTURE_H

#include "result/record.h"

#define MIB (UINT64_C(1) << 20)
#define SECOND_NS UINT64_C(1000000000)

/* Phases of these iterations; free with fb_repetition_deinit(). */
void fixture_init(struct fb_repetition *repetition, size_t phases, const uint64_t *iterations);
/* Sizes in MiB, time in s. */
void fixture_point(struct fb_repetition *repetition, double t_s, double footprint, double live,
                   double volume, uint32_t phase);
struct fb_checkpoint *fixture_checkpoint(struct fb_repetition *repetition, const char *kind,
                                         int phase, double t_s, double footprint, double live);
void assert_near(double value, double expected);
void assert_na(const struct fb_repetition *repetition, enum fb_metric metric, const char *reason);

#endif
