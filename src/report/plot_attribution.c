#include "report/plot_attribution.h"

#include "base/alloc.h"
#include "metrics/sentences.h"
#include "result/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 32

static const enum fb_plot_part places[FB_PART_COUNT] = {
    [FB_PART_LIVE] = FB_PLOT_PART_LIVE,   [FB_PART_ROUNDING] = FB_PLOT_PART_ROUNDING,
    [FB_PART_HOLES] = FB_PLOT_PART_HOLES, [FB_PART_CACHED] = FB_PLOT_PART_CACHED,
    [FB_PART_STUCK] = FB_PLOT_PART_STUCK, [FB_PART_STARTUP] = FB_PLOT_PART_STARTUP,
    [FB_PART_BASE] = FB_PLOT_PART_BASE,
};

static const char *phase_of(const struct fb_cell *cell, const struct fb_checkpoint *checkpoint)
{
    const struct fb_repetition *first = &cell->repetitions[0];
    bool known = checkpoint->phase >= 0 && (size_t)checkpoint->phase < first->phase_count;
    return known ? fb_text_or_empty(first->phases[checkpoint->phase].name) : "";
}

bool fb_plot_parts_find(const struct fb_cell *cell, enum fb_plot_moment moment,
                        struct fb_plot_parts *out)
{
    /* A cell that was stopped has checkpoints, too, but not those that the others are shown at. */
    if (!fb_status_done(cell->status))
        return false;
    const struct fb_checkpoint *found =
        moment == FB_PLOT_AT_PEAK ? fb_explained_peak(cell) : fb_explained_end(cell);
    if (found == NULL)
        return false;
    const struct fb_attribution *attribution = found->attribution;
    *out = (struct fb_plot_parts){
        .moment = moment, .phase = phase_of(cell, found), .heat = attribution->heat_file};
    for (int part = 0; part < FB_PART_COUNT; part++)
        out->bytes[places[part]] = (double)attribution->parts[part];
    if (!attribution->is_split)
        out->bytes[FB_PLOT_PART_FREE] = (double)attribution->free_bytes;
    for (int i = 0; i < FB_PLOT_PART_COUNT; i++)
        out->total_bytes += out->bytes[i];
    return true;
}

/* The columns that are read, by their names in the header; others may stand between them. */
enum column { MAPPING, OFFSET, GROUP, RESIDENT, STARTUP, BASE, LIVE, COLUMNS };
static const char *const column_names[COLUMNS] = {
    "mapping",       "offset_bytes", "group_bytes", "resident_pages",
    "startup_pages", "base_pages",   "live_bytes",
};

struct heat_file {
    FILE *file;
    const char *path;
    size_t line;
    int places[COLUMNS]; /* of the columns in a line */
    char **why;
};

static int fault(struct heat_file *heat, const char *what)
{
    *heat->why = fb_format("%s:%zu: %s", heat->path, heat->line, what);
    return -1;
}

static int read_header(struct heat_file *heat, char *line)
{
    char *fields[FIELDS_MAX];
    int count = fb_csv_split(line, fields, FIELDS_MAX);
    for (int column = 0; column < COLUMNS; column++) {
        heat->places[column] = -1;
        for (int i = 0; i < count; i++)
            if (strcmp(fields[i], column_names[column]) == 0)
                heat->places[column] = i;
        if (heat->places[column] < 0)
            return fault(heat, "no page map: a column of `fragbench run --explain` is not there");
    }
    return 0;
}

static int read_values(struct heat_file *heat, char *line, uint64_t values[COLUMNS])
{
    char *fields[FIELDS_MAX];
    int count = fb_csv_split(line, fields, FIELDS_MAX);
    for (int column = 0; column < COLUMNS; column++) {
        const char *text = heat->places[column] < count ? fields[heat->places[column]] : "";
        char *end = NULL;
        errno = 0;
        values[column] = strtoull(text, &end, 10);
        if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0)
            return fault(heat, "expected a whole number");
    }
    if (values[GROUP] == 0 || values[OFFSET] % values[GROUP] != 0)
        return fault(heat, "a group's place is no multiple of its size");
    return 0;
}

static void add_group(struct fb_plot_heat *out, size_t *capacity, const uint64_t values[COLUMNS])
{
    if (out->count == *capacity) {
        *capacity = *capacity == 0 ? 256 : *capacity * 2;
        out->groups = fb_realloc(out->groups, *capacity, sizeof *out->groups);
    }
    out->groups[out->count++] = (struct fb_plot_heat_group){
        .mapping = values[MAPPING],
        .offset_bytes = values[OFFSET],
        .group_bytes = values[GROUP],
        .resident_pages = (double)values[RESIDENT],
        .own_pages = (double)values[STARTUP] + (double)values[BASE],
        .live_bytes = (double)values[LIVE],
    };
}

static int read_lines(struct heat_file *heat, struct fb_plot_heat *out)
{
    char *line = NULL;
    size_t size = 0, capacity = 0;
    uint64_t values[COLUMNS];
    int status = 0;
    while (status == 0 && getline(&line, &size, heat->file) > 0) {
        line[strcspn(line, "\r\n")] = '\0';
        heat->line++;
        if (heat->line == 1)
            status = read_header(heat, line);
        else if ((status = read_values(heat, line, values)) == 0)
            add_group(out, &capacity, values);
    }
    if (status == 0 && out->count == 0)
        status = fault(heat, "the page map is empty");
    free(line);
    return status;
}

int fb_plot_heat_read(const char *dir, const char *file, struct fb_plot_heat *out, char **why)
{
    /* A result from elsewhere must not make us read files outside its folder. */
    if (file[0] == '/' || strstr(file, "..") != NULL) {
        *why = fb_format("the page map \"%s\" leads outside of %s", file, dir);
        return -1;
    }
    char *path = fb_format("%s/%s", dir, file);
    struct heat_file heat = {.file = fopen(path, "re"), .path = path, .why = why};
    struct fb_plot_heat read = {0};
    int status = -1;
    if (heat.file == NULL) {
        *why = fb_format("cannot read %s: %s", path, strerror(errno));
    } else {
        status = read_lines(&heat, &read);
        (void)fclose(heat.file);
    }
    if (status == 0)
        *out = read;
    else
        fb_plot_heat_deinit(&read);
    free(path);
    return status;
}

void fb_plot_heat_deinit(struct fb_plot_heat *heat)
{
    free(heat->groups);
    *heat = (struct fb_plot_heat){0};
}

void fb_plot_heat_join(struct fb_plot_heat *heat, uint64_t group_bytes)
{
    size_t kept = 0;
    for (size_t i = 0; i < heat->count; i++) {
        struct fb_plot_heat_group group = heat->groups[i];
        if (group.group_bytes < group_bytes) {
            group.offset_bytes -= group.offset_bytes % group_bytes;
            group.group_bytes = group_bytes;
        }
        struct fb_plot_heat_group *last = kept > 0 ? &heat->groups[kept - 1] : NULL;
        if (last == NULL || last->mapping != group.mapping ||
            last->offset_bytes != group.offset_bytes) {
            heat->groups[kept++] = group;
            continue;
        }
        last->resident_pages += group.resident_pages;
        last->own_pages += group.own_pages;
        last->live_bytes += group.live_bytes;
    }
    heat->count = kept;
}
