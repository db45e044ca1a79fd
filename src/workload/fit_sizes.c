/* The sizes of a class as a distribution of the language. */
#include "workload/fit_model.h"

#include <stdlib.h>
#include <string.h>

/* A size is written by itself when so many in a hundred objects of its class have it: allocators
 * round sizes up to steps, and a histogram's even spread would put half of them on the wrong one.
 */
#define POINT_PERCENT 3U
#define POINTS_MAX (100U / POINT_PERCENT)

struct point {
    uint64_t size, count;
};

/* A class's histogram while it is put together; edge i + 1 ends bin i. */
struct bins {
    uint64_t edges[2 * POINTS_MAX + FB_FIT_PARTS + 2];
    uint64_t counts[2 * POINTS_MAX + FB_FIT_PARTS + 1];
    size_t count;
};

static int by_first(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (a[0] > b[0]) - (a[0] < b[0]);
}

static void add_choice(const struct fb_fit_class *class, struct fb_buf *out)
{
    uint64_t pairs[FB_FIT_SIZES_MAX][2];
    size_t count = 0;
    for (size_t i = 0; i < class->sizes.capacity; i++)
        if (class->sizes.entries[i].key != UINT64_MAX) {
            pairs[count][0] = class->sizes.entries[i].key;
            pairs[count++][1] = class->sizes.entries[i].value;
        }
    qsort(pairs, count, sizeof pairs[0], by_first);
    if (count == 1) {
        fb_buf_addf(out, "%llu", (unsigned long long)pairs[0][0]);
        return;
    }
    fb_buf_adds(out, "{choice: [");
    for (size_t i = 0; i < count; i++)
        fb_buf_addf(out, "%s[%llu, %llu]", i > 0 ? ", " : "", (unsigned long long)pairs[i][0],
                    (unsigned long long)pairs[i][1]);
    fb_buf_adds(out, "]}");
}

bool fb_fit_is_listed(const struct fb_fit_class *class)
{
    return class->count <= FB_FIT_CYCLE_MAX;
}

void fb_fit_sort_listed(const struct fb_fit_class *class, uint64_t order[FB_FIT_CYCLE_MAX][3])
{
    memcpy(order, class->order, class->count * sizeof order[0]);
    qsort(order, class->count, sizeof order[0], by_first);
}

/* Few objects: each its own size, in the order they were born. */
static void add_cycle(const struct fb_fit_class *class, struct fb_buf *out)
{
    uint64_t order[FB_FIT_CYCLE_MAX][3];
    fb_fit_sort_listed(class, order);
    fb_buf_adds(out, "{cycle: [");
    for (size_t i = 0; i < class->count; i++)
        fb_buf_addf(out, "%s%llu", i > 0 ? ", " : "", (unsigned long long)order[i][1]);
    fb_buf_adds(out, "]}");
}

/* The sizes that many objects have, ascending. */
static size_t find_points(const struct fb_fit_class *class, struct point *points)
{
    size_t count = 0;
    for (size_t i = 0; i < class->sizes.capacity; i++) {
        const struct fb_map_entry *entry = &class->sizes.entries[i];
        if (entry->key != UINT64_MAX && entry->key > 1 && count < POINTS_MAX &&
            entry->value * 100 >= class->count * POINT_PERCENT)
            points[count++] = (struct point){entry->key, entry->value};
    }
    qsort(points, count, sizeof *points, by_first);
    return count;
}

static void add_bin(struct bins *bins, uint64_t end, uint64_t count)
{
    if (end <= bins->edges[bins->count])
        return;
    bins->counts[bins->count++] = count;
    bins->edges[bins->count] = end;
}

/* One part of the range: its points as bins one byte wide, ending at the size itself (a draw is
 * rounded to the size or one byte less), the other objects evenly between them. */
static void add_part(struct bins *bins, uint64_t end, uint64_t others, const struct point *points,
                     size_t count)
{
    uint64_t begin = bins->edges[bins->count];
    uint64_t room = end > begin + count ? end - begin - count : 1;
    for (size_t i = 0; i < count; i++) {
        uint64_t gap = points[i].size - 1 - bins->edges[bins->count];
        add_bin(bins, points[i].size - 1, others * gap / room);
        add_bin(bins, points[i].size, points[i].count);
    }
    add_bin(bins, end, others * (end - bins->edges[bins->count]) / room);
}

static void add_histogram(const struct fb_fit_class *class, struct fb_buf *out)
{
    struct point points[POINTS_MAX] = {{0}};
    struct bins bins = {0};
    size_t count = find_points(class, points), at = 0;
    uint64_t least = class->range > 0 ? fb_fit_range_bytes(class->range - 1) : 0;
    uint64_t width = (fb_fit_range_bytes(class->range) - least) / FB_FIT_PARTS;
    bins.edges[0] = least > 0 ? least : 1;
    for (size_t i = 0; i < FB_FIT_PARTS; i++) {
        uint64_t end = least + width * (i + 1), others = class->parts[i];
        size_t last = at;
        for (; last < count && points[last].size <= end; last++)
            others -= points[last].count;
        add_part(&bins, end, others, points + at, last - at);
        at = last;
    }
    fb_fit_add_histogram(bins.edges, bins.counts, bins.count, out);
}

void fb_fit_add_sizes(const struct fb_fit_class *class, struct fb_buf *out)
{
    bool one = class->sizes.count == 1;
    fb_buf_adds(out, "size: ");
    if (!one && fb_fit_is_listed(class))
        add_cycle(class, out);
    else if (class->sizes.count <= FB_FIT_SIZES_MAX)
        add_choice(class, out);
    else
        add_histogram(class, out);
}
