/* The objects alive during a compilation: who they are, which slot each sits in,
 * and which of them go next.
 *
 * Invariants: slots of live objects are distinct; slot_count is the largest number
 * of slots ever in use at once (a slot given back is the next one taken); births
 * are numbered from 0 in order and an object keeps its number while it grows. An
 * object stands in exactly one of: queues, iteration, phase, manual, or (lifetime
 * run) none; whoever takes it out of there removes it. The owner calls deinit.
 */
#ifndef FB_WORKLOAD_POPULATION_H
#define FB_WORKLOAD_POPULATION_H

#include "base/error.h"
#include "workload/queue.h"

#define FB_OBJECT_NONE UINT32_MAX

struct fb_live {
    uint64_t size_bytes;
    uint64_t birth;          /* UINT64_MAX: the record is spare */
    uint32_t slot;           /* in the trace's object table */
    uint32_t elder, younger; /* neighbours in the list of growing objects */
    uint16_t class_index;
    bool growing;
};

enum fb_queue_kind { FB_QUEUE_ITERATIONS = 0, FB_QUEUE_TIME, FB_QUEUE_OPS, FB_QUEUE_COUNT };

struct fb_population {
    struct fb_live *objects;
    size_t object_count, object_capacity;
    struct fb_ids spare;      /* records of objects to reuse */
    struct fb_ids free_slots; /* last freed, first reused */
    uint64_t slot_count;
    uint64_t births;
    struct fb_queue queues[FB_QUEUE_COUNT];
    struct fb_ids iteration; /* lifetime iteration: in birth order */
    struct fb_ids phase;     /* lifetime phase: in birth order */
    struct fb_ids *manual;   /* lifetime manual, a list a class: in birth order */
    size_t class_count;
    uint32_t eldest_growing, youngest_growing;
};

void fb_population_init(struct fb_population *population, size_t class_count);
void fb_population_deinit(struct fb_population *population);

/* A free slot. Fails (INPUT) when 2^32 − 1 are in use. */
int fb_population_take_slot(struct fb_population *population, uint32_t *slot,
                            struct fb_error *err) FB_MUST_USE;
void fb_population_give_slot(struct fb_population *population, uint32_t slot);

/* A new object in slot; returns its number. */
uint32_t fb_population_add(struct fb_population *population, uint16_t class_index, uint32_t slot,
                           uint64_t size_bytes);
/* Gives back its slot and record, and ends its growing. */
void fb_population_remove(struct fb_population *population, uint32_t object);

/* Growing objects are listed in birth order. */
void fb_population_start_growing(struct fb_population *population, uint32_t object);
void fb_population_stop_growing(struct fb_population *population, uint32_t object);

/* Sorts ids by birth; O(n) when they are in order already. */
void fb_population_sort(const struct fb_population *population, struct fb_ids *ids);

#endif
