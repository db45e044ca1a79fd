#include "documents.h"

#include "base/alloc.h"
#include "metrics/limits.h"
#include "report/export.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#define CAP ((size_t)1 << 24)
#define NASTY                                                                             \
    "a<b>&\"'|`*[x](y)]]> %41%0A::error::boo ,:;=\\ \n\r\t\x01\x1b[31mred \x7f \xc2\x85 " \
    "\xff\xc0\x80 \xed\xa0\x80 \xef\xbf\xbe \xe2\x80\xa8 \xe2\x82\xac ${x} =1+1"

static void init_sets(struct sheaf *sheaf, size_t count, bool comparison)
{
    static const char *const labels[DOCUMENT_SETS] = {"base", "new", "newer"};
    memset(sheaf, 0, sizeof *sheaf);
    for (size_t i = 0; i < count; i++) {
        sample_result_init(&sheaf->results[i]);
        sheaf->sets[i] = (struct fb_document_set){comparison ? labels[i] : "", "results/one",
                                                  &sheaf->results[i]};
    }
    sheaf->document = (struct fb_document){sheaf->sets, count, comparison, &sheaf->findings};
}

void sheaf_run(struct sheaf *sheaf)
{
    init_sets(sheaf, 1, false);
    fb_limits_judge(&sheaf->results[0], &sheaf->findings);
}

static void add_finding(struct sheaf *sheaf, enum fb_judgement judgement, bool gates, size_t metric)
{
    struct fb_finding *finding = fb_findings_add(&sheaf->findings);
    size_t set = sheaf->document.set_count - 1;
    size_t cell = judgement == FB_JUDGED_NEW ? SAMPLE_JEMALLOC : SAMPLE_PTMALLOC2;
    finding->judgement = judgement;
    finding->gates = gates;
    finding->set = set;
    if (judgement != FB_JUDGED_NEW)
        finding->base = &sheaf->results[0].cells[SAMPLE_PTMALLOC2];
    if (judgement != FB_JUDGED_MISSING)
        finding->cell = &sheaf->results[set].cells[cell];
    bool whole = judgement == FB_JUDGED_MISSING || judgement == FB_JUDGED_NEW;
    finding->metric = whole && !gates ? FB_METRIC_COUNT : (enum fb_metric)metric;
    if (finding->metric < FB_METRIC_COUNT && !whole) {
        finding->before = sample_summary(200 * (double)MIB, 190 * (double)MIB, 210 * (double)MIB);
        finding->after = sample_summary(250 * (double)MIB, 250 * (double)MIB, 250 * (double)MIB);
        finding->p = judgement == FB_JUDGED_REGRESSED ? 0.0286 : finding->p;
    }
    finding->message = fb_format("kv-cache-growth, ptmalloc2: %s, metric %zu",
                                 fb_judgement_name(judgement), metric);
    if (gates) {
        finding->where = fb_strdup("peak in phase serve at 1 s");
        finding->next = fb_strdup("fragbench run kv-cache-growth -a ptmalloc2 --explain");
    }
}

void sheaf_comparison(struct sheaf *sheaf, size_t sets)
{
    init_sets(sheaf, sets, true);
    for (size_t i = 0; i < FB_JUDGEMENT_COUNT; i++) {
        add_finding(sheaf, (enum fb_judgement)i, true, 2 * i);
        add_finding(sheaf, (enum fb_judgement)i, false, 2 * i + 1);
    }
}

static void replace(char **text, const char *head)
{
    free(*text);
    *text = fb_format("%s%s", head, NASTY);
}

static void make_cell_nasty(struct fb_cell *cell)
{
    char *head = fb_format("%s ", cell->allocator.name);
    replace(&cell->id, head);
    replace(&cell->workload.name, "");
    replace(&cell->workload.file, "./");
    replace(&cell->allocator.name, head);
    replace(&cell->allocator.spec, head);
    replace(&cell->allocator.version, "=");
    replace(&cell->status_detail, "-");
    replace(&cell->workload.params[0].name, "");
    replace(&cell->workload.params[0].value, "@");
    for (size_t i = 0; i < cell->repetition_count; i++)
        replace(&cell->repetitions[i].stderr_text, "");
    free(head);
}

void sheaf_make_nasty(struct sheaf *sheaf)
{
    for (size_t i = 0; i < sheaf->document.set_count; i++) {
        for (size_t j = 0; j < sheaf->results[i].cell_count; j++)
            make_cell_nasty(&sheaf->results[i].cells[j]);
        replace(&sheaf->results[i].host.kernel, "");
        sheaf->sets[i].label = i == 0 ? NASTY : i == 1 ? "new" NASTY : "newer" NASTY;
        sheaf->sets[i].folder = NASTY;
    }
    for (size_t i = 0; i < sheaf->findings.count; i++) {
        replace(&sheaf->findings.items[i].message, "=");
        replace(&sheaf->findings.items[i].where, "+");
        replace(&sheaf->findings.items[i].next, "fragbench ");
    }
}

void sheaf_deinit(struct sheaf *sheaf)
{
    fb_findings_deinit(&sheaf->findings);
    for (size_t i = 0; i < DOCUMENT_SETS; i++)
        fb_result_deinit(&sheaf->results[i]);
}

char *sheaf_export(const struct sheaf *sheaf, const char *format)
{
    struct fb_buf out;
    fb_buf_init(&out, CAP);
    fb_export_find(format)->render(&sheaf->document, &out);
    char *text = fb_strdup(out.text);
    fb_buf_deinit(&out);
    return text;
}
