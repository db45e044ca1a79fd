#include "metrics/compare.h"

#include "base/alloc.h"
#include "base/units.h"
#include "metrics/judge.h"
#include "metrics/refusal.h"
#include "metrics/wording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_CAP 8192U

const enum fb_metric fb_compare_metrics[] = {FB_METRIC_RATIO_PEAK, FB_METRIC_KEPT_BYTES,
                                             FB_METRIC_END_FOOTPRINT_BYTES};
const size_t fb_compare_metric_count = sizeof fb_compare_metrics / sizeof fb_compare_metrics[0];

/* One pair being judged. */
struct context {
    const struct fb_compare_set *sets;
    const struct fb_compare_options *options;
    const struct fb_matchup *pair;
    bool repeats;
    struct fb_comparison *out;
    struct fb_refusals refusals;
};

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

bool fb_compare_valued(enum fb_judgement judgement)
{
    return judgement == FB_JUDGED_UNCHANGED || judgement == FB_JUDGED_IMPROVED ||
           judgement == FB_JUDGED_REGRESSED || judgement == FB_JUDGED_INCONCLUSIVE;
}

static bool gates(const struct fb_compare_options *options, enum fb_judgement judgement)
{
    unsigned fail_on = options->fail_on | FB_COMPARE_BIT(FB_JUDGED_FAILED);
    if (options->expect_same)
        fail_on |=
            FB_COMPARE_FAIL_ON | FB_COMPARE_BIT(FB_JUDGED_IMPROVED) | FB_COMPARE_BIT(FB_JUDGED_NEW);
    return (fail_on & FB_COMPARE_BIT(judgement)) != 0;
}

static struct fb_finding *add_finding(struct context *context, enum fb_judgement judgement)
{
    const struct fb_matchup *pair = context->pair;
    struct fb_finding *finding = fb_findings_add(&context->out->findings);
    finding->judgement = judgement;
    finding->gates = gates(context->options, judgement);
    finding->set = pair->set;
    finding->base = pair->base;
    finding->cell = pair->cell;
    return finding;
}

/* "SUBJECT: TEXT"; takes text. */
static char *sentence(const struct fb_matchup *pair, char *text)
{
    struct fb_buf out;
    fb_buf_init(&out, MESSAGE_CAP);
    fb_wording_subject(pair->base, pair->cell, &out);
    char *whole = fb_format("%s: %s", out.text, text);
    fb_buf_deinit(&out);
    free(text);
    return whole;
}

/* A finding about the cell as a whole; takes text. */
static void add_whole(struct context *context, enum fb_judgement judgement, char *text)
{
    struct fb_finding *finding = add_finding(context, judgement);
    finding->message = sentence(context->pair, text);
}

/* "timeout (no end after 10 min)". New string. */
static char *status_text(const struct fb_cell *cell)
{
    const char *detail = or_empty(cell->status_detail);
    return fb_format("%s%s%s%s", fb_status_name(cell->status), detail[0] == '\0' ? "" : " (",
                     detail, detail[0] == '\0' ? "" : ")");
}

/* What has no figures on one side. Returns whether that was all there is to say. */
static bool judge_presence(struct context *context)
{
    const struct fb_cell *base = context->pair->base, *cell = context->pair->cell;
    const char *label = context->sets[0].label, *own = context->sets[context->pair->set].label;
    if (cell == NULL && !fb_status_done(base->status)) {
        add_whole(context, FB_JUDGED_SKIPPED, fb_format("only in %s, without figures", label));
        return true;
    }
    if (cell == NULL) {
        add_whole(context, FB_JUDGED_MISSING, fb_format("in %s, missing from %s", label, own));
        return true;
    }
    bool base_done = base != NULL && fb_status_done(base->status);
    char *status = status_text(cell);
    if (fb_status_skipped(cell->status))
        add_whole(context, base_done ? FB_JUDGED_MISSING : FB_JUDGED_SKIPPED,
                  fb_format("%s%s%s", status, base_done ? ", but measured in " : "",
                            base_done ? label : ""));
    else if (!fb_status_done(cell->status))
        add_whole(context, FB_JUDGED_FAILED, fb_strdup(status));
    else if (base == NULL)
        add_whole(context, FB_JUDGED_NEW,
                  context->options->pairing.base != NULL && context->pair->set == 0
                      ? fb_format("no %s to set it against", context->options->pairing.base)
                      : fb_format("not in %s", label));
    else if (!base_done) {
        char *before = status_text(base);
        add_whole(context, FB_JUDGED_NEW, fb_format("no figures in %s: %s", label, before));
        free(before);
    }
    free(status);
    return !fb_status_done(cell->status) || !base_done;
}

struct work {
    double calls, bytes;
};

/* What a cell's runs did not do. */
static struct work work_left_out(const struct fb_cell *cell)
{
    struct work work = {0, 0};
    for (size_t i = 0; i < cell->repetition_count; i++) {
        work.calls +=
            (double)cell->repetitions[i].refused_calls + (double)cell->repetitions[i].skipped_calls;
        work.bytes += (double)cell->repetitions[i].refused_bytes;
    }
    return work;
}

/* Memory of unequal work is not compared. Returns whether it is unequal. */
static bool judge_work(struct context *context)
{
    struct work before = work_left_out(context->pair->base);
    struct work after = work_left_out(context->pair->cell);
    bool more = after.bytes > before.bytes || after.calls > before.calls;
    bool less = after.bytes < before.bytes || after.calls < before.calls;
    if (!more && !less)
        return false;
    char calls[2][FB_WORDING_CHARS], bytes[2][FB_WORDING_CHARS];
    (void)fb_units_count((uint64_t)before.calls, calls[0], sizeof calls[0]);
    (void)fb_units_count((uint64_t)after.calls, calls[1], sizeof calls[1]);
    (void)fb_units_bytes((uint64_t)before.bytes, bytes[0], sizeof bytes[0]);
    (void)fb_units_bytes((uint64_t)after.bytes, bytes[1], sizeof bytes[1]);
    add_whole(context, more ? FB_JUDGED_REGRESSED : FB_JUDGED_IMPROVED,
              fb_format("refused or left out %s calls (%s) where %s are left out now (%s): not "
                        "equal work, so its memory is not compared",
                        calls[0], bytes[0], calls[1], bytes[1]));
    return true;
}

/* "330.5 MiB → 352.1 MiB", medians of both sides; "330.5 MiB" where they read alike. */
static void add_medians(const struct fb_finding *finding, enum fb_metric metric, struct fb_buf *out)
{
    char text[2][FB_WORDING_CHARS];
    const char *before = fb_wording_value(metric, finding->base->summary[metric].median, text[0]);
    const char *after = fb_wording_value(metric, finding->cell->summary[metric].median, text[1]);
    if (strcmp(before, after) != 0)
        fb_buf_addf(out, "%s → ", before);
    fb_buf_adds(out, after);
}

/* "; peak RSS 400.8 MiB → 421.3 MiB for 330.5 MiB of data", of a ratio of peaks; of the peak itself
 * only what it was for. */
static void add_bytes(const struct fb_finding *finding, struct fb_buf *out)
{
    const enum fb_metric peak = FB_METRIC_PEAK_FOOTPRINT_BYTES, live = FB_METRIC_PEAK_LIVE_BYTES;
    bool knows_live = finding->base->summary[live].n > 0 && finding->cell->summary[live].n > 0;
    if ((finding->metric != FB_METRIC_RATIO_PEAK && finding->metric != peak) || !knows_live)
        return;
    fb_buf_adds(out, "; ");
    if (finding->metric != peak) {
        fb_buf_adds(out, "peak RSS ");
        add_medians(finding, peak, out);
        fb_buf_adds(out, " ");
    }
    fb_buf_adds(out, "for ");
    add_medians(finding, live, out);
    fb_buf_adds(out, " of data");
}

static void add_threshold(const struct context *context, const struct fb_finding *finding,
                          struct fb_buf *out)
{
    double threshold = fb_tolerance_relative(&context->options->tolerances, finding->metric);
    bool any = finding->exact && (context->options->exact || context->options->expect_same);
    if (!any)
        fb_buf_addf(out, " (threshold %.3g %%)", threshold * 100);
}

/* "ratio_peak 1.213 → 1.274, +5.1 % (threshold 5 %), exact; peak RSS …". New string. */
static char *value_text(const struct context *context, const struct fb_finding *finding,
                        const struct fb_judged *judged)
{
    char text[4][FB_WORDING_CHARS];
    double change = finding->after.median - finding->before.median;
    struct fb_buf out;
    fb_buf_init(&out, MESSAGE_CAP);
    fb_buf_addf(&out, "%s %s → %s", fb_metrics[finding->metric].name,
                fb_wording_value(finding->metric, finding->before.median, text[0]),
                fb_wording_value(finding->metric, finding->after.median, text[1]));
    const char *percent = fb_wording_percent(finding, text[2]);
    fb_buf_addf(&out, ", %s", fb_wording_difference(finding->metric, change, text[3]));
    if (percent[0] != '\0' && percent[0] != '0')
        fb_buf_addf(&out, " or %s%s", percent,
                    fb_tolerance_of_peak(finding->metric) ? " of the peak" : "");
    add_threshold(context, finding, &out);
    if (judged->differing > 0 && (context->options->exact || context->options->expect_same))
        fb_buf_addf(&out, ", differs in %zu of %zu runs", judged->differing, judged->paired);
    else
        fb_buf_addf(&out, ", %s, n = %u and %u", fb_wording_evidence(finding, text[0]),
                    finding->before.n, finding->after.n);
    add_bytes(finding, &out);
    char *whole = fb_strdup(out.text);
    fb_buf_deinit(&out);
    return whole;
}

static const char *reason(const struct fb_cell *cell, enum fb_metric metric)
{
    for (size_t i = 0; i < cell->repetition_count; i++)
        if (cell->repetitions[i].na[metric] != NULL)
            return cell->repetitions[i].na[metric];
    return fb_metrics[metric].timing ? "no timing pass" : "not measured";
}

static bool asked_for(const struct fb_compare_options *options, enum fb_metric metric)
{
    for (size_t i = 0; i < options->metric_count; i++)
        if (options->metrics[i] == metric)
            return true;
    return false;
}

/* A metric that one side or both do not have. */
static void add_absent(struct context *context, enum fb_metric metric, bool before, bool after)
{
    const struct fb_compare_options *options = context->options;
    const struct fb_matchup *pair = context->pair;
    bool differs = before != after;
    if (!differs && !asked_for(options, metric))
        return; /* of an A/A over every metric: as n/a as before */
    struct fb_finding *finding = add_finding(
        context, differs && options->expect_same ? FB_JUDGED_REGRESSED : FB_JUDGED_SKIPPED);
    finding->metric = metric;
    finding->before = pair->base->summary[metric];
    finding->after = pair->cell->summary[metric];
    const char *where = !differs ? "both"
                        : before ? context->sets[pair->set].label
                                 : context->sets[0].label;
    if (differs && context->pair->set == 0)
        where =
            before ? or_empty(pair->cell->allocator.name) : or_empty(pair->base->allocator.name);
    finding->message =
        sentence(pair, fb_format("%s is n/a in %s (%s): not judged", fb_metrics[metric].name, where,
                                 reason(before ? pair->cell : pair->base, metric)));
}

static void add_judged(struct context *context, enum fb_metric metric,
                       const struct fb_values *before, const struct fb_values *after)
{
    const struct fb_compare_options *options = context->options;
    const struct fb_judge_request request = {
        .metric = metric,
        .base = context->pair->base,
        .tolerances = &options->tolerances,
        .repeats = context->repeats,
        .any_change = options->exact,
        .expect_same = options->expect_same,
    };
    struct fb_judged judged = fb_judge(&request, before, after);
    struct fb_finding *finding = add_finding(context, judged.judgement);
    /* The same in every layout is as exact as it gets, whatever the layouts do to the value. */
    bool pairwise =
        judged.paired > 0 && (options->exact || options->expect_same || judged.differing == 0);
    finding->metric = metric;
    finding->before = before->summary;
    finding->after = after->summary;
    finding->exact = judged.rule == FB_RULE_EXACT || pairwise;
    finding->p = judged.p;
    finding->message = sentence(context->pair, value_text(context, finding, &judged));
    context->out->judged++;
}

/* Whether both sides had the metric, and so it was judged. */
static bool judge_values(struct context *context, enum fb_metric metric, bool has_twin)
{
    struct fb_values before, after;
    fb_values_init(&before, context->pair->base, metric);
    fb_values_init(&after, context->pair->cell, metric);
    bool both = before.count > 0 && after.count > 0;
    if (both)
        add_judged(context, metric, &before, &after);
    else if (!has_twin)
        add_absent(context, metric, before.count > 0, after.count > 0);
    fb_values_deinit(&before);
    fb_values_deinit(&after);
    return both;
}

/* A ratio that is n/a is judged by its bytes, unless they are judged anyway. */
static void judge_metric(struct context *context, enum fb_metric metric)
{
    enum fb_metric twin = fb_tolerance_twin(metric);
    bool has_twin = twin != metric && !context->options->expect_same;
    if (!judge_values(context, metric, has_twin) && has_twin && !asked_for(context->options, twin))
        (void)judge_values(context, twin, false);
}

static void judge_usual(struct context *context)
{
    if (fb_match_data_may_differ(context->pair->base, context->pair->cell))
        judge_metric(context, FB_METRIC_PEAK_FOOTPRINT_BYTES);
    for (size_t i = 0; i < fb_compare_metric_count; i++)
        judge_metric(context, fb_compare_metrics[i]);
}

static void judge_exact(struct context *context)
{
    for (size_t i = 0; i < FB_METRIC_COUNT; i++)
        if (fb_metrics[i].exact)
            judge_metric(context, (enum fb_metric)i);
}

static void judge_all(struct context *context)
{
    const struct fb_compare_options *options = context->options;
    if (options->metrics == NULL) {
        if (options->expect_same && context->repeats)
            judge_exact(context);
        else
            judge_usual(context);
        return;
    }
    for (size_t i = 0; i < options->metric_count; i++)
        judge_metric(context, options->metrics[i]);
}

/* Whether the two were measured under different conditions, which is then said. */
static bool judge_key(struct context *context)
{
    const struct fb_compare_options *options = context->options;
    const struct fb_matchup *pair = context->pair;
    unsigned allowed = fb_match_closure(options->pairing.by);
    bool unlike = (pair->differing & ~allowed) != 0;
    if (!pair->ambiguous && !unlike)
        return false;
    bool skip = options->skip_unlike && !pair->ambiguous;
    add_whole(context, FB_JUDGED_SKIPPED,
              skip ? fb_refusals_skip(&context->refusals, context->sets, pair, allowed)
                   : fb_refusals_add(&context->refusals, context->sets, pair, allowed));
    return true;
}

static void judge_pair(struct context *context)
{
    const struct fb_matchup *pair = context->pair;
    if (judge_presence(context) || judge_key(context))
        return;
    const unsigned runs = FB_MATCH_BIT(FB_MATCH_LAYOUTS) | FB_MATCH_BIT(FB_MATCH_SEED);
    context->repeats = (pair->differing & runs) == 0 &&
                       fb_judge_repeats(&context->sets[0].result->host, pair->base) &&
                       fb_judge_repeats(&context->sets[pair->set].result->host, pair->cell);
    if (!judge_work(context))
        judge_all(context);
}

void fb_compare(const struct fb_compare_set *sets, size_t set_count,
                const struct fb_compare_options *options, struct fb_comparison *out)
{
    struct fb_matchups pairs;
    *out = (struct fb_comparison){0};
    struct context context = {.sets = sets, .options = options, .out = out};
    fb_matchups_init(&pairs, sets, set_count, &options->pairing);
    for (size_t i = 0; i < pairs.count; i++) {
        context.pair = &pairs.items[i];
        judge_pair(&context);
    }
    out->refused = context.refusals.pairs;
    out->unlike = context.refusals.skipped;
    out->fields = context.refusals.fields;
    out->refusals = fb_refusals_text(&context.refusals);
    fb_refusals_deinit(&context.refusals);
    fb_matchups_deinit(&pairs);
}

void fb_comparison_deinit(struct fb_comparison *comparison)
{
    fb_findings_deinit(&comparison->findings);
    free(comparison->refusals);
    *comparison = (struct fb_comparison){0};
}
