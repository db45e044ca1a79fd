#include "report/gates.h"

#include "base/alloc.h"
#include "report/grid.h"

#include <stdlib.h>

/* Told apart from those that are well. */
static bool worth_a_line(const struct fb_finding *finding)
{
    return finding->gates || finding->judgement == FB_JUDGED_SKIPPED ||
           finding->judgement == FB_JUDGED_FAILED;
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
    for (size_t i = 0; i < findings->count; i++)
        if (worth_a_line(&findings->items[i]))
            add_finding(&findings->items[i], color, out);
}

static void add_item(const struct fb_finding *finding, struct fb_buf *out)
{
    fb_buf_addf(out, "- **%s** ", fb_judgement_name(finding->judgement));
    fb_markdown_add(out, finding->message != NULL ? finding->message : "");
    if (finding->where != NULL) {
        fb_buf_adds(out, "; ");
        fb_markdown_add(out, finding->where);
    }
    if (finding->next != NULL) {
        fb_buf_adds(out, ". Next: ");
        fb_markdown_add(out, finding->next);
    }
    fb_buf_adds(out, "\n");
}

void fb_gates_markdown(const struct fb_findings *findings, struct fb_buf *out)
{
    size_t shown = 0;
    if (findings->count == 0)
        return;
    add_count(findings, out);
    fb_buf_adds(out, "\n\n");
    for (size_t i = 0; i < findings->count; i++)
        if (worth_a_line(&findings->items[i])) {
            add_item(&findings->items[i], out);
            shown++;
        }
    fb_buf_adds(out, shown > 0 ? "\n" : "");
}
