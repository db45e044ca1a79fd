/* The threads of a phase. A thread parks in a turn of its own, which passes on with it. */
#include "workload/generator.h"

static bool is_own(const struct fb_generator *generator, uint32_t lane)
{
    return lane >= generator->own_lane;
}

bool fb_crew_frees(const struct fb_workload *workload, const struct fb_phase *phase,
                   const struct fb_pool *pool)
{
    for (size_t i = 0; i < phase->allocate_count; i++) {
        const struct fb_object_class *class = &workload->classes[phase->allocate[i].class_index];
        if (class->freed_by == FB_FREED_BY_POOL && class->freed_by_pool == pool)
            return true;
    }
    return false;
}

static void enlist(struct fb_generator *generator, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        fb_ids_push(&generator->crew, first + i);
}

void fb_crew_assemble(struct fb_generator *generator)
{
    const struct fb_phase *phase = generator->phase;
    const struct fb_workload *workload = generator->workload;
    generator->crew.count = 0;
    generator->phase_lane = FB_LANE_MAIN;
    generator->phase_lanes = 1;
    if (phase->pool != NULL) {
        generator->phase_lane = generator->pools[phase->pool - workload->pools].first_lane;
        generator->phase_lanes = phase->pool->threads;
    } else if (phase->threads > 0) {
        generator->phase_lane = generator->own_lane;
        generator->phase_lanes = phase->threads;
    }
    if (generator->phase_lane != FB_LANE_MAIN)
        enlist(generator, generator->phase_lane, generator->phase_lanes);
    for (size_t i = 0; i < workload->pool_count; i++)
        if (&workload->pools[i] != phase->pool &&
            fb_crew_frees(workload, phase, &workload->pools[i]))
            enlist(generator, generator->pools[i].first_lane, workload->pools[i].threads);
}

int fb_crew_turn(struct fb_generator *generator, uint32_t lane, struct fb_error *err)
{
    bool strict = generator->phase != NULL && generator->phase->take_turns;
    return fb_ledger_turn(generator->ledger, generator->lanes[lane].stream, strict, err);
}

int fb_crew_start(struct fb_generator *generator, uint32_t lane, struct fb_error *err)
{
    struct fb_lane *started = &generator->lanes[lane];
    started->alive = true;
    started->awake = true;
    return fb_ledger_start(generator->ledger, &started->stream, err);
}

int fb_crew_end(struct fb_generator *generator, uint32_t lane, struct fb_error *err)
{
    struct fb_lane *ended = &generator->lanes[lane];
    ended->alive = false;
    ended->awake = false;
    return fb_ledger_join(generator->ledger, ended->stream, err);
}

/* An op of main's about the lane's thread. */
static int tell(struct fb_generator *generator, enum fb_op_kind kind, uint32_t lane,
                struct fb_error *err)
{
    struct fb_op op = {.kind = (uint8_t)kind, .arg = generator->lanes[lane].stream};
    return fb_ledger_mark(generator->ledger, op, err);
}

static int resume(struct fb_generator *generator, uint32_t lane, struct fb_error *err)
{
    generator->lanes[lane].awake = true;
    return tell(generator, FB_OP_RESUME, lane, err);
}

/* In the lane's turn, which the caller passes on next. */
static int park(struct fb_generator *generator, struct fb_error *err)
{
    return fb_ledger_mark(generator->ledger, (struct fb_op){.kind = FB_OP_PARK}, err);
}

static int await(struct fb_generator *generator, uint32_t lane, struct fb_error *err)
{
    generator->lanes[lane].awake = false;
    return tell(generator, FB_OP_AWAIT, lane, err);
}

int fb_crew_begin(struct fb_generator *generator, struct fb_error *err)
{
    for (size_t i = 0; i < generator->crew.count; i++) {
        uint32_t lane = generator->crew.at[i];
        if (is_own(generator, lane) && generator->phase->thread_life > 0)
            continue; /* they come and go with the iterations */
        int result = generator->lanes[lane].alive ? resume(generator, lane, err)
                                                  : fb_crew_start(generator, lane, err);
        if (result != 0)
            return -1;
    }
    return 0;
}

int fb_crew_park(struct fb_generator *generator, struct fb_error *err)
{
    const struct fb_ids *crew = &generator->crew;
    for (size_t i = 0; i < crew->count; i++)
        if (generator->lanes[crew->at[i]].awake &&
            (fb_crew_turn(generator, crew->at[i], err) != 0 || park(generator, err) != 0))
            return -1;
    if (fb_crew_turn(generator, FB_LANE_MAIN, err) != 0)
        return -1;
    for (size_t i = 0; i < crew->count; i++)
        if (generator->lanes[crew->at[i]].awake && await(generator, crew->at[i], err) != 0)
            return -1;
    return 0;
}

static int resume_for_the_end(struct fb_generator *generator, struct fb_error *err)
{
    for (size_t i = 0; i < generator->crew.count; i++) {
        uint32_t lane = generator->crew.at[i];
        const struct fb_lane *parked = &generator->lanes[lane];
        if (parked->alive && (is_own(generator, lane) || parked->pending.count > 0) &&
            resume(generator, lane, err) != 0)
            return -1;
    }
    return 0;
}

static int free_in_turn(struct fb_generator *generator, struct fb_error *err)
{
    for (size_t i = 0; i < generator->crew.count; i++) {
        uint32_t lane = generator->crew.at[i];
        if (!generator->lanes[lane].awake || generator->lanes[lane].pending.count == 0)
            continue;
        if (fb_crew_turn(generator, lane, err) != 0 ||
            fb_death_free_pending(generator, lane, err) != 0 ||
            (!is_own(generator, lane) && park(generator, err) != 0))
            return -1;
    }
    return fb_crew_turn(generator, FB_LANE_MAIN, err);
}

int fb_crew_finish(struct fb_generator *generator, struct fb_error *err)
{
    if (resume_for_the_end(generator, err) != 0 || free_in_turn(generator, err) != 0)
        return -1;
    for (size_t i = 0; i < generator->crew.count; i++) {
        uint32_t lane = generator->crew.at[i];
        if (generator->lanes[lane].awake &&
            (is_own(generator, lane) ? fb_crew_end(generator, lane, err)
                                     : await(generator, lane, err)) != 0)
            return -1;
    }
    return 0;
}

int fb_crew_visit(struct fb_generator *generator, uint32_t lane, fb_crew_work *work,
                  struct fb_error *err)
{
    if (resume(generator, lane, err) != 0 || fb_crew_turn(generator, lane, err) != 0 ||
        work(generator, lane, err) != 0 || park(generator, err) != 0 ||
        fb_crew_turn(generator, FB_LANE_MAIN, err) != 0)
        return -1;
    return await(generator, lane, err);
}

int fb_crew_visit_pools(struct fb_generator *generator, fb_crew_work *work, struct fb_error *err)
{
    for (uint32_t lane = FB_LANE_MAIN + 1; lane < generator->own_lane; lane++)
        if (generator->lanes[lane].alive && fb_crew_visit(generator, lane, work, err) != 0)
            return -1;
    return 0;
}

int fb_crew_end_pools(struct fb_generator *generator, struct fb_error *err)
{
    for (uint32_t lane = FB_LANE_MAIN + 1; lane < generator->own_lane; lane++)
        if (generator->lanes[lane].alive &&
            (resume(generator, lane, err) != 0 || fb_crew_end(generator, lane, err) != 0))
            return -1;
    return 0;
}
