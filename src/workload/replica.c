#include "workload/replica.h"

#include "base/alloc.h"
#include "base/sha256.h"
#include "base/units.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ITERATIONS_MAX 100U
#define ITERATION_LEAST_NS UINT64_C(10000000) /* coarser than the recorder's clock */
#define CLASSES_MAX 60000U
#define OWNERS_FIRST 1024U

/* What pass one keeps of an object that is alive, by handle. */
struct owner {
    uint64_t object;
    uint32_t thread;
    struct fb_recording_event birth;
};

struct survey {
    struct fb_replica *replica;
    struct owner *owners;
    size_t capacity;
};

static enum fb_call call_of(enum fb_recording_kind kind)
{
    static const enum fb_call calls[] = {
        [FB_RECORDING_MALLOC] = FB_CALL_MALLOC,
        [FB_RECORDING_CALLOC] = FB_CALL_CALLOC,
        [FB_RECORDING_REALLOC_NEW] = FB_CALL_REALLOC,
        [FB_RECORDING_ALIGNED] = FB_CALL_ALIGNED,
    };
    return calls[kind];
}

/* Ranges end at 64 B, 256 B, 1 KiB, … 64 TiB: by factors of four. */
static unsigned range_of(uint64_t size)
{
    unsigned range = 0;
    while (range < 20 && size > UINT64_C(64) << 2 * range)
        range++;
    return range;
}

/* "s12 load_weights: " as far as it leaves room for what follows; the number tells sites apart. */
static void name_site(const struct fb_replica *replica, uint32_t site, size_t room, char *out,
                      size_t size)
{
    char function[FB_NAME_MAX], number[16];
    *out = '\0';
    if (site == 0)
        return;
    (void)snprintf(number, sizeof number, "s%u", (unsigned)site);
    fb_site_function(fb_recording_site(replica->recording, site), function, sizeof function);
    size_t least = strlen(number) + 3; /* two blanks and a colon */
    if (*function != '\0' && room > least + 4)
        (void)snprintf(out, size, "%s %.*s: ", number, (int)(room - least), function);
    else
        (void)snprintf(out, size, "%s: ", number);
}

static void name_class(const struct fb_replica *replica, uint32_t site,
                       struct fb_trace_class *class, unsigned range, unsigned share)
{
    static const char *const calls[] = {"malloc", "calloc", "realloc", "aligned"};
    char to[16], align[24] = "", touched[24] = "", what[FB_NAME_MAX], where[FB_NAME_MAX];
    (void)fb_units_bytes(UINT64_C(64) << 2 * range, to, sizeof to);
    if (class->call == FB_CALL_ALIGNED)
        (void)snprintf(align, sizeof align, " %llu", (unsigned long long)class->align);
    if (share < FB_RECORDING_SHARES)
        (void)snprintf(touched, sizeof touched, ", %u/16 touched", share);
    /* At most 63 characters with the alignments that a recording may hold (below 2^47). */
    int length = snprintf(what, sizeof what, "%s%s to %s%s%s", calls[class->call], align, to,
                          touched, class->shared ? ", passed on" : "");
    size_t room = (size_t)length < sizeof what ? sizeof what - 1 - (size_t)length : 0;
    name_site(replica, site, room, where, sizeof where);
    size_t begin = (size_t)snprintf(class->name, sizeof class->name, "%s", where);
    (void)snprintf(class->name + begin, sizeof class->name - begin, "%s", what);
}

/* Allocators align to 16 anyway: less is plain malloc. */
static bool is_aligned(const struct fb_recording_event *birth)
{
    return birth->kind == FB_RECORDING_ALIGNED && birth->align_log2 > 4;
}

uint16_t fb_replica_class(struct fb_replica *replica, const struct fb_recording_event *birth)
{
    unsigned info = replica->objects[birth->object];
    unsigned share = info & FB_REPLICA_SHARE_MASK;
    unsigned range = range_of(birth->size);
    bool aligned = is_aligned(birth);
    enum fb_call call =
        birth->kind == FB_RECORDING_ALIGNED && !aligned ? FB_CALL_MALLOC : call_of(birth->kind);
    unsigned rank = replica->site_ranks != NULL ? replica->site_ranks[birth->site] : 0;
    uint64_t key = info | (uint64_t)range << 8 | (uint64_t)call << 16 |
                   (uint64_t)(aligned ? birth->align_log2 : 0U) << 24 | (uint64_t)rank << 32;
    uint64_t index = 0;
    if (fb_map_get(&replica->class_of, key, &index))
        return (uint16_t)index;
    if (replica->class_count == replica->class_capacity) {
        replica->class_capacity = replica->class_capacity * 2 + 64;
        replica->classes =
            fb_realloc(replica->classes, replica->class_capacity, sizeof *replica->classes);
    }
    struct fb_trace_class class = {.call = (uint8_t)call, .touch = FB_TOUCH_PAGES};
    class.shared = (info & FB_REPLICA_SHARED) != 0;
    class.align = aligned ? UINT64_C(1) << birth->align_log2 : 0;
    if (share < FB_RECORDING_SHARES) {
        class.touch = share == 0 ? FB_TOUCH_NONE : FB_TOUCH_SHARE;
        class.touch_share = (UINT64_C(1) << 32) / FB_RECORDING_SHARES * share;
    }
    name_class(replica, rank > 0 ? birth->site : 0, &class, range, share);
    replica->classes[replica->class_count] = class;
    fb_map_put(&replica->class_of, key, replica->class_count);
    return (uint16_t)replica->class_count++;
}

static void note_object(struct fb_replica *replica, uint64_t object)
{
    if (object == replica->object_capacity) {
        replica->object_capacity = replica->object_capacity * 2 + 4096;
        replica->objects =
            fb_realloc(replica->objects, replica->object_capacity, sizeof *replica->objects);
    }
    replica->objects[object] = FB_RECORDING_SHARES;
    replica->object_count = object + 1;
}

static void note_thread(struct fb_replica *replica, const struct fb_recording_event *event)
{
    if (event->thread >= replica->thread_count) {
        uint32_t count = event->thread + 1;
        replica->threads = fb_realloc(replica->threads, count, sizeof *replica->threads);
        memset(replica->threads + replica->thread_count, 0,
               (count - replica->thread_count) * sizeof *replica->threads);
        replica->thread_count = count;
    }
    struct fb_replica_thread *thread = &replica->threads[event->thread];
    thread->seen = true;
    thread->last_event = replica->event_count;
    thread->exited = thread->exited || event->kind == FB_RECORDING_EXIT;
}

static void note_birth(struct survey *survey, const struct fb_recording_event *event)
{
    struct fb_replica *replica = survey->replica;
    note_object(replica, event->object);
    if (event->handle >= replica->handle_count)
        replica->handle_count = event->handle + 1;
    if (replica->handle_count > survey->capacity) {
        survey->capacity = (size_t)replica->handle_count * 2;
        survey->owners = fb_realloc(survey->owners, survey->capacity, sizeof *survey->owners);
    }
    survey->owners[event->handle] = (struct owner){event->object, event->thread, *event};
}

static void note_use(struct survey *survey, const struct fb_recording_event *event)
{
    struct fb_replica *replica = survey->replica;
    struct owner *owner = &survey->owners[event->handle];
    uint8_t *info = &replica->objects[event->object];
    if (event->kind == FB_RECORDING_SHARE) {
        *info = (uint8_t)((*info & ~FB_REPLICA_SHARE_MASK) | event->share);
        return;
    }
    if (event->thread != owner->thread)
        *info |= FB_REPLICA_SHARED;
    if (event->kind == FB_RECORDING_REALLOC)
        owner->thread = event->thread;
    else
        (void)fb_replica_class(replica, &owner->birth);
}

/* Classes of those that live on, by handle; which handles are alive is told by who has them. */
static void note_survivors(struct survey *survey, const struct fb_map *alive)
{
    for (size_t i = 0; i < alive->capacity; i++)
        if (alive->entries[i].key != UINT64_MAX)
            (void)fb_replica_class(survey->replica, &survey->owners[alive->entries[i].value].birth);
}

static int refuse_counts(const struct fb_replica *replica, struct fb_error *err)
{
    uint64_t threads = 0;
    for (uint32_t i = 0; i < replica->thread_count; i++)
        threads += replica->threads[i].seen;
    if (threads > FB_REPLICA_THREADS_MAX)
        return fb_recording_fail(replica->recording, err,
                                 "more threads in all than the 65,535 that a trace holds; record "
                                 "for a shorter time (--for)");
    if (replica->class_count > CLASSES_MAX)
        return fb_recording_fail(replica->recording, err,
                                 "more kinds of objects than a trace holds; record for a shorter "
                                 "time (--for)");
    return 0;
}

static int survey_events(struct survey *survey, struct fb_map *alive, struct fb_error *err)
{
    struct fb_replica *replica = survey->replica;
    struct fb_recording_event event;
    int more = 0;
    while ((more = fb_recording_next(replica->recording, &event, err)) > 0) {
        /* Before a table is made as long as a hostile number says. */
        if (event.thread >= 16 * FB_REPLICA_THREADS_MAX)
            return fb_recording_fail(replica->recording, err, "an impossible thread number");
        note_thread(replica, &event);
        if (event.kind < FB_RECORDING_REALLOC) {
            note_birth(survey, &event);
            fb_map_put(alive, event.object, event.handle);
        } else if (event.kind != FB_RECORDING_EXIT) {
            note_use(survey, &event);
        }
        uint64_t handle = 0;
        if (event.kind == FB_RECORDING_FREE)
            (void)fb_map_take(alive, event.object, &handle);
        replica->duration_ns = event.time_ns;
        replica->event_count++;
    }
    if (more < 0)
        return -1;
    if (replica->event_count == 0)
        return fb_recording_fail(replica->recording, err, "it holds no calls");
    note_survivors(survey, alive);
    fb_recording_memories(replica->recording, &replica->memories);
    return refuse_counts(replica, err);
}

/* Those that held most at the peak. */
static int rank_sites(struct fb_replica *replica, struct fb_error *err)
{
    const struct fb_site_uses *uses = &replica->sites;
    if (fb_site_uses(replica->recording, &replica->sites, err) != 0)
        return -1;
    if (uses->count > 0)
        replica->site_ranks = fb_alloc(FB_RECORDING_SITES_MAX, sizeof *replica->site_ranks);
    uint8_t rank = 0;
    for (size_t i = 0; i < uses->count && rank < FB_REPLICA_SITES; i++)
        if (uses->items[i].site != 0 && uses->items[i].live_bytes > 0)
            replica->site_ranks[uses->items[i].site] = ++rank;
    return 0;
}

static int survey_all(struct fb_replica *replica, struct fb_error *err)
{
    if (rank_sites(replica, err) != 0)
        return -1;
    struct survey survey = {.replica = replica, .capacity = OWNERS_FIRST};
    survey.owners = fb_alloc(survey.capacity, sizeof *survey.owners);
    struct fb_map alive = {0};
    int status = survey_events(&survey, &alive, err);
    fb_map_deinit(&alive);
    free(survey.owners);
    uint64_t slices = replica->duration_ns / ITERATION_LEAST_NS;
    replica->iterations = slices < 1 ? 1 : slices < ITERATIONS_MAX ? slices : ITERATIONS_MAX;
    return status;
}

void fb_replica_free(struct fb_replica *replica)
{
    if (replica == NULL)
        return;
    fb_recording_close(replica->recording);
    fb_map_deinit(&replica->class_of);
    free(replica->objects);
    free(replica->threads);
    free(replica->classes);
    free(replica->site_ranks);
    fb_site_uses_deinit(&replica->sites);
    free(replica);
}

/* "out/service.fbt" → "service". */
static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    size_t length = strlen(base);
    if (length > 4 && strcmp(base + length - 4, ".fbt") == 0)
        length -= 4;
    return fb_format("%.*s", (int)(length < FB_NAME_MAX ? length : FB_NAME_MAX - 1), base);
}

static struct fb_workload *make_workload(const char *path, struct fb_replica *replica)
{
    struct fb_workload *workload = fb_alloc(1, sizeof *workload);
    workload->file = fb_strdup(path);
    workload->name = name_of(path);
    workload->description = fb_strdup("A recording of a program.");
    workload->source = fb_strdup("");
    workload->replica = replica;
    workload->phase_count = 1;
    workload->phases = fb_alloc(1, sizeof *workload->phases);
    struct fb_phase *phase = &workload->phases[0];
    (void)snprintf(phase->name, sizeof phase->name, "recorded");
    phase->has_iterations = true;
    phase->iterations = replica->iterations;
    return workload;
}

static int fault(const char *path, struct fb_diagnostics *diagnostics, const char *text)
{
    size_t prefix = strlen(path);
    free(diagnostics->file);
    diagnostics->file = fb_strdup(path);
    /* The reader's texts begin with the path, the rendering adds it. */
    if (strncmp(text, path, prefix) == 0 && strncmp(text + prefix, ": ", 2) == 0)
        text += prefix + 2;
    fb_diagnostics_add(diagnostics, 0, 0, 1, "recording", "%s", text);
    return -1;
}

int fb_replica_load(const char *path, size_t override_count, struct fb_workload **out,
                    struct fb_diagnostics *diagnostics)
{
    struct fb_error err = {0};
    if (override_count > 0)
        return fault(path, diagnostics, "a recording has no parameters; leave out -L");
    struct fb_replica *replica = fb_alloc(1, sizeof *replica);
    struct fb_workload *workload = NULL;
    replica->resting_slots = FB_REPLICA_RESTING;
    if (fb_recording_open(&replica->recording, path, &err) == 0 && survey_all(replica, &err) == 0) {
        workload = make_workload(path, replica);
        if (fb_sha256_file(path, workload->sha256, &err) == 0) {
            *out = workload;
            return 0;
        }
    }
    if (workload != NULL)
        fb_workload_free(workload);
    else
        fb_replica_free(replica);
    return fault(path, diagnostics, err.text);
}
