/* The generator: plays a workload once, into a ledger.
 *
 * generator.c knows phases and iterations, generator_object.c the births, growth
 * and deaths of single objects. Every draw comes from a stream named after what it
 * is for ("serve/kv/size"), so that adding a class or a phase leaves the draws of
 * the others as they were.
 */
#ifndef FB_WORKLOAD_GENERATOR_H
#define FB_WORKLOAD_GENERATOR_H

#include "workload/ledger.h"
#include "workload/population.h"
#include "workload/workload.h"

/* Draws of one class in one phase. */
struct fb_generator_streams {
    struct fb_rng size, count, life;
    uint64_t size_cursor, count_cursor, life_cursor; /* positions of cycles */
};

/* One thing to do in an iteration, in an order that the mix decides. */
struct fb_generator_action {
    uint64_t birth;  /* of the object to grow: tells whether it still lives */
    uint32_t object; /* to grow, or FB_OBJECT_NONE: allocate a new one */
    uint32_t entry;  /* index into the phase's allocate table */
};

struct fb_generator {
    const struct fb_workload *workload;
    const uint64_t *iterations; /* one a phase, scaled */
    uint64_t seed;
    struct fb_ledger *ledger;

    struct fb_population population;
    const struct fb_phase *phase;
    uint64_t iteration;
    struct fb_generator_streams *streams; /* one an allocate entry of the phase */
    struct fb_rng mix, free_order;
    struct fb_generator_action *actions;
    size_t action_count, action_capacity;
    struct fb_ids batch; /* objects about to be freed together */
};

/* Plays the whole workload, tail included. iterations: one a phase, scaled. */
int fb_generator_run(const struct fb_workload *workload, uint64_t seed, const uint64_t *iterations,
                     struct fb_ledger *ledger, struct fb_error *err) FB_MUST_USE;

/* Seeds rng for "phase/what" or, with a class, "phase/class/what". */
void fb_generator_seed(const struct fb_generator *generator, struct fb_rng *rng,
                       const struct fb_object_class *class, const char *what);
/* A new object of the phase's allocate entry. */
int fb_generator_allocate(struct fb_generator *generator, uint32_t entry,
                          struct fb_error *err) FB_MUST_USE;
/* One growth step. */
int fb_generator_grow(struct fb_generator *generator, uint32_t object,
                      struct fb_error *err) FB_MUST_USE;
/* Frees what a queue holds that is due by limit. */
int fb_generator_free_due(struct fb_generator *generator, enum fb_queue_kind kind, uint64_t limit,
                          struct fb_error *err) FB_MUST_USE;
/* Frees the batch, its objects in any order, in the order given and empties it. */
int fb_generator_free_batch(struct fb_generator *generator, enum fb_free_order order,
                            struct fb_error *err) FB_MUST_USE;

#endif
