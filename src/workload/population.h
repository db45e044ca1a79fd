/* The objects alive during a compilation and the slots they sit in.
 *
 * Invariants: slots of live objects are distinct; births are numbered from 0 in order and an
 * object keeps its number while it grows. An object stands in exactly one list or queue of its
 * lane (workload/lane.h), in a manual list, or (lifetime run) in none; whoever takes it out of
 * there removes it. The owner calls deinit.
 *
 * Slots: what a lane freed is that lane's until the phase ends; what all may use was free when
 * the phase began. An object that another thread frees only gets a slot that nobody used in
 * this phase, and its slot rests until the phase's end: in free order a thread waits until
 * there is an object in the slot, so there must never be another one before or after it.
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
    uint32_t elder, younger; /* neighbours in its lane's list of growing objects */
    uint32_t home;           /* its lane */
    uint32_t stream;         /* that allocated it */
    uint16_t class_index;
    bool growing;
};

struct fb_population {
    struct fb_live *objects;
    size_t object_count, object_capacity;
    struct fb_ids spare;     /* records of objects to reuse */
    struct fb_ids common;    /* slots that all may use: last freed, first reused */
    struct fb_ids resting;   /* slots that nobody may use before the phase ends */
    uint64_t slot_count;     /* slots there are */
    uint64_t slots_used;     /* at present */
    uint64_t slots_used_max; /* most at once */
    uint64_t births;
    struct fb_ids *manual; /* lifetime manual, a list a class: in birth order */
    size_t class_count;
};

void fb_population_init(struct fb_population *population, size_t class_count);
void fb_population_deinit(struct fb_population *population);

/* A free slot, of the lane's own ones first unless the object is shared. Fails (INPUT) when there
 * are 2^32 − 1 slots. */
int fb_population_take_slot(struct fb_population *population, struct fb_ids *own, bool shared,
                            uint32_t *slot, struct fb_error *err) FB_MUST_USE;
void fb_population_give_slot(struct fb_population *population, struct fb_ids *own, bool shared,
                             uint32_t slot);
/* The phase is over: a lane's slots become everyone's; then those that rested. */
void fb_population_share_slots(struct fb_population *population, struct fb_ids *own);

/* A new object of the record (whose birth is filled in); returns its number. */
uint32_t fb_population_add(struct fb_population *population, struct fb_live record);
/* Gives back its record, not its slot. It must not be growing. */
void fb_population_remove(struct fb_population *population, uint32_t object);

/* Sorts ids by birth; O(n) when they are in order already. */
void fb_population_sort(const struct fb_population *population, struct fb_ids *ids);

#endif
