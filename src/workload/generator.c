#include "workload/generator.h"

#include "base/alloc.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND_NS UINT64_C(1000000000)
#define HEARTBEATS 10 /* one a second */

/* More actions than objects that could ever be alive are a mistake, not a list to build. */
#define ACTIONS_MAX (UINT64_C(1) << 32)

void fb_generator_seed(const struct fb_generator *generator, struct fb_rng *rng,
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
    fb_generator_seed(generator, &rng, &generator->workload->classes[clause->class_index], "free");
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

static int free_clauses(struct fb_generator *generator, struct fb_error *err)
{
    const struct fb_phase *phase = generator->phase;
    for (size_t i = 0; i < phase->free_count; i++) {
        pick_manual(generator, &phase->free[i]);
        if (fb_generator_free_batch(generator, phase->free_order, err) != 0)
            return -1;
    }
    return 0;
}

static void add_action(struct fb_generator *generator, struct fb_generator_action action)
{
    if (generator->action_count == generator->action_capacity) {
        generator->action_capacity = generator->action_capacity * 2 + 64;
        generator->actions =
            fb_realloc(generator->actions, generator->action_capacity, sizeof *generator->actions);
    }
    generator->actions[generator->action_count++] = action;
}

static void add_growth_steps(struct fb_generator *generator)
{
    const struct fb_population *population = &generator->population;
    for (uint32_t object = population->eldest_growing; object != FB_OBJECT_NONE;
         object = population->objects[object].younger)
        add_action(generator, (struct fb_generator_action){
                                  .birth = population->objects[object].birth, .object = object});
}

/* A drawn count can be 2^46: what there is no room for is refused before it is listed. */
static int check_room(const struct fb_generator *generator, uint64_t listed, struct fb_error *err)
{
    char text[32];
    if (listed > ACTIONS_MAX)
        return fb_fail(err, FB_ERROR_INPUT,
                       "phase %s: one iteration would make %s objects; 4,294,967,296 are the most; "
                       "lower the counts",
                       generator->phase->name, fb_units_count(listed, text, sizeof text));
    return fb_ledger_require(generator->ledger, listed, err);
}

static int add_allocations(struct fb_generator *generator, struct fb_error *err)
{
    for (uint32_t entry = 0; entry < generator->phase->allocate_count; entry++) {
        struct fb_generator_streams *streams = &generator->streams[entry];
        uint64_t count = fb_distribution_draw(&generator->phase->allocate[entry].count,
                                              &streams->count, &streams->count_cursor, 0);
        if (check_room(generator, generator->action_count + count, err) != 0)
            return -1;
        for (uint64_t i = 0; i < count; i++)
            add_action(generator,
                       (struct fb_generator_action){.object = FB_OBJECT_NONE, .entry = entry});
    }
    return 0;
}

static void shuffle_actions(struct fb_generator *generator)
{
    struct fb_generator_action *actions = generator->actions;
    for (size_t i = generator->action_count; i > 1; i--) {
        size_t other = fb_rng_below(&generator->mix, i);
        struct fb_generator_action kept = actions[i - 1];
        actions[i - 1] = actions[other];
        actions[other] = kept;
    }
}

static bool lives(const struct fb_generator *generator, const struct fb_generator_action *action)
{
    return generator->population.objects[action->object].birth == action->birth;
}

/* Whoever is due goes first; that can be the very object that was to grow. */
static int act(struct fb_generator *generator, const struct fb_generator_action *action,
               struct fb_error *err)
{
    bool growth = action->object != FB_OBJECT_NONE;
    if (growth && !lives(generator, action))
        return 0;
    const struct fb_ledger *ledger = generator->ledger;
    const struct fb_population *population = &generator->population;
    bool allocates =
        !growth ||
        generator->workload->classes[population->objects[action->object].class_index].grow ==
            FB_GROW_COPY;
    if (allocates &&
        fb_generator_free_due(generator, FB_QUEUE_OPS, ledger->header.alloc_calls + 1, err) != 0)
        return -1;
    if (fb_generator_free_due(generator, FB_QUEUE_TIME, ledger->now_ns, err) != 0)
        return -1;
    if (!growth)
        return fb_generator_allocate(generator, action->entry, err);
    return lives(generator, action) ? fb_generator_grow(generator, action->object, err) : 0;
}

static int end_iteration(struct fb_generator *generator, struct fb_error *err)
{
    struct fb_population *population = &generator->population;
    for (size_t i = 0; i < population->iteration.count; i++)
        fb_ids_push(&generator->batch, population->iteration.at[i]);
    population->iteration.count = 0;
    uint32_t object = 0;
    while (fb_queue_pop(&population->queues[FB_QUEUE_ITERATIONS], generator->iteration, &object))
        fb_ids_push(&generator->batch, object);
    return fb_generator_free_batch(generator, generator->phase->free_order, err);
}

static int run_actions(struct fb_generator *generator, struct fb_error *err)
{
    const struct fb_phase *phase = generator->phase;
    generator->action_count = 0;
    if (phase->has_iterations)
        add_growth_steps(generator);
    if (add_allocations(generator, err) != 0)
        return -1;
    if (phase->mix == FB_MIX_INTERLEAVED)
        shuffle_actions(generator);
    for (size_t i = 0; i < generator->action_count; i++)
        if (act(generator, &generator->actions[i], err) != 0)
            return -1;
    if (phase->hold_ns > 0 && fb_ledger_sleep(generator->ledger, phase->hold_ns, err) != 0)
        return -1;
    return end_iteration(generator, err);
}

static int begin_iteration(struct fb_generator *generator, struct fb_error *err)
{
    if (fb_ledger_iteration(generator->ledger, generator->iteration, err) != 0)
        return -1;
    uint64_t every_ns = generator->phase->every_ns, since_begin_ns = 0;
    if (every_ns == 0)
        return 0;
    if (__builtin_mul_overflow(generator->iteration, every_ns, &since_begin_ns))
        return fb_fail(err, FB_ERROR_INPUT,
                       "phase %s would last longer than 292 years; lower every or iterations",
                       generator->phase->name);
    return fb_ledger_pace(generator->ledger, since_begin_ns, err);
}

static int run_body(struct fb_generator *generator, uint64_t iterations, struct fb_error *err)
{
    generator->iteration = 0;
    if (!generator->phase->has_iterations)
        return run_actions(generator, err);
    for (; generator->iteration < iterations; generator->iteration++)
        if (begin_iteration(generator, err) != 0 || run_actions(generator, err) != 0)
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

/* All that is alive with a lifetime of at most a phase. */
static int end_phase(struct fb_generator *generator, struct fb_error *err)
{
    struct fb_population *population = &generator->population;
    for (size_t i = 0; i < population->phase.count; i++)
        fb_ids_push(&generator->batch, population->phase.at[i]);
    population->phase.count = 0;
    for (size_t i = 0; i < FB_QUEUE_COUNT; i++)
        fb_queue_drain(&population->queues[i], &generator->batch);
    if (fb_generator_free_batch(generator, generator->phase->free_order, err) != 0)
        return -1;
    return fb_ledger_phase_end(generator->ledger, err);
}

static void seed_phase(struct fb_generator *generator)
{
    const struct fb_phase *phase = generator->phase;
    fb_generator_seed(generator, &generator->mix, NULL, "mix");
    fb_generator_seed(generator, &generator->free_order, NULL, "free_order");
    free(generator->streams);
    generator->streams = fb_alloc(phase->allocate_count, sizeof *generator->streams);
    for (size_t i = 0; i < phase->allocate_count; i++) {
        const struct fb_object_class *class =
            &generator->workload->classes[phase->allocate[i].class_index];
        fb_generator_seed(generator, &generator->streams[i].size, class, "size");
        fb_generator_seed(generator, &generator->streams[i].count, class, "count");
        fb_generator_seed(generator, &generator->streams[i].life, class, "life");
    }
}

static int run_phase(struct fb_generator *generator, uint32_t index, struct fb_error *err)
{
    generator->phase = &generator->workload->phases[index];
    seed_phase(generator);
    if (fb_ledger_phase_begin(generator->ledger, index, err) != 0 ||
        free_clauses(generator, err) != 0 ||
        run_body(generator, generator->iterations[index], err) != 0 ||
        wait_out(generator, err) != 0)
        return -1;
    return end_phase(generator, err);
}

/* A pause, then the checkpoint that looks at what it gave back. */
static int pause_then_check(struct fb_ledger *ledger, uint64_t seconds,
                            enum fb_checkpoint_kind kind, struct fb_error *err)
{
    if (fb_ledger_sleep(ledger, seconds * SECOND_NS, err) != 0)
        return -1;
    return fb_ledger_checkpoint(ledger, kind, err);
}

/* After the last phase: what comes back by itself, with a little traffic, and when asked. */
static int run_tail(struct fb_generator *generator, struct fb_error *err)
{
    struct fb_ledger *ledger = generator->ledger;
    struct fb_population *population = &generator->population;
    ledger->teardown = true;
    for (size_t i = 0; i < population->class_count; i++)
        for (size_t k = 0; k < population->manual[i].count; k++)
            fb_ids_push(&generator->batch, population->manual[i].at[k]);
    if (fb_generator_free_batch(generator, FB_FREE_FIFO, err) != 0 ||
        fb_ledger_checkpoint(ledger, FB_CHECKPOINT_IDLE_0S, err) != 0 ||
        pause_then_check(ledger, 1, FB_CHECKPOINT_IDLE_1S, err) != 0 ||
        pause_then_check(ledger, 9, FB_CHECKPOINT_IDLE_10S, err) != 0)
        return -1;
    for (int i = 0; i < HEARTBEATS; i++)
        if (fb_ledger_mark(ledger, FB_OP_HEARTBEAT, err) != 0 ||
            fb_ledger_sleep(ledger, SECOND_NS, err) != 0)
            return -1;
    if (fb_ledger_checkpoint(ledger, FB_CHECKPOINT_ACTIVE_10S, err) != 0 ||
        fb_ledger_mark(ledger, FB_OP_PURGE, err) != 0 ||
        fb_ledger_checkpoint(ledger, FB_CHECKPOINT_PURGED, err) != 0)
        return -1;
    return fb_ledger_mark(ledger, FB_OP_END, err);
}

static int play(struct fb_generator *generator, struct fb_error *err)
{
    if (fb_ledger_checkpoint(generator->ledger, FB_CHECKPOINT_START, err) != 0)
        return -1;
    for (uint32_t i = 0; i < generator->workload->phase_count; i++)
        if (run_phase(generator, i, err) != 0)
            return -1;
    return run_tail(generator, err);
}

int fb_generator_run(const struct fb_workload *workload, uint64_t seed, const uint64_t *iterations,
                     struct fb_ledger *ledger, struct fb_error *err)
{
    struct fb_generator generator = {
        .workload = workload, .iterations = iterations, .seed = seed, .ledger = ledger};
    fb_population_init(&generator.population, workload->class_count);
    int result = play(&generator, err);
    ledger->header.slot_count = generator.population.slot_count;
    ledger->header.peak_objects = generator.population.slot_count;
    fb_ids_deinit(&generator.batch);
    free(generator.actions);
    free(generator.streams);
    fb_population_deinit(&generator.population);
    return result;
}
