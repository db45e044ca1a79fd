#include "report/verdict.h"

#include "base/alloc.h"
#include "base/units.h"
#include "metrics/ranking.h"
#include "report/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIE_PERCENT 2.0
#define MIB 1048576.0

/* One comparison of footprints, said in one sentence. */
struct contest {
    enum fb_metric footprint, live;
    const char *when;      /* "at its peak" */
    const char *no_matter; /* "for the peak" */
    double tie_bytes;      /* differences below decide nothing */
    const char *within;
};

static const struct contest contests[] = {
    {FB_METRIC_PEAK_FOOTPRINT_BYTES, FB_METRIC_PEAK_LIVE_BYTES, "at its peak", "for the peak", 0,
     "2 %"},
    /* After the frees little may be left: 0.2 against 0.9 MiB is no reason to choose. */
    {FB_METRIC_END_FOOTPRINT_BYTES, FB_METRIC_END_LIVE_BYTES, "at the end", "for the end", MIB,
     "2 %, 1 MiB"},
};
enum { PEAK, AT_END };

static const char *name_of(const struct fb_cell *cell)
{
    return fb_text_or_empty(cell->allocator.name);
}

static double value_of(const struct fb_cell *cell, enum fb_metric metric)
{
    return cell->summary[metric].n > 0 ? cell->summary[metric].median : NAN;
}

static void add_size(struct fb_buf *out, double bytes)
{
    char text[32];
    fb_buf_adds(out, fb_units_bytes(bytes > 0 ? (uint64_t)bytes : 0, text, sizeof text));
}

static bool ties(const struct contest *contest, const struct fb_cell *best,
                 const struct fb_cell *other)
{
    const struct fb_summary *a = &best->summary[contest->footprint];
    const struct fb_summary *b = &other->summary[contest->footprint];
    return other == best || fb_summary_indistinct(a, b) ||
           fabs(a->median - b->median) < contest->tie_bytes;
}

/* Largest footprint of those that finished. */
static const struct fb_cell *most(const struct fb_verdict *verdict, const struct contest *contest)
{
    const struct fb_cell *worst = verdict->ranked[0];
    for (size_t i = 1; i < verdict->ranked_count; i++)
        if (value_of(verdict->ranked[i], contest->footprint) > value_of(worst, contest->footprint))
            worst = verdict->ranked[i];
    return worst;
}

static size_t count_ties(const struct fb_verdict *verdict, const struct contest *contest,
                         const struct fb_cell *best)
{
    size_t count = 0;
    for (size_t i = 0; i < verdict->ranked_count; i++)
        count += ties(contest, best, verdict->ranked[i]);
    return count;
}

static void add_tied_names(const struct fb_verdict *verdict, const struct contest *contest,
                           const struct fb_cell *best, size_t count, struct fb_buf *out)
{
    size_t seen = 0;
    for (size_t i = 0; i < verdict->ranked_count; i++) {
        if (!ties(contest, best, verdict->ranked[i]))
            continue;
        const char *between = seen == 0 ? "" : seen + 1 == count ? " and " : ", ";
        fb_buf_addf(out, "%s%s", between, name_of(verdict->ranked[i]));
        seen++;
    }
}

static void add_all_tied(const struct fb_group *group, const struct contest *contest,
                         const struct fb_cell *best, const struct fb_cell *worst,
                         struct fb_buf *out)
{
    double low = value_of(best, contest->footprint), high = value_of(worst, contest->footprint);
    fb_buf_addf(out, "Memory %s: all ", contest->when);
    if (high - low < low * TIE_PERCENT / 100)
        fb_buf_adds(out, "within 2 %");
    else
        fb_group_tie(group, contest->within, out);
    fb_buf_addf(out, ": on this pattern the allocator does not matter %s (", contest->no_matter);
    add_size(out, low);
    fb_buf_adds(out, " to ");
    add_size(out, high);
    fb_buf_adds(out, ").\n");
}

static void add_excess(struct fb_buf *out, const char *lead, const struct fb_cell *cell,
                       const struct fb_cell *best, const struct contest *contest)
{
    double value = value_of(cell, contest->footprint), base = value_of(best, contest->footprint);
    fb_buf_addf(out, "%s%s needs ", lead, name_of(cell));
    add_size(out, value);
    if (base < MIB)
        return; /* "826 times as much" as almost nothing says nothing */
    if (value >= base * 2)
        fb_buf_addf(out, " (%.1f times as much)", value / base);
    else
        fb_buf_addf(out, " (%+.0f %%)", (value / base - 1) * 100);
}

/* The first behind the leaders, in order of this contest. */
static const struct fb_cell *next_after(const struct fb_verdict *verdict,
                                        const struct contest *contest, const struct fb_cell *best)
{
    const struct fb_cell *next = NULL;
    for (size_t i = 0; i < verdict->ranked_count; i++) {
        const struct fb_cell *cell = verdict->ranked[i];
        if (!ties(contest, best, cell) && (next == NULL || value_of(cell, contest->footprint) <
                                                               value_of(next, contest->footprint)))
            next = cell;
    }
    return next;
}

static void add_contest(const struct fb_group *group, const struct fb_verdict *verdict,
                        const struct contest *contest, const struct fb_cell *best,
                        struct fb_buf *out)
{
    size_t tied = count_ties(verdict, contest, best);
    const struct fb_cell *worst = most(verdict, contest);
    if (verdict->ranked_count > 1 && tied == verdict->ranked_count) {
        add_all_tied(group, contest, best, worst, out);
        return;
    }
    fb_buf_addf(out, "Least memory %s: ", contest->when);
    add_tied_names(verdict, contest, best, tied, out);
    fb_buf_adds(out, tied > 1 ? ", a tie from " : ", ");
    add_size(out, value_of(best, contest->footprint));
    if (!isnan(value_of(best, contest->live))) {
        fb_buf_adds(out, " for ");
        add_size(out, value_of(best, contest->live));
        fb_buf_adds(out, " of data");
    }
    if (tied > 1) {
        fb_buf_adds(out, " (");
        fb_group_tie(group, contest->within, out);
        fb_buf_adds(out, ")");
    }
    const struct fb_cell *next = next_after(verdict, contest, best);
    if (next != NULL)
        add_excess(out, "; ", next, best, contest);
    if (next != NULL && worst != next)
        add_excess(out, ", ", worst, best, contest);
    fb_buf_adds(out, ".\n");
}

/* Nanoseconds with a decimal, longer times in their own unit. */
static void add_time(struct fb_buf *out, double ns)
{
    char text[32];
    if (ns < 1000)
        fb_buf_addf(out, "%.1f ns", ns);
    else
        fb_buf_adds(out, fb_units_time((uint64_t)ns, text, sizeof text));
}

/* A program's own work takes time of its own, so there is no time a call: only its wall time. */
static bool add_wall_time(const struct fb_verdict *verdict, const struct fb_cell *chosen,
                          struct fb_buf *out)
{
    const struct fb_cell *fastest = chosen;
    for (size_t i = 0; i < verdict->ranked_count; i++)
        if (value_of(verdict->ranked[i], FB_METRIC_WALL_S) < value_of(fastest, FB_METRIC_WALL_S))
            fastest = verdict->ranked[i];
    double time = value_of(chosen, FB_METRIC_WALL_S), best = value_of(fastest, FB_METRIC_WALL_S);
    if (isnan(time))
        return false;
    fb_buf_addf(out, "Time: under %s the work takes %.3g s", name_of(chosen), time);
    if (fastest != chosen && best > 0)
        fb_buf_addf(out, "; %+.0f %% against the fastest, %s (%.3g s)", (time / best - 1) * 100,
                    name_of(fastest), best);
    fb_buf_adds(out, fastest == chosen && verdict->ranked_count > 1 ? ": the fastest.\n" : ".\n");
    return true;
}

static void add_speed(const struct fb_group *group, const struct fb_verdict *verdict,
                      const struct fb_cell *chosen, struct fb_buf *out)
{
    double time = value_of(chosen, FB_METRIC_NS_PER_OP);
    if (group->times_apart != NULL) {
        fb_buf_addf(out, "Speed: not compared, since %s.\n", group->times_apart);
        return;
    }
    if (isnan(time) && add_wall_time(verdict, chosen, out))
        return;
    if (verdict->fastest == NULL || isnan(time)) {
        fb_buf_addf(out, "Speed: not measured for %s.\n", name_of(chosen));
        return;
    }
    fb_buf_addf(out, "Speed: %s takes ", name_of(chosen));
    add_time(out, time);
    fb_buf_adds(out, " a call, writing to its memory included");
    double best = value_of(verdict->fastest, FB_METRIC_NS_PER_OP);
    if (verdict->fastest == chosen) {
        fb_buf_adds(out, verdict->ranked_count > 1 ? ": the fastest.\n" : ".\n");
        return;
    }
    if (best > 0)
        fb_buf_addf(out, ": %.1f times as long as", time / best);
    fb_buf_addf(out, "%s the fastest, %s (", best > 0 ? "" : "; against",
                name_of(verdict->fastest));
    add_time(out, best);
    fb_buf_adds(out, ").\n");
}

static void add_refused(const struct fb_verdict *verdict, struct fb_buf *out)
{
    char calls[32];
    for (size_t i = 0; i < verdict->refused_count; i++) {
        const struct fb_cell *cell = verdict->refused[i];
        uint64_t most_calls = 0, most_bytes = 0;
        for (size_t j = 0; j < cell->repetition_count; j++) {
            const struct fb_repetition *repetition = &cell->repetitions[j];
            if (repetition->refused_calls > most_calls)
                most_calls = repetition->refused_calls;
            if (repetition->refused_bytes > most_bytes)
                most_bytes = repetition->refused_bytes;
        }
        fb_buf_addf(out, "%s%s (refused %s calls, ",
                    i == 0 ? "Not ranked, since they did less work: " : ", ", name_of(cell),
                    fb_units_count(most_calls, calls, sizeof calls));
        add_size(out, (double)most_bytes);
        fb_buf_adds(out, ")");
    }
    if (verdict->refused_count > 0)
        fb_buf_adds(out, ".\n");
}

/* libc's malloc is said to be in use only where a program was seen to call it: one without any, as
 * Go's, ran all the same. */
static const char *why_nothing(const struct fb_cell *cell)
{
    bool answered = !fb_cell_is_program(cell);
    for (size_t i = 0; i < cell->repetition_count; i++)
        for (size_t j = 0; j < cell->repetitions[i].program_count; j++)
            answered = answered || cell->repetitions[i].programs[j].answered_by != NULL;
    return answered ? "it is what libc has built in" : "the program ran as it is";
}

/* `why` says what it is best at; `other` is the footprint of the other contest, which it loses. */
static void add_use(const struct fb_cell *cell, const char *why, const char *but,
                    enum fb_metric other, const struct fb_verdict_style *style, struct fb_buf *out)
{
    char *environment = fb_table_environment(cell);
    fb_buf_addf(out, "%sTo use %s", style->bullet, name_of(cell));
    if (why != NULL) {
        fb_buf_addf(out, " (%s, but %s ", why, but);
        add_size(out, value_of(cell, other));
        fb_buf_adds(out, ")");
    }
    if (environment[0] == '\0')
        fb_buf_addf(out, ": nothing to set, %s.\n", why_nothing(cell));
    else
        fb_buf_addf(out, ":\n%s%s your-program%s\n", style->command, environment,
                    style->command_end);
    free(environment);
}

static void add_ranked(const struct fb_group *group, const struct fb_verdict *verdict,
                       const struct fb_verdict_style *style, struct fb_buf *out)
{
    const struct fb_cell *chosen = fb_ranking_best(verdict);
    const struct fb_cell *end = verdict->least_end;
    if (verdict->ranked_count == 1)
        fb_buf_addf(out, "%sOnly %s finished with equal work: nothing to compare it with.\n",
                    style->bullet, name_of(chosen));
    fb_buf_adds(out, style->bullet);
    add_contest(group, verdict, &contests[PEAK], verdict->least_peak, out);
    if (end != NULL) {
        fb_buf_adds(out, style->bullet);
        add_contest(group, verdict, &contests[AT_END], end, out);
    }
    fb_buf_adds(out, style->bullet);
    add_speed(group, verdict, chosen, out);
}

static void add_uses(const struct fb_verdict *verdict, const struct fb_verdict_style *style,
                     struct fb_buf *out)
{
    const struct fb_cell *chosen = fb_ranking_best(verdict), *end = verdict->least_end;
    bool split = end != NULL && !ties(&contests[AT_END], end, chosen);
    if (!split) {
        add_use(chosen, NULL, NULL, FB_METRIC_COUNT, style, out);
        return;
    }
    add_use(chosen, "least at its peak", "ends with", FB_METRIC_END_FOOTPRINT_BYTES, style, out);
    add_use(end, "least at the end", "peaks at", FB_METRIC_PEAK_FOOTPRINT_BYTES, style, out);
}

void fb_verdict_render(const struct fb_group *group, const struct fb_verdict_style *style,
                       struct fb_buf *out)
{
    struct fb_verdict verdict;
    fb_group_judge(group, &verdict);
    if (verdict.ranked_count == 0)
        fb_buf_addf(out, "%sNo verdict: no allocator finished this workload with equal work.\n",
                    style->bullet);
    else
        add_ranked(group, &verdict, style, out);
    if (verdict.refused_count > 0) {
        fb_buf_adds(out, style->bullet);
        add_refused(&verdict, out);
    }
    if (verdict.ranked_count > 0 && !style->without_use)
        add_uses(&verdict, style, out);
    fb_verdict_deinit(&verdict);
}
