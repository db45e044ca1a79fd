#include "report/comparison.h"

#include "base/alloc.h"
#include "metrics/compare.h"
#include "metrics/tolerance.h"
#include "report/comparison_table.h"
#include "report/group.h"
#include "report/prose.h"

#include <stdlib.h>
#include <string.h>

#define PROSE_CAP ((size_t)1 << 24)
#define ROWS_MAX 40U /* above that, unchanged values are counted and not listed */

static void add_tone(const char *code, const struct fb_comparison_style *style, struct fb_buf *out)
{
    if (style->color)
        fb_buf_adds(out, code);
}

/* Kernel and fragbench may differ between the two: they are shown, not judged. */
static void add_sets(const struct fb_document *document, const struct fb_comparison_style *style,
                     struct fb_buf *out)
{
    struct fb_buf line;
    fb_buf_init(&line, PROSE_CAP);
    for (size_t i = 0; i < document->set_count; i++) {
        const struct fb_document_set *set = &document->sets[i];
        const char *label = fb_text_or_empty(set->label), *folder = fb_text_or_empty(set->folder);
        fb_buf_addf(&line, "%s%s%s: ", label,
                    label[0] != '\0' && strcmp(label, folder) != 0 ? ": " : "",
                    strcmp(label, folder) != 0 ? folder : "");
        fb_buf_addf(&line, "fragbench %s, ", fb_text_or_empty(set->result->version));
        fb_host_line(&set->result->host, &line);
        fb_buf_addf(&line, "%s\n", set->result->interrupted ? "; interrupted" : "");
    }
    fb_prose_add(line.text, style->width, out);
    fb_buf_adds(out, "\n");
    fb_buf_deinit(&line);
}

static bool is_change(const struct fb_finding *finding)
{
    double before = finding->before.median, after = finding->after.median;
    return after < before || after > before;
}

static bool any_of_peak(const struct fb_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].metric != FB_METRIC_COUNT && is_change(&findings->items[i]) &&
            fb_tolerance_of_peak(findings->items[i].metric))
            return true;
    return false;
}

/* Ensembles of one layout repeat exactly and still say nothing about the next build. */
static bool any_single_layout(const struct fb_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].exact && findings->items[i].after.n == 1)
            return true;
    return false;
}

static void add_notes(const struct fb_findings *findings, struct fb_buf *out)
{
    if (any_of_peak(findings))
        fb_buf_adds(out,
                    "Per cent of kept, overhead and retained bytes are of the base's peak RSS, "
                    "since they themselves may be zero.\n");
    if (any_single_layout(findings))
        fb_buf_adds(out, "Cells with one run were measured in one address layout: the figure "
                         "repeats, but another build may move it by chance; --layouts 5 tells.\n");
}

static bool wants_sentence(const struct fb_finding *finding)
{
    return finding->gates || finding->judgement == FB_JUDGED_INCONCLUSIVE;
}

static void add_sentence(const struct fb_document *document, const struct fb_finding *finding,
                         struct fb_buf *out)
{
    char *message = fb_strdup(fb_text_or_empty(finding->message));
    fb_text_clean(message);
    fb_buf_addf(out, "%s: %s", fb_judgement_name(finding->judgement), message);
    if (document->set_count > 2)
        fb_buf_addf(out, " [%s]", document->sets[finding->set].label);
    if (finding->where != NULL)
        fb_buf_addf(out, "; %s", finding->where);
    fb_buf_adds(out, ".\n");
    free(message);
}

static bool same_pair(const struct fb_finding *a, const struct fb_finding *b)
{
    return a->base == b->base && a->cell == b->cell && a->set == b->set;
}

/* A pair's findings often end in the same command: it is said with the first of them. */
static bool said_before(const struct fb_finding *first, const struct fb_finding *end,
                        const char *text)
{
    for (const struct fb_finding *finding = first; finding < end; finding++)
        if (wants_sentence(finding) && finding->next != NULL && strstr(finding->next, text) != NULL)
            return true;
    return false;
}

/* The advice of a pair's findings, each once. */
static void add_next(const struct fb_finding *first, const struct fb_finding *end,
                     struct fb_buf *out)
{
    for (const struct fb_finding *finding = first; finding < end; finding++) {
        if (!wants_sentence(finding) || finding->next == NULL ||
            said_before(first, finding, finding->next))
            continue;
        const char *command = strstr(finding->next, "; again: ");
        bool repeated = command != NULL && said_before(first, finding, strchr(command, ':') + 2);
        fb_buf_addf(out, "Next: %.*s\n",
                    repeated ? (int)(command - finding->next) : (int)strlen(finding->next),
                    finding->next);
    }
}

/* A pair's findings follow one another. */
static void add_prose(const struct fb_document *document, struct fb_buf *prose)
{
    const struct fb_finding *items = document->findings->items;
    size_t count = document->findings->count;
    add_notes(document->findings, prose);
    for (size_t first = 0, end = 0; first < count; first = end) {
        size_t before = prose->length;
        while (end < count && same_pair(&items[end], &items[first]))
            end++;
        for (size_t i = first; i < end; i++) {
            if (!wants_sentence(&items[i]))
                continue;
            if (before > 0 && prose->length == before)
                fb_buf_adds(prose, "\n");
            add_sentence(document, &items[i], prose);
        }
        add_next(items + first, items + end, prose);
    }
}

static void add_sentences(const struct fb_document *document,
                          const struct fb_comparison_style *style, struct fb_buf *out)
{
    struct fb_buf prose;
    fb_buf_init(&prose, PROSE_CAP);
    add_prose(document, &prose);
    if (prose.length > 0)
        fb_buf_adds(&prose, "\n");
    fb_prose_add(prose.text, style->width, out);
    fb_buf_deinit(&prose);
}

static size_t add_counts(const struct fb_findings *findings, bool gating, struct fb_buf *out)
{
    static const enum fb_judgement order[] = {
        FB_JUDGED_REGRESSED,    FB_JUDGED_OVER_LIMIT, FB_JUDGED_MISSING,
        FB_JUDGED_FAILED,       FB_JUDGED_IMPROVED,   FB_JUDGED_UNCHANGED,
        FB_JUDGED_INCONCLUSIVE, FB_JUDGED_NEW,        FB_JUDGED_SKIPPED,
    };
    size_t listed = 0;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        size_t count = 0;
        for (size_t j = 0; j < findings->count; j++)
            count +=
                findings->items[j].judgement == order[i] && (!gating || findings->items[j].gates);
        if (count > 0)
            fb_buf_addf(out, "%s%zu %s", listed++ > 0 ? ", " : "", count,
                        fb_judgement_name(order[i]));
    }
    return listed;
}

static bool any_judged(const struct fb_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (fb_compare_valued(findings->items[i].judgement))
            return true;
    return false;
}

static void add_summary(const struct fb_findings *findings, const struct fb_comparison_style *style,
                        struct fb_buf *out)
{
    bool failed = fb_findings_gating(findings) > 0;
    if (add_counts(findings, false, out) == 0)
        fb_buf_adds(out, "nothing was compared");
    fb_buf_adds(out, "\n");
    add_tone(failed ? "\033[31m" : "", style, out);
    if (failed) {
        fb_buf_adds(out, "gate: failed (");
        (void)add_counts(findings, true, out);
        fb_buf_adds(out, ")");
    } else if (!any_judged(findings)) {
        fb_buf_adds(out, "gate: nothing was judged");
    } else {
        bool all = fb_findings_count(findings, FB_JUDGED_SKIPPED) == 0;
        fb_buf_addf(out, "gate: passed%s", all ? "" : " for what was judged");
    }
    add_tone(failed ? "\033[0m" : "", style, out);
    fb_buf_adds(out, "\n");
}

void fb_comparison_prose(const struct fb_document *document, struct fb_buf *out)
{
    static const struct fb_comparison_style plain = {0};
    add_summary(document->findings, &plain, out);
    add_prose(document, out);
}

bool fb_comparison_lists_all(const struct fb_document *document)
{
    return document->findings->count <= ROWS_MAX;
}

void fb_comparison_render(const struct fb_document *document,
                          const struct fb_comparison_style *style, struct fb_buf *out)
{
    struct fb_comparison_style own = *style;
    own.all = style->all || fb_comparison_lists_all(document);
    struct fb_comparison_blocks blocks;
    add_sets(document, style, out);
    fb_comparison_blocks_init(&blocks, document);
    for (size_t i = 0; i < blocks.count; i++)
        fb_comparison_block_add(document, &blocks.items[i], &own, out);
    fb_comparison_blocks_deinit(&blocks);
    add_sentences(document, style, out);
    add_summary(document->findings, style, out);
}
