#include "commands/sites.h"

#include "base/buf.h"
#include "base/shell.h"
#include "base/units.h"
#include "commands/columns.h"

#include <stdio.h>
#include <string.h>

#define NUMBER_CHARS 48
#define CHAIN_FRAMES 6
#define CHAIN_CHARS 90
#define TEXT_CAP_BYTES ((size_t)1 << 16)

/* One of a recording's rows, in words. */
struct row {
    char site[NUMBER_CHARS], live[NUMBER_CHARS], share[NUMBER_CHARS], blocks[NUMBER_CHARS];
    char births[NUMBER_CHARS], allocated[NUMBER_CHARS];
};

static void fill(const struct fb_site_uses *uses, const struct fb_site_use *use, struct row *row)
{
    (void)snprintf(row->site, sizeof row->site, use->site != 0 ? "s%u" : "-", use->site);
    (void)fb_units_bytes(use->live_bytes, row->live, sizeof row->live);
    double share =
        uses->peak_bytes > 0 ? 100 * (double)use->live_bytes / (double)uses->peak_bytes : 0;
    (void)snprintf(row->share, sizeof row->share, "%.1f %%", share);
    (void)fb_units_count(use->live_blocks, row->blocks, sizeof row->blocks);
    (void)fb_units_count(use->births, row->births, sizeof row->births);
    (void)fb_units_bytes(use->allocated_bytes, row->allocated, sizeof row->allocated);
}

/* Frames in one line, from the second on without their places, a function that calls
 * itself once: "parse, request.c:120 < read_body < serve < …". */
static void add_chain(const char *frames, struct fb_buf *out)
{
    size_t begin = out->length, last_length = 0;
    const char *last = "";
    int shown = 0;
    for (size_t length = 0; *frames != '\0'; frames += length + (frames[length] != '\0')) {
        length = strcspn(frames, "\n");
        size_t function = fb_site_function_length(frames, length);
        if (shown > 0 && function == last_length && strncmp(frames, last, function) == 0)
            continue;
        if (shown == CHAIN_FRAMES || (shown > 0 && out->length - begin + function > CHAIN_CHARS)) {
            fb_buf_adds(out, " < …");
            return;
        }
        fb_buf_addf(out, "%s%.*s", shown > 0 ? " < " : "", (int)(shown > 0 ? function : length),
                    frames);
        last = frames;
        last_length = function;
        shown++;
        if (function == strlen("main") && strncmp(frames, "main", function) == 0)
            return; /* what calls that is libc's */
    }
}

static const char *frames_of(const struct fb_recording *recording, uint32_t site)
{
    const char *frames = fb_recording_site(recording, site);
    return *frames != '\0' ? frames : "(not known)";
}

static void print_lines(const struct fb_recording *recording, const struct fb_site_uses *uses,
                        size_t count)
{
    struct fb_columns columns;
    fb_columns_init(&columns, "lrrrrrl");
    fb_columns_add(&columns, (const char *const[]){"site", "at the peak", "share", "blocks",
                                                   "births", "allocated", "asked for by"});
    for (size_t i = 0; i < count; i++) {
        struct row row;
        struct fb_buf chain;
        fb_buf_init(&chain, TEXT_CAP_BYTES);
        fill(uses, &uses->items[i], &row);
        add_chain(fb_site_program(frames_of(recording, uses->items[i].site)), &chain);
        fb_columns_add(&columns, (const char *const[]){row.site, row.live, row.share, row.blocks,
                                                       row.births, row.allocated, chain.text});
        fb_buf_deinit(&chain);
    }
    fb_columns_print(&columns, "  ", stdout);
    fb_columns_deinit(&columns);
}

static void print_next(const char *file)
{
    struct fb_buf command;
    fb_buf_init(&command, TEXT_CAP_BYTES);
    fb_buf_adds(&command, "fragbench check --sites ");
    fb_shell_add(&command, file);
    (void)printf("  With all their frames: %s\n", command.text);
    fb_buf_deinit(&command);
}

static void print_frames(const struct fb_recording *recording, const struct fb_site_uses *uses,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct row row;
        fill(uses, &uses->items[i], &row);
        (void)printf("  %s: %s (%s) in %s block%s at the peak; %s birth%s, %s in all\n", row.site,
                     row.live, row.share, row.blocks, uses->items[i].live_blocks == 1 ? "" : "s",
                     row.births, uses->items[i].births == 1 ? "" : "s", row.allocated);
        const char *frames = frames_of(recording, uses->items[i].site);
        while (*frames != '\0') {
            size_t length = strcspn(frames, "\n");
            (void)printf("      %.*s\n", (int)length, frames);
            frames += length + (frames[length] != '\0');
        }
    }
}

void fb_sites_print(const struct fb_recording *recording, const struct fb_site_uses *uses,
                    const struct fb_sites_view *view)
{
    size_t count = view->count < uses->count ? view->count : uses->count;
    char peak[NUMBER_CHARS], at[NUMBER_CHARS], sites[NUMBER_CHARS];
    if (count == 0)
        return;
    (void)printf("\ncall sites: %zu of %s, of the peak of %s at %s\n", count,
                 fb_units_count(uses->count, sites, sizeof sites),
                 fb_units_bytes(uses->peak_bytes, peak, sizeof peak),
                 fb_units_time(uses->peak_ns, at, sizeof at));
    if (view->frames) {
        print_frames(recording, uses, count);
        return;
    }
    print_lines(recording, uses, count);
    print_next(view->file);
}
