#include "metrics/ranking.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MANY_CONTENDERS 8U

static double median(const struct fb_cell *cell, enum fb_metric metric)
{
    return cell->summary[metric].n > 0 ? cell->summary[metric].median : NAN;
}

static bool equal_memory(const struct fb_cell *a, const struct fb_cell *b)
{
    return a == b || fb_summary_indistinct(&a->summary[FB_METRIC_PEAK_FOOTPRINT_BYTES],
                                           &b->summary[FB_METRIC_PEAK_FOOTPRINT_BYTES]);
}

bool fb_ranking_equal_end(const struct fb_cell *a, const struct fb_cell *b)
{
    const struct fb_summary *x = &a->summary[FB_METRIC_END_FOOTPRINT_BYTES];
    const struct fb_summary *y = &b->summary[FB_METRIC_END_FOOTPRINT_BYTES];
    return a == b || fb_summary_indistinct(x, y) ||
           fabs(x->median - y->median) < FB_RANKING_END_BYTES;
}

static bool clearly_faster(const struct fb_cell *a, const struct fb_cell *b)
{
    return median(a, FB_METRIC_NS_PER_OP) * (1 + FB_RANKING_TIME_SHARE) <=
           median(b, FB_METRIC_NS_PER_OP);
}

static bool clearly_smaller(const struct fb_cell *a, const struct fb_cell *b)
{
    return !equal_memory(a, b) &&
           median(a, FB_METRIC_PEAK_FOOTPRINT_BYTES) < median(b, FB_METRIC_PEAK_FOOTPRINT_BYTES);
}

static bool dominates(const struct fb_cell *a, const struct fb_cell *b)
{
    return (clearly_smaller(a, b) && !clearly_faster(b, a)) ||
           (clearly_faster(a, b) && !clearly_smaller(b, a));
}

/* A contender without a time has no place in the plane. */
static bool has_time(const struct fb_cell *cell)
{
    return !isnan(median(cell, FB_METRIC_NS_PER_OP));
}

static bool on_front(const struct fb_verdict *verdict, const struct fb_cell *cell)
{
    if (!has_time(cell))
        return false;
    for (size_t i = 0; i < verdict->ranked_count; i++) {
        if (has_time(verdict->ranked[i]) && dominates(verdict->ranked[i], cell))
            return false;
    }
    return true;
}

/* What the order within a rank goes by. */
struct order {
    const struct fb_cell *least_end;
    bool timed;
};

static int by_number(double x, double y)
{
    if (isnan(x) || isnan(y))
        return (isnan(x) != 0) - (isnan(y) != 0);
    return (x > y) - (x < y);
}

static int compare(const void *left, const void *right, void *user)
{
    const struct fb_rank *a = left, *b = right;
    const struct order *order = user;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    int by = 0;
    if (order->least_end != NULL)
        by = fb_ranking_equal_end(order->least_end, b->cell) -
             fb_ranking_equal_end(order->least_end, a->cell);
    if (by == 0 && order->timed)
        by = by_number(median(a->cell, FB_METRIC_NS_PER_OP), median(b->cell, FB_METRIC_NS_PER_OP));
    if (by == 0)
        by = by_number(median(a->cell, FB_METRIC_PEAK_FOOTPRINT_BYTES),
                       median(b->cell, FB_METRIC_PEAK_FOOTPRINT_BYTES));
    return by != 0 ? by : strcmp(a->cell->id, b->cell->id);
}

/* verdict->ranked goes by peak, so the first without a rank leads the next one. */
static void assign(struct fb_ranking *ranking)
{
    unsigned placed = 0;
    for (size_t i = 0; i < ranking->count; i++) {
        if (ranking->items[i].rank != 0)
            continue;
        unsigned rank = placed + 1;
        for (size_t j = i; j < ranking->count; j++) {
            struct fb_rank *other = &ranking->items[j];
            if (other->rank == 0 && equal_memory(ranking->items[i].cell, other->cell)) {
                other->rank = rank;
                placed++;
            }
        }
    }
}

void fb_ranking_init(struct fb_ranking *ranking, const struct fb_verdict *verdict)
{
    *ranking = (struct fb_ranking){
        .items = fb_alloc(verdict->ranked_count, sizeof *ranking->items),
        .count = verdict->ranked_count,
        .timed = verdict->fastest != NULL && !verdict->untimed,
    };
    for (size_t i = 0; i < ranking->count; i++) {
        const struct fb_cell *cell = verdict->ranked[i];
        ranking->items[i] = (struct fb_rank){cell, 0, ranking->timed && on_front(verdict, cell)};
    }
    assign(ranking);
    struct order order = {verdict->least_end, ranking->timed};
    qsort_r(ranking->items, ranking->count, sizeof *ranking->items, compare, &order);
}

void fb_ranking_deinit(struct fb_ranking *ranking)
{
    free(ranking->items);
    *ranking = (struct fb_ranking){0};
}

const struct fb_cell *fb_ranking_best(const struct fb_verdict *verdict)
{
    struct fb_ranking ranking;
    fb_ranking_init(&ranking, verdict);
    const struct fb_cell *best = ranking.count > 0 ? ranking.items[0].cell : NULL;
    fb_ranking_deinit(&ranking);
    return best;
}

const struct fb_cell *fb_ranking_fastest(const struct fb_ranking *ranking)
{
    const struct fb_cell *fastest = NULL;
    for (size_t i = 0; i < ranking->count; i++) {
        const struct fb_cell *cell = ranking->items[i].cell;
        if (ranking->items[i].front &&
            (fastest == NULL ||
             median(cell, FB_METRIC_NS_PER_OP) < median(fastest, FB_METRIC_NS_PER_OP)))
            fastest = cell;
    }
    return fastest;
}

bool fb_ranking_worth(const struct fb_cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *backend = cells[i].allocator.backend;
        for (size_t j = 0; backend != NULL && backend[0] != '\0' && j < i; j++) {
            const char *other = cells[j].allocator.backend;
            if (other != NULL && strcmp(backend, other) == 0)
                return true;
        }
    }
    return count >= MANY_CONTENDERS;
}
