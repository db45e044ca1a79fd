/* The generator: plays a workload once, into a ledger, in the order of lockstep.
 *
 *   generator.c            phases: draws, frees at their begin and end, the whole
 *   generator_crew.c       the threads of a phase: starts, turns, parkings, ends
 *   generator_waves.c      iterations dealt to lanes, and whose turn it is
 *   generator_iteration.c  one lane's iteration, as far as a turn goes
 *   generator_object.c     births, growth and frees of single objects
 *   generator_death.c      who frees what is due, and in which order
 *   generator_tail.c       what is looked at after the last phase
 *
 * Every draw comes from a random stream named after what it is for ("serve/kv/size"), so that
 * adding a class or a phase leaves the draws of the others as they were. All lanes of a phase
 * draw from the same, each when it has the turn.
 */
#ifndef FB_WORKLOAD_GENERATOR_H
#define FB_WORKLOAD_GENERATOR_H

#include "workload/lane.h"
#include "workload/ledger.h"
#include "workload/workload.h"

/* Allocator calls after which a turn passes on. */
#define FB_TURN_OPS 50U
#define FB_TURN_ENDLESS UINT64_MAX

/* Draws of one class in one phase. */
struct fb_generator_draws {
    struct fb_rng size, count, life;
    uint64_t size_cursor, count_cursor, life_cursor; /* positions of cycles */
};

struct fb_generator_pool {
    uint32_t first_lane;
    uint32_t next; /* thread whose turn it is to free what freed_by deals to the pool */
};

struct fb_generator {
    const struct fb_workload *workload;
    const uint64_t *iterations; /* one a phase, scaled */
    uint64_t seed;
    struct fb_ledger *ledger;

    struct fb_population population;
    struct fb_lane *lanes; /* main, the pools' threads, the present phase's own threads */
    uint32_t lane_count;
    uint32_t own_lane; /* the first of the last kind */
    struct fb_generator_pool *pools;

    const struct fb_phase *phase; /* NULL after the last */
    uint32_t phase_lane;          /* the first of the lanes that run the phase … */
    uint32_t phase_lanes;         /* … and how many there are */
    struct fb_ids crew; /* lanes but main that take part: those that run it, then those that only
                           free */
    struct fb_generator_draws *draws; /* one an allocate entry of the phase */
    struct fb_rng mix, free_order;
    uint64_t turn_end;   /* ledger->calls at which the turn is over; FB_TURN_ENDLESS */
    struct fb_ids batch; /* objects that go together */
};

/* Plays the whole workload, tail included. iterations: one a phase, scaled. */
int fb_generator_run(const struct fb_workload *workload, uint64_t seed, const uint64_t *iterations,
                     struct fb_ledger *ledger, struct fb_error *err) FB_MUST_USE;

/* --- generator_crew.c: everything by main, which has the turn before and after, but for
 * fb_crew_turn() and before fb_crew_park() --- */
/* Whether objects that the phase allocates are freed by the pool, which then takes part in it. */
bool fb_crew_frees(const struct fb_workload *workload, const struct fb_phase *phase,
                   const struct fb_pool *pool);
/* Sets up the phase's lanes and crew; starts no thread. */
void fb_crew_assemble(struct fb_generator *generator);
/* Starts or resumes whoever lives for the phase or longer. */
int fb_crew_begin(struct fb_generator *generator, struct fb_error *err) FB_MUST_USE;
int fb_crew_start(struct fb_generator *generator, uint32_t lane, struct fb_error *err) FB_MUST_USE;
/* The lane's thread has nothing left to do but end. */
int fb_crew_end(struct fb_generator *generator, uint32_t lane, struct fb_error *err) FB_MUST_USE;
int fb_crew_turn(struct fb_generator *generator, uint32_t lane, struct fb_error *err) FB_MUST_USE;
/* The turn goes to main, and everyone parks. */
int fb_crew_park(struct fb_generator *generator, struct fb_error *err) FB_MUST_USE;
/* The parked ones free what is pending with them, and the own threads end. */
int fb_crew_finish(struct fb_generator *generator, struct fb_error *err) FB_MUST_USE;

typedef int fb_crew_work(struct fb_generator *generator, uint32_t lane, struct fb_error *err);
/* A parked thread does one piece of work in a turn of its own and parks again. */
int fb_crew_visit(struct fb_generator *generator, uint32_t lane, fb_crew_work *work,
                  struct fb_error *err) FB_MUST_USE;
/* The same for the threads of all pools that have been started. */
int fb_crew_visit_pools(struct fb_generator *generator, fb_crew_work *work,
                        struct fb_error *err) FB_MUST_USE;
int fb_crew_end_pools(struct fb_generator *generator, struct fb_error *err) FB_MUST_USE;

/* --- generator_waves.c --- */
/* All iterations of the phase, or its body where it has none. */
int fb_waves_run(struct fb_generator *generator, uint64_t iterations,
                 struct fb_error *err) FB_MUST_USE;

/* --- generator_iteration.c --- */
/* Lists what one iteration does. */
int fb_iteration_plan(struct fb_generator *generator, struct fb_lane *lane,
                      struct fb_error *err) FB_MUST_USE;
/* Before its first turn. */
void fb_iteration_prepare(struct fb_lane *lane, uint64_t wave, uint64_t iteration);
/* The lane of that index goes on with it until the turn is over or the iteration is. */
int fb_iteration_go_on(struct fb_generator *generator, uint32_t index,
                       struct fb_error *err) FB_MUST_USE;

/* --- generator_object.c; the lane has the turn --- */
/* A new object of the phase's allocate entry. */
int fb_object_allocate(struct fb_generator *generator, uint32_t lane, uint32_t entry,
                       struct fb_error *err) FB_MUST_USE;
/* One growth step. */
int fb_object_grow(struct fb_generator *generator, uint32_t lane, uint32_t object,
                   struct fb_error *err) FB_MUST_USE;
int fb_object_free(struct fb_generator *generator, uint32_t lane, uint32_t object,
                   struct fb_error *err) FB_MUST_USE;

/* --- generator_death.c --- */
/* Frees what a queue of the lane, which has the turn, holds that is due by limit, or leaves it to
 * whoever frees it. */
int fb_death_retire_due(struct fb_generator *generator, uint32_t lane, enum fb_queue_kind kind,
                        uint64_t limit, struct fb_error *err) FB_MUST_USE;
/* Empties the batch, its objects in any order, in the order given: what lane frees goes to own,
 * the rest is left to others. FB_LANE_NONE: all is left to those who free it. */
void fb_death_deal(struct fb_generator *generator, enum fb_free_order order, uint32_t lane,
                   struct fb_ids *own);
/* The lane, which has the turn, frees what was left to it. */
int fb_death_free_pending(struct fb_generator *generator, uint32_t lane,
                          struct fb_error *err) FB_MUST_USE;

/* --- generator_tail.c --- */
int fb_tail_run(struct fb_generator *generator, struct fb_error *err) FB_MUST_USE;

#endif
