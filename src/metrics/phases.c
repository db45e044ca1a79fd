#include "metrics/phases.h"

#include "base/alloc.h"
#include "metrics/summary.h"

#include <stdlib.h>
#include <string.h>

static const struct fb_repetition *first_done(const struct fb_cell *cell)
{
    for (size_t i = 0; i < cell->repetition_count; i++)
        if (fb_status_done(cell->repetitions[i].status))
            return &cell->repetitions[i];
    return NULL;
}

static bool same_phases(const struct fb_repetition *a, const struct fb_repetition *b)
{
    if (a == NULL || b == NULL || a->phase_count != b->phase_count)
        return false;
    for (size_t i = 0; i < a->phase_count; i++)
        if (a->phases[i].name == NULL || b->phases[i].name == NULL ||
            strcmp(a->phases[i].name, b->phases[i].name) != 0)
            return false;
    return true;
}

enum of_phase { PEAK, END, LIVE };

static double pick(const struct fb_phase_record *phase, enum of_phase what)
{
    return (double)(what == PEAK  ? phase->peak_footprint_bytes
                    : what == END ? phase->footprint_bytes
                                  : phase->live_bytes);
}

static double median(const struct fb_cell *cell, size_t phase, enum of_phase what)
{
    double *values = fb_alloc(cell->repetition_count, sizeof *values);
    size_t count = 0;
    for (size_t i = 0; i < cell->repetition_count; i++) {
        const struct fb_repetition *run = &cell->repetitions[i];
        if (fb_status_done(run->status) && phase < run->phase_count)
            values[count++] = pick(&run->phases[phase], what);
    }
    struct fb_summary summary = fb_summarize(values, count);
    free(values);
    return summary.median;
}

struct fb_phase_change *fb_phases_compare(const struct fb_cell *base, const struct fb_cell *cell,
                                          size_t *count)
{
    const struct fb_repetition *before = first_done(base), *after = first_done(cell);
    *count = 0;
    if (!same_phases(before, after))
        return NULL;
    struct fb_phase_change *changes = fb_alloc(after->phase_count, sizeof *changes);
    *count = after->phase_count;
    for (size_t i = 0; i < *count; i++)
        changes[i] = (struct fb_phase_change){
            .name = after->phases[i].name,
            .peak_before = median(base, i, PEAK),
            .peak_after = median(cell, i, PEAK),
            .end_before = median(base, i, END),
            .end_after = median(cell, i, END),
            .live_before = median(base, i, LIVE),
            .live_after = median(cell, i, LIVE),
        };
    return changes;
}

static bool differ(double a, double b)
{
    return a < b || a > b;
}

bool fb_phase_differs(const struct fb_phase_change *change)
{
    return differ(change->peak_before, change->peak_after) ||
           differ(change->end_before, change->end_after) ||
           differ(change->live_before, change->live_after);
}
