#include "base/alloc.h"
#include "result/merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ARGV_SHOWN 200U /* bytes of a command line in a message */
#define PLAN_SHOWN 12   /* digits of a fingerprint */

static const char *or_nothing(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : "(not recorded)";
}

static const char *or_none(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : "none";
}

static bool same(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static int by_shard(const void *left, const void *right)
{
    const struct fb_merge_input *a = left, *b = right;
    unsigned x = a->result.shard.index, y = b->result.shard.index;
    if (x != y)
        return x < y ? -1 : 1;
    return strcmp(a->path, b->path); /* qsort is not stable */
}

static int check_shard(const struct fb_merge_input *input, struct fb_error *err)
{
    const struct fb_shard *shard = &input->result.shard;
    if (shard->count == 0 || shard->plan == NULL)
        return fb_fail(err, FB_ERROR_INPUT,
                       "%s: does not say which shard it is (an earlier fragbench wrote it); run it "
                       "again with --shard I/N",
                       input->path);
    if (shard->index == 0)
        return fb_fail(err, FB_ERROR_INPUT,
                       "%s: is merged already; give the shards that it was made from, and the "
                       "others, in one go",
                       input->path);
    if (shard->index > shard->count || input->result.cell_count != fb_shard_cells(shard))
        return fb_fail(err, FB_ERROR_INPUT,
                       "%s: holds %zu cells, but shard %u/%u of %" PRIu64 " cells should hold "
                       "%" PRIu64 "; it was changed after the run, run that shard again",
                       input->path, input->result.cell_count, shard->index, shard->count,
                       shard->cells_total, fb_shard_cells(shard));
    return 0;
}

/* The command line, cut where it gets long. New string. */
static char *command_line(const struct fb_result *result)
{
    struct fb_buf line;
    fb_buf_init(&line, 65536);
    for (size_t i = 0; i < result->argc; i++)
        fb_buf_addf(&line, "%s%s", i > 0 ? " " : "", result->argv[i]);
    char *text = line.length > ARGV_SHOWN ? fb_format("%.*s...", (int)ARGV_SHOWN, line.text)
                                          : fb_strdup(line.text);
    fb_buf_deinit(&line);
    return text;
}

/* A hash tells a person nothing; the command lines do, unless a workload file has changed. */
static int check_plan(const struct fb_merge_input *a, const struct fb_merge_input *b,
                      struct fb_error *err)
{
    const struct fb_shard *x = &a->result.shard, *y = &b->result.shard;
    if (same(x->plan, y->plan) && x->count == y->count && x->cells_total == y->cells_total)
        return 0;
    char *first = command_line(&a->result), *second = command_line(&b->result);
    (void)fb_fail(err, FB_ERROR_INPUT,
                  "these are no shards of one plan:\n"
                  "  %s: shard %u/%u of %" PRIu64 " cells, plan %.*s, from `%s`\n"
                  "  %s: shard %u/%u of %" PRIu64 " cells, plan %.*s, from `%s`\n"
                  "run all shards with the same workload files, contenders and options",
                  a->path, x->index, x->count, x->cells_total, PLAN_SHOWN, x->plan, first, b->path,
                  y->index, y->count, y->cells_total, PLAN_SHOWN, y->plan, second);
    free(first);
    free(second);
    return -1;
}

/* What all shards must have in common, as text. New strings. */
static char *version_of(const struct fb_result *result)
{
    return fb_strdup(or_nothing(result->version));
}

static char *libc_of(const struct fb_result *result)
{
    return fb_strdup(or_nothing(result->host.libc));
}

static char *machine_of(const struct fb_result *result)
{
    return fb_strdup(or_nothing(result->host.machine));
}

static char *page_of(const struct fb_result *result)
{
    return fb_format("%" PRIu64, result->host.page_bytes);
}

static char *cpus_of(const struct fb_result *result)
{
    return fb_format("%u", result->host.cpus_online);
}

static char *thp_of(const struct fb_result *result)
{
    return fb_strdup(or_nothing(result->host.thp));
}

static const struct fact {
    const char *name;
    char *(*value)(const struct fb_result *result);
    const char *why;
} facts[] = {
    {"fragbench", version_of, "run all shards with one version"},
    {"libc", libc_of, "run all shards on one system, or in one container image"},
    {"architecture", machine_of, "run all shards on machines of one kind"},
    {"page size", page_of, "run all shards on machines of one kind"},
    {"number of CPUs", cpus_of,
     "allocators size their arenas by it, so memory would not compare; run all shards on machines "
     "with as many"},
    {"transparent huge pages", thp_of,
     "set /sys/kernel/mm/transparent_hugepage/enabled alike on all machines"},
};

static int check_facts(const struct fb_merge_input *a, const struct fb_merge_input *b,
                       struct fb_error *err)
{
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        char *x = facts[i].value(&a->result), *y = facts[i].value(&b->result);
        if (strcmp(x, y) != 0)
            (void)fb_fail(err, FB_ERROR_INPUT, "%s differs: %s in %s, %s in %s; %s", facts[i].name,
                          x, a->path, y, b->path, facts[i].why);
        bool differs = strcmp(x, y) != 0;
        free(x);
        free(y);
        if (differs)
            return -1;
    }
    return 0;
}

/* A cell and the input that it is of. */
struct witness {
    const struct fb_merge_input *input;
    const struct fb_cell *cell;
};

struct witnesses {
    struct witness *items;
    size_t count;
};

/* One allocator: one name of the table, or one label of a library by path. */
static bool same_allocator(const struct fb_cell *a, const struct fb_cell *b)
{
    const char *backend = a->allocator.backend;
    bool known = backend != NULL && backend[0] != '\0';
    return same(backend, b->allocator.backend) &&
           (known || same(a->allocator.name, b->allocator.name));
}

static bool same_trace(const struct fb_cell *a, const struct fb_cell *b)
{
    if (!same(a->workload.name, b->workload.name) || a->workload.seed != b->workload.seed ||
        a->workload.param_count != b->workload.param_count)
        return false;
    for (size_t i = 0; i < a->workload.param_count; i++) {
        if (!same(a->workload.params[i].name, b->workload.params[i].name) ||
            !same(a->workload.params[i].value, b->workload.params[i].value))
            return false;
    }
    return true;
}

/* The first cell seen that is of the same kind; a new kind is remembered. */
static const struct witness *find(struct witnesses *seen, const struct witness *now,
                                  bool (*same_kind)(const struct fb_cell *, const struct fb_cell *))
{
    for (size_t i = 0; i < seen->count; i++) {
        if (same_kind(seen->items[i].cell, now->cell))
            return &seen->items[i];
    }
    seen->items = fb_realloc(seen->items, seen->count + 1, sizeof *seen->items);
    seen->items[seen->count++] = *now;
    return now;
}

static int compare_allocators(const struct witness *a, const struct witness *b,
                              struct fb_error *err)
{
    const struct fb_cell *x = a->cell, *y = b->cell;
    if (same(x->allocator.version, y->allocator.version) &&
        same(x->allocator.sha256, y->allocator.sha256))
        return 0;
    const char *backend = x->allocator.backend;
    return fb_fail(err, FB_ERROR_INPUT,
                   "%s differs: version %s (sha256 %.12s) in %s, version %s (sha256 %.12s) in %s; "
                   "install one build of it on all machines and run those shards again",
                   backend != NULL && backend[0] != '\0' ? backend : x->allocator.name,
                   or_nothing(x->allocator.version), or_none(x->allocator.sha256), a->input->path,
                   or_nothing(y->allocator.version), or_none(y->allocator.sha256), b->input->path);
}

static int compare_traces(const struct witness *a, const struct witness *b, struct fb_error *err)
{
    const char *x = a->cell->workload.trace_sha256, *y = b->cell->workload.trace_sha256;
    if (same(x, y))
        return 0;
    return fb_fail(err, FB_ERROR_INPUT,
                   "the trace of %s differs: sha256 %.*s in %s, %.*s in %s; one workload and seed "
                   "give one trace everywhere, so one of these was changed: run them again",
                   a->cell->workload.name, PLAN_SHOWN, x, a->input->path, PLAN_SHOWN, y,
                   b->input->path);
}

/* A cell whose allocator was not there says nothing about versions; one that never ran has no
 * trace. */
static int check_cell(const struct witness *now, struct witnesses *allocators,
                      struct witnesses *traces, struct fb_error *err)
{
    const char *trace = now->cell->workload.trace_sha256;
    if (!fb_status_skipped(now->cell->status) &&
        compare_allocators(find(allocators, now, same_allocator), now, err) != 0)
        return -1;
    if (trace != NULL && trace[0] != '\0' &&
        compare_traces(find(traces, now, same_trace), now, err) != 0)
        return -1;
    return 0;
}

static int check_cells(const struct fb_merge_input *inputs, size_t count, struct fb_error *err)
{
    struct witnesses allocators = {0}, traces = {0};
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        for (size_t c = 0; c < inputs[i].result.cell_count && status == 0; c++) {
            const struct witness now = {&inputs[i], &inputs[i].result.cells[c]};
            status = check_cell(&now, &allocators, &traces, err);
        }
    }
    free(allocators.items);
    free(traces.items);
    return status;
}

static int check_once(const struct fb_merge_input *inputs, size_t count, struct fb_error *err)
{
    for (size_t i = 1; i < count; i++) {
        const struct fb_shard *shard = &inputs[i].result.shard;
        if (shard->index == inputs[i - 1].result.shard.index)
            return fb_fail(err, FB_ERROR_INPUT,
                           "shard %u/%u is there twice: %s and %s; give one of them", shard->index,
                           shard->count, inputs[i - 1].path, inputs[i].path);
    }
    return 0;
}

static int check_complete(const struct fb_merge_input *inputs, size_t count, struct fb_error *err)
{
    char *missing = fb_merge_missing(inputs, count);
    if (missing == NULL)
        return 0;
    (void)fb_fail(err, FB_ERROR_INPUT,
                  "of %u shards these are missing: %s; run them, or join what there is with "
                  "--partial",
                  inputs[0].result.shard.count, missing);
    free(missing);
    return -1;
}

int fb_merge_check(struct fb_merge_input *inputs, size_t count, bool partial, struct fb_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (check_shard(&inputs[i], err) != 0)
            return -1;
    }
    qsort(inputs, count, sizeof *inputs, by_shard);
    for (size_t i = 1; i < count; i++) {
        if (check_facts(&inputs[0], &inputs[i], err) != 0 ||
            check_plan(&inputs[0], &inputs[i], err) != 0)
            return -1;
    }
    if (check_once(inputs, count, err) != 0 || check_cells(inputs, count, err) != 0)
        return -1;
    return partial ? 0 : check_complete(inputs, count, err);
}
