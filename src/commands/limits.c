#include "commands/limits.h"

#include "base/alloc.h"
#include "base/suggest.h"
#include "harness/spec.h"

#include <stdlib.h>
#include <string.h>

/* How closely a limit names a contender; the closest counts. */
enum closeness { NOT_MEANT = 0, FOR_ALL, ITS_ALLOCATOR, ITS_LABEL };

static enum closeness closeness(const struct fb_workload_limit *limit,
                                const struct fb_contender *contender)
{
    const struct fb_backend *backend = contender->backend;
    bool calibrates = backend != NULL && (backend->flags & FB_BACKEND_NULL) != 0;
    if (limit->allocator == NULL)
        return calibrates ? NOT_MEANT : FOR_ALL;
    if (strcmp(limit->allocator, contender->label) == 0)
        return ITS_LABEL;
    bool same = backend != NULL && fb_backend_find(limit->allocator) == backend;
    return same ? ITS_ALLOCATOR : NOT_MEANT;
}

/* Of several as close (an allocator by its name and by its alias) the strictest. */
static const struct fb_workload_limit *find(const struct fb_workload_limit *limits, size_t count,
                                            const struct fb_contender *contender,
                                            enum fb_metric metric)
{
    const struct fb_workload_limit *found = NULL;
    enum closeness best = NOT_MEANT;
    for (size_t i = 0; i < count; i++) {
        const struct fb_workload_limit *limit = &limits[i];
        enum closeness close = limit->metric == metric ? closeness(limit, contender) : NOT_MEANT;
        if (close > best || (close == best && found != NULL && limit->max < found->max)) {
            found = close != NOT_MEANT ? limit : found;
            best = close;
        }
    }
    return found;
}

/* In the place of the cell's limit of that metric, or behind its others. */
static void put(struct fb_cell *cell, const struct fb_workload_limit *limit)
{
    size_t i = 0;
    while (i < cell->limit_count && cell->limits[i].metric != limit->metric)
        i++;
    cell->limit_count += i == cell->limit_count;
    cell->limits[i] = (struct fb_limit){limit->metric, limit->max, (unsigned)limit->line};
}

void fb_limits_fill(struct fb_cell *cell, const struct fb_workload_limit *limits, size_t count,
                    const struct fb_contender *contender)
{
    if (cell->limits == NULL)
        cell->limits = fb_alloc(FB_METRIC_COUNT, sizeof *cell->limits);
    for (int i = 0; i < FB_METRIC_COUNT; i++) {
        const struct fb_workload_limit *limit = find(limits, count, contender, (enum fb_metric)i);
        if (limit != NULL)
            put(cell, limit);
    }
}

static bool is_label(const struct fb_contenders *contenders, const char *name)
{
    for (size_t i = 0; i < contenders->count; i++)
        if (strcmp(contenders->items[i].label, name) == 0)
            return true;
    return false;
}

/* Whether it is what -a could name without a path: one allocator, its tunables known. */
static bool is_known(const char *name)
{
    struct fb_specs specs = {0};
    struct fb_error ignored = {0};
    if (strchr(name, '/') != NULL || fb_specs_parse(&name, 1, &specs, &ignored) != 0)
        return false;
    bool known = specs.count == 1 && specs.items[0].backend != NULL;
    for (size_t i = 0; known && i < specs.items[0].setting_count; i++)
        known = fb_backend_tunable(specs.items[0].backend, specs.items[0].settings[i].key) != NULL;
    fb_specs_deinit(&specs);
    return known;
}

static const char *nearest(const struct fb_contenders *contenders, const char *name)
{
    const char **known = fb_alloc(contenders->count + fb_backend_count, sizeof *known);
    size_t count = 0;
    for (size_t i = 0; i < contenders->count; i++)
        known[count++] = contenders->items[i].label;
    for (size_t i = 0; i < fb_backend_count; i++)
        known[count++] = fb_backends[i].name;
    const char *near = fb_suggest(name, known, count);
    free(known);
    return near;
}

/* What to do about a name that is not there. New string. */
static char *advise(const char *name, const struct fb_contenders *contenders)
{
    const char *near = nearest(contenders, name);
    if (near != NULL)
        return fb_format("did you mean \"%s\"?", near);
    if (strchr(name, ':') != NULL)
        return fb_strdup("its tunables are those of `fragbench list allocators NAME`, or -a names "
                         "it");
    return fb_format("it is neither a contender of this run nor an allocator of `fragbench list "
                     "allocators`; add -a %s=/path/lib.so or remove the limit",
                     name);
}

static void report(const struct fb_workload_limit *limit, const struct fb_contenders *contenders,
                   struct fb_diagnostics *diagnostics)
{
    char *advice = advise(limit->allocator, contenders);
    fb_diagnostics_add(diagnostics, limit->named.line, limit->named.column, limit->named.length,
                       "unknown-allocator", "limits names the unknown allocator \"%.60s\"; %s",
                       limit->allocator, advice);
    free(advice);
}

static bool check_workload(const struct fb_workload *workload,
                           const struct fb_contenders *contenders, struct fb_buf *faults)
{
    struct fb_diagnostics *diagnostics = fb_alloc(1, sizeof *diagnostics);
    fb_diagnostics_init(diagnostics);
    for (size_t i = 0; i < workload->limit_count; i++) {
        const char *name = workload->limits[i].allocator;
        if (name != NULL && !is_label(contenders, name) && !is_known(name))
            report(&workload->limits[i], contenders, diagnostics);
    }
    bool well = diagnostics->count == 0;
    if (!well) {
        fb_workload_show(workload->file, diagnostics);
        fb_diagnostics_render(diagnostics, faults);
    }
    fb_diagnostics_deinit(diagnostics);
    free(diagnostics);
    return well;
}

int fb_limits_check(const struct fb_plan *plan, const struct fb_contenders *contenders,
                    struct fb_buf *faults, struct fb_error *err)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct fb_workload *workload = plan->units[i].workload;
        /* A file's parameter sets have the same limits: its first fault speaks for all. */
        if (!check_workload(workload, contenders, faults))
            return fb_fail(err, FB_ERROR_INPUT,
                           "limits of %s name allocators that are not there; nothing was run",
                           workload->file);
    }
    return 0;
}

int fb_limits_check_given(const struct fb_run_options *options,
                          const struct fb_contenders *contenders, struct fb_error *err)
{
    for (size_t i = 0; i < options->limit_count; i++) {
        const char *name = options->limits[i].allocator;
        if (name == NULL || is_label(contenders, name) || is_known(name))
            continue;
        char *advice = advise(name, contenders);
        int status = fb_fail(err, FB_ERROR_INPUT,
                             "--limit names the unknown allocator \"%.60s\"; %s", name, advice);
        free(advice);
        return status;
    }
    return 0;
}
