#include "fixture.h"

#include "base/alloc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static uint64_t mib(double count)
{
    return (uint64_t)(count * (double)MIB);
}

void fixture_init(struct fb_repetition *repetition, size_t phases, const uint64_t *iterations)
{
    fb_repetition_init(repetition);
    repetition->phases = fb_alloc(phases, sizeof *repetition->phases);
    repetition->phase_count = phases;
    for (size_t i = 0; i < phases; i++) {
        repetition->phases[i].name = fb_format("phase-%c", (char)('a' + i));
        repetition->phases[i].iterations = iterations[i];
    }
}

void fixture_point(struct fb_repetition *repetition, double t_s, double footprint, double live,
                   double volume, uint32_t phase)
{
    struct fb_series *series = &repetition->series;
    series->points = fb_realloc(series->points, series->count + 1, sizeof *series->points);
    series->points[series->count++] = (struct fb_point){
        .t_ns = (uint64_t)(t_s * 1e9),
        .footprint_bytes = mib(footprint),
        .live_bytes = mib(live),
        .touched_bytes = mib(live / 2),
        .volume_bytes = mib(volume),
        .phase = phase,
        .reason = 3,
    };
}

struct fb_checkpoint *fixture_checkpoint(struct fb_repetition *repetition, const char *kind,
                                         int phase, double t_s, double footprint, double live)
{
    size_t index = repetition->checkpoint_count++;
    repetition->checkpoints =
        fb_realloc(repetition->checkpoints, index + 1, sizeof *repetition->checkpoints);
    struct fb_checkpoint *checkpoint = &repetition->checkpoints[index];
    *checkpoint = (struct fb_checkpoint){
        .phase = phase,
        .t_ns = (uint64_t)(t_s * 1e9),
        .footprint_bytes = mib(footprint),
        .live_bytes = mib(live),
    };
    (void)snprintf(checkpoint->kind, sizeof checkpoint->kind, "%s", kind);
    return checkpoint;
}

void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fmax(1.0, fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

void assert_na(const struct fb_repetition *repetition, enum fb_metric metric, const char *reason)
{
    assert_true(isnan(repetition->values[metric]));
    assert_non_null(repetition->na[metric]);
    assert_string_equal(repetition->na[metric], reason);
}
