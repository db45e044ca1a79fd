#include "commands/plan.h"

#include "base/alloc.h"
#include "base/units.h"
#include "commands/locate.h"
#include "harness/proc.h"
#include "trace/shared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* Left free on the disk for the results themselves. */
#define DISK_RESERVE_BYTES (UINT64_C(64) << 20)
/* A trace this small is always tried: on a disk without even that, the write says that it is full.
 */
#define DISK_LEAST_BYTES (UINT64_C(1) << 20)

static char *suffix_of(const struct fb_override *set, size_t count)
{
    char *suffix = fb_strdup("");
    for (size_t i = 0; i < count; i++) {
        char *longer = fb_format("%s/%s=%s", suffix, set[i].name, set[i].value);
        free(suffix);
        suffix = longer;
    }
    return suffix;
}

/* One parameter set of one file. false: its faults are in faults. */
static bool load_unit(const struct fb_plan_request *request, const char *path, size_t set,
                      struct fb_plan *plan, struct fb_buf *faults)
{
    size_t count = request->params->count;
    struct fb_override *overrides = fb_alloc(count, sizeof *overrides);
    fb_axes_pick(request->params, set, overrides);
    struct fb_plan_unit unit = {.seed_count = request->seeds, .scale = request->scale};
    struct fb_diagnostics *diagnostics = fb_alloc(1, sizeof *diagnostics);
    fb_diagnostics_init(diagnostics);
    bool loaded = fb_workload_load(path, overrides, count, &unit.workload, diagnostics) == 0;
    if (loaded) {
        unit.suffix = suffix_of(overrides, count);
        plan->units = fb_realloc(plan->units, plan->count + 1, sizeof *plan->units);
        plan->units[plan->count++] = unit;
    } else {
        fb_diagnostics_render(diagnostics, faults);
    }
    fb_diagnostics_deinit(diagnostics);
    free(diagnostics);
    free(overrides);
    return loaded;
}

/* All parameter sets of one file; the first that is bad speaks for the file. */
static bool load_file(const struct fb_plan_request *request, const char *path, struct fb_plan *plan,
                      struct fb_buf *faults)
{
    for (size_t set = 0; set < fb_axes_sets(request->params); set++) {
        if (!load_unit(request, path, set, plan, faults))
            return false;
    }
    return true;
}

/* Cells are told apart by the workload's name, so a name may come from one file only. */
static int check_names(const struct fb_plan *plan, size_t sets, struct fb_error *err)
{
    for (size_t i = 0; i < plan->count; i += sets) {
        for (size_t j = 0; j < i; j += sets) {
            const struct fb_workload *a = plan->units[j].workload;
            const struct fb_workload *b = plan->units[i].workload;
            if (strcmp(a->name, b->name) == 0)
                return fb_fail(err, FB_ERROR_INPUT,
                               "%s and %s are both named \"%s\", so their cells could not be told "
                               "apart; rename one, or give it once",
                               a->file, b->file, a->name);
        }
    }
    return 0;
}

int fb_plan_load(const struct fb_plan_request *request, struct fb_plan *plan, struct fb_buf *faults,
                 struct fb_error *err)
{
    size_t bad = 0;
    *plan = (struct fb_plan){0};
    for (size_t i = 0; i < request->workload_count; i++) {
        char *path = NULL;
        struct fb_error unknown = {0};
        if (fb_locate_workload(request->workloads[i], &path, &unknown) != 0) {
            fb_buf_addf(faults, "fragbench: %s\n", unknown.text);
            bad++;
            continue;
        }
        bad += !load_file(request, path, plan, faults);
        free(path);
    }
    if (bad > 0)
        return fb_fail(err, FB_ERROR_INPUT, "%zu of %zu workload%s cannot be used; nothing was run",
                       bad, request->workload_count, request->workload_count == 1 ? "" : "s");
    return check_names(plan, fb_axes_sets(request->params), err);
}

struct fb_compile_options fb_plan_options(const struct fb_plan_unit *unit, unsigned seed)
{
    return (struct fb_compile_options){.seed = unit->workload->seed + seed, .scale = unit->scale};
}

char *fb_plan_cell_id(const struct fb_plan_unit *unit, const char *contender)
{
    return fb_format("%s/%s%s", unit->workload->name, contender, unit->suffix);
}

/* Cuts path to its parent; a name alone becomes ".". */
static void cut_to_parent(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash == NULL)
        path[0] = '.';
    path[slash == NULL || slash == path ? 1 : slash - path] = '\0';
}

/* What a trace may take of the disk that folder is or will be on: the nearest parent that exists.
 */
static int disk_budget(const char *folder, uint64_t *bytes, struct fb_error *err)
{
    char *path = fb_strdup(*folder != '\0' ? folder : ".");
    struct statvfs disk;
    int status = 0;
    while ((status = statvfs(path, &disk)) != 0 && (errno == ENOENT || errno == ENOTDIR) &&
           strcmp(path, ".") != 0 && strcmp(path, "/") != 0)
        cut_to_parent(path);
    if (status != 0)
        (void)fb_fail_errno(err, "cannot ask how much disk is free at \"%s\"", path);
    free(path);
    if (status != 0)
        return -1;
    uint64_t free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize / 10 * 9;
    *bytes = free_bytes > DISK_RESERVE_BYTES + DISK_LEAST_BYTES ? free_bytes - DISK_RESERVE_BYTES
                                                                : DISK_LEAST_BYTES;
    return 0;
}

uint64_t fb_plan_memory_bytes(const struct fb_totals *totals)
{
    const struct fb_trace_header *header = &totals->header;
    return header->peak_touched_bytes + header->slot_count * sizeof(struct fb_object) +
           header->sample_count * sizeof(struct fb_sample);
}

static int check_memory(const struct fb_plan_unit *unit, const struct fb_totals *totals,
                        struct fb_error *err)
{
    uint64_t available = 0;
    char needed[32], peak[32], left[32];
    uint64_t needs = fb_plan_memory_bytes(totals);
    if (fb_proc_meminfo("MemAvailable:", &available, err) != 0)
        return -1;
    if (needs <= available)
        return 0;
    return fb_fail(err, FB_ERROR_INPUT,
                   "%s%s: needs %s of memory at its peak (%s live), %s available here; lower its "
                   "sizes, counts or lifetimes with -L, or use a larger machine",
                   unit->workload->file, unit->suffix, fb_units_bytes(needs, needed, sizeof needed),
                   fb_units_bytes(totals->header.peak_live_bytes, peak, sizeof peak),
                   fb_units_bytes(available, left, sizeof left));
}

static int count_unit(struct fb_plan_unit *unit, uint64_t max_bytes, struct fb_error *err)
{
    unit->totals = fb_alloc(unit->seed_count, sizeof *unit->totals);
    for (unsigned i = 0; i < unit->seed_count; i++) {
        struct fb_compile_options options = fb_plan_options(unit, i);
        struct fb_error why = {0};
        options.max_bytes = max_bytes;
        if (fb_compile_totals(unit->workload, &options, &unit->totals[i], &why) != 0)
            return fb_fail(err, why.kind, "%s%s: %s", unit->workload->file, unit->suffix, why.text);
        if (check_memory(unit, &unit->totals[i], err) != 0)
            return -1;
    }
    return 0;
}

int fb_plan_count(struct fb_plan *plan, const char *folder, struct fb_error *err)
{
    uint64_t max_bytes = 0;
    if (disk_budget(folder, &max_bytes, err) != 0)
        return -1;
    for (size_t i = 0; i < plan->count; i++) {
        if (!plan->units[i].elsewhere && count_unit(&plan->units[i], max_bytes, err) != 0)
            return -1;
    }
    return 0;
}

void fb_plan_deinit(struct fb_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct fb_plan_unit *unit = &plan->units[i];
        for (unsigned seed = 0; unit->totals != NULL && seed < unit->seed_count; seed++)
            fb_totals_deinit(&unit->totals[seed]);
        free(unit->totals);
        free(unit->suffix);
        fb_workload_free(unit->workload);
    }
    free(plan->units);
    *plan = (struct fb_plan){0};
}
