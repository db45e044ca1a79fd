#include "report/gates.h"

#include "base/alloc.h"
#include "report/grid.h"
#include "report/plain.h"

#include <stdlib.h>
#include <string.h>

typedef void add_fn(const struct fb_finding *finding, bool color, struct fb_buf *out);

/* What is well needs no line. */
static bool worth_a_line(const struct fb_finding *finding)
{
    return finding->gates || finding->judgement == FB_JUDGED_SKIPPED ||
           finding->judgement == FB_JUDGED_FAILED;
}

/* What fails the job comes first. */
static size_t each(const struct fb_findings *findings, bool color, struct fb_buf *out, add_fn *add)
{
    size_t shown = 0;
    for (int quiet = 0; quiet < 2; quiet++)
        for (size_t i = 0; i < findings->count; i++) {
            const struct fb_finding *finding = &findings->items[i];
            if (worth_a_line(finding) && finding->gates == (quiet == 0)) {
                add(finding, color, out);
                shown++;
            }
        }
    return shown;
}

static void add_count(const struct fb_findings *findings, struct fb_buf *out)
{
    size_t kept = fb_findings_count(findings, FB_JUDGED_UNCHANGED);
    size_t over = fb_findings_count(findings, FB_JUDGED_OVER_LIMIT);
    size_t failed = fb_findings_count(findings, FB_JUDGED_FAILED);
    size_t skipped = fb_findings_count(findings, FB_JUDGED_SKIPPED);
    fb_buf_addf(out, "Limits: %zu kept, %zu over", kept, over);
    if (failed > 0)
        fb_buf_addf(out, ", %zu failed", failed);
    if (skipped > 0)
        fb_buf_addf(out, ", %zu not judged", skipped);
    fb_buf_adds(out, ".");
}

/* Messages hold names from files: cleaned like every text that reaches a terminal. */
static void add_clean(const char *lead, const char *text, struct fb_buf *out)
{
    char *clean = fb_strdup(text);
    fb_text_clean(clean);
    fb_buf_addf(out, "%s%s\n", lead, clean);
    free(clean);
}

static void add_finding(const struct fb_finding *finding, bool color, struct fb_buf *out)
{
    const char *paint = !color ? "" : finding->gates ? "\033[31m" : "\033[33m";
    char *lead = fb_format("%s%-10s%s  ", paint, fb_judgement_name(finding->judgement),
                           color ? "\033[0m" : "");
    add_clean(lead, finding->message != NULL ? finding->message : "", out);
    if (finding->where != NULL)
        add_clean("            ", finding->where, out);
    if (finding->next != NULL)
        add_clean("            next: ", finding->next, out);
    free(lead);
}

void fb_gates_render(const struct fb_findings *findings, bool color, struct fb_buf *out)
{
    if (findings->count == 0)
        return;
    fb_buf_adds(out, "\n");
    add_count(findings, out);
    fb_buf_adds(out, "\n");
    (void)each(findings, color, out, add_finding);
}

/* A command can be copied from a code span, unless a backtick of its own would end that. */
static void add_next(const char *next, struct fb_buf *out)
{
    bool code = strncmp(next, "fragbench ", 10) == 0 && strchr(next, '`') == NULL;
    char *plain = fb_plain_text(next, FB_PLAIN_ONE_LINE);
    fb_buf_adds(out, code ? ". Next: `" : ". Next: ");
    if (code)
        fb_buf_adds(out, plain);
    else
        fb_markdown_add(out, plain);
    fb_buf_adds(out, code ? "`" : "");
    free(plain);
}

static void add_item(const struct fb_finding *finding, bool color, struct fb_buf *out)
{
    (void)color;
    fb_buf_addf(out, "- **%s** ", fb_judgement_name(finding->judgement));
    fb_markdown_add(out, finding->message != NULL ? finding->message : "");
    if (finding->where != NULL) {
        fb_buf_adds(out, "; ");
        fb_markdown_add(out, finding->where);
    }
    if (finding->next != NULL)
        add_next(finding->next, out);
    fb_buf_adds(out, "\n");
}

static void add_items(const struct fb_findings *findings, struct fb_buf *out)
{
    fb_buf_adds(out, each(findings, false, out, add_item) > 0 ? "\n" : "");
}

void fb_gates_markdown(const struct fb_findings *findings, struct fb_buf *out)
{
    if (findings->count == 0)
        return;
    add_count(findings, out);
    fb_buf_adds(out, "\n\n");
    add_items(findings, out);
}

void fb_gates_markdown_comparison(const struct fb_findings *findings, struct fb_buf *out)
{
    size_t gating = fb_findings_gating(findings);
    fb_buf_addf(out, "**%s**", gating > 0 ? "Failed" : "Passed");
    for (int i = 0; i < FB_JUDGEMENT_COUNT; i++) {
        size_t count = fb_findings_count(findings, (enum fb_judgement)i);
        if (count > 0)
            fb_buf_addf(out, ", %zu %s", count, fb_judgement_name((enum fb_judgement)i));
    }
    fb_buf_adds(out, ".\n\n");
    add_items(findings, out);
}
