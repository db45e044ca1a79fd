#include "workload/generator.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>

/* Seeds rng for "phase/what" or, with a class, "phase/class/what". */
static void seed_draws(const struct fb_generator *generator, struct fb_rng *rng,
                       const struct fb_object_class *class, const char *what)
{
    char name[3 * FB_NAME_MAX];
    if (class != NULL)
        (void)snprintf(name, sizeof name, "%s/%s/%s", generator->phase->name, class->name, what);
    else
        (void)snprintf(name, sizeof name, "%s/%s", generator->phase->name, what);
    fb_rng_seed_named(rng, generator->seed, name);
}

/* Moves to the batch: all of a class's manual objects, or ⌊n × share⌋ of them chosen at random
 * (Knuth's selection sampling: one pass, birth order kept in both parts). */
static void pick_manual(struct fb_generator *generator, const struct fb_phase_free *clause)
{
    struct fb_ids *manual = &generator->population.manual[clause->class_index];
    struct fb_rng rng;
    seed_draws(generator, &rng, &generator->workload->classes[clause->class_index], "free");
    uint64_t wanted = (uint64_t)manual->count * clause->share >> 32;
    size_t kept = 0;
    for (size_t i = 0; i < manual->count; i++) {
        uint64_t left = manual->count - i;
        if (wanted == left || (wanted > 0 && fb_rng_below(&rng, left) < wanted)) {
            fb_ids_push(&generator->batch, manual->at[i]);
            wanted--;
        } else {
            manual->at[kept++] = manual->at[i];
        }
    }
    manual->count = kept;
}

/* Main frees what is its own, clause by clause; then each thread of a pool what is its. */
static int free_clauses(struct fb_generator *generator, struct fb_error *err)
{
    const struct fb_phase *phase = generator->phase;
    struct fb_ids *own = &generator->lanes[FB_LANE_MAIN].pending;
    for (size_t i = 0; i < phase->free_count; i++) {
        pick_manual(generator, &phase->free[i]);
        fb_death_deal(generator, phase->free_order, FB_LANE_MAIN, own);
        if (fb_death_free_pending(generator, FB_LANE_MAIN, err) != 0)
            return -1;
    }
    for (uint32_t lane = FB_LANE_MAIN + 1; lane < generator->own_lane; lane++)
        if (generator->lanes[lane].pending.count > 0 &&
            fb_crew_visit(generator, lane, fb_death_free_pending, err) != 0)
            return -1;
    return 0;
}

/* A phase lasts at least for_ns and holds its objects that long. */
static int wait_out(struct fb_generator *generator, struct fb_error *err)
{
    if (generator->phase->for_ns == 0)
        return 0;
    if (fb_ledger_pace(generator->ledger, generator->phase->for_ns, err) != 0)
        return -1;
    return fb_ledger_sample(generator->ledger, FB_SAMPLE_TIME, err);
}

/* All that is alive with a lifetime of at most a phase. What was left to a thread that has ended
 * is dealt again. */
static int free_leftovers(struct fb_generator *generator, struct fb_error *err)
{
    for (uint32_t i = 0; i < generator->phase_lanes; i++) {
        struct fb_lane *lane = &generator->lanes[generator->phase_lane + i];
        fb_lane_clear(lane, &generator->batch);
        if (!lane->alive)
            fb_ids_move(&lane->pending, &generator->batch);
    }
    fb_death_deal(generator, generator->phase->free_order, FB_LANE_NONE, NULL);
    if (fb_crew_finish(generator, err) != 0)
        return -1;
    return fb_death_free_pending(generator, FB_LANE_MAIN, err);
}

/* What outlives the threads of its phase is main's from now on. */
static void adopt(struct fb_generator *generator)
{
    struct fb_population *population = &generator->population;
    struct fb_lane *main_lane = &generator->lanes[FB_LANE_MAIN];
    for (uint32_t i = generator->own_lane; i < generator->lane_count; i++) {
        struct fb_lane *lane = &generator->lanes[i];
        while (lane->eldest_growing != FB_OBJECT_NONE) {
            uint32_t object = lane->eldest_growing;
            fb_lane_stop_growing(lane, population, object);
            population->objects[object].home = FB_LANE_MAIN;
            fb_lane_start_growing(main_lane, population, object);
        }
    }
    for (size_t i = 0; i < population->class_count; i++) {
        const struct fb_ids *manual = &population->manual[i];
        for (size_t k = 0; k < manual->count; k++)
            if (population->objects[manual->at[k]].home >= generator->own_lane)
                population->objects[manual->at[k]].home = FB_LANE_MAIN;
    }
}

static int end_phase(struct fb_generator *generator, struct fb_error *err)
{
    if (fb_crew_park(generator, err) != 0 || wait_out(generator, err) != 0 ||
        free_leftovers(generator, err) != 0)
        return -1;
    if (generator->phase->threads > 0)
        adopt(generator);
    for (uint32_t i = 0; i < generator->lane_count; i++)
        fb_population_share_slots(&generator->population, &generator->lanes[i].slots);
    return fb_ledger_phase_end(generator->ledger, err);
}

static void seed_phase(struct fb_generator *generator)
{
    const struct fb_phase *phase = generator->phase;
    seed_draws(generator, &generator->mix, NULL, "mix");
    seed_draws(generator, &generator->free_order, NULL, "free_order");
    free(generator->draws);
    generator->draws = fb_alloc(phase->allocate_count, sizeof *generator->draws);
    for (size_t i = 0; i < phase->allocate_count; i++) {
        const struct fb_object_class *class =
            &generator->workload->classes[phase->allocate[i].class_index];
        seed_draws(generator, &generator->draws[i].size, class, "size");
        seed_draws(generator, &generator->draws[i].count, class, "count");
        seed_draws(generator, &generator->draws[i].life, class, "life");
    }
}

static int run_phase(struct fb_generator *generator, uint32_t index, struct fb_error *err)
{
    generator->phase = &generator->workload->phases[index];
    seed_phase(generator);
    fb_crew_assemble(generator);
    if (fb_ledger_phase_begin(generator->ledger, index, err) != 0 ||
        free_clauses(generator, err) != 0 || fb_crew_begin(generator, err) != 0 ||
        fb_waves_run(generator, generator->iterations[index], err) != 0)
        return -1;
    return end_phase(generator, err);
}

static int play(struct fb_generator *generator, struct fb_error *err)
{
    if (fb_ledger_checkpoint(generator->ledger, FB_CHECKPOINT_START, err) != 0)
        return -1;
    for (uint32_t i = 0; i < generator->workload->phase_count; i++)
        if (run_phase(generator, i, err) != 0)
            return -1;
    generator->phase = NULL;
    return fb_tail_run(generator, err);
}

static void make_lanes(struct fb_generator *generator)
{
    const struct fb_workload *workload = generator->workload;
    uint32_t own = 0;
    generator->pools = fb_alloc(workload->pool_count, sizeof *generator->pools);
    generator->lane_count = FB_LANE_MAIN + 1;
    for (size_t i = 0; i < workload->pool_count; i++) {
        generator->pools[i].first_lane = generator->lane_count;
        generator->lane_count += workload->pools[i].threads;
    }
    for (size_t i = 0; i < workload->phase_count; i++)
        if (workload->phases[i].threads > own)
            own = workload->phases[i].threads;
    generator->own_lane = generator->lane_count;
    generator->lane_count += own;
    generator->lanes = fb_alloc(generator->lane_count, sizeof *generator->lanes);
    for (uint32_t i = 0; i < generator->lane_count; i++)
        fb_lane_init(&generator->lanes[i]);
    generator->lanes[FB_LANE_MAIN].alive = true;
}

static void deinit(struct fb_generator *generator)
{
    for (uint32_t i = 0; i < generator->lane_count; i++)
        fb_lane_deinit(&generator->lanes[i]);
    fb_ids_deinit(&generator->batch);
    fb_ids_deinit(&generator->crew);
    free(generator->draws);
    free(generator->lanes);
    free(generator->pools);
    fb_population_deinit(&generator->population);
}

int fb_generator_run(const struct fb_workload *workload, uint64_t seed, const uint64_t *iterations,
                     struct fb_ledger *ledger, struct fb_error *err)
{
    struct fb_generator generator = {
        .workload = workload, .iterations = iterations, .seed = seed, .ledger = ledger};
    fb_population_init(&generator.population, workload->class_count);
    make_lanes(&generator);
    int result = play(&generator, err);
    ledger->header.slot_count = generator.population.slot_count;
    ledger->header.peak_objects = generator.population.slots_used_max;
    deinit(&generator);
    return result;
}
