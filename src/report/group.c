#include "report/group.h"

#include "base/alloc.h"
#include "base/units.h"
#include "metrics/spread.h"
#include "report/origin.h"

#include <stdlib.h>
#include <string.h>

const char *fb_text_or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

static bool same(const char *a, const char *b)
{
    return strcmp(fb_text_or_empty(a), fb_text_or_empty(b)) == 0;
}

static bool same_params(const struct fb_cell *a, const struct fb_cell *b)
{
    if (a->workload.param_count != b->workload.param_count)
        return false;
    for (size_t i = 0; i < a->workload.param_count; i++)
        if (!same(a->workload.params[i].name, b->workload.params[i].name) ||
            !same(a->workload.params[i].value, b->workload.params[i].value))
            return false;
    return true;
}

static bool comparable(const struct fb_cell *a, const struct fb_cell *b)
{
    bool scales = a->workload.scale <= b->workload.scale && a->workload.scale >= b->workload.scale;
    return same(a->workload.name, b->workload.name) && same(a->workload.file, b->workload.file) &&
           same(a->clock, b->clock) && same(a->order, b->order) && scales &&
           a->workload.seed == b->workload.seed && same_params(a, b);
}

static struct fb_group *find_group(struct fb_groups *groups, const struct fb_cell *cell)
{
    for (size_t i = 0; i < groups->count; i++)
        if (comparable(&groups->items[i].cells[0], cell))
            return &groups->items[i];
    return &groups->items[groups->count++];
}

void fb_groups_init(struct fb_groups *groups, const struct fb_result *result)
{
    *groups = (struct fb_groups){.items = fb_alloc(result->cell_count, sizeof *groups->items)};
    for (size_t i = 0; i < result->cell_count; i++) {
        struct fb_group *group = find_group(groups, &result->cells[i]);
        group->cells = fb_realloc(group->cells, group->count + 1, sizeof *group->cells);
        group->cells[group->count++] = result->cells[i];
    }
    for (size_t i = 0; i < groups->count; i++)
        groups->items[i].times_apart = fb_origin_times_apart(result, &groups->items[i]);
}

void fb_groups_deinit(struct fb_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        free(groups->items[i].cells);
    free(groups->items);
    *groups = (struct fb_groups){0};
}

void fb_group_judge(const struct fb_group *group, struct fb_verdict *verdict)
{
    fb_verdict_init(verdict, group->cells, group->count);
    verdict->untimed = group->times_apart != NULL;
}

const struct fb_repetition *fb_cell_done(const struct fb_cell *cell)
{
    for (size_t i = 0; i < cell->repetition_count; i++)
        if (fb_status_done(cell->repetitions[i].status))
            return &cell->repetitions[i];
    return NULL;
}

bool fb_group_is_program(const struct fb_group *group)
{
    return fb_cell_is_program(&group->cells[0]);
}

void fb_group_title(const struct fb_group *group, struct fb_buf *out)
{
    const struct fb_cell *cell = &group->cells[0];
    fb_buf_adds(out, fb_text_or_empty(cell->workload.name));
    for (size_t i = 0; i < cell->workload.param_count; i++)
        fb_buf_addf(out, "%s%s=%s", i == 0 ? " (" : ", ", cell->workload.params[i].name,
                    fb_text_or_empty(cell->workload.params[i].value));
    if (cell->workload.param_count > 0)
        fb_buf_adds(out, ")");
}

void fb_group_facts(const struct fb_group *group, struct fb_buf *out)
{
    char calls[32], live[32];
    for (size_t i = 0; i < group->count; i++) {
        const struct fb_cell *cell = &group->cells[i];
        const struct fb_repetition *done = fb_cell_done(cell);
        const struct fb_summary *peak = &cell->summary[FB_METRIC_PEAK_LIVE_BYTES];
        if (cell->status != FB_STATUS_OK || done == NULL || peak->n == 0)
            continue;
        fb_buf_addf(out, "%s allocator calls, peak live %s, ",
                    fb_units_count(done->ops, calls, sizeof calls),
                    fb_units_bytes((uint64_t)peak->median, live, sizeof live));
        break;
    }
    if (fb_group_is_program(group)) {
        const char *driver = group->cells[0].workload.driver;
        fb_buf_addf(out, "%s%s%s", group->cells[0].workload.command,
                    driver != NULL ? "; driver: " : "", fb_text_or_empty(driver));
        return;
    }
    if (fb_cell_is_recording(&group->cells[0]))
        fb_buf_adds(out, "recorded");
    else
        fb_buf_addf(out, "seed %llu", (unsigned long long)group->cells[0].workload.seed);
    double scale = group->cells[0].workload.scale;
    if (scale > 0 && (scale < 1 || scale > 1))
        fb_buf_addf(out, ", scale %.4g", scale);
}

static const struct fb_cell *fullest(const struct fb_group *group)
{
    const struct fb_cell *fullest = &group->cells[0];
    for (size_t i = 1; i < group->count; i++)
        if (group->cells[i].repetition_count > fullest->repetition_count)
            fullest = &group->cells[i];
    return fullest;
}

static const struct {
    const char *one, *many;
} axis_names[FB_AXIS_COUNT] = {
    [FB_AXIS_LAYOUTS] = {"layout", "layouts"},
    [FB_AXIS_SEEDS] = {"seed", "seeds"},
    [FB_AXIS_REPEATS] = {"repeat", "repeats"},
};

unsigned fb_group_axes(const struct fb_group *group)
{
    struct fb_spread spread[FB_AXIS_COUNT];
    unsigned axes = 0;
    fb_spread_of(fullest(group), FB_METRIC_PEAK_FOOTPRINT_BYTES, spread);
    for (unsigned axis = 0; axis < FB_AXIS_COUNT; axis++)
        axes |= spread[axis].count > 1 ? 1U << axis : 0;
    return axes;
}

static const char *axes_text(unsigned axes)
{
    static const char *const texts[1U << FB_AXIS_COUNT] = {
        "runs",
        "layouts",
        "seeds",
        "layouts and seeds",
        "repeats",
        "layouts and repeats",
        "seeds and repeats",
        "layouts, seeds and repeats",
    };
    return texts[axes];
}

void fb_group_tie(const struct fb_group *group, const char *within, struct fb_buf *out)
{
    unsigned axes = fb_group_axes(group);
    fb_buf_addf(out, "within %s", within);
    if (axes != 0)
        fb_buf_addf(out, " or overlapping over the %s", axes_text(axes));
}

void fb_group_setup(const struct fb_group *group, struct fb_buf *out)
{
    const struct fb_cell *cell = fullest(group);
    if (fb_group_is_program(group)) {
        fb_buf_addf(out, "real time, %zu run%s each", cell->repetition_count,
                    cell->repetition_count == 1 ? "" : "s");
        return;
    }
    struct fb_spread spread[FB_AXIS_COUNT];
    size_t product = 1;
    fb_spread_of(cell, FB_METRIC_PEAK_LIVE_BYTES, spread);
    fb_buf_addf(out, "%s clock, %s order", fb_text_or_empty(cell->clock),
                fb_text_or_empty(cell->order));
    for (size_t axis = 0; axis < FB_AXIS_COUNT; axis++) {
        unsigned count = spread[axis].count;
        if (count > 1 || (count == 1 && axis == FB_AXIS_LAYOUTS))
            fb_buf_addf(out, "%s%u %s", axis == FB_AXIS_LAYOUTS ? ", " : " × ", count,
                        count == 1 ? axis_names[axis].one : axis_names[axis].many);
        product *= count;
    }
    unsigned done = cell->summary[FB_METRIC_PEAK_LIVE_BYTES].n;
    if (product != done) /* some failed, or were not reached */
        fb_buf_addf(out, ", %u runs each", done);
}

void fb_host_line(const struct fb_host *host, struct fb_buf *out)
{
    const char *kernel = fb_text_or_empty(host->kernel);
    const char *parts[] = {host->libc, host->machine};
    fb_buf_addf(out, "%u CPU%s, %s%s", host->cpus_online, host->cpus_online == 1 ? "" : "s",
                strncmp(kernel, "Linux", 5) == 0 ? "" : "Linux ", kernel);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i] != NULL && parts[i][0] != '\0')
            fb_buf_addf(out, ", %s", parts[i]);
}
