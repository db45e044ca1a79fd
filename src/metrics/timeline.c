#include "metrics/timeline.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

const struct fb_checkpoint *fb_timeline_checkpoint(const struct fb_repetition *repetition,
                                                   const char *kind, int phase)
{
    for (size_t i = 0; i < repetition->checkpoint_count; i++) {
        const struct fb_checkpoint *checkpoint = &repetition->checkpoints[i];
        if (strcmp(checkpoint->kind, kind) == 0 && (phase < 0 || checkpoint->phase == phase))
            return checkpoint;
    }
    return NULL;
}

static void find_end(struct fb_timeline *timeline, const struct fb_repetition *repetition)
{
    for (size_t i = 0; i < repetition->checkpoint_count; i++) {
        if (strcmp(repetition->checkpoints[i].kind, "phase_end") == 0) {
            timeline->end = &repetition->checkpoints[i];
            timeline->checkpoint_count = i + 1;
        }
    }
    if (timeline->end == NULL)
        timeline->checkpoint_count = repetition->checkpoint_count;
    while (timeline->point_count < repetition->series.count &&
           (timeline->end == NULL ||
            repetition->series.points[timeline->point_count].t_ns <= timeline->end->t_ns))
        timeline->point_count++;
}

static struct fb_reading from_point(const struct fb_point *point)
{
    return (struct fb_reading){point->t_ns, point->footprint_bytes, point->live_bytes,
                               point->touched_bytes, (int)point->phase};
}

static struct fb_reading from_checkpoint(const struct fb_checkpoint *checkpoint)
{
    return (struct fb_reading){checkpoint->t_ns, checkpoint->footprint_bytes,
                               checkpoint->live_bytes, checkpoint->touched_bytes,
                               checkpoint->phase};
}

void fb_timeline_init(struct fb_timeline *timeline, const struct fb_repetition *repetition)
{
    *timeline = (struct fb_timeline){.points = repetition->series.points};
    find_end(timeline, repetition);
    size_t points = timeline->point_count, checkpoints = timeline->checkpoint_count;
    timeline->readings = fb_alloc(points + checkpoints, sizeof *timeline->readings);
    size_t i = 0, j = 0;
    /* At equal times the sample first: the checkpoint's reading is the exact one, and later
     * readings of the same instant take precedence where it matters. */
    while (i < points || j < checkpoints) {
        bool sample = j == checkpoints ||
                      (i < points && timeline->points[i].t_ns <= repetition->checkpoints[j].t_ns);
        timeline->readings[timeline->count++] =
            sample ? from_point(&timeline->points[i++])
                   : from_checkpoint(&repetition->checkpoints[j++]);
    }
}

void fb_timeline_deinit(struct fb_timeline *timeline)
{
    free(timeline->readings);
    *timeline = (struct fb_timeline){0};
}
