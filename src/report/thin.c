#include "report/thin.h"

#include "base/alloc.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

void fb_curve_add(struct fb_curve *curve, double x, double y)
{
    size_t count = curve->count;
    if ((count & (count - 1)) == 0) { /* full at every power of two */
        size_t capacity = count == 0 ? 1 : count * 2;
        curve->x = fb_realloc(curve->x, capacity, sizeof *curve->x);
        curve->y = fb_realloc(curve->y, capacity, sizeof *curve->y);
    }
    curve->x[count] = x;
    curve->y[count] = y;
    curve->count++;
}

void fb_curve_deinit(struct fb_curve *curve)
{
    free(curve->x);
    free(curve->y);
    *curve = (struct fb_curve){0};
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a >= b && a <= b;
}

/* On steps a repeated value draws nothing. */
static void drop_repeats(struct fb_curve *curve)
{
    size_t kept = 0;
    for (size_t i = 0; i < curve->count; i++) {
        if (kept > 0 && i + 1 < curve->count && same(curve->y[i], curve->y[kept - 1]))
            continue;
        curve->x[kept] = curve->x[i];
        curve->y[kept++] = curve->y[i];
    }
    curve->count = kept;
}

/* What a column keeps, as indices. */
struct column {
    size_t first, last;
    size_t low, high;               /* SIZE_MAX: all is gap */
    size_t gap;                     /* SIZE_MAX: none */
    bool after_empty, before_empty; /* the column on the left or right has no points */
};
#define NONE ((size_t)-1)

static void look(struct column *column, const double *y, size_t i)
{
    column->last = i;
    if (isnan(y[i])) {
        column->gap = column->gap == NONE ? i : column->gap;
        return;
    }
    if (column->low == NONE || y[i] < y[column->low])
        column->low = i;
    if (column->high == NONE || y[i] > y[column->high])
        column->high = i;
}

static bool is_kept(const struct column *column, size_t i)
{
    return (i == column->first && column->after_empty) ||
           (i == column->last && column->before_empty) || i == column->low || i == column->high ||
           i == column->gap;
}

static size_t column_of(double x, double from, double width, size_t columns)
{
    double at = width > 0 ? (x - from) / width : 0;
    size_t index = at > 0 ? (size_t)at : 0;
    return index < columns ? index : columns - 1;
}

void fb_curve_thin(struct fb_curve *curve, size_t columns)
{
    drop_repeats(curve);
    if (columns == 0 || curve->count <= columns * 2)
        return;
    double from = curve->x[0];
    double width = (curve->x[curve->count - 1] - from) / (double)columns;
    size_t kept = 0, next = 0;
    size_t before = columns; /* the column before; none yet */
    for (size_t begin = 0, end = 0; begin < curve->count; begin = end) {
        size_t index = column_of(curve->x[begin], from, width, columns);
        struct column column = {.first = begin, .low = NONE, .high = NONE, .gap = NONE};
        for (end = begin, next = index; end < curve->count; end++) {
            next = column_of(curve->x[end], from, width, columns);
            if (next != index)
                break;
            look(&column, curve->y, end);
        }
        column.after_empty = before + 1 != index;
        column.before_empty = end == curve->count || next != index + 1;
        before = index;
        for (size_t i = begin; i < end; i++) {
            if (!is_kept(&column, i))
                continue;
            curve->x[kept] = curve->x[i];
            curve->y[kept++] = curve->y[i];
        }
    }
    curve->count = kept;
}
