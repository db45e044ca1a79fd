/* Iterations dealt to the lanes of a phase, and whose turn it is.
 *
 * Iteration i of a phase of N lanes is lane i mod N's. Iterations wN … wN + N − 1 are wave w:
 * they begin together and are all under way at once, each lane for FB_TURN_OPS allocator calls
 * at a time or to the end of its actions; the next wave begins when all have ended.
 */
#include "workload/generator.h"

/* With nobody to pass a turn on to, and where iterations are done one by one, turns have no end. */
static bool turns_end(const struct fb_generator *generator)
{
    bool main_runs = generator->phase_lane == FB_LANE_MAIN;
    return !generator->phase->take_turns && generator->crew.count + main_runs > 1;
}

static int take_turn(struct fb_generator *generator, uint32_t lane, struct fb_error *err)
{
    if (fb_crew_turn(generator, lane, err) != 0 || fb_death_free_pending(generator, lane, err) != 0)
        return -1;
    generator->turn_end =
        turns_end(generator) ? generator->ledger->calls + FB_TURN_OPS : FB_TURN_ENDLESS;
    return fb_iteration_go_on(generator, lane, err);
}

/* After each round: those of the crew that only free. */
static int serve_freers(struct fb_generator *generator, struct fb_error *err)
{
    bool main_runs = generator->phase_lane == FB_LANE_MAIN;
    for (size_t i = main_runs ? 0 : generator->phase_lanes; i < generator->crew.count; i++) {
        uint32_t lane = generator->crew.at[i];
        if (generator->lanes[lane].pending.count > 0 &&
            (fb_crew_turn(generator, lane, err) != 0 ||
             fb_death_free_pending(generator, lane, err) != 0))
            return -1;
    }
    return 0;
}

/* The first `running` lanes do an iteration each, or their part of the body. */
static int run_wave(struct fb_generator *generator, uint64_t wave, uint32_t running,
                    struct fb_error *err)
{
    struct fb_lane *lanes = &generator->lanes[generator->phase_lane];
    for (uint32_t i = 0; i < running; i++)
        fb_iteration_prepare(&lanes[i], wave, wave * generator->phase_lanes + i);
    uint32_t done = 0;
    while (done < running) {
        done = 0;
        for (uint32_t i = 0; i < running; i++) {
            if (lanes[i].stage != FB_STAGE_DONE &&
                take_turn(generator, generator->phase_lane + i, err) != 0)
                return -1;
            done += lanes[i].stage == FB_STAGE_DONE;
        }
        if (serve_freers(generator, err) != 0)
            return -1;
    }
    return 0;
}

/* A body without iterations is dealt out object by object: a burst by all lanes. */
static int deal_body(struct fb_generator *generator, struct fb_error *err)
{
    struct fb_lane *lanes = &generator->lanes[generator->phase_lane];
    uint32_t count = generator->phase_lanes;
    if (fb_iteration_plan(generator, &lanes[0], err) != 0)
        return -1;
    size_t actions = lanes[0].action_count;
    for (uint32_t i = 0; i < count; i++)
        lanes[i].action_count = 0;
    uint32_t next = 0;
    for (size_t i = 0; i < actions; i++) {
        /* The first lane's own stay in its list, further down than this one. */
        fb_lane_add_action(&lanes[next], lanes[0].actions[i]);
        next = next + 1 < count ? next + 1 : 0;
    }
    return 0;
}

static int start_threads(struct fb_generator *generator, uint32_t running, struct fb_error *err)
{
    for (uint32_t i = 0; i < running; i++)
        if (fb_crew_start(generator, generator->phase_lane + i, err) != 0)
            return -1;
    return 0;
}

static int end_threads(struct fb_generator *generator, struct fb_error *err)
{
    if (fb_crew_turn(generator, FB_LANE_MAIN, err) != 0)
        return -1;
    for (uint32_t i = 0; i < generator->phase_lanes; i++)
        if (generator->lanes[generator->phase_lane + i].alive &&
            fb_crew_end(generator, generator->phase_lane + i, err) != 0)
            return -1;
    return 0;
}

int fb_waves_run(struct fb_generator *generator, uint64_t iterations, struct fb_error *err)
{
    const struct fb_phase *phase = generator->phase;
    uint64_t count = generator->phase_lanes;
    if (!phase->has_iterations) {
        iterations = count;
        if (deal_body(generator, err) != 0)
            return -1;
    }
    uint64_t waves = (iterations - 1) / count + 1;
    uint64_t life = phase->threads > 0 ? phase->thread_life : 0;
    for (uint64_t wave = 0; wave < waves; wave++) {
        uint64_t left = iterations - wave * count;
        uint32_t running = left < count ? (uint32_t)left : (uint32_t)count;
        bool last_of_life = life > 0 && ((wave + 1) % life == 0 || wave + 1 == waves);
        if ((life > 0 && wave % life == 0 && start_threads(generator, running, err) != 0) ||
            run_wave(generator, wave, running, err) != 0 ||
            (last_of_life && end_threads(generator, err) != 0))
            return -1;
    }
    return 0;
}
