#include "commands/report_pictures.h"

#include "base/alloc.h"
#include "commands/draw.h"
#include "commands/message.h"
#include "report/svg.h"

#include <stdlib.h>
#include <string.h>

#define ALT_CAP_BYTES ((size_t)1 << 16)
/* Up to so many curves they are as fine as `plot` draws them, then coarser, to a floor: 100 cells
 * of noise stay under 5 MB. */
#define CURVES_FULL 60U
#define WIDTH_LEAST 150U

/* Kinds that a report shows, with their heading and how to read them. */
static const struct words {
    const char *kind, *title, *caption;
} shown[] = {
    {"rss", "RSS over time",
     "Grey is what is live, the data itself. The distance from the grey to a line is what that "
     "allocator needs on top."},
    {"ratio", "RSS over live bytes",
     "1 would be no overhead at all. Where little is live, a little overhead is a large ratio."},
    {"parts", "Where the bytes went",
     "A bar is the RSS of one allocator at one moment. Live is the data; everything else is the "
     "price of keeping it."},
    {"heat", "Pages by how much of them is live",
     "Dark blue pages are full. Pale ones are resident for the sake of a few live bytes; orange "
     "ones hold nothing live."},
    {"library", "All workloads", "Pale is good. Grey fields have no figure."},
    {"pareto", "Memory against time", "The nearer to the lower left corner, the less of both."},
    {"change", "What changed",
     "Bars to the right need more than the base, to the left less; grey is within the threshold."},
    {"decay", "What stays after the last free",
     "Ten seconds without a call, ten with one now and then, and a purge. What is left after the "
     "purge is what the allocator cannot give back."},
};

struct drawing {
    const struct fb_document_set *sets;
    size_t set;
    struct fb_report_pictures *out;
};

/* Keeps the text for as long as the pictures; returns it. */
static char *keep(struct fb_report_pictures *out, char *text)
{
    out->texts = fb_realloc(out->texts, out->text_count + 1, sizeof *out->texts);
    out->texts[out->text_count++] = text;
    return text;
}

static void add(struct fb_report_pictures *out, const struct fb_html_picture *item)
{
    out->items = fb_realloc(out->items, out->count + 1, sizeof *out->items);
    out->items[out->count++] = *item;
}

/* A missing gnuplot is missing for every picture: said once. */
static void add_fault(struct drawing *drawing, const char *reason)
{
    struct fb_report_pictures *out = drawing->out;
    for (size_t i = 0; i < out->count; i++)
        if (out->items[i].reason != NULL && strcmp(out->items[i].reason, reason) == 0)
            return;
    add(out, &(struct fb_html_picture){.set = drawing->set,
                                       .group = FB_HTML_WHOLE,
                                       .title = "Pictures",
                                       .reason = keep(out, fb_strdup(reason))});
    fb_message_note("not all pictures were drawn: %s", reason);
}

/* "parts: no attribution data; …" without the kind, which is the heading. */
static void add_lack(struct drawing *drawing, const struct words *words, const char *lack)
{
    size_t length = strlen(words->kind);
    bool led = strncmp(lack, words->kind, length) == 0 && strncmp(lack + length, ": ", 2) == 0;
    add(drawing->out, &(struct fb_html_picture){
                          .set = drawing->set,
                          .group = FB_HTML_WHOLE,
                          .title = words->title,
                          .reason = keep(drawing->out, fb_strdup(lack + (led ? length + 2 : 0)))});
}

/* What a reader who cannot see the picture is told: its title and its legend, in which the numbers
 * are. The legend is the last, quoted field of each row of the dataset "lines". */
static char *describe(const struct fb_picture *picture)
{
    struct fb_buf alt;
    fb_buf_init(&alt, ALT_CAP_BYTES);
    fb_buf_adds(&alt, picture->text);
    const char *row = strstr(picture->data.text, "\n# lines\n");
    row = row != NULL ? row + strlen("\n# lines\n") : "";
    for (const char *end; (end = strchr(row, '\n')) != NULL && end > row; row = end + 1) {
        const char *from = memchr(row, '"', (size_t)(end - row));
        if (from == NULL || end - from < 2)
            continue;
        fb_buf_adds(&alt, "; ");
        fb_buf_add(&alt, from + 1, (size_t)(end - from - 2));
    }
    char *text = fb_strdup(alt.text);
    fb_buf_deinit(&alt);
    return text;
}

static size_t place_of(const struct fb_plot_source *source, const struct fb_picture *picture)
{
    if (strcmp(picture->kind, "change") == 0)
        return FB_HTML_CHANGE;
    return picture->group == NULL ? FB_HTML_WHOLE : (size_t)(picture->group - source->groups.items);
}

static void draw(struct drawing *drawing, const struct words *words, size_t place,
                 const struct fb_picture *picture)
{
    struct fb_report_pictures *out = drawing->out;
    struct fb_buf svg, compact;
    struct fb_error err = {0};
    if (fb_draw_picture(picture, "svg", &svg, &err) != 0) {
        add_fault(drawing, err.text);
        return;
    }
    fb_buf_init(&compact, svg.length + 1);
    fb_svg_compact(svg.text, &compact);
    add(out, &(struct fb_html_picture){.set = drawing->set,
                                       .group = place,
                                       .title = words->title,
                                       .alt = keep(out, describe(picture)),
                                       .caption = words->caption,
                                       .svg = keep(out, fb_strdup(compact.text))});
    fb_buf_deinit(&compact);
    fb_buf_deinit(&svg);
}

static void draw_kind(struct drawing *drawing, const struct words *words,
                      const struct fb_plot_request *request)
{
    struct fb_pictures pictures = {0};
    const struct fb_plot_kind *kind = fb_plot_kind_find(words->kind);
    if (kind == NULL || !fb_draw_by_default(kind, request))
        return;
    kind->make(request, &pictures);
    for (size_t i = 0; i < pictures.count; i++)
        draw(drawing, words, place_of(&request->sources[0], &pictures.items[i]),
             &pictures.items[i]);
    for (size_t i = 0; i < pictures.absent_count; i++)
        add_lack(drawing, words, pictures.absent[i]);
    fb_pictures_deinit(&pictures);
}

/* Curves are a page's bulk: with many of them each has fewer columns, and keeps its peaks. */
static unsigned thinning_width(const struct fb_result *result, size_t groups)
{
    size_t curves = result->cell_count + groups; /* what is live is a curve, too */
    size_t width = (size_t)FB_PLOT_WIDTH_DEFAULT * CURVES_FULL / (curves > 0 ? curves : 1);
    if (width > FB_PLOT_WIDTH_DEFAULT)
        return FB_PLOT_WIDTH_DEFAULT;
    return width < WIDTH_LEAST ? WIDTH_LEAST : (unsigned)width;
}

static void draw_set(struct drawing *drawing, bool with_changes)
{
    const struct fb_document_set *set = &drawing->sets[drawing->set];
    struct fb_plot_source source;
    struct fb_groups groups;
    fb_groups_init(&groups, set->result);
    fb_plot_source_init(&source, set->folder, set->result, true,
                        thinning_width(set->result, groups.count));
    fb_groups_deinit(&groups);
    const struct fb_plot_request request = {
        .sources = &source,
        .source_count = 1,
        .base = with_changes && drawing->set > 0 ? drawing->sets[0].result : NULL,
        .base_name = drawing->sets[0].label,
        .metric = FB_METRIC_COUNT,
        .threshold = FB_PLOT_THRESHOLD_DEFAULT,
        .width = FB_PLOT_WIDTH_DEFAULT,
    };
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        draw_kind(drawing, &shown[i], &request);
    fb_plot_source_deinit(&source);
}

void fb_report_pictures_draw(const struct fb_document_set *sets, size_t count, bool with_changes,
                             struct fb_report_pictures *out)
{
    *out = (struct fb_report_pictures){0};
    struct drawing drawing = {.sets = sets, .out = out};
    for (drawing.set = 0; drawing.set < count; drawing.set++)
        draw_set(&drawing, with_changes);
}

void fb_report_pictures_deinit(struct fb_report_pictures *pictures)
{
    for (size_t i = 0; i < pictures->text_count; i++)
        free(pictures->texts[i]);
    free(pictures->texts);
    free(pictures->items);
    *pictures = (struct fb_report_pictures){0};
}
