#include "report/origin.h"

#include <string.h>

/* Without a boot id nobody knows: taken as another machine. */
static bool same_machine(const struct fb_host *a, const struct fb_host *b)
{
    return a->boot != NULL && b->boot != NULL && a->boot[0] != '\0' &&
           strcmp(a->boot, b->boot) == 0;
}

/* Times are ISO 8601 in one form and sort as text. A run without an end may have run until any
 * time. */
static bool overlap(const struct fb_merged_run *a, const struct fb_merged_run *b)
{
    bool a_first =
        a->finished != NULL && b->started != NULL && strcmp(a->finished, b->started) <= 0;
    bool b_first =
        b->finished != NULL && a->started != NULL && strcmp(b->finished, a->started) <= 0;
    return !a_first && !b_first;
}

static const char *apart(const struct fb_merged_run *a, const struct fb_merged_run *b)
{
    if (!same_machine(&a->host, &b->host))
        return "they were taken on different machines";
    if (overlap(a, b))
        return "they were taken in runs that shared a machine at the same time";
    return NULL;
}

const char *fb_origin_times_apart(const struct fb_result *result, const struct fb_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct fb_cell *a = &group->cells[i];
        for (size_t j = 0; j < i; j++) {
            const struct fb_cell *b = &group->cells[j];
            if (!a->timing.done || !b->timing.done || a->part == b->part ||
                a->part >= result->part_count || b->part >= result->part_count)
                continue;
            const char *why = apart(&result->parts[a->part], &result->parts[b->part]);
            if (why != NULL)
                return why;
        }
    }
    return NULL;
}

static size_t count_machines(const struct fb_result *result)
{
    size_t machines = 0;
    for (size_t i = 0; i < result->part_count; i++) {
        size_t earlier = 0;
        while (earlier < i && !same_machine(&result->parts[earlier].host, &result->parts[i].host))
            earlier++;
        machines += earlier == i;
    }
    return machines;
}

void fb_origin_line(const struct fb_result *result, struct fb_buf *out)
{
    const struct fb_shard *shard = &result->shard;
    size_t machines = count_machines(result);
    if (result->part_count > 0) {
        fb_buf_addf(out, "Merged from %zu of %u shards, run on %zu machine%s.", result->part_count,
                    shard->count, machines, machines == 1 ? "" : "s");
        if (result->part_count < shard->count)
            fb_buf_adds(out, " The cells of the others are missing.");
        fb_buf_adds(out, "\n");
    } else if (shard->count > 1) {
        fb_buf_addf(out,
                    "Shard %u of %u, %zu of %llu cells: `fragbench merge` joins the shards, and "
                    "only then all contenders are compared.\n",
                    shard->index, shard->count, result->cell_count,
                    (unsigned long long)shard->cells_total);
    }
}
