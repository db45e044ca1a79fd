/* One lane's iteration: what it does, and how far it comes in one turn. */
#include "workload/generator.h"

#include "base/alloc.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* More actions than objects that could ever be alive are a mistake, not a list to build. */
#define ACTIONS_MAX (UINT64_C(1) << 32)

static void add_growth_steps(const struct fb_generator *generator, struct fb_lane *lane)
{
    const struct fb_live *objects = generator->population.objects;
    for (uint32_t object = lane->eldest_growing; object != FB_OBJECT_NONE;
         object = objects[object].younger)
        fb_lane_add_action(lane,
                           (struct fb_action){.birth = objects[object].birth, .object = object});
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

static int add_allocations(struct fb_generator *generator, struct fb_lane *lane,
                           struct fb_error *err)
{
    for (uint32_t entry = 0; entry < generator->phase->allocate_count; entry++) {
        struct fb_generator_draws *draws = &generator->draws[entry];
        uint64_t count = fb_distribution_draw(&generator->phase->allocate[entry].count,
                                              &draws->count, &draws->count_cursor, 0);
        if (check_room(generator, lane->action_count + count, err) != 0)
            return -1;
        for (uint64_t i = 0; i < count; i++)
            fb_lane_add_action(lane, (struct fb_action){.object = FB_OBJECT_NONE, .entry = entry});
    }
    return 0;
}

static void shuffle(struct fb_lane *lane, struct fb_rng *rng)
{
    struct fb_action *actions = lane->actions;
    for (size_t i = lane->action_count; i > 1; i--) {
        size_t other = fb_rng_below(rng, i);
        struct fb_action kept = actions[i - 1];
        actions[i - 1] = actions[other];
        actions[other] = kept;
    }
}

int fb_iteration_plan(struct fb_generator *generator, struct fb_lane *lane, struct fb_error *err)
{
    lane->action_count = 0;
    if (generator->phase->has_iterations)
        add_growth_steps(generator, lane);
    if (add_allocations(generator, lane, err) != 0)
        return -1;
    if (generator->phase->mix == FB_MIX_INTERLEAVED)
        shuffle(lane, &generator->mix);
    return 0;
}

void fb_iteration_prepare(struct fb_lane *lane, uint64_t wave, uint64_t iteration)
{
    lane->wave = wave;
    lane->number = iteration;
    lane->stage = FB_STAGE_BEGIN;
    lane->passed_on = false;
    lane->next_action = 0;
    lane->unscoped = 0;
    lane->parts = 0;
    lane->inside = false;
    lane->next_free = 0;
}

/* The turn passes on after this step, where turns do. */
static void pass_on(struct fb_generator *generator, struct fb_lane *lane)
{
    lane->passed_on = true;
    if (generator->turn_end != FB_TURN_ENDLESS)
        generator->turn_end = generator->ledger->calls;
}

static bool of_outer_scope(const struct fb_generator *generator, const struct fb_action *action)
{
    if (action->object != FB_OBJECT_NONE)
        return false;
    size_t class_index = generator->phase->allocate[action->entry].class_index;
    return generator->workload->classes[class_index].lifetime == FB_LIFETIME_SCOPE;
}

/* Within an inner scope nothing can be had of the outer one: its objects come first. */
static void move_outer_first(const struct fb_generator *generator, struct fb_lane *lane)
{
    struct fb_action *sorted = fb_alloc(lane->action_count, sizeof *sorted);
    size_t count = 0;
    for (size_t i = 0; i < lane->action_count; i++)
        if (of_outer_scope(generator, &lane->actions[i]))
            sorted[count++] = lane->actions[i];
    lane->unscoped = count;
    for (size_t i = 0; i < lane->action_count; i++)
        if (!of_outer_scope(generator, &lane->actions[i]))
            sorted[count++] = lane->actions[i];
    if (count > 0)
        memcpy(lane->actions, sorted, count * sizeof *sorted);
    free(sorted);
}

static int mark_scope(struct fb_generator *generator, enum fb_op_kind kind, uint64_t depth,
                      struct fb_error *err)
{
    return fb_ledger_mark(generator->ledger, (struct fb_op){.kind = (uint8_t)kind, .arg = depth},
                          err);
}

static int close_inner_scope(struct fb_generator *generator, uint32_t index, struct fb_error *err)
{
    struct fb_lane *lane = &generator->lanes[index];
    for (size_t i = 0; i < lane->inner.count; i++)
        if (fb_object_free(generator, index, lane->inner.at[i], err) != 0)
            return -1;
    lane->inner.count = 0;
    lane->inside = false;
    lane->parts++;
    return mark_scope(generator, FB_OP_SCOPE_END, 1, err);
}

/* Index of the action before which the open inner scope ends: the parts are equal. */
static size_t part_end(const struct fb_lane *lane, uint32_t inner_scopes)
{
    size_t scoped = lane->action_count - lane->unscoped;
    return lane->unscoped + scoped / inner_scopes * (lane->parts + 1U) +
           scoped % inner_scopes * (lane->parts + 1U) / inner_scopes;
}

/* Ends and begins what inner scopes end and begin before the next action. */
static int cross_inner_scopes(struct fb_generator *generator, uint32_t index, struct fb_error *err)
{
    struct fb_lane *lane = &generator->lanes[index];
    uint32_t inner_scopes = generator->phase->inner_scopes;
    while (lane->inside ? lane->next_action == part_end(lane, inner_scopes)
                        : lane->parts < inner_scopes && lane->next_action >= lane->unscoped) {
        if (lane->inside) {
            if (close_inner_scope(generator, index, err) != 0)
                return -1;
        } else {
            lane->inside = true;
            if (mark_scope(generator, FB_OP_SCOPE_BEGIN, 1, err) != 0)
                return -1;
        }
    }
    return 0;
}

/* All iterations of a wave begin at once. */
static int pace(const struct fb_generator *generator, const struct fb_lane *lane,
                struct fb_error *err)
{
    uint64_t every_ns = generator->phase->every_ns, since_begin_ns = 0;
    if (every_ns == 0)
        return 0;
    if (__builtin_mul_overflow(lane->wave * generator->phase_lanes, every_ns, &since_begin_ns))
        return fb_fail(err, FB_ERROR_INPUT,
                       "phase %s would last longer than 292 years; lower every or iterations",
                       generator->phase->name);
    return fb_ledger_pace(generator->ledger, since_begin_ns, err);
}

static int begin(struct fb_generator *generator, uint32_t index, struct fb_error *err)
{
    struct fb_lane *lane = &generator->lanes[index];
    const struct fb_phase *phase = generator->phase;
    if (phase->has_iterations && (fb_ledger_iteration(generator->ledger, lane->number, err) != 0 ||
                                  pace(generator, lane, err) != 0))
        return -1;
    if (phase->scope && mark_scope(generator, FB_OP_SCOPE_BEGIN, 0, err) != 0)
        return -1;
    if (phase->has_iterations && fb_iteration_plan(generator, lane, err) != 0)
        return -1;
    if (phase->inner_scopes > 0)
        move_outer_first(generator, lane);
    lane->stage = FB_STAGE_ACTIONS;
    return cross_inner_scopes(generator, index, err);
}

static bool still_grows(const struct fb_generator *generator, const struct fb_action *action)
{
    const struct fb_live *live = &generator->population.objects[action->object];
    return live->birth == action->birth && live->growing;
}

/* Whoever is due goes first; that can be the very object that was to grow. */
static int act(struct fb_generator *generator, uint32_t index, const struct fb_action *action,
               struct fb_error *err)
{
    const struct fb_lane *lane = &generator->lanes[index];
    bool growth = action->object != FB_OBJECT_NONE;
    if (growth && !still_grows(generator, action))
        return 0;
    const struct fb_live *objects = generator->population.objects;
    bool allocates =
        !growth ||
        generator->workload->classes[objects[action->object].class_index].grow == FB_GROW_COPY;
    if (allocates &&
        fb_death_retire_due(generator, index, FB_QUEUE_OPS, lane->allocations + 1, err) != 0)
        return -1;
    if (fb_death_retire_due(generator, index, FB_QUEUE_TIME, generator->ledger->now_ns, err) != 0)
        return -1;
    if (!growth)
        return fb_object_allocate(generator, index, action->entry, err);
    return still_grows(generator, action) ? fb_object_grow(generator, index, action->object, err)
                                          : 0;
}

/* The others may hold their objects at the same time, so a hold is counted from its begin. */
static int end_actions(struct fb_generator *generator, struct fb_lane *lane, struct fb_error *err)
{
    bool holds = generator->phase->hold_ns > 0;
    lane->stage = holds ? FB_STAGE_WAKE : FB_STAGE_LEAVE;
    if (holds && generator->turn_end != FB_TURN_ENDLESS &&
        fb_ledger_hold(generator->ledger, err) != 0)
        return -1;
    if (holds || lane->scope.count > 0)
        pass_on(generator, lane);
    return 0;
}

static int do_action(struct fb_generator *generator, uint32_t index, struct fb_error *err)
{
    struct fb_lane *lane = &generator->lanes[index];
    if (lane->next_action < lane->action_count) {
        struct fb_action action = lane->actions[lane->next_action++];
        if (act(generator, index, &action, err) != 0 ||
            cross_inner_scopes(generator, index, err) != 0)
            return -1;
    }
    return lane->next_action < lane->action_count ? 0 : end_actions(generator, lane, err);
}

static int wake(struct fb_generator *generator, uint32_t index, struct fb_error *err)
{
    uint64_t hold_ns = generator->phase->hold_ns;
    generator->lanes[index].stage = FB_STAGE_LEAVE;
    return generator->turn_end != FB_TURN_ENDLESS
               ? fb_ledger_sleep_since_hold(generator->ledger, hold_ns, err)
               : fb_ledger_sleep(generator->ledger, hold_ns, err);
}

/* Frees the next of a list that the lane goes through; *done when that was the last. */
static int free_next(struct fb_generator *generator, uint32_t index, struct fb_ids *ids, bool *done,
                     struct fb_error *err)
{
    struct fb_lane *lane = &generator->lanes[index];
    if (lane->next_free < ids->count &&
        fb_object_free(generator, index, ids->at[lane->next_free++], err) != 0)
        return -1;
    *done = lane->next_free == ids->count;
    if (*done) {
        ids->count = 0;
        lane->next_free = 0;
    }
    return 0;
}

static int leave_scope(struct fb_generator *generator, uint32_t index, struct fb_error *err)
{
    struct fb_lane *lane = &generator->lanes[index];
    bool done = false;
    if (free_next(generator, index, &lane->scope, &done, err) != 0)
        return -1;
    if (!done)
        return 0;
    lane->stage = FB_STAGE_SETTLE;
    return generator->phase->scope ? mark_scope(generator, FB_OP_SCOPE_END, 0, err) : 0;
}

/* What ends with the iteration is divided among those who free it. */
static int settle(struct fb_generator *generator, uint32_t index, struct fb_error *err)
{
    (void)err;
    struct fb_lane *lane = &generator->lanes[index];
    uint32_t object = 0;
    fb_ids_move(&lane->iteration, &generator->batch);
    while (fb_queue_pop(&lane->queues[FB_QUEUE_ITERATIONS], lane->wave, &object))
        fb_ids_push(&generator->batch, object);
    fb_death_deal(generator, generator->phase->free_order, index, &lane->due);
    lane->stage = lane->due.count > 0 ? FB_STAGE_FREES : FB_STAGE_DONE;
    if (lane->due.count > 0 && !lane->passed_on)
        pass_on(generator, lane);
    return 0;
}

static int free_due(struct fb_generator *generator, uint32_t index, struct fb_error *err)
{
    struct fb_lane *lane = &generator->lanes[index];
    bool done = false;
    if (free_next(generator, index, &lane->due, &done, err) != 0)
        return -1;
    if (done)
        lane->stage = FB_STAGE_DONE;
    return 0;
}

/* What makes no call is done in the turn that led to it. */
static bool is_free_of_calls(const struct fb_lane *lane)
{
    return lane->stage == FB_STAGE_SETTLE ||
           (lane->stage == FB_STAGE_LEAVE && lane->scope.count == 0);
}

int fb_iteration_go_on(struct fb_generator *generator, uint32_t index, struct fb_error *err)
{
    static fb_crew_work *const steps[] = {
        [FB_STAGE_BEGIN] = begin,       [FB_STAGE_ACTIONS] = do_action, [FB_STAGE_WAKE] = wake,
        [FB_STAGE_LEAVE] = leave_scope, [FB_STAGE_SETTLE] = settle,     [FB_STAGE_FREES] = free_due,
    };
    const struct fb_lane *lane = &generator->lanes[index];
    while (lane->stage != FB_STAGE_DONE &&
           (generator->ledger->calls < generator->turn_end || is_free_of_calls(lane)))
        if (steps[lane->stage](generator, index, err) != 0)
            return -1;
    return 0;
}
