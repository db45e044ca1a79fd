#include "sample.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

#define REPETITIONS 3U

struct recipe {
    const char *label, *backend, *path, *package;
    enum fb_status status;
    const char *detail;
    double peak_mib[REPETITIONS]; /* by layout */
    double kept_mib, end_mib;
    double time_ns;
};

static const struct recipe recipes[SAMPLES] = {
    [SAMPLE_JEMALLOC] = {"jemalloc:dirty_decay_ms=0",
                         "jemalloc",
                         "/usr/lib/libjemalloc.so.2",
                         "libjemalloc2",
                         FB_STATUS_OK,
                         NULL,
                         {330, 320, 340},
                         10,
                         60,
                         55},
    [SAMPLE_PTMALLOC2] =
        {"ptmalloc2", "ptmalloc2", NULL, NULL, FB_STATUS_OK, NULL, {900, 900, 900}, 600, 650, 44},
    [SAMPLE_BUDGETED] = {"budgeted",
                         "budgeted",
                         "/opt/my libs/libbudgeted.so",
                         NULL,
                         FB_STATUS_REFUSED,
                         "refused 12 calls",
                         {200, 200, 200},
                         5,
                         55,
                         60},
    [SAMPLE_HUNG] = {"hung",
                     "",
                     "/tmp/libhung.so",
                     NULL,
                     FB_STATUS_TIMEOUT,
                     "no end after 10 min",
                     {0},
                     0,
                     0,
                     0},
    [SAMPLE_MISSING] = {"mimalloc",
                        "mimalloc",
                        NULL,
                        "libmimalloc2.0",
                        FB_STATUS_NOT_INSTALLED,
                        "not installed (apt-get install libmimalloc2.0)",
                        {0},
                        0,
                        0,
                        0},
};

static double mib(double count)
{
    return count * (double)MIB;
}

struct fb_summary sample_summary(double median, double min, double max)
{
    return (struct fb_summary){REPETITIONS, median, min, max};
}

static void add_phases(struct fb_repetition *repetition)
{
    static const char *const names[] = {"load", "serve"};
    repetition->phases = fb_alloc(2, sizeof *repetition->phases);
    repetition->phase_count = 2;
    for (size_t i = 0; i < 2; i++)
        repetition->phases[i] = (struct fb_phase_record){
            .name = fb_strdup(names[i]),
            .iterations = 100 * i,
            .footprint_bytes = 60 * MIB,
            .live_bytes = i == 0 ? 50 * MIB : 0,
            .ratio = i == 0 ? 1.2 : NAN,
            .kept_bytes = i == 0 ? mib(10) : mib(60),
            .peak_footprint_bytes = 70 * MIB,
            .peak_live_bytes = 50 * MIB,
            .peak_t_ns = 500000000U * (i + 1),
        };
}

/* Numbers that sum: 1 + 2 + … MiB; the second run of it found cached and stuck. */
static struct fb_attribution *make_attribution(bool is_split)
{
    struct fb_attribution *attribution = fb_alloc(1, sizeof *attribution);
    attribution->is_split = is_split;
    for (int part = 0; part < FB_PART_COUNT; part++)
        attribution->parts[part] = (uint64_t)(part + 1) * MIB;
    attribution->free_bytes =
        attribution->parts[FB_PART_CACHED] + attribution->parts[FB_PART_STUCK];
    if (!is_split)
        attribution->parts[FB_PART_CACHED] = attribution->parts[FB_PART_STUCK] = 0;
    attribution->footprint_bytes = 28 * MIB;
    attribution->mismatch_bytes = is_split ? 0 : -4096;
    attribution->blocks = 1000;
    attribution->hostages = fb_alloc(1, sizeof *attribution->hostages);
    attribution->hostage_count = 1;
    attribution->hostages[0] = (struct fb_hostage){
        "metadata", MIB / 4, 4 * MIB, MIB / 8, 1024, {1000, 20, 0, 0, 0, 0, 0, 0, 0, 4}};
    attribution->holder_count = 1;
    attribution->holders[0] = (struct fb_holder){"metadata", 64, 4096, 5000000000U};
    attribution->account_known = is_split;
    for (int i = 0; i < FB_ACCOUNT_COUNT; i++)
        attribution->account[i] = is_split && i != FB_ACCOUNT_ACTIVE ? 5 * MIB : FB_ACCOUNT_NA;
    if (is_split)
        attribution->heat_file = fb_strdup("heat/kv_jemalloc.phase_end.1.csv");
    return attribution;
}

static void add_checkpoints(struct fb_repetition *repetition)
{
    static const char *const kinds[] = {"start", "phase_end", "phase_end", "idle_0s"};
    repetition->checkpoints = fb_alloc(4, sizeof *repetition->checkpoints);
    repetition->checkpoint_count = 4;
    for (int i = 0; i < 4; i++) {
        struct fb_checkpoint *checkpoint = &repetition->checkpoints[i];
        (void)strcpy(checkpoint->kind, kinds[i]);
        checkpoint->phase = i < 3 ? i - 1 : 1;
        checkpoint->t_ns = (uint64_t)i * 1000000000U;
        checkpoint->footprint_bytes = (uint64_t)(i + 1) * MIB;
        checkpoint->rss_bytes = checkpoint->footprint_bytes + 2 * MIB;
        checkpoint->live_bytes = (uint64_t)i * MIB / 2;
        checkpoint->mappings = 42;
        if (i == 1 || i == 2)
            checkpoint->attribution = make_attribution(i == 2);
        checkpoint->allocator = fb_alloc(2, sizeof *checkpoint->allocator);
        checkpoint->allocator_count = 2;
        checkpoint->allocator[0] = (struct fb_counter){"budget_used_bytes", 1048576};
        checkpoint->allocator[1] = (struct fb_counter){"refused_calls", UINT64_MAX};
    }
}

static void add_points(struct fb_repetition *repetition)
{
    repetition->series.points = fb_alloc(3, sizeof *repetition->series.points);
    repetition->series.count = 3;
    for (uint32_t i = 0; i < 3; i++)
        repetition->series.points[i] = (struct fb_point){i * 500U,
                                                         (i + 1) * MIB,
                                                         i * MIB,
                                                         i * 4096U,
                                                         i * 2 * MIB,
                                                         i,
                                                         i == 0 ? UINT32_MAX : i - 1,
                                                         i};
}

static void fill_repetition(struct fb_repetition *repetition, const struct recipe *recipe,
                            unsigned layout)
{
    fb_repetition_init(repetition);
    repetition->index = layout;
    repetition->layout = layout;
    repetition->seed = UINT64_MAX - 1;
    repetition->status = recipe->status;
    repetition->status_detail = recipe->detail == NULL ? NULL : fb_strdup(recipe->detail);
    repetition->wall_s = 1.25;
    repetition->ops = 1234567;
    repetition->refused_calls = recipe->status == FB_STATUS_REFUSED ? 12 : 0;
    repetition->refused_bytes = repetition->refused_calls * MIB;
    repetition->clock_calls = 7;
    repetition->stderr_text = fb_strdup("warning: caf\xc3\xa9\n");
    add_phases(repetition);
    add_checkpoints(repetition);
    add_points(repetition);
    (void)strcpy(repetition->kept_phase, "serve");
    if (!fb_status_done(recipe->status))
        return;
    repetition->values[FB_METRIC_PEAK_FOOTPRINT_BYTES] = mib(recipe->peak_mib[layout]);
    repetition->values[FB_METRIC_PEAK_LIVE_BYTES] = mib(300);
    repetition->values[FB_METRIC_RATIO_PEAK] = recipe->peak_mib[layout] / 300;
    repetition->values[FB_METRIC_KEPT_BYTES] = mib(recipe->kept_mib);
    repetition->na[FB_METRIC_DRIFT] = "fewer than 40 iterations";
    repetition->na[FB_METRIC_RATIO_END] = "live at the end below 1 MiB";
}

static void fill_summaries(struct fb_cell *cell, const struct recipe *recipe)
{
    for (int i = 0; i < FB_METRIC_COUNT; i++)
        cell->summary[i] = (struct fb_summary){0, NAN, NAN, NAN};
    if (!fb_status_done(recipe->status))
        return;
    const double *peak = recipe->peak_mib; /* given as median, min, max */
    double end = mib(recipe->end_mib);
    cell->summary[FB_METRIC_PEAK_FOOTPRINT_BYTES] =
        sample_summary(mib(peak[0]), mib(peak[1]), mib(peak[2]));
    cell->summary[FB_METRIC_RATIO_PEAK] =
        sample_summary(peak[0] / 300, peak[1] / 300, peak[2] / 300);
    cell->summary[FB_METRIC_PEAK_LIVE_BYTES] = sample_summary(mib(300), mib(300), mib(300));
    cell->summary[FB_METRIC_END_LIVE_BYTES] = sample_summary(mib(50), mib(50), mib(50));
    cell->summary[FB_METRIC_END_FOOTPRINT_BYTES] = sample_summary(end, end, end);
    cell->summary[FB_METRIC_KEPT_BYTES] =
        sample_summary(mib(recipe->kept_mib), mib(recipe->kept_mib), mib(recipe->kept_mib));
    cell->summary[FB_METRIC_NS_PER_OP] =
        sample_summary(recipe->time_ns, recipe->time_ns, recipe->time_ns);
}

static void fill_timing(struct fb_timing *timing, const struct recipe *recipe)
{
    for (int i = 0; i < FB_METRIC_COUNT; i++)
        timing->values[i] = NAN;
    timing->done = fb_status_done(recipe->status);
    timing->runs = timing->done ? 3 : 0;
    timing->wall_s = timing->done ? 0.5 : NAN;
    timing->null_s = timing->done ? 0.1 : NAN;
    if (timing->done)
        timing->values[FB_METRIC_NS_PER_OP] = recipe->time_ns;
}

static struct fb_name_value *pair(const char *name, const char *value)
{
    struct fb_name_value *pairs = fb_alloc(1, sizeof *pairs);
    pairs->name = fb_strdup(name);
    pairs->value = fb_strdup(value);
    return pairs;
}

static void fill_workload(struct fb_cell *cell)
{
    cell->workload.name = fb_strdup("kv-cache-growth");
    cell->workload.file = fb_strdup("workloads/kv-cache-growth.yaml");
    cell->workload.sha256 =
        fb_strdup("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    cell->workload.trace_sha256 =
        fb_strdup("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    cell->workload.params = pair("sequences", "256");
    cell->workload.param_count = 1;
    cell->workload.seed = 42;
    cell->workload.scale = 1;
}

static void fill_allocator(struct fb_cell *cell, const struct recipe *recipe)
{
    cell->allocator.name = fb_strdup(recipe->label);
    cell->allocator.backend = fb_strdup(recipe->backend);
    cell->allocator.spec = fb_strdup(recipe->label);
    cell->allocator.version = fb_strdup("5.3.0-1");
    cell->allocator.path = recipe->path == NULL ? NULL : fb_strdup(recipe->path);
    cell->allocator.sha256 = fb_strdup("");
    cell->allocator.package = recipe->package == NULL ? NULL : fb_strdup(recipe->package);
    if (strcmp(recipe->backend, "jemalloc") != 0)
        return;
    cell->allocator.tunables = pair("dirty_decay_ms", "0");
    cell->allocator.tunable_count = 1;
    cell->allocator.effective = pair("dirty_decay_ms", "0");
    cell->allocator.effective_count = 1;
    cell->allocator.env = pair("MALLOC_CONF", "dirty_decay_ms:0");
    cell->allocator.env_count = 1;
}

/* jemalloc's ratio of 1.10 is over the first, ptmalloc2's of 3.00 too; the second is n/a. */
static void add_limits(struct fb_cell *cell)
{
    cell->limits = fb_alloc(2, sizeof *cell->limits);
    cell->limit_count = 2;
    cell->limits[0] = (struct fb_limit){FB_METRIC_RATIO_PEAK, 1.05, 12};
    cell->limits[1] = (struct fb_limit){FB_METRIC_RATIO_END, 2, 13};
}

static void fill_cell(struct fb_cell *cell, const struct recipe *recipe)
{
    cell->id = fb_format("kv-cache-growth/%s/sequences=256", recipe->label);
    cell->clock = fb_strdup("virtual");
    cell->order = fb_strdup("lockstep");
    cell->layout = fb_strdup("fixed");
    cell->thp = fb_strdup("advised");
    cell->clock_proven = true;
    cell->status = recipe->status;
    cell->status_detail = recipe->detail == NULL ? NULL : fb_strdup(recipe->detail);
    fill_workload(cell);
    fill_allocator(cell, recipe);
    fill_summaries(cell, recipe);
    fill_timing(&cell->timing, recipe);
    add_limits(cell);
    if (recipe->status == FB_STATUS_NOT_INSTALLED)
        return;
    cell->repetitions = fb_alloc(REPETITIONS, sizeof *cell->repetitions);
    cell->repetition_count = REPETITIONS;
    for (unsigned layout = 0; layout < REPETITIONS; layout++)
        fill_repetition(&cell->repetitions[layout], recipe, layout);
}

static void fill_host(struct fb_host *host, const char *boot)
{
    *host = (struct fb_host){
        .kernel = fb_strdup("6.1.0-18-amd64"),
        .libc = fb_strdup("glibc 2.36"),
        .cpu = fb_strdup("A CPU"),
        .machine = fb_strdup("x86_64"),
        .boot = fb_strdup(boot),
        .cpus_online = 4,
        .cpus_allowed = 2,
        .memory_bytes = 8 * 1024 * MIB,
        .page_bytes = 4096,
        .thp = fb_strdup("madvise"),
        .overcommit = fb_strdup("0"),
        .statm_exact = true,
    };
}

void sample_result_merge(struct fb_result *result)
{
    static const char *const boots[] = {SAMPLE_BOOT, "c1b7f6a0-52c1-4f0e-9d43-0a4f2f8f6b22"};
    result->shard.index = 0;
    result->shard.count = 2;
    result->parts = fb_alloc(2, sizeof *result->parts);
    result->part_count = 2;
    for (unsigned i = 0; i < 2; i++) {
        struct fb_merged_run *part = &result->parts[i];
        part->shard = i + 1;
        part->folder = fb_format("shard-%u", i + 1);
        part->argv = fb_alloc(1, sizeof *part->argv);
        part->argc = 1;
        part->argv[0] = fb_strdup("fragbench");
        part->started = fb_strdup(i == 0 ? "2025-01-02T03:04:05Z" : "2025-01-02T03:10:00Z");
        part->finished = fb_strdup(i == 0 ? "2025-01-02T03:09:00Z" : "2025-01-02T03:15:00Z");
        fill_host(&part->host, boots[i]);
    }
    for (size_t i = 0; i < result->cell_count; i++)
        result->cells[i].part = i % 2;
}

void sample_result_init(struct fb_result *result)
{
    *result = (struct fb_result){
        .version = fb_strdup("0.1.0"),
        .argv = fb_alloc(3, sizeof(char *)),
        .argc = 3,
        .started = fb_strdup("2025-01-02T03:04:05Z"),
        .shard = {1, 1, SAMPLES, fb_strdup(SAMPLE_PLAN)},
        .cells = fb_alloc(SAMPLES, sizeof(struct fb_cell)),
        .cell_count = SAMPLES,
    };
    fill_host(&result->host, SAMPLE_BOOT);
    result->argv[0] = fb_strdup("fragbench");
    result->argv[1] = fb_strdup("run");
    result->argv[2] = fb_strdup("kv-cache-growth.yaml");
    for (size_t i = 0; i < SAMPLES; i++)
        fill_cell(&result->cells[i], &recipes[i]);
}
