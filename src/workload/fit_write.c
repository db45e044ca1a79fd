#include "workload/fit_model.h"

#include "base/alloc.h"
#include "base/units.h"

#include <stdlib.h>

static const char *const fates[] = {
    [FB_FIT_STAYS] = "stays", [FB_FIT_KEPT] = "kept", [FB_FIT_TEMP] = "temp"};

/* "kept_to_64k", "temp_to_1m_handed", "kept_to_2m_p1_p3". */
static void add_name(const struct fb_fit_class *class, struct fb_buf *out)
{
    static const char units[] = {'b', 'k', 'm', 'g', 't'};
    uint64_t bytes = fb_fit_range_bytes(class->range);
    unsigned unit = 0;
    for (; bytes >= 1024 && unit + 1 < sizeof units; bytes /= 1024)
        unit++;
    fb_buf_addf(out, "%s_to_%llu%c", fates[class->fate], (unsigned long long)bytes, units[unit]);
    if (class->fate == FB_FIT_KEPT && fb_fit_is_big(class->range))
        fb_buf_addf(out, "_p%u", class->born + 1);
    if (class->fate == FB_FIT_KEPT)
        fb_buf_addf(out, "_p%u", class->dies + 1);
    if (class->handed)
        fb_buf_adds(out, "_handed");
}

void fb_fit_add_histogram(const uint64_t *edges, const uint64_t *counts, size_t parts,
                          struct fb_buf *out)
{
    size_t first = 0, last = parts;
    while (first + 1 < parts && counts[first] == 0)
        first++;
    while (last > first + 1 && counts[last - 1] == 0)
        last--;
    fb_buf_adds(out, "{histogram: {edges: [");
    for (size_t i = first; i <= last; i++)
        fb_buf_addf(out, "%s%llu", i > first ? ", " : "", (unsigned long long)edges[i]);
    fb_buf_adds(out, "], counts: [");
    for (size_t i = first; i < last; i++)
        fb_buf_addf(out, "%s%llu", i > first ? ", " : "", (unsigned long long)counts[i]);
    fb_buf_adds(out, "]}}");
}

uint64_t fb_fit_births(const struct fb_fit_class *class, uint32_t phase)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < FB_FIT_ITERATIONS; i++)
        sum += class->births[phase][i];
    return sum;
}

/* Whether threads other than main make most of its objects: then it runs on the pool. */
static bool is_pooled(const struct fb_fit_phase *phase)
{
    return phase->births_elsewhere * 2 > phase->births;
}

/* How many threads share the births of the phases in which most of the class are born: a lifetime
 * is counted in births of one thread, and each of a pool has its equal part of all. */
static uint32_t crew_of(const struct fb_fit_model *model, const struct fb_fit_class *class)
{
    uint64_t pooled = 0;
    for (uint32_t i = 0; i < model->phase_count; i++)
        if (is_pooled(&model->phases[i]))
            pooled += fb_fit_births(class, i);
    return pooled * 2 > class->count ? model->workers : 1;
}

/* Few objects: each its own. */
static void add_listed_lives(const struct fb_fit_class *class, double scale, struct fb_buf *out)
{
    uint64_t order[FB_FIT_CYCLE_MAX][3];
    fb_fit_sort_listed(class, order);
    fb_buf_adds(out, "{cycle: [");
    for (size_t i = 0; i < class->count; i++) {
        uint64_t life = (uint64_t)((double)order[i][2] * scale);
        fb_buf_addf(out, "%s%llu", i > 0 ? ", " : "", (unsigned long long)(life > 0 ? life : 1));
    }
    fb_buf_adds(out, "]}");
}

static void add_life(const struct fb_fit_model *model, const struct fb_fit_class *class,
                     struct fb_buf *out)
{
    uint64_t edges[FB_FIT_LIVES + 1];
    if (class->fate != FB_FIT_TEMP) {
        fb_buf_adds(out, class->fate == FB_FIT_STAYS ? ", lifetime: run" : ", lifetime: manual");
        return;
    }
    double scale = model->life_scale / crew_of(model, class);
    fb_buf_adds(out, ",\n    lifetime: {ops: ");
    if (fb_fit_is_listed(class)) {
        add_listed_lives(class, scale, out);
    } else {
        for (size_t i = 0; i <= FB_FIT_LIVES; i++) { /* still ascending */
            uint64_t scaled = (uint64_t)((double)(UINT64_C(1) << i) * scale);
            edges[i] = scaled > i + 1 ? scaled : i + 1;
        }
        fb_fit_add_histogram(edges, class->lives, FB_FIT_LIVES, out);
    }
    fb_buf_adds(out, "}");
}

/* Whether the phases that make them all run on the pool: elsewhere there is no other thread. */
static bool is_handed_over(const struct fb_fit_model *model, const struct fb_fit_class *class)
{
    if (!class->handed || class->fate != FB_FIT_TEMP)
        return false;
    for (uint32_t i = 0; i < model->phase_count; i++)
        if (fb_fit_births(class, i) > 0 && !is_pooled(&model->phases[i]))
            return false;
    return true;
}

static void add_class(const struct fb_fit_model *model, const struct fb_fit_class *class,
                      struct fb_buf *out)
{
    fb_buf_adds(out, "  ");
    add_name(class, out);
    fb_buf_adds(out, ": {");
    fb_fit_add_sizes(class, out);
    add_life(model, class, out);
    if (class->aligned * 2 > class->count)
        fb_buf_addf(
            out, ", align: %llu",
            (unsigned long long)(UINT64_C(1) << (class->align_log2 < 21 ? class->align_log2 : 21)));
    else if (class->calloced * 2 > class->count)
        fb_buf_adds(out, ", call: calloc");
    uint64_t touched = (uint64_t)(100 * class->touched / (double)class->bytes);
    if (touched == 0)
        fb_buf_adds(out, ", touch: none");
    else if (touched < 100)
        fb_buf_addf(out, ", touch: %llu%%", (unsigned long long)touched);
    if (is_handed_over(model, class))
        fb_buf_adds(out, ", freed_by: other");
    fb_buf_adds(out, "}\n");
}

/* Parts of the phase that are told apart: FB_FIT_ITERATIONS, or a divisor of it. A pool's workers
 * each have an iteration in every part, and lists are to stay readable. Or a pool's are all dealt
 * alike. */
static unsigned count_parts(const struct fb_fit_model *model, uint32_t phase)
{
    bool pooled = is_pooled(&model->phases[phase]);
    if (model->phases[phase].births < FB_FIT_ITERATIONS || (pooled && !model->timed_pools))
        return 1;
    unsigned parts = FB_FIT_ITERATIONS;
    if (pooled)
        while (parts > 1 && parts * model->workers > FB_FIT_COUNTS_MAX)
            parts = parts % 2 == 0 ? parts / 2 : 1;
    return parts;
}

static unsigned count_iterations(const struct fb_fit_model *model, uint32_t phase)
{
    unsigned parts = count_parts(model, phase), workers = model->workers;
    if (!is_pooled(&model->phases[phase]) || model->phases[phase].births < FB_FIT_ITERATIONS)
        return parts;
    return parts > 1 ? parts * workers : (FB_FIT_ITERATIONS + workers - 1) / workers * workers;
}

/* Births in one of `parts` equal parts of the phase. */
static uint64_t births_in(const struct fb_fit_class *class, uint32_t phase, unsigned part,
                          unsigned parts)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < FB_FIT_ITERATIONS / parts; i++)
        sum += class->births[phase][part * (FB_FIT_ITERATIONS / parts) + i];
    return sum;
}

/* What each iteration allocates of the class: what there was in that part of the phase, dealt to
 * the iterations that are under way in it at once; not the odd one always to the same worker. */
static void add_count(const struct fb_fit_model *model, const struct fb_fit_class *class,
                      uint32_t phase, unsigned iterations, struct fb_buf *out)
{
    uint64_t counts[FB_FIT_WORKERS_MAX + FB_FIT_COUNTS_MAX] = {0};
    unsigned parts = count_parts(model, phase), crew = iterations / parts;
    bool same = true;
    for (unsigned i = 0; i < iterations; i++) {
        uint64_t births = births_in(class, phase, i / crew, parts);
        unsigned place = (i % crew + i / crew) % crew;
        counts[i] = births * (place + 1) / crew - births * place / crew;
        same = same && counts[i] == counts[0];
    }
    if (same) {
        fb_buf_addf(out, "%llu", (unsigned long long)counts[0]);
        return;
    }
    fb_buf_adds(out, "{cycle: [");
    for (unsigned i = 0; i < iterations; i++)
        fb_buf_addf(out, "%s%llu", i > 0 ? ", " : "", (unsigned long long)counts[i]);
    fb_buf_adds(out, "]}");
}

static void add_allocations(const struct fb_fit_model *model, uint32_t phase, unsigned iterations,
                            struct fb_buf *out)
{
    const char *between = "\n    allocate:\n      {";
    for (size_t i = 0; i < model->class_count; i++) {
        const struct fb_fit_class *class = &model->classes[i];
        if (fb_fit_births(class, phase) == 0)
            continue;
        fb_buf_adds(out, between);
        add_name(class, out);
        fb_buf_adds(out, ": ");
        add_count(model, class, phase, iterations, out);
        between = ",\n       ";
    }
    if (between[0] == ',')
        fb_buf_adds(out, "}");
}

/* Of a class's objects that are alive when the phase begins, those that it frees. */
static void add_frees(const struct fb_fit_model *model, uint32_t phase, struct fb_buf *out)
{
    const char *between = "\n    free:\n      {";
    for (size_t i = 0; i < model->class_count; i++) {
        const struct fb_fit_class *class = &model->classes[i];
        uint64_t born = 0, dead = 0;
        for (uint32_t p = 0; p < phase; p++) {
            born += fb_fit_births(class, p);
            dead += class->deaths[p];
        }
        if (class->fate != FB_FIT_KEPT || class->deaths[phase] == 0 || born <= dead)
            continue;
        double share = 100.0 * (double)class->deaths[phase] / (double)(born - dead);
        fb_buf_adds(out, between);
        add_name(class, out);
        if (share < 99.9999)
            fb_buf_addf(out, ": %.4f%%", share);
        else
            fb_buf_adds(out, ": all");
        between = ",\n       ";
    }
    if (between[0] == ',')
        fb_buf_adds(out, "}");
}

static void add_phase(const struct fb_fit_model *model, uint32_t index, struct fb_buf *out)
{
    const struct fb_fit_phase *phase = &model->phases[index];
    bool last = index + 1 == model->phase_count;
    uint64_t end_ns = last ? model->duration_ns : model->phases[index + 1].begin_ns;
    uint64_t length_ns = end_ns > phase->begin_ns ? end_ns - phase->begin_ns : 0;
    unsigned iterations = count_iterations(model, index);
    fb_buf_addf(out, "  - name: p%u", index + 1);
    if (is_pooled(phase))
        fb_buf_adds(out, "\n    pool: workers");
    if (iterations > 1) {
        fb_buf_addf(out, "\n    iterations: %u", iterations);
        if (length_ns / iterations > 0)
            fb_buf_addf(out, "\n    every: %lluns", (unsigned long long)(length_ns / iterations));
    }
    if (length_ns > 0)
        fb_buf_addf(out, "\n    for: %lluns", (unsigned long long)length_ns);
    add_frees(model, index, out);
    add_allocations(model, index, iterations, out);
    fb_buf_adds(out, "\n");
}

static bool uses_pool(const struct fb_fit_model *model)
{
    for (uint32_t i = 0; i < model->phase_count; i++)
        if (is_pooled(&model->phases[i]))
            return true;
    return false;
}

bool fb_fit_is_empty(const struct fb_fit_model *model, uint32_t index)
{
    const struct fb_fit_phase *phase = &model->phases[index];
    bool last = index + 1 == model->phase_count;
    uint64_t end_ns = last ? model->duration_ns : model->phases[index + 1].begin_ns;
    bool frees = false;
    for (size_t i = 0; i < model->class_count; i++)
        frees = frees || model->classes[i].deaths[index] > 0;
    return phase->births == 0 && !frees && end_ns <= phase->begin_ns;
}

void fb_fit_write(const struct fb_fit_model *model, const char *name, struct fb_buf *out)
{
    fb_buf_addf(out,
                "# Made by `fragbench record --workload` from a recording; phase p1, p2, … are "
                "its parts in time.\n"
                "fragbench: 1\nname: %s\n"
                "description: Fitted to a recording; kept_ objects outlive their phase, temp_ "
                "ones do not.\n",
                name);
    if (uses_pool(model))
        fb_buf_addf(out, "pools: {workers: %u}\n", model->workers);
    fb_buf_adds(out, "\nobjects:\n");
    for (size_t i = 0; i < model->class_count; i++)
        add_class(model, &model->classes[i], out);
    fb_buf_adds(out, "\nphases:\n");
    for (uint32_t i = 0; i < model->phase_count; i++)
        if (!fb_fit_is_empty(model, i))
            add_phase(model, i, out);
}
