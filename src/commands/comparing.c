#include "commands/comparing.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/shell.h"
#include "metrics/explain.h"
#include "metrics/limits.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_CAP_BYTES ((size_t)1 << 28)

/* The picture that shows the difference: of all cells where they have namesakes in the base, else
 * of the curves of the one result. */
static void add_picture(const struct fb_document_set *sets, struct fb_finding *finding)
{
    struct fb_buf line;
    fb_buf_init(&line, TEXT_CAP_BYTES);
    bool bare = strncmp(finding->next, "fragbench ", strlen("fragbench ")) == 0;
    fb_buf_addf(&line, "%s%s; as a picture: fragbench plot ", bare ? "to see where it is: " : "",
                finding->next);
    fb_shell_add(&line, sets[finding->set].folder);
    const char *before = finding->base->id, *after = finding->cell->id;
    if (finding->set > 0 && before != NULL && after != NULL && strcmp(before, after) == 0) {
        fb_buf_adds(&line, " --plot change --base ");
        fb_shell_add(&line, sets[0].folder);
    } else {
        fb_buf_adds(&line, " --plot rss");
    }
    free(finding->next);
    finding->next = fb_strdup(line.text);
    fb_buf_deinit(&line);
}

/* Every finding's place and advice; the first regression of a set also names its picture. */
static void explain(const struct fb_document_set *sets, struct fb_findings *findings)
{
    size_t pictured = SIZE_MAX;
    for (size_t i = 0; i < findings->count; i++) {
        struct fb_finding *finding = &findings->items[i];
        fb_explain(finding);
        if (finding->judgement != FB_JUDGED_REGRESSED || !finding->gates ||
            finding->metric == FB_METRIC_COUNT || finding->set == pictured || finding->next == NULL)
            continue;
        add_picture(sets, finding);
        pictured = finding->set;
    }
}

/* What is over a limit of its workload in the sets that are judged. Cells that failed have been
 * said by the comparison. */
static void judge_limits(const struct fb_document_set *sets, size_t count,
                         struct fb_findings *findings)
{
    for (size_t set = count > 1 ? 1 : 0; set < count; set++) {
        struct fb_findings limits = {0};
        fb_limits_judge(sets[set].result, &limits);
        for (size_t i = 0; i < limits.count; i++) {
            struct fb_finding *found = &limits.items[i];
            if (found->judgement != FB_JUDGED_OVER_LIMIT)
                continue;
            struct fb_finding *finding = fb_findings_add(findings);
            *finding = *found;
            finding->set = set;
            found->message = found->where = found->next = NULL; /* taken */
        }
        fb_findings_deinit(&limits);
    }
}

void fb_comparing_judge(const struct fb_document_set *sets, size_t count,
                        const struct fb_compare_options *rules, struct fb_comparison *out)
{
    struct fb_compare_set *compared = fb_alloc(count, sizeof *compared);
    for (size_t i = 0; i < count; i++)
        compared[i] = (struct fb_compare_set){sets[i].label, sets[i].result};
    fb_compare(compared, count, rules, out);
    explain(sets, &out->findings);
    judge_limits(sets, count, &out->findings);
    free(compared);
}
