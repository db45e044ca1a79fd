/* The compiler's containers: a list of object numbers, and a queue of deaths to
 * come, earliest first.
 *
 * Zero-initialised is empty; the owner calls the deinit. An object number is an
 * index into fb_population.objects.
 */
#ifndef FB_WORKLOAD_QUEUE_H
#define FB_WORKLOAD_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fb_ids {
    uint32_t *at;
    size_t count;
    size_t capacity;
};

void fb_ids_push(struct fb_ids *ids, uint32_t id);
/* The one pushed last; the list must not be empty. */
uint32_t fb_ids_pop(struct fb_ids *ids);
/* Appends all of from to to. */
void fb_ids_move(struct fb_ids *from, struct fb_ids *to);
void fb_ids_deinit(struct fb_ids *ids);

struct fb_death {
    uint64_t due; /* a time, an iteration or an allocation's number */
    uint32_t object;
};

struct fb_bucket {
    struct fb_death *at;
    size_t first; /* those before it are gone; 0 but in bucket 0 */
    size_t count;
    size_t capacity;
    uint64_t earliest;
};

#define FB_QUEUE_BUCKETS 65

/* A radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, 1990). It asks that nothing is
 * pushed that is due before what was popped last, which time and counters grant,
 * and moves each object down at most once a bit of its wait, in order of memory. A
 * binary heap took half of the compiler's time, in cache misses.
 *
 * Bucket 0 holds what is due at `last`; bucket b > 0 what differs from `last` in bit
 * b − 1 and none above. Of equal dues the one pushed first is popped first. */
struct fb_queue {
    struct fb_bucket buckets[FB_QUEUE_BUCKETS];
    uint64_t last; /* the latest due popped */
};

/* A due before `last` counts as `last`. */
void fb_queue_push(struct fb_queue *queue, struct fb_death death);
/* Takes the earliest out when it is due at or before limit. O(1) when none is. */
bool fb_queue_pop(struct fb_queue *queue, uint64_t limit, uint32_t *object);
/* Moves every object, in no order, to ids; then anything may be pushed again. */
void fb_queue_drain(struct fb_queue *queue, struct fb_ids *ids);
void fb_queue_deinit(struct fb_queue *queue);

#endif
