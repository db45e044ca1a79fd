#include "result/heat.h"

#include "base/alloc.h"
#include "result/draft.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEADER                                                                        \
    "mapping,kind,offset_bytes,group_bytes,resident_pages,occupied_pages,free_pages," \
    "cached_pages,stuck_pages,startup_pages,base_pages,live_bytes,rounding_bytes"

static const size_t counters[] = {
    offsetof(struct fb_heat_row, resident_pages), offsetof(struct fb_heat_row, occupied_pages),
    offsetof(struct fb_heat_row, free_pages),     offsetof(struct fb_heat_row, cached_pages),
    offsetof(struct fb_heat_row, stuck_pages),    offsetof(struct fb_heat_row, startup_pages),
    offsetof(struct fb_heat_row, base_pages),     offsetof(struct fb_heat_row, live_bytes),
    offsetof(struct fb_heat_row, rounding_bytes),
};

void fb_heat_deinit(struct fb_heat *heat)
{
    free(heat->rows);
    *heat = (struct fb_heat){0};
}

static void put_row(FILE *file, const struct fb_heat *heat, const struct fb_heat_row *row)
{
    (void)fprintf(file, "%zu,%s,%" PRIu64 ",%" PRIu64, row->extent, fb_extent_names[row->kind],
                  row->offset_pages * heat->page_bytes, heat->group_pages * heat->page_bytes);
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        const void *at = (const char *)row + counters[i];
        (void)fprintf(file, ",%" PRIu64, *(const uint64_t *)at);
    }
    (void)fputc('\n', file);
}

static char *relative_path(const struct fb_cell *cell, const struct fb_checkpoint *checkpoint)
{
    char *name = fb_cell_file_name(cell->id);
    bool numbered = strcmp(checkpoint->kind, "phase_end") == 0;
    char *path = numbered
                     ? fb_format("heat/%s.%s.%d.csv", name, checkpoint->kind, checkpoint->phase)
                     : fb_format("heat/%s.%s.csv", name, checkpoint->kind);
    free(name);
    return path;
}

static int write_rows(const char *path, const struct fb_heat *heat, struct fb_error *err)
{
    struct fb_draft draft;
    if (fb_draft_open(&draft, path, err) != 0)
        return -1;
    (void)fprintf(draft.file, "%s\n", HEADER);
    for (size_t i = 0; i < heat->count; i++)
        put_row(draft.file, heat, &heat->rows[i]);
    return fb_draft_commit(&draft, err);
}

char *fb_store_write_heat(const char *dir, const struct fb_cell *cell,
                          const struct fb_checkpoint *checkpoint, const struct fb_heat *heat,
                          struct fb_error *err)
{
    char *folder = fb_format("%s/heat", dir);
    int result = mkdir(folder, 0777) == 0 || errno == EEXIST
                     ? 0
                     : fb_fail_errno(err, "cannot make folder %s", folder);
    free(folder);
    if (result != 0)
        return NULL;
    char *relative = relative_path(cell, checkpoint);
    char *path = fb_format("%s/%s", dir, relative);
    result = write_rows(path, heat, err);
    free(path);
    if (result == 0)
        return relative;
    free(relative);
    return NULL;
}
