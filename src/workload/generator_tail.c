/* After the last phase: what comes back by itself, with a little traffic, and when asked. Every
 * pool still has its threads, with whatever their caches hold; each takes part. */
#include "workload/generator.h"

#define SECOND_NS UINT64_C(1000000000)
#define HEARTBEATS 10 /* one a second */

/* A pause, then the checkpoint that looks at what it gave back. */
static int pause_then_check(struct fb_ledger *ledger, uint64_t seconds,
                            enum fb_checkpoint_kind kind, struct fb_error *err)
{
    if (fb_ledger_sleep(ledger, seconds * SECOND_NS, err) != 0)
        return -1;
    return fb_ledger_checkpoint(ledger, kind, err);
}

static int free_manual(struct fb_generator *generator, struct fb_error *err)
{
    struct fb_population *population = &generator->population;
    struct fb_ids *batch = &generator->batch;
    for (size_t i = 0; i < population->class_count; i++)
        for (size_t k = 0; k < population->manual[i].count; k++)
            fb_ids_push(batch, population->manual[i].at[k]);
    fb_population_sort(population, batch);
    for (size_t i = 0; i < batch->count; i++)
        if (fb_object_free(generator, FB_LANE_MAIN, batch->at[i], err) != 0)
            return -1;
    batch->count = 0;
    return 0;
}

static int heartbeat(struct fb_generator *generator, uint32_t lane, struct fb_error *err)
{
    (void)lane;
    return fb_ledger_mark(generator->ledger, (struct fb_op){.kind = FB_OP_HEARTBEAT}, err);
}

static int purge_own(struct fb_generator *generator, uint32_t lane, struct fb_error *err)
{
    (void)lane;
    struct fb_op op = {.kind = FB_OP_PURGE, .flags = FB_OP_FLAG_OWN};
    return fb_ledger_mark(generator->ledger, op, err);
}

static int go_idle(struct fb_generator *generator, struct fb_error *err)
{
    struct fb_ledger *ledger = generator->ledger;
    if (fb_ledger_checkpoint(ledger, FB_CHECKPOINT_IDLE_0S, err) != 0 ||
        pause_then_check(ledger, 1, FB_CHECKPOINT_IDLE_1S, err) != 0)
        return -1;
    return pause_then_check(ledger, 9, FB_CHECKPOINT_IDLE_10S, err);
}

static int stay_active(struct fb_generator *generator, struct fb_error *err)
{
    for (int i = 0; i < HEARTBEATS; i++)
        if (heartbeat(generator, FB_LANE_MAIN, err) != 0 ||
            fb_crew_visit_pools(generator, heartbeat, err) != 0 ||
            fb_ledger_sleep(generator->ledger, SECOND_NS, err) != 0)
            return -1;
    return fb_ledger_checkpoint(generator->ledger, FB_CHECKPOINT_ACTIVE_10S, err);
}

static int purge(struct fb_generator *generator, struct fb_error *err)
{
    if (fb_crew_visit_pools(generator, purge_own, err) != 0 ||
        fb_ledger_mark(generator->ledger, (struct fb_op){.kind = FB_OP_PURGE}, err) != 0)
        return -1;
    return fb_ledger_checkpoint(generator->ledger, FB_CHECKPOINT_PURGED, err);
}

int fb_tail_run(struct fb_generator *generator, struct fb_error *err)
{
    generator->ledger->teardown = true;
    if (free_manual(generator, err) != 0 || go_idle(generator, err) != 0 ||
        stay_active(generator, err) != 0 || purge(generator, err) != 0 ||
        fb_crew_end_pools(generator, err) != 0)
        return -1;
    return fb_ledger_mark(generator->ledger, (struct fb_op){.kind = FB_OP_END}, err);
}
