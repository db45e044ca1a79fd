/* From an ended run to its repetition. */
#include "harness/exec/session.h"

#include "base/alloc.h"
#include "harness/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_KEPT = 4096 };

/* Up to 4 KiB from the file's beginning or end. New string. */
static char *read_piece(int fd, bool from_end)
{
    char *text = fb_alloc(TEXT_KEPT + 1, 1);
    off_t size = lseek(fd, 0, SEEK_END);
    off_t from = from_end && size > TEXT_KEPT ? size - TEXT_KEPT : 0;
    ssize_t got = fd >= 0 ? pread(fd, text, TEXT_KEPT, from) : -1;
    text[got > 0 ? got : 0] = '\0';
    for (ssize_t i = 0; i < got; i++)
        if (text[i] == '\0') /* binary output */
            text[i] = '.';
    return text;
}

static bool oom_moved(const struct fb_session *session)
{
    uint64_t now;
    return session->oom_known && fb_proc_oom_kills(&now, NULL) == 0 && now > session->oom_kills;
}

static void judge(struct fb_session *session, const char *text, struct fb_repetition *out)
{
    if (session->stopped_by_us) {
        out->status = session->verdict;
        out->status_detail = session->verdict_detail;
        session->verdict_detail = NULL;
        return;
    }
    const struct fb_exec_request *request = session->request;
    char *head = read_piece(session->log_fd, false);
    char *driver_text = read_piece(session->driver_log_fd, true);
    const struct fb_fate fate = {
        .name = request->name,
        .stage = session->stage,
        .ended = session->keeper.leader_ended && !session->killed_after_grace,
        .wait_status = session->keeper.leader_status,
        .waits_for_ready =
            session->phase_count > 0 && strcmp(session->phase_names[0], "start") == 0,
        .driver_ended = session->driver_ended,
        .driver_status = session->driver.leader_status,
        .text = text,
        .driver_text = driver_text,
        .head = head,
        .library = request->contender->path,
        .proven = session->leader_proven,
        .tunables = request->contender->tunable_count > 0,
        .not_asked = fb_session_not_asked(session),
        .oom_known = session->oom_known,
        .oom_moved = oom_moved(session),
    };
    out->status = fb_fate_judge(&fate, &out->status_detail);
    free(head);
    free(driver_text);
}

static void note_ending(struct fb_session *session)
{
    const char *name = session->request->name;
    for (size_t i = 0; i < session->program_count; i++)
        if (session->programs[i].why != NULL)
            fb_session_note(session, fb_strdup(session->programs[i].why));
    if (!session->leader_proven && fb_session_not_asked(session) == NULL &&
        session->program_count == 0)
        fb_session_note(session, fb_format("%s ended before it could be looked into: which "
                                           "allocator answered is not proven",
                                           name));
    if (session->killed_after_grace)
        fb_session_note(session, fb_format("%s did not end on SIGTERM and was killed after the "
                                           "grace (--grace)",
                                           name));
    if (session->outlived > 0)
        fb_session_note(session,
                        fb_format("%zu process%s outlived %s and %s ended by fragbench: keep it in "
                                  "the foreground, or load it with --driver",
                                  session->outlived, session->outlived == 1 ? "" : "es", name,
                                  session->outlived == 1 ? "was" : "were"));
    if (session->live.fd >= 0 && atomic_load(&session->live.block->blind) > 0)
        fb_session_note(session, fb_strdup("live bytes not counted in a process whose allocator "
                                           "has no malloc_usable_size"));
    if (session->live.fd >= 0 && atomic_load(&session->live.block->uncounted) > 0)
        fb_session_note(session, fb_strdup("more threads at once than there are counters: live "
                                           "bytes are too low"));
}

static void collect_account(const struct fb_session *session, struct fb_repetition *out)
{
    const struct fb_keeper *keeper = &session->keeper;
    if (session->mappings_max > 0)
        out->values[FB_METRIC_MAPPINGS_MAX] = (double)session->mappings_max;
    if (!fb_status_done(out->status))
        return;
    if (session->work_to_ns > session->work_from_ns)
        out->values[FB_METRIC_WALL_S] = (double)(session->work_to_ns - session->work_from_ns) / 1e9;
    if (!keeper->account_known)
        return;
    out->values[FB_METRIC_MINOR_FAULTS] = (double)keeper->minor_faults;
    out->values[FB_METRIC_USER_S] = (double)keeper->user_ns / 1e9;
    out->values[FB_METRIC_SYSTEM_S] = (double)keeper->system_ns / 1e9;
}

static void collect_programs(struct fb_session *session, struct fb_repetition *out)
{
    out->programs = fb_alloc(session->program_count + 1, sizeof *out->programs);
    out->program_count = session->program_count;
    for (size_t i = 0; i < session->program_count; i++) {
        struct fb_session_program *program = &session->programs[i];
        out->programs[i] = (struct fb_program_record){.name = program->name,
                                                      .answered_by = program->answered_by,
                                                      .processes = program->processes,
                                                      .peak_bytes = program->peak_bytes};
        program->name = NULL;
        program->answered_by = NULL;
    }
}

void fb_session_collect(struct fb_session *session, struct fb_repetition *out)
{
    char *text = read_piece(session->log_fd, true);
    fb_repetition_init(out);
    out->index = session->request->index;
    out->wall_s = (double)(session->ended_ns - session->started_ns) / 1e9;
    out->missed_ticks = session->missed_ticks;
    out->ops = session->counted.calls;
    judge(session, text, out);
    note_ending(session);
    collect_account(session, out);
    collect_programs(session, out);
    out->stderr_text = text;
    out->notes = session->notes;
    out->note_count = session->note_count;
    out->series = (struct fb_series){session->points, session->point_count};
    out->checkpoints = session->checkpoints;
    out->checkpoint_count = session->checkpoint_count;
    out->phases = session->phases;
    out->phase_count = session->phase_ended;
    session->notes = NULL;
    session->note_count = 0;
    session->points = NULL;
    session->checkpoints = NULL;
    session->phases = NULL;
    session->phase_ended = 0;
}
