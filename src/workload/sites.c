#include "workload/sites.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWNERS_FIRST 1024U

struct peak {
    uint64_t event; /* number, from 1 */
    uint64_t bytes;
    uint64_t time_ns;
};

/* By handle, of what is alive. */
struct owners {
    uint32_t *sites;
    size_t capacity;
};

static int find_peak(struct fb_recording *recording, struct peak *peak, struct fb_error *err)
{
    struct fb_recording_event event;
    uint64_t live = 0, number = 0;
    int more = 0;
    while ((more = fb_recording_next(recording, &event, err)) > 0) {
        number++;
        live += fb_recording_change(&event);
        if (live > peak->bytes)
            *peak = (struct peak){number, live, event.time_ns};
    }
    return more;
}

static void set_owner(struct owners *owners, uint32_t handle, uint32_t site)
{
    if (handle >= owners->capacity) {
        owners->capacity = (size_t)handle * 2;
        owners->sites = fb_realloc(owners->sites, owners->capacity, sizeof *owners->sites);
    }
    owners->sites[handle] = site;
}

static void count_event(struct fb_site_use *uses, struct owners *owners,
                        const struct fb_recording_event *event, bool up_to_peak)
{
    bool birth = event->kind < FB_RECORDING_REALLOC;
    if (birth)
        set_owner(owners, event->handle, event->site);
    struct fb_site_use *use = &uses[owners->sites[event->handle]];
    use->births += birth ? 1U : 0U;
    if (event->kind != FB_RECORDING_FREE && event->size > event->old_size)
        use->allocated_bytes += event->size - event->old_size;
    if (!up_to_peak)
        return;
    use->live_bytes += fb_recording_change(event);
    use->live_blocks += birth ? 1U : 0U;
    use->live_blocks -= event->kind == FB_RECORDING_FREE ? 1U : 0U;
}

static int count(struct fb_recording *recording, const struct peak *peak, struct fb_site_use *uses,
                 struct fb_error *err)
{
    struct fb_recording_event event;
    struct owners owners = {fb_alloc(OWNERS_FIRST, sizeof *owners.sites), OWNERS_FIRST};
    uint64_t number = 0;
    int more = 0;
    while ((more = fb_recording_next(recording, &event, err)) > 0) {
        number++;
        if (event.kind <= FB_RECORDING_FREE)
            count_event(uses, &owners, &event, number <= peak->event);
    }
    free(owners.sites);
    return more;
}

static int by_use(const void *left, const void *right)
{
    const struct fb_site_use *a = left;
    const struct fb_site_use *b = right;
    if (a->live_bytes != b->live_bytes)
        return a->live_bytes > b->live_bytes ? -1 : 1;
    if (a->allocated_bytes != b->allocated_bytes)
        return a->allocated_bytes > b->allocated_bytes ? -1 : 1;
    return a->site < b->site ? -1 : a->site > b->site;
}

static void take_used(struct fb_site_uses *out)
{
    size_t used = 0;
    for (size_t i = 0; i < out->count; i++)
        if (out->items[i].births > 0)
            out->items[used++] = out->items[i];
    out->count = used;
    out->items = fb_realloc(out->items, used > 0 ? used : 1, sizeof *out->items);
    qsort(out->items, used, sizeof *out->items, by_use);
}

int fb_site_uses(struct fb_recording *recording, struct fb_site_uses *out, struct fb_error *err)
{
    struct peak peak = {0};
    *out = (struct fb_site_uses){0};
    if (fb_recording_site_count(recording) == 0)
        return 0;
    struct fb_site_uses uses = {.count = FB_RECORDING_SITES_MAX};
    uses.items = fb_alloc(uses.count, sizeof *uses.items);
    for (uint32_t i = 0; i < FB_RECORDING_SITES_MAX; i++)
        uses.items[i] = (struct fb_site_use){.site = i};
    fb_recording_rewind(recording);
    int status = find_peak(recording, &peak, err);
    if (status == 0) {
        fb_recording_rewind(recording);
        status = count(recording, &peak, uses.items, err);
    }
    fb_recording_rewind(recording);
    if (status != 0) {
        free(uses.items);
        return -1;
    }
    take_used(&uses);
    uses.peak_bytes = peak.bytes;
    uses.peak_ns = peak.time_ns;
    *out = uses;
    return 0;
}

void fb_site_uses_deinit(struct fb_site_uses *uses)
{
    free(uses->items);
    *uses = (struct fb_site_uses){0};
}

size_t fb_site_function_length(const char *line, size_t length)
{
    for (size_t i = length; i-- > 0;)
        if (line[i] == ',' && i + 1 < length && line[i + 1] == ' ')
            return i;
    return length;
}

static bool is_library(const char *function)
{
    static const char *const beginnings[] = {"std::", "__gnu_cxx::", "operator new"};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (strncmp(function, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

const char *fb_site_program(const char *frames)
{
    const char *line = frames;
    while (is_library(line) && line[strcspn(line, "\n")] != '\0')
        line += strcspn(line, "\n") + 1;
    return is_library(line) ? frames : line;
}

void fb_site_function(const char *frames, char *out, size_t size)
{
    const char *line = fb_site_program(frames);
    (void)snprintf(out, size, "%.*s", (int)fb_site_function_length(line, strcspn(line, "\n")),
                   line);
}
