/* What happens when the worker rings: proof at READY, exact figures at CHECKPOINT. */
#include "harness/run.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "harness/complaint.h"
#include "harness/proc.h"
#include "harness/spec.h"
#include "harness/tunables.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const checkpoint_names[FB_CHECKPOINT_KIND_COUNT] = {
    [FB_CHECKPOINT_START] = "start",           [FB_CHECKPOINT_PEAK_LIVE] = "peak_live",
    [FB_CHECKPOINT_PHASE_END] = "phase_end",   [FB_CHECKPOINT_IDLE_0S] = "idle_0s",
    [FB_CHECKPOINT_IDLE_1S] = "idle_1s",       [FB_CHECKPOINT_IDLE_10S] = "idle_10s",
    [FB_CHECKPOINT_ACTIVE_10S] = "active_10s", [FB_CHECKPOINT_PURGED] = "purged",
};

static void answer(const struct fb_run *run, enum fb_answer what)
{
    const char byte = (char)what;
    /* Fails when the worker died: seen elsewhere. */
    (void)send(run->doorbell, &byte, 1, MSG_NOSIGNAL);
}

/* A string of the shared block, which need not be terminated. */
static char *text_of(const char *array, size_t size)
{
    return fb_format("%.*s", (int)strnlen(array, size), array);
}

static bool same_file(const char *a, const char *b)
{
    char *real_a = realpath(a, NULL), *real_b = realpath(b, NULL);
    bool same = strcmp(real_a != NULL ? real_a : a, real_b != NULL ? real_b : b) == 0;
    free(real_a);
    free(real_b);
    return same;
}

static bool is_libc(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash != NULL ? slash + 1 : path, "libc.so.6") == 0;
}

/* Whether the object at owner is the one that the contender is about. */
static bool is_expected(const struct fb_contender *contender, const char *owner)
{
    return contender->path != NULL ? same_file(owner, contender->path) : is_libc(owner);
}

static void prove_owner(struct fb_run *run)
{
    const struct fb_shared *shared = run->control.shared;
    const struct fb_contender *contender = run->request->contender;
    const char *expected = contender->path != NULL ? contender->path : "libc.so.6";
    char *free_owner = text_of(shared->free_owner, sizeof shared->free_owner);
    const char *why = fb_complaint_of_preload(run->text.text);
    if (!is_expected(contender, run->malloc_owner))
        fb_run_stop(run, FB_STATUS_NOT_PRELOADED,
                    fb_format("malloc is answered by %s, not by %s%s%s", run->malloc_owner,
                              expected, why != NULL ? ": " : "", why != NULL ? why : ""));
    else if (!same_file(free_owner, run->malloc_owner))
        fb_run_stop(
            run, FB_STATUS_NOT_PRELOADED,
            fb_format("malloc is answered by %s, but free by %s", run->malloc_owner, free_owner));
    free(free_owner);
}

/* "key=value\n…" into the run's effective settings. */
static void take_readback(struct fb_run *run)
{
    char *text = text_of(run->control.shared->readback, FB_READBACK_MAX);
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *assign = strchr(line, '=');
        if (assign == NULL)
            continue;
        *assign = '\0';
        fb_settings_add(&run->effective, &run->effective_count, line, assign + 1);
    }
    free(text);
}

static const char *asked_value(const struct fb_contender *contender, const char *key)
{
    for (size_t i = 0; i < contender->tunable_count; i++)
        if (strcmp(contender->tunables[i].key, key) == 0)
            return contender->tunables[i].value;
    return NULL;
}

/* NULL, or why the value that the allocator reports is not the one asked for. */
static char *compare(const struct fb_contender *contender, const struct fb_setting *read)
{
    const struct fb_tunable *tunable = fb_backend_tunable(contender->backend, read->key);
    const char *asked = asked_value(contender, read->key);
    if (tunable == NULL || asked == NULL)
        return NULL;
    if (strcmp(read->value, "!missing") == 0)
        return fb_format("%s %s does not know \"%s\"", contender->backend->name, contender->version,
                         read->key);
    char *fault = NULL;
    char *set = fb_tunable_value(contender->backend, tunable, asked, &fault);
    char *text = NULL;
    if (set != NULL && !fb_tunable_agrees(tunable, set, read->value))
        text = fb_format("%s=%s did not take: the allocator reports %s", read->key, asked,
                         read->value);
    free(set);
    free(fault);
    return text;
}

static void prove_tunables(struct fb_run *run)
{
    const char *complaint = fb_complaint_of_tunable(run->text.text);
    if (complaint != NULL && run->request->contender->tunable_count > 0) {
        fb_run_stop(run, FB_STATUS_BAD_TUNABLE, fb_strdup(complaint));
        return;
    }
    for (size_t i = 0; i < run->effective_count; i++) {
        char *fault = compare(run->request->contender, &run->effective[i]);
        if (fault != NULL)
            fb_run_stop(run, FB_STATUS_BAD_TUNABLE, fault);
    }
}

void fb_run_prove(struct fb_run *run)
{
    const struct fb_contender *contender = run->request->contender;
    const struct fb_shared *shared = run->control.shared;
    bool null = contender->backend != NULL && (contender->backend->flags & FB_BACKEND_NULL) != 0;
    if (run->output >= 0)
        fb_run_drain_output(run); /* ld.so and the allocator have said what they had to */
    run->malloc_owner = text_of(shared->malloc_owner, sizeof shared->malloc_owner);
    take_readback(run);
    if (!null)
        prove_owner(run);
    if (!run->stopped_by_us)
        prove_tunables(run);
}

/* The worker waits, so its sample can be put right: both then tell the same footprint. */
static void fill_from_sample(struct fb_run *run, const struct fb_bell *bell,
                             struct fb_checkpoint *checkpoint)
{
    if (bell->sample >= run->control.sample_capacity)
        return;
    char *base = (char *)run->control.shared + run->control.sample_offset;
    struct fb_sample *sample = (struct fb_sample *)(void *)base + bell->sample;
    sample->footprint_bytes = checkpoint->footprint_bytes;
    checkpoint->t_ns = sample->t_ns;
    checkpoint->live_bytes = sample->live_bytes;
    checkpoint->touched_bytes = sample->touched_bytes;
}

static void copy_stats(const struct fb_shared *shared, struct fb_checkpoint *checkpoint)
{
    size_t count = shared->stat_count < FB_STATS_MAX ? shared->stat_count : FB_STATS_MAX;
    if (count == 0)
        return;
    checkpoint->allocator = fb_alloc(count, sizeof *checkpoint->allocator);
    checkpoint->allocator_count = count;
    for (size_t i = 0; i < count; i++) {
        struct fb_counter *counter = &checkpoint->allocator[i];
        memcpy(counter->name, shared->stats[i].name, sizeof counter->name - 1);
        counter->value = shared->stats[i].value;
    }
}

int fb_run_checkpoint(struct fb_run *run, const struct fb_bell *bell, struct fb_error *err)
{
    struct fb_rollup rollup;
    struct fb_maps maps;
    if (bell->checkpoint >= FB_CHECKPOINT_KIND_COUNT)
        return 0;
    if (fb_proc_rollup(run->pid, &rollup, err) != 0 || fb_proc_maps(run->pid, &maps, err) != 0)
        return -1;
    struct fb_checkpoint checkpoint = {
        .phase = bell->checkpoint == FB_CHECKPOINT_START ? -1 : (int)bell->phase,
        /* R: the heap, swapped or not, and the libraries; not what the harness maps. */
        .rss_bytes =
            rollup.rss_bytes > maps.harness_bytes ? rollup.rss_bytes - maps.harness_bytes : 0,
        .footprint_bytes = rollup.anonymous_bytes + rollup.swap_bytes,
        .usable_bytes = bell->usable_bytes,
        .lazyfree_bytes = rollup.lazyfree_bytes,
        .huge_bytes = rollup.huge_bytes,
        .swap_bytes = rollup.swap_bytes,
        .mappings = maps.count,
    };
    strncpy(checkpoint.kind, checkpoint_names[bell->checkpoint], sizeof checkpoint.kind - 1);
    fill_from_sample(run, bell, &checkpoint);
    copy_stats(run->control.shared, &checkpoint);
    if (maps.count > run->mappings_max)
        run->mappings_max = maps.count;
    run->checkpoints =
        fb_realloc(run->checkpoints, run->checkpoint_count + 1, sizeof *run->checkpoints);
    run->checkpoints[run->checkpoint_count++] = checkpoint;
    return 0;
}

static void get_ready(struct fb_run *run)
{
    run->ready = true;
    fb_run_prove(run);
    if (run->stopped_by_us)
        return;
    run->ready_ns = fb_clock_now_ns();
    fb_run_start_timer(run);
    answer(run, FB_ANSWER_GO);
}

/* Whether the process has become a zombie or gone: its /proc files then fail by right. */
static bool is_gone(const struct fb_run *run)
{
    uint64_t held;
    return fb_proc_held(run->pid, &held, NULL) != 0;
}

static int serve(struct fb_run *run, const struct fb_bell *bell, struct fb_error *err)
{
    struct fb_error fault = {0};
    if (bell->kind == FB_BELL_READY && !run->ready)
        get_ready(run);
    if (bell->kind != FB_BELL_CHECKPOINT)
        return 0;
    enum fb_answer what = FB_ANSWER_GO;
    bool served = (bell->purged != 0 || fb_run_checkpoint(run, bell, &fault) == 0) &&
                  fb_run_explain(run, bell, &what, &fault) == 0;
    if (served)
        answer(run, what);
    else if (!is_gone(run))
        return fb_fail(err, fault.kind, "%s", fault.text);
    return 0;
}

int fb_run_answer(struct fb_run *run, struct fb_error *err)
{
    struct fb_bell bell;
    ssize_t got;
    while ((got = recv(run->doorbell, &bell, sizeof bell, 0)) == (ssize_t)sizeof bell)
        if (!run->stopped_by_us && serve(run, &bell, err) != 0)
            return -1;
    if (got == 0) {
        /* The worker's end is closed: poll would not sleep any more. */
        (void)close(run->doorbell);
        run->doorbell = -1;
    }
    return 0;
}
