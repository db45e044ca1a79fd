/* Memory against time: one workload in its own units, and all workloads over the best of each. */
#include "base/alloc.h"
#include "report/plot_make.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LACK "no time was measured; run without --no-timing"
#define LOG_FROM 4.0 /* a spread of times from which the axis is logarithmic */

static const struct fb_summary *memory_of(const struct fb_cell *cell)
{
    return &cell->summary[FB_METRIC_PEAK_FOOTPRINT_BYTES];
}

/* The time of a replay is that of its calls; a program's is what it takes for its work. */
static const struct clock {
    enum fb_metric metric;
    double per_second; /* the metric's unit */
    const char *axis, *legend, *caption;
} replay_clock = {FB_METRIC_NS_PER_OP, 1e9,
                  "time of an allocator call, writing to its memory included", " a call",
                  "Time is of a pass of its own, in real time. "},
  program_clock = {FB_METRIC_WALL_S, 1, "wall time of the work", "", ""};

static const struct clock *clock_of(const struct fb_cell *cell)
{
    return fb_cell_is_program(cell) ? &program_clock : &replay_clock;
}

static const struct fb_summary *time_of(const struct fb_cell *cell)
{
    return &cell->summary[clock_of(cell)->metric];
}

/* Equal work, and both values: a contender that refused some is not on the same scale. */
static bool is_ranked(const struct fb_cell *cell)
{
    return cell->status == FB_STATUS_OK && memory_of(cell)->n > 0 && memory_of(cell)->median > 0 &&
           time_of(cell)->n > 0 && time_of(cell)->median > 0 &&
           strcmp(fb_text_or_empty(cell->allocator.name), "null") != 0;
}

static bool has_both(const struct fb_plot_view *view, size_t cell)
{
    return is_ranked(&view->group->cells[cell]);
}

struct range {
    double x_low, x_high, y_high;
};

static struct range find_range(const struct fb_plot_view *view)
{
    struct range range = {INFINITY, 0, 0};
    for (size_t i = 0; i < view->cell_count; i++) {
        const struct fb_cell *cell = &view->group->cells[view->cells[i]];
        range.x_low =
            fmin(range.x_low, time_of(cell)->min > 0 ? time_of(cell)->min : time_of(cell)->median);
        range.x_high = fmax(range.x_high, time_of(cell)->max);
        range.y_high = fmax(range.y_high, memory_of(cell)->max);
    }
    return range;
}

/* "front": the contenders that no other beats in both, by time. */
static void put_front(const struct fb_plot_view *view, double x_base, double y_base,
                      struct fb_buf *data)
{
    double reached = -1;
    fb_plot_dataset(data, "front");
    for (;;) {
        const struct fb_cell *next = NULL;
        for (size_t i = 0; i < view->cell_count; i++) {
            const struct fb_cell *cell = &view->group->cells[view->cells[i]];
            if (time_of(cell)->median <= reached)
                continue;
            if (next == NULL || time_of(cell)->median < time_of(next)->median ||
                (time_of(cell)->median <= time_of(next)->median &&
                 memory_of(cell)->median < memory_of(next)->median))
                next = cell;
        }
        if (next == NULL)
            return;
        reached = time_of(next)->median;
        bool beaten = false;
        for (size_t i = 0; i < view->cell_count; i++) {
            const struct fb_cell *cell = &view->group->cells[view->cells[i]];
            beaten = beaten || (time_of(cell)->median < reached &&
                                memory_of(cell)->median <= memory_of(next)->median);
        }
        if (!beaten)
            fb_plot_point(data, reached / x_base, memory_of(next)->median / y_base);
    }
}

/* "points": time, memory, their lowest and highest values, number of the line. */
static void put_points(const struct fb_plot_view *view, double x_base, double y_base,
                       struct fb_buf *data)
{
    fb_plot_dataset(data, "points");
    for (size_t i = 0; i < view->cell_count; i++) {
        const struct fb_summary *time = time_of(&view->group->cells[view->cells[i]]);
        const struct fb_summary *memory = memory_of(&view->group->cells[view->cells[i]]);
        fb_buf_addf(data, "%.6g\t%.6g\t%.6g\t%.6g\t%.6g\t%.6g\t%zu\n", time->median / x_base,
                    memory->median / y_base, time->min / x_base, time->max / x_base,
                    memory->min / y_base, memory->max / y_base, i + 1);
    }
}

static void put_legend(const struct fb_plot_view *view, struct fb_buf *data)
{
    char memory[40], time[40];
    fb_plot_dataset(data, "lines");
    for (size_t i = 0; i < view->cell_count; i++) {
        const struct fb_cell *cell = &view->group->cells[view->cells[i]];
        const struct clock *clock = clock_of(cell);
        char *numbers = fb_format(
            "%s, %s%s",
            fb_plot_value(FB_METRIC_PEAK_FOOTPRINT_BYTES, memory_of(cell)->median, memory,
                          sizeof memory),
            fb_plot_value(clock->metric, time_of(cell)->median, time, sizeof time), clock->legend);
        size_t fits = fb_plot_fit((double)view->request->width - 110);
        size_t taken = fb_plot_length(numbers);
        char *name = fb_plot_cut(fb_text_or_empty(cell->allocator.name),
                                 fits > taken + 12 ? fits - taken : 12);
        char *legend = fb_format("%s: %s", name, numbers);
        fb_plot_line(data, i + 1, &view->strokes[view->cells[i]], legend);
        free(legend);
        free(name);
        free(numbers);
    }
}

static void draw_one(const struct fb_plot_view *view, struct fb_pictures *out)
{
    struct range range = find_range(view);
    struct fb_plot_unit bytes = fb_plot_unit_of_bytes(range.y_high);
    const struct clock *clock = clock_of(&view->group->cells[view->cells[0]]);
    struct fb_plot_unit time = fb_plot_unit_of_time(range.x_high / clock->per_second);
    double x_base = time.base * clock->per_second;
    bool log = range.x_high / range.x_low > LOG_FROM;
    struct fb_plot_frame frame;
    struct fb_buf title;
    fb_plot_frame_init(&frame, view->request->width);
    fb_buf_init(&title, FB_PLOT_DATA_CAP_BYTES);
    fb_plot_title(view, "Memory against time", &title);
    fb_plot_subtitle(view, &frame.subtitle);
    char *x_label = fb_format("%s (%s)", clock->axis, time.name);
    char *y_label = fb_format("peak RSS, anonymous (%s)", bytes.name);
    frame.title = title.text;
    frame.x_label = x_label;
    frame.y_label = y_label;
    frame.legend_rows = (unsigned)view->cell_count;
    fb_buf_adds(&frame.caption,
                "Down and to the left is better; the line joins those that none beats in both. "
                "Bars: lowest to highest run. ");
    fb_buf_adds(&frame.caption, clock->caption);
    fb_plot_caption(view, has_both, false, &frame.caption);
    struct fb_picture *picture =
        fb_pictures_add(out, "pareto", view->group, view->page, fb_strdup(title.text));
    const double extra[] = {log ? range.x_low / x_base * 0.8 : 0,
                            range.x_high / x_base * (log ? 1.25 : 1.08),
                            0,
                            range.y_high / bytes.base * 1.1,
                            (double)view->cell_count,
                            log,
                            0};
    fb_plot_frame_put(&frame, extra, sizeof extra / sizeof extra[0], &picture->data);
    put_legend(view, &picture->data);
    put_points(view, x_base, bytes.base, &picture->data);
    put_front(view, x_base, bytes.base, &picture->data);
    free(x_label);
    free(y_label);
    fb_buf_deinit(&title);
    fb_plot_frame_deinit(&frame);
}

/* One contender over all workloads. */
struct total {
    const struct fb_cell *cell; /* the first, for its name and look */
    double log_x, log_y;        /* sums over the workloads that all contenders did */
    struct fb_buf points;
};

struct totals {
    struct total *items;
    size_t count;
    size_t workloads, common; /* with a point; with a point of every contender */
    size_t replays;           /* of the workloads; the others are programs */
    struct range range;
};

static struct total *find_total(struct totals *totals, const struct fb_cell *cell)
{
    for (size_t i = 0; i < totals->count; i++)
        if (strcmp(fb_text_or_empty(totals->items[i].cell->allocator.name),
                   fb_text_or_empty(cell->allocator.name)) == 0)
            return &totals->items[i];
    if (totals->count == FB_PLOT_PAGE)
        return NULL;
    totals->items = fb_realloc(totals->items, totals->count + 1, sizeof *totals->items);
    struct total *total = &totals->items[totals->count++];
    *total = (struct total){.cell = cell};
    fb_buf_init(&total->points, FB_PLOT_DATA_CAP_BYTES);
    return total;
}

/* The best time and memory of a group; false when fewer than two are ranked: nothing to relate. */
static bool find_best(const struct fb_group *group, double *time, double *memory, size_t *ranked)
{
    *time = *memory = INFINITY;
    *ranked = 0;
    for (size_t i = 0; i < group->count; i++) {
        if (!is_ranked(&group->cells[i]))
            continue;
        *time = fmin(*time, time_of(&group->cells[i])->median);
        *memory = fmin(*memory, memory_of(&group->cells[i])->median);
        ++*ranked;
    }
    return *ranked >= 2;
}

static void add_group(struct totals *totals, const struct fb_group *group, bool common)
{
    double best_time, best_memory;
    size_t ranked;
    (void)find_best(group, &best_time, &best_memory, &ranked);
    for (size_t i = 0; i < group->count; i++) {
        const struct fb_cell *cell = &group->cells[i];
        struct total *total = is_ranked(cell) ? find_total(totals, cell) : NULL;
        if (total == NULL)
            continue;
        double x = time_of(cell)->median / best_time, y = memory_of(cell)->median / best_memory;
        totals->range.x_high = fmax(totals->range.x_high, x);
        totals->range.y_high = fmax(totals->range.y_high, y);
        total->log_x += common ? log(x) : 0;
        total->log_y += common ? log(y) : 0;
        fb_plot_number(&total->points, x);
        fb_buf_adds(&total->points, "\t");
        fb_plot_number(&total->points, y);
        fb_buf_adds(&total->points, "\n");
    }
    totals->workloads++;
    totals->replays += clock_of(&group->cells[0]) == &replay_clock;
    totals->common += common;
}

/* Twice over the groups: the contenders must be known before a group has them all. */
static void collect(const struct fb_plot_request *request, struct totals *totals)
{
    double time, memory;
    size_t ranked;
    for (int pass = 0; pass < 2; pass++)
        for (size_t s = 0; s < request->source_count; s++)
            for (size_t g = 0; g < request->sources[s].groups.count; g++) {
                const struct fb_group *group = &request->sources[s].groups.items[g];
                if (!find_best(group, &time, &memory, &ranked))
                    continue;
                for (size_t i = 0; i < group->count && pass == 0; i++)
                    if (is_ranked(&group->cells[i]))
                        (void)find_total(totals, &group->cells[i]);
                if (pass == 1)
                    add_group(totals, group, ranked >= totals->count);
            }
}

static void put_totals(const struct totals *totals, struct fb_buf *data)
{
    struct fb_cell cells[FB_PLOT_PAGE];
    struct fb_stroke strokes[FB_PLOT_PAGE];
    for (size_t i = 0; i < totals->count; i++)
        cells[i] = *totals->items[i].cell;
    fb_palette_assign(cells, totals->count, strokes);
    double over = totals->common > 0 ? (double)totals->common : NAN;
    fb_plot_dataset(data, "lines");
    for (size_t i = 0; i < totals->count; i++) {
        const struct total *total = &totals->items[i];
        char *name = fb_plot_cut(fb_text_or_empty(cells[i].allocator.name), 40);
        char *legend = fb_format("%s: %.2f × the least memory, %.2f × the least time", name,
                                 exp(total->log_y / over), exp(total->log_x / over));
        fb_plot_line(data, i + 1, &strokes[i], legend);
        free(legend);
        free(name);
    }
    fb_plot_dataset(data, "means");
    for (size_t i = 0; i < totals->count; i++)
        fb_buf_addf(data, "%.6g\t%.6g\t%zu\n", exp(totals->items[i].log_x / over),
                    exp(totals->items[i].log_y / over), i + 1);
    for (size_t i = 0; i < totals->count; i++) {
        char *name = fb_format("points %zu", i + 1);
        fb_plot_dataset(data, name);
        fb_buf_adds(data, totals->items[i].points.text);
        free(name);
    }
}

static void put_all(const struct fb_plot_request *request, const struct totals *totals,
                    struct fb_pictures *out)
{
    struct fb_plot_frame frame;
    fb_plot_frame_init(&frame, request->width);
    frame.title = "Memory against time, all workloads";
    frame.x_label = totals->replays == totals->workloads
                        ? "time of an allocator call over the fastest of the workload (logarithmic)"
                        : "time over the fastest of the program or workload (logarithmic)";
    frame.y_label = "peak RSS over the least (logarithmic)";
    frame.legend_rows = (unsigned)totals->count;
    frame.plot_px = request->width / 2;
    fb_host_line(&request->sources[0].result->host, &frame.subtitle);
    fb_buf_addf(
        &frame.caption,
        "A small mark is one of %zu workloads; a large one and its numbers are the geometric "
        "mean over the %zu that all of these did. Down and to the left is better. %s",
        totals->workloads, totals->common,
        totals->replays == totals->workloads ? replay_clock.caption : "");
    struct fb_picture *picture = fb_pictures_add(out, "pareto", NULL, 1, fb_strdup(frame.title));
    const double extra[] = {0.94,
                            totals->range.x_high * 1.15,
                            0.94,
                            totals->range.y_high * 1.15,
                            (double)totals->count,
                            1,
                            1};
    fb_plot_frame_put(&frame, extra, sizeof extra / sizeof extra[0], &picture->data);
    put_totals(totals, &picture->data);
    fb_plot_frame_deinit(&frame);
}

void fb_plot_pareto(const struct fb_plot_request *request, struct fb_pictures *out)
{
    struct totals totals = {0};
    fb_plot_each(request, "pareto", LACK, has_both, draw_one, out);
    collect(request, &totals);
    if (totals.workloads > 1)
        put_all(request, &totals, out);
    for (size_t i = 0; i < totals.count; i++)
        fb_buf_deinit(&totals.items[i].points);
    free(totals.items);
}
