/* A lane: a place in which one thread at a time lives, and what is its own.
 *
 * Lane 0 is the main thread's. Each thread of a pool has a lane for the whole run; the own
 * threads of a phase have lanes that are set up anew by each such phase. Where threads come and
 * go (thread_life), a lane sees many of them, and what one leaves is its successor's.
 *
 * Zero-initialised is empty; the owner calls deinit. Lists hold object numbers.
 */
#ifndef FB_WORKLOAD_LANE_H
#define FB_WORKLOAD_LANE_H

#include "workload/population.h"

#define FB_LANE_MAIN 0U
#define FB_LANE_NONE UINT32_MAX

enum fb_queue_kind { FB_QUEUE_ITERATIONS = 0, FB_QUEUE_TIME, FB_QUEUE_OPS, FB_QUEUE_COUNT };

/* One thing to do in an iteration, in an order that the mix decides. */
struct fb_action {
    uint64_t birth;  /* of the object to grow: tells whether it still lives */
    uint32_t object; /* to grow, or FB_OBJECT_NONE: allocate a new one */
    uint32_t entry;  /* index into the phase's allocate table */
};

/* How far the lane is in its present iteration (generator_iteration.c). */
enum fb_stage {
    FB_STAGE_BEGIN = 0,
    FB_STAGE_ACTIONS,
    FB_STAGE_WAKE,  /* the hold is over */
    FB_STAGE_LEAVE, /* the scope's objects go */
    FB_STAGE_SETTLE,
    FB_STAGE_FREES, /* the iteration's objects go */
    FB_STAGE_DONE,
};

struct fb_lane {
    uint32_t stream; /* of its thread, while it has one */
    bool alive;      /* it has one */
    bool awake;      /* not parked */

    struct fb_ids iteration; /* lifetime iteration: in birth order */
    struct fb_ids phase;     /* lifetime phase: in birth order */
    struct fb_ids scope;     /* lifetime scope: in birth order */
    struct fb_ids inner;     /* lifetime inner_scope: in birth order */
    struct fb_queue queues[FB_QUEUE_COUNT];
    uint32_t eldest_growing, youngest_growing; /* of its growing objects: in birth order */
    struct fb_ids pending;                     /* of other lanes, for this one to free */
    struct fb_ids slots;                       /* that it freed in this phase */

    uint64_t allocations; /* in this phase */
    uint64_t wave;        /* which of its iterations in this phase the present one is, from 0 */
    uint64_t number;      /* which of the phase's */
    enum fb_stage stage;
    bool passed_on; /* the turn, since the last action */
    struct fb_action *actions;
    size_t action_count, action_capacity, next_action;
    size_t unscoped;   /* actions before the first inner scope */
    uint32_t parts;    /* inner scopes that have ended */
    bool inside;       /* an inner scope is open */
    struct fb_ids due; /* what it frees at the iteration's end */
    size_t next_free;  /* of scope or due */
};

void fb_lane_init(struct fb_lane *lane);
void fb_lane_deinit(struct fb_lane *lane);

void fb_lane_add_action(struct fb_lane *lane, struct fb_action action);

/* The object's home must be the lane. */
void fb_lane_start_growing(struct fb_lane *lane, struct fb_population *population, uint32_t object);
/* Harmless when it does not grow. */
void fb_lane_stop_growing(struct fb_lane *lane, struct fb_population *population, uint32_t object);

/* Moves to ids whatever lives no longer than the phase, and forgets the phase's counts. */
void fb_lane_clear(struct fb_lane *lane, struct fb_ids *ids);

#endif
