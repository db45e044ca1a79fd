/* When a run is looked at, and what of it is handed on. */
#include "harness/run.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "result/attribution.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert((int)FB_OWN_ACCOUNT_COUNT == (int)FB_ACCOUNT_COUNT, "one vocabulary");

bool fb_runner_explains(const struct fb_trace_header *trace, enum fb_order order)
{
    return order == FB_ORDER_LOCKSTEP || trace->thread_peak <= 1;
}

/* Real time goes on while the worker waits: there only the end is looked at, after which nothing
 * that is measured by the clock follows but the pauses of the tail. */
static bool wants_parts(const struct fb_run *run, const struct fb_bell *bell)
{
    const struct fb_run_request *request = run->request;
    bool is_end = bell->checkpoint == FB_CHECKPOINT_PHASE_END &&
                  bell->phase + 1 == request->trace->phase_count;
    if (request->explain == FB_EXPLAIN_PURGE)
        return run->checkpoint_count == request->explain_at + 1;
    if (request->clock == FB_CLOCK_REAL)
        return is_end;
    return bell->checkpoint == FB_CHECKPOINT_PEAK_LIVE ||
           bell->checkpoint == FB_CHECKPOINT_PHASE_END;
}

static const char **class_names(const struct fb_trace_header *trace)
{
    const char *base = (const char *)trace + trace->class_offset;
    const struct fb_trace_class *classes = (const struct fb_trace_class *)(const void *)base;
    const char **names = fb_alloc(trace->class_count, sizeof *names);
    for (uint32_t i = 0; i < trace->class_count; i++)
        names[i] = classes[i].name;
    return names;
}

static size_t data_ranges(const struct fb_run *run)
{
    uint32_t count = run->control.shared->data_range_count;
    return count < FB_DATA_RANGES_MAX ? count : FB_DATA_RANGES_MAX;
}

/* The worker may be a broken one: only the control's own offsets are believed. */
static void take_blocks(const struct fb_run *run, struct fb_sight *sight)
{
    const struct fb_control *control = &run->control;
    const char *base = (const char *)control->shared;
    const struct fb_backend *backend = run->request->contender->backend;
    bool null = backend != NULL && (backend->flags & FB_BACKEND_NULL) != 0;
    sight->objects.objects = (const void *)(base + control->object_offset);
    sight->objects.details = (const void *)(base + control->detail_offset);
    /* The table of a run without calls names no memory. */
    sight->snapshot.blocks = fb_snapshot_blocks(&sight->objects, null ? 0 : control->object_count);
}

static int look(const struct fb_run *run, struct fb_sight *sight, struct fb_error *err)
{
    const struct fb_shared *shared = run->control.shared;
    const struct fb_checkpoint *checkpoint = &run->checkpoints[run->checkpoint_count - 1];
    struct fb_snapshot *snapshot = &sight->snapshot;
    uint64_t begin_ns = fb_clock_now_ns();
    if (fb_snapshot_pages(run->pid, FB_PAGES_BEST, &sight->pages, err) != 0 ||
        fb_snapshot_extents(run->pid, shared->data_ranges, data_ranges(run), &sight->extents,
                            &snapshot->extent_count, err) != 0)
        return -1;
    take_blocks(run, sight);
    sight->class_names = class_names(run->request->trace);
    snapshot->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    snapshot->footprint_bytes = checkpoint->footprint_bytes;
    snapshot->now_ns = checkpoint->t_ns;
    snapshot->pages = sight->pages;
    snapshot->startup = run->startup_pages;
    snapshot->class_names = sight->class_names;
    snapshot->class_count = run->request->trace->class_count;
    snapshot->extents = sight->extents;
    snapshot->taken_ns = fb_clock_now_ns() - begin_ns;
    return 0;
}

static void hand_on(const struct fb_run *run, const struct fb_sight *sight)
{
    const struct fb_runner_hooks *hooks = run->hooks;
    if (hooks->snapshot != NULL)
        hooks->snapshot(hooks->user, run->request, &run->checkpoints[run->checkpoint_count - 1],
                        &sight->snapshot);
}

static int look_again(struct fb_run *run, struct fb_error *err)
{
    struct fb_sight *sight = run->sight;
    struct fb_snapshot *snapshot = &sight->snapshot;
    if (fb_snapshot_pages(run->pid, FB_PAGES_BEST, &sight->after, err) != 0)
        return -1;
    snapshot->purged = true;
    snapshot->after = sight->after;
    snapshot->account_known = snapshot->blocks.count > 0;
    memcpy(snapshot->account, run->control.shared->own_account, sizeof snapshot->account);
    hand_on(run, sight);
    return 0;
}

static int look_first(struct fb_run *run, enum fb_answer *answer, struct fb_error *err)
{
    struct fb_sight *sight = fb_alloc(1, sizeof *sight);
    const uint64_t begin_ns = fb_clock_now_ns();
    if (look(run, sight, err) != 0) {
        fb_sight_free(sight);
        return -1;
    }
    if (run->request->explain == FB_EXPLAIN_PURGE) {
        run->sight = sight; /* until the second look */
        *answer = FB_ANSWER_PURGE;
        return 0;
    }
    hand_on(run, sight);
    struct fb_attribution *told = run->checkpoints[run->checkpoint_count - 1].attribution;
    if (told != NULL) /* the worker waits for what is made of the snapshot, too */
        told->snapshot_ns = fb_clock_now_ns() - begin_ns;
    fb_sight_free(sight);
    return 0;
}

int fb_run_explain(struct fb_run *run, const struct fb_bell *bell, enum fb_answer *answer,
                   struct fb_error *err)
{
    *answer = FB_ANSWER_GO;
    if (run->request->explain == FB_EXPLAIN_NONE || run->checkpoint_count == 0)
        return 0;
    if (bell->purged != 0)
        return run->sight != NULL ? look_again(run, err) : 0;
    if (bell->checkpoint == FB_CHECKPOINT_START && run->startup_pages.items == NULL)
        return fb_snapshot_pages(run->pid, FB_PAGES_BEST, &run->startup_pages, err);
    return wants_parts(run, bell) ? look_first(run, answer, err) : 0;
}
