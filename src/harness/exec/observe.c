/* Readings of the tree: points of the curve and exact checkpoints. */
#include "harness/exec/session.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/units.h"
#include "harness/run.h"
#include "trace/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t since_start(const struct fb_session *session)
{
    return fb_clock_now_ns() - session->started_ns;
}

static void watch_limit(struct fb_session *session, uint64_t footprint_bytes)
{
    uint64_t limit = session->request->memory_limit_bytes;
    char held[32], allowed[32];
    if (limit == 0 || footprint_bytes <= limit)
        return;
    fb_session_stop(session, FB_STATUS_OVER_MEMORY_LIMIT,
                    fb_format("%s held %s, over the limit of %s (--memory-limit)",
                              session->request->name,
                              fb_units_bytes(footprint_bytes, held, sizeof held),
                              fb_units_bytes(limit, allowed, sizeof allowed)));
}

static void add_point(struct fb_session *session, const struct fb_point *point)
{
    if (session->point_count == session->point_capacity) {
        session->point_capacity = session->point_capacity == 0 ? 1024 : session->point_capacity * 2;
        session->points =
            fb_realloc(session->points, session->point_capacity, sizeof *session->points);
    }
    session->points[session->point_count++] = *point;
}

static void count_live(struct fb_session *session)
{
    if (session->live.fd >= 0)
        fb_live_read(&session->live, &session->family, &session->counted);
}

void fb_session_sample(struct fb_session *session, uint32_t reason)
{
    uint64_t now_ns = fb_clock_now_ns();
    fb_family_scan(&session->family, now_ns, false);
    uint64_t footprint = fb_family_footprint(&session->family, now_ns);
    /* Between its end and its reaping a program holds nothing, in one step: no reading of it. */
    if (footprint == 0)
        return;
    count_live(session);
    if (footprint > session->peak_bytes)
        session->peak_bytes = footprint;
    const struct fb_point point = {
        .t_ns = now_ns - session->started_ns,
        .footprint_bytes = footprint,
        .live_bytes = session->counted.live_bytes,
        .volume_bytes = session->counted.volume_bytes,
        .phase = session->phase,
        .reason = reason,
    };
    add_point(session, &point);
    watch_limit(session, footprint);
}

/* Of a program that has ended by itself the last sample is all there is. */
static void from_last_point(const struct fb_session *session, struct fb_checkpoint *checkpoint)
{
    if (session->point_count == 0)
        return;
    const struct fb_point *last = &session->points[session->point_count - 1];
    checkpoint->footprint_bytes = last->footprint_bytes;
    checkpoint->rss_bytes = last->footprint_bytes;
    checkpoint->live_bytes = last->live_bytes;
}

static void from_sources(struct fb_session *session, struct fb_checkpoint *checkpoint)
{
    struct fb_family_exact exact;
    count_live(session);
    fb_family_exact(&session->family, &exact);
    checkpoint->rss_bytes = exact.rss_bytes;
    checkpoint->footprint_bytes = exact.footprint_bytes;
    checkpoint->live_bytes = session->counted.live_bytes;
    checkpoint->lazyfree_bytes = exact.lazyfree_bytes;
    checkpoint->huge_bytes = exact.huge_bytes;
    checkpoint->swap_bytes = exact.swap_bytes;
    checkpoint->mappings = exact.mappings;
    if (exact.mappings > session->mappings_max)
        session->mappings_max = exact.mappings;
}

static void end_phase(struct fb_session *session, const struct fb_checkpoint *checkpoint)
{
    session->phases =
        fb_realloc(session->phases, session->phase_ended + 1, sizeof *session->phases);
    session->phases[session->phase_ended++] = (struct fb_phase_record){
        .name = fb_strdup(session->phase_names[session->phase]),
        .iterations = 1,
        .footprint_bytes = checkpoint->footprint_bytes,
        .live_bytes = checkpoint->live_bytes,
        .ratio = __builtin_nan(""),
        .kept_bytes = __builtin_nan(""),
    };
}

void fb_session_checkpoint(struct fb_session *session, const char *kind)
{
    struct fb_checkpoint checkpoint = {.phase = (int)session->phase, .t_ns = since_start(session)};
    (void)snprintf(checkpoint.kind, sizeof checkpoint.kind, "%s", kind);
    fb_family_scan(&session->family, fb_clock_now_ns(), true);
    if (fb_family_alive(&session->family) > 0)
        from_sources(session, &checkpoint);
    else
        from_last_point(session, &checkpoint);
    /* Nothing readable in the first milliseconds of a program that has not even started. */
    if (checkpoint.footprint_bytes == 0)
        from_last_point(session, &checkpoint);
    if (checkpoint.footprint_bytes > session->peak_bytes)
        session->peak_bytes = checkpoint.footprint_bytes;
    session->checkpoints = fb_realloc(session->checkpoints, session->checkpoint_count + 1,
                                      sizeof *session->checkpoints);
    session->checkpoints[session->checkpoint_count++] = checkpoint;
    if (strcmp(kind, "phase_end") == 0)
        end_phase(session, &checkpoint);
}
