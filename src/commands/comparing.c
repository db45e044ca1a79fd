#include "commands/comparing.h"

#include "base/alloc.h"
#include "metrics/explain.h"
#include "metrics/limits.h"
#include "result/store.h"

#include <stdlib.h>

/* The curve that tells when a peak was. A result that was copied without its curves is as good
 * but for that. */
static void read_curve(const struct fb_document_set *sets, const struct fb_finding *finding)
{
    if (finding->cell == NULL || !fb_explain_wanted(finding))
        return;
    struct fb_repetition *run = fb_explain_run(finding->cell, finding->metric);
    if (run == NULL || run->series_file == NULL || run->series.count > 0)
        return;
    struct fb_error missing = {0};
    struct fb_series series = {0};
    char *folder = fb_store_folder_of(sets[finding->set].folder);
    if (fb_store_read_series(folder, run, &series, &missing) == 0)
        run->series = series;
    free(folder);
}

static void explain(const struct fb_document_set *sets, struct fb_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        read_curve(sets, &findings->items[i]);
        fb_explain(&findings->items[i]);
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
