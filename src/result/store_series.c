#include "base/alloc.h"
#include "result/csv.h"
#include "result/draft.h"
#include "result/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HEADER "t_ns,footprint_bytes,live_bytes,touched_bytes,volume_bytes,iteration,phase,reason"

enum { NUMBERS = 6, PHASE = NUMBERS, REASON, FIELDS };

static const size_t numbers[NUMBERS] = {
    offsetof(struct fb_point, t_ns),         offsetof(struct fb_point, footprint_bytes),
    offsetof(struct fb_point, live_bytes),   offsetof(struct fb_point, touched_bytes),
    offsetof(struct fb_point, volume_bytes), offsetof(struct fb_point, iteration),
};

static void put_point(FILE *file, const struct fb_repetition *repetition,
                      const struct fb_point *point)
{
    bool named = point->phase < repetition->phase_count;
    bool known = point->reason < FB_POINT_REASON_COUNT;
    for (size_t i = 0; i < NUMBERS; i++) {
        const void *at = (const char *)point + numbers[i];
        (void)fprintf(file, "%" PRIu64 ",", *(const uint64_t *)at);
    }
    fb_csv_put(file, named ? repetition->phases[point->phase].name : "");
    (void)fprintf(file, ",%s\n", known ? fb_point_reasons[point->reason] : "");
}

int fb_store_write_series(const char *dir, const struct fb_cell *cell,
                          struct fb_repetition *repetition, struct fb_error *err)
{
    char *name = fb_cell_file_name(cell->id);
    char *relative = fb_format("series/%s.%u.csv", name, repetition->index);
    char *path = fb_format("%s/%s", dir, relative);
    struct fb_draft draft;
    int result = fb_draft_open(&draft, path, err);
    if (result == 0) {
        (void)fprintf(draft.file, "%s\n", HEADER);
        for (size_t i = 0; i < repetition->series.count; i++)
            put_point(draft.file, repetition, &repetition->series.points[i]);
        result = fb_draft_commit(&draft, err);
    }
    if (result == 0) {
        free(repetition->series_file);
        repetition->series_file = relative;
        relative = NULL;
    }
    free(path);
    free(relative);
    free(name);
    return result;
}

/* Where a fault is, and what is being read. */
struct reading {
    const char *path;
    size_t line;
    const struct fb_repetition *repetition;
    struct fb_error *err;
};

static int fail_at(const struct reading *reading, const char *what)
{
    return fb_fail(reading->err, FB_ERROR_INPUT, "%s:%zu: %s", reading->path, reading->line, what);
}

static int read_number(const char *text, uint64_t *out)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0)
        return -1;
    *out = value;
    return 0;
}

static int read_phase(const struct fb_repetition *repetition, const char *name, uint32_t *out)
{
    for (size_t i = 0; i < repetition->phase_count; i++) {
        if (strcmp(repetition->phases[i].name, name) == 0) {
            *out = (uint32_t)i;
            return 0;
        }
    }
    *out = UINT32_MAX; /* before the first phase */
    return name[0] == '\0' ? 0 : -1;
}

static int read_reason(const char *name, uint32_t *out)
{
    for (uint32_t i = 0; fb_point_reasons[i] != NULL; i++) {
        if (strcmp(fb_point_reasons[i], name) == 0) {
            *out = i;
            return 0;
        }
    }
    return -1;
}

static int read_point(const struct reading *reading, char *line, struct fb_point *point)
{
    char *fields[FIELDS];
    if (fb_csv_split(line, fields, FIELDS) != FIELDS)
        return fail_at(reading, "expected 8 fields: " HEADER);
    for (size_t i = 0; i < NUMBERS; i++) {
        uint64_t *number = (uint64_t *)(void *)((char *)point + numbers[i]);
        if (read_number(fields[i], number) != 0)
            return fail_at(reading, "expected a whole number in each of the first 6 fields");
    }
    if (read_phase(reading->repetition, fields[PHASE], &point->phase) != 0)
        return fail_at(reading, "the phase is none of this result's");
    if (read_reason(fields[REASON], &point->reason) != 0)
        return fail_at(reading, "unknown reason in the last field");
    return 0;
}

static struct fb_point *add_point(struct fb_series *series, size_t *capacity)
{
    if (series->count == *capacity) {
        *capacity = *capacity == 0 ? 256 : *capacity * 2;
        series->points = fb_realloc(series->points, *capacity, sizeof *series->points);
    }
    return &series->points[series->count++];
}

static int read_points(FILE *file, struct reading *reading, struct fb_series *series)
{
    char *line = NULL;
    size_t size = 0, capacity = 0;
    int result = 0;
    while (result == 0 && getline(&line, &size, file) > 0) {
        line[strcspn(line, "\r\n")] = '\0';
        reading->line++;
        if (reading->line > 1)
            result = read_point(reading, line, add_point(series, &capacity));
        else if (strcmp(line, HEADER) != 0)
            result = fail_at(reading, "no fragbench series: the first line should be " HEADER);
    }
    if (result == 0 && reading->line == 0)
        result = fail_at(reading, "the file is empty");
    if (result == 0 && ferror(file))
        result = fb_fail_errno(reading->err, "cannot read %s", reading->path);
    free(line);
    return result;
}

/* A result from elsewhere must not make us read files outside its folder. */
static bool stays_inside(const char *relative)
{
    return relative[0] != '/' && strstr(relative, "..") == NULL;
}

int fb_store_read_series(const char *dir, const struct fb_repetition *repetition,
                         struct fb_series *out, struct fb_error *err)
{
    if (repetition->series_file == NULL)
        return fb_fail(err, FB_ERROR_INPUT, "%s: repetition %u has no series", dir,
                       repetition->index);
    if (!stays_inside(repetition->series_file))
        return fb_fail(err, FB_ERROR_INPUT, "%s: series \"%s\" leads outside of the folder", dir,
                       repetition->series_file);
    char *path = fb_format("%s/%s", dir, repetition->series_file);
    struct reading reading = {path, 0, repetition, err};
    struct fb_series series = {0};
    int result = -1;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        (void)fb_fail_errno(err, "cannot read %s", path);
        goto out;
    }
    result = read_points(file, &reading, &series);
    (void)fclose(file);
    if (result == 0)
        *out = series;
    else
        free(series.points);
out:
    free(path);
    return result;
}
