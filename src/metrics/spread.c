#include "metrics/spread.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

struct sample {
    uint64_t at[FB_AXIS_COUNT];
    double value;
};

/* The axes by which each sort goes, the one that varies within a line last. */
static const enum fb_axis orders[FB_AXIS_COUNT][FB_AXIS_COUNT] = {
    [FB_AXIS_LAYOUTS] = {FB_AXIS_SEEDS, FB_AXIS_REPEATS, FB_AXIS_LAYOUTS},
    [FB_AXIS_SEEDS] = {FB_AXIS_LAYOUTS, FB_AXIS_REPEATS, FB_AXIS_SEEDS},
    [FB_AXIS_REPEATS] = {FB_AXIS_SEEDS, FB_AXIS_LAYOUTS, FB_AXIS_REPEATS},
};

static int compare(const void *left, const void *right, void *order)
{
    const struct sample *a = left, *b = right;
    const enum fb_axis *axes = order;
    for (size_t i = 0; i < FB_AXIS_COUNT; i++) {
        uint64_t x = a->at[axes[i]], y = b->at[axes[i]];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static void sort(struct sample *samples, size_t count, enum fb_axis axis)
{
    enum fb_axis order[FB_AXIS_COUNT];
    for (size_t i = 0; i < FB_AXIS_COUNT; i++)
        order[i] = orders[axis][i];
    qsort_r(samples, count, sizeof *samples, compare, order);
}

static bool on_one_line(const struct sample *a, const struct sample *b, enum fb_axis axis)
{
    return a->at[orders[axis][0]] == b->at[orders[axis][0]] &&
           a->at[orders[axis][1]] == b->at[orders[axis][1]];
}

/* Repetitions come in the order of their index, so equal places are numbered by counting them. */
static void number_repeats(struct sample *samples, size_t count)
{
    sort(samples, count, FB_AXIS_REPEATS);
    uint64_t repeat = 0;
    for (size_t i = 0; i < count; i++) {
        repeat =
            i > 0 && on_one_line(&samples[i - 1], &samples[i], FB_AXIS_REPEATS) ? repeat + 1 : 0;
        samples[i].at[FB_AXIS_REPEATS] = repeat;
    }
}

static double widest(struct sample *samples, size_t count, enum fb_axis axis)
{
    double widest = 0, low = INFINITY, high = -INFINITY;
    sort(samples, count, axis);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !on_one_line(&samples[i - 1], &samples[i], axis)) {
            low = INFINITY;
            high = -INFINITY;
        }
        low = fmin(low, samples[i].value);
        high = fmax(high, samples[i].value);
        widest = fmax(widest, high - low);
    }
    return widest;
}

static int compare_places(const void *left, const void *right)
{
    uint64_t x = *(const uint64_t *)left, y = *(const uint64_t *)right;
    return (x > y) - (x < y);
}

static unsigned count_places(const struct sample *samples, size_t count, enum fb_axis axis)
{
    uint64_t *places = fb_alloc(count, sizeof *places);
    unsigned different = 0;
    for (size_t i = 0; i < count; i++)
        places[i] = samples[i].at[axis];
    qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 0; i < count; i++)
        different += i == 0 || places[i] != places[i - 1];
    free(places);
    return different;
}

void fb_spread_of(const struct fb_cell *cell, enum fb_metric metric,
                  struct fb_spread out[FB_AXIS_COUNT])
{
    struct sample *samples = fb_alloc(cell->repetition_count, sizeof *samples);
    size_t count = 0;
    for (size_t i = 0; i < cell->repetition_count; i++) {
        const struct fb_repetition *repetition = &cell->repetitions[i];
        double value = repetition->values[metric];
        if (fb_status_done(repetition->status) && !isnan(value))
            /* The index first stands for the repeat: it keeps repeats in their order. */
            samples[count++] =
                (struct sample){{repetition->layout, repetition->seed, repetition->index}, value};
    }
    number_repeats(samples, count);
    for (size_t axis = 0; axis < FB_AXIS_COUNT; axis++)
        out[axis] = (struct fb_spread){count_places(samples, count, (enum fb_axis)axis),
                                       widest(samples, count, (enum fb_axis)axis)};
    free(samples);
}
