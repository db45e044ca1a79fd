/* A result against an older one: what changed, cell by cell, with the band that does not count. */
#include "base/alloc.h"
#include "report/plot_make.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 50U
#define ROW_PX 20U
#define CLOSE_RELATIVE 1e-12 /* of no change at all */

/* A cell that both results have. */
struct pair {
    const struct fb_cell *before, *after;
    double change, low, high; /* relative: 0.05 = 5 % more */
};

struct pairs {
    const struct fb_plot_request *request;
    enum fb_metric metric;
    struct pair *items;
    size_t count;
    const char *workload;                    /* of all pairs; NULL: there are several */
    size_t only_before, only_after, without; /* cells on one side; without a value to divide by */
};

static const struct fb_cell *find(const struct fb_result *result, const char *id)
{
    for (size_t i = 0; i < result->cell_count; i++)
        if (strcmp(fb_text_or_empty(result->cells[i].id), id) == 0)
            return &result->cells[i];
    return NULL;
}

static void add_pair(struct pairs *pairs, const struct fb_cell *before, const struct fb_cell *after)
{
    const struct fb_summary *old = &before->summary[pairs->metric];
    const struct fb_summary *new = &after->summary[pairs->metric];
    if (old->n == 0 || new->n == 0 || !(old->median > 0)) {
        pairs->without++;
        return;
    }
    pairs->items = fb_realloc(pairs->items, pairs->count + 1, sizeof *pairs->items);
    pairs->items[pairs->count++] = (struct pair){
        .before = before,
        .after = after,
        .change = (new->median - old->median) / old->median,
        .low = (new->min - old->max) / old->median,
        .high = (new->max - old->min) / old->median,
    };
}

static void collect(struct pairs *pairs)
{
    const struct fb_plot_request *request = pairs->request;
    size_t matched = 0;
    for (size_t s = 0; s < request->source_count; s++)
        for (size_t i = 0; i < request->sources[s].result->cell_count; i++) {
            const struct fb_cell *after = &request->sources[s].result->cells[i];
            const struct fb_cell *before = find(request->base, fb_text_or_empty(after->id));
            if (before == NULL) {
                pairs->only_after++;
                continue;
            }
            matched++;
            add_pair(pairs, before, after);
        }
    pairs->only_before =
        request->base->cell_count > matched ? request->base->cell_count - matched : 0;
}

static void find_workload(struct pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        const char *name = fb_text_or_empty(pairs->items[i].after->workload.name);
        if (i > 0 && strcmp(pairs->workload, name) != 0) {
            pairs->workload = NULL;
            return;
        }
        pairs->workload = name;
    }
}

static double reach(const struct pairs *pairs)
{
    double most = pairs->request->threshold * 1.5;
    for (size_t i = 0; i < pairs->count; i++)
        most = fmax(most, fmax(fabs(pairs->items[i].change),
                               fmax(fabs(pairs->items[i].low), fabs(pairs->items[i].high))));
    return fmax(most, 0.01) * 1.08;
}

/* Grey within the band, vermilion for worse, blue for better; a metric without a direction is grey.
 */
static unsigned colour_of(const struct pairs *pairs, const struct pair *pair)
{
    bool judged = fb_metrics[pairs->metric].better == FB_BETTER_LOWER;
    if (!judged || fabs(pair->change) <= pairs->request->threshold)
        return 0x6a6a6a;
    return pair->change > 0 ? 0xd55e00 : 0x0072b2;
}

/* The cell's id; without the workload where all cells are of one. */
static const char *label_of(const struct pairs *pairs, const struct pair *pair)
{
    const char *id = fb_text_or_empty(pair->after->id);
    const char *slash = strchr(id, '/');
    return pairs->workload != NULL && slash != NULL ? slash + 1 : id;
}

static void put_row(const struct pairs *pairs, const struct pair *pair, size_t row, size_t fits,
                    struct fb_buf *data)
{
    char before[40], after[40];
    char *label = fb_plot_cut(label_of(pairs, pair), fits);
    bool none = fabs(pair->change) < CLOSE_RELATIVE;
    char *numbers =
        fb_format("%s%.1f %%: %s → %s",
                  none               ? ""
                  : pair->change < 0 ? "−"
                                     : "+",
                  fabs(pair->change) * 100,
                  fb_plot_value(pairs->metric, pair->before->summary[pairs->metric].median, before,
                                sizeof before),
                  fb_plot_value(pairs->metric, pair->after->summary[pairs->metric].median, after,
                                sizeof after));
    fb_buf_addf(data, "%zu\t%.6g\t%.6g\t%.6g\t%u\t", row, pair->change * 100, pair->low * 100,
                pair->high * 100, colour_of(pairs, pair));
    fb_plot_field(data, label);
    fb_buf_adds(data, "\t");
    fb_plot_field(data, numbers);
    fb_buf_adds(data, "\n");
    free(numbers);
    free(label);
}

static void add_count(struct fb_buf *caption, size_t count, const char *what)
{
    if (count > 0)
        fb_buf_addf(caption, "%zu cell%s %s. ", count, count == 1 ? " is" : "s are", what);
}

static void put_caption(const struct pairs *pairs, struct fb_buf *caption)
{
    fb_buf_addf(
        caption,
        "The band is ±%.3g %%. Bars: from the lowest of one side to the highest of the other. ",
        pairs->request->threshold * 100);
    if (fb_metrics[pairs->metric].better == FB_BETTER_LOWER)
        fb_buf_adds(caption, "More is worse. ");
    add_count(caption, pairs->only_before, "only in the base");
    add_count(caption, pairs->only_after, "not in the base");
    add_count(caption, pairs->without, "without a value above 0 to compare");
}

static unsigned left_px(const struct pairs *pairs, unsigned width)
{
    size_t longest = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        size_t length = fb_plot_length(label_of(pairs, &pairs->items[i]));
        longest = length > longest ? length : longest;
    }
    return (unsigned)fmin(7.4 * (double)longest + 30, width * 0.45);
}

static void put_page(const struct pairs *pairs, size_t from, unsigned page, unsigned pages,
                     struct fb_pictures *out)
{
    size_t rows = pairs->count - from < ROWS_MAX ? pairs->count - from : ROWS_MAX;
    const struct fb_metric_info *metric = &fb_metrics[pairs->metric];
    struct fb_plot_frame frame;
    fb_plot_frame_init(&frame, pairs->request->width);
    char *title = fb_format("Change of %s (%s)%s%s", metric->title, metric->name,
                            pairs->workload != NULL ? ": " : "", fb_text_or_empty(pairs->workload));
    frame.title = title;
    frame.x_label = "change against the base (%)";
    frame.left_px = left_px(pairs, frame.width);
    frame.right_px = 196;
    frame.plot_px = (unsigned)rows * ROW_PX + 10;
    fb_buf_addf(&frame.subtitle, "base: %s", fb_text_or_empty(pairs->request->base_name));
    if (pages > 1)
        fb_buf_addf(&frame.subtitle, "; picture %u of %u", page, pages);
    put_caption(pairs, &frame.caption);
    struct fb_picture *picture = fb_pictures_add(out, "change", NULL, page, fb_strdup(title));
    const double extra[] = {reach(pairs) * 100, pairs->request->threshold * 100, (double)rows};
    fb_plot_frame_put(&frame, extra, sizeof extra / sizeof extra[0], &picture->data);
    fb_plot_dataset(&picture->data, "rows");
    for (size_t i = 0; i < rows; i++)
        put_row(pairs, &pairs->items[from + i], i + 1, fb_plot_fit((double)frame.left_px - 24),
                &picture->data);
    free(title);
    fb_plot_frame_deinit(&frame);
}

void fb_plot_change(const struct fb_plot_request *request, struct fb_pictures *out)
{
    struct pairs pairs = {.request = request, .metric = request->metric};
    if (request->metric == FB_METRIC_COUNT)
        pairs.metric = FB_METRIC_PEAK_FOOTPRINT_BYTES;
    if (request->base == NULL) {
        fb_pictures_lack(out, "change",
                         "nothing to compare with; name an older result with --base");
        return;
    }
    collect(&pairs);
    find_workload(&pairs);
    if (pairs.count == 0)
        fb_pictures_lack(out, "change", "no cell is in both results with a value of %s",
                         fb_metrics[pairs.metric].name);
    unsigned pages = (unsigned)((pairs.count + ROWS_MAX - 1) / ROWS_MAX);
    for (unsigned page = 1; page <= pages; page++)
        put_page(&pairs, (size_t)(page - 1) * ROWS_MAX, page, pages, out);
    free(pairs.items);
}
