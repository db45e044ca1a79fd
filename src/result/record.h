/* The record of a run: what result.json and the CSV files of series/ hold.
 *
 * Owns all it points to; char * members are heap strings or NULL. Metric values
 * are doubles (exact for bytes up to 2^53); NaN = does not apply, with a reason.
 * Base units only (bytes, ns, s). Repetitions are kept, never filtered.
 */
#ifndef FB_RESULT_RECORD_H
#define FB_RESULT_RECORD_H

#include "base/error.h"
#include "result/attribution.h"
#include "result/metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FB_RESULT_SCHEMA "fragbench-result/1"

/* CLI.md's enum; text by fb_status_name(): "ok", "refused", "over-memory-limit" … */
enum fb_status {
    FB_STATUS_OK = 0,
    FB_STATUS_REFUSED,
    FB_STATUS_CRASHED,
    FB_STATUS_TIMEOUT,
    FB_STATUS_OOM_KILLED,
    FB_STATUS_OVER_MEMORY_LIMIT,
    FB_STATUS_CORRUPTED,
    FB_STATUS_NOT_PRELOADED,
    FB_STATUS_BAD_TUNABLE,
    FB_STATUS_UNSUPPORTED,
    FB_STATUS_NOT_INSTALLED,
    FB_STATUS_INTERRUPTED,
    FB_STATUS_COUNT
};

const char *fb_status_name(enum fb_status status);
enum fb_status fb_status_find(const char *name); /* FB_STATUS_COUNT: none */
/* Whether a cell of this status counts as done (ok, refused), skipped
 * (not-installed, unsupported) or failed. */
bool fb_status_done(enum fb_status status);
bool fb_status_skipped(enum fb_status status);

struct fb_point {
    uint64_t t_ns;
    uint64_t footprint_bytes, live_bytes, touched_bytes, volume_bytes;
    uint64_t iteration;
    uint32_t phase;
    uint32_t reason; /* 0 start, 1 iteration, 2 peak, 3 volume, 4 checkpoint, 5 time:
                        fb_point_reasons[] */
};
#define FB_POINT_REASON_COUNT 6
extern const char *const fb_point_reasons[FB_POINT_REASON_COUNT + 1]; /* NULL-terminated */

struct fb_series {
    struct fb_point *points;
    size_t count;
};

/* One of an allocator's own counters. */
struct fb_counter {
    char name[40]; /* with its unit at the end: "budget_used_bytes" */
    uint64_t value;
};

/* kind: "start", "peak_live", "phase_end", "idle_0s", "idle_1s", "idle_10s", "active_10s", "purged"
 */
struct fb_checkpoint {
    char kind[16];
    int phase; /* index, −1 before the first */
    uint64_t t_ns;
    uint64_t rss_bytes; /* without what the harness maps into the worker, with pages of libraries'
                           files, which hang on the page cache: in no exact metric */
    uint64_t footprint_bytes, live_bytes, touched_bytes, usable_bytes;
    uint64_t lazyfree_bytes, huge_bytes, swap_bytes;
    uint64_t mappings;
    struct fb_counter *allocator; /* what it says of itself; none where it has no counters */
    size_t allocator_count;
    struct fb_attribution *attribution; /* where the footprint is; NULL: not looked at */
};

struct fb_phase_record {
    char *name;
    uint64_t iterations;
    uint64_t footprint_bytes, live_bytes;           /* at its end, after its frees */
    double ratio;                                   /* NaN below the floor */
    double kept_bytes;                              /* may be negative where pages are untouched */
    uint64_t peak_footprint_bytes, peak_live_bytes; /* within it */
    uint64_t peak_t_ns; /* when the footprint first reached its peak; 0 in older files */
};

/* An executable that a run of a program consisted of. */
struct fb_program_record {
    char *name;
    char *answered_by; /* the object whose malloc its processes call; NULL: not known */
    uint64_t processes;
    uint64_t peak_bytes; /* the most that one of them held */
};

struct fb_repetition {
    unsigned index;
    uint64_t seed;
    unsigned layout;
    enum fb_status status;
    char *status_detail; /* NULL when ok */
    double wall_s;       /* real time of the whole process */
    uint64_t ops;        /* allocator calls */
    uint64_t refused_calls, refused_bytes, skipped_calls, degraded_iterations;
    uint64_t clock_calls;
    uint64_t missed_ticks; /* real clock */
    double values[FB_METRIC_COUNT];
    const char *na[FB_METRIC_COUNT]; /* static text: why NaN; NULL otherwise */
    char kept_phase[64];             /* the phase of kept_bytes */
    struct fb_phase_record *phases;
    size_t phase_count;
    struct fb_checkpoint *checkpoints;
    size_t checkpoint_count;
    struct fb_series series; /* not in result.json: in series_file */
    char *series_file;       /* relative to the result folder, NULL when none */
    char *stderr_text;       /* what the worker's process printed, at most 4 KiB */
    /* of a program's run only */
    char *log_file; /* its whole output, relative to the result folder */
    struct fb_program_record *programs;
    size_t program_count;
    char **notes; /* what a reader has to know of this run */
    size_t note_count;
};

/* The timing pass of a cell. */
struct fb_timing {
    bool done;
    enum fb_status status;
    char *status_detail;
    unsigned runs;         /* of which the medians are taken */
    double wall_s, null_s; /* medians: the trace under the allocator, and under null */
    uint64_t ops;
    double values[FB_METRIC_COUNT]; /* the timing metrics and the fault/cpu ones; else NaN */
};

struct fb_summary {
    unsigned n;
    double median, min, max; /* NaN when n = 0 */
};

/* The largest value that a metric of a cell may have; from the workload's limits. */
struct fb_limit {
    enum fb_metric metric;
    double max;
    unsigned line; /* of the workload's file; 0 = from the command line */
};

/* What a recorded program held when it held most: bytes of anonymous memory, resident or swapped.
 * What is not named is taken to be the heap's. */
struct fb_recorded {
    uint64_t peak_bytes; /* 0: not measured, or no recording */
    uint64_t mapped_bytes, library_bytes, stack_bytes;
};

static inline uint64_t fb_recorded_beside_bytes(const struct fb_recorded *recorded)
{
    return recorded->mapped_bytes + recorded->library_bytes + recorded->stack_bytes;
}

struct fb_cell {
    char *id;      /* "workload/allocator[/param=value]" */
    unsigned part; /* of a merged result: index in parts; else 0 */
    struct {
        char *name, *file, *sha256, *trace_sha256;
        struct fb_name_value {
            char *name, *value;
        } * params;
        size_t param_count;
        uint64_t seed;
        double scale;
        char *command; /* of a person's own program, as typed; NULL: a workload */
        char *driver;  /* what loaded it; NULL: nothing */
        struct fb_recorded recorded;
    } workload;
    struct {
        char *name;    /* label shown */
        char *backend; /* table name, "" for a library by path */
        char *spec, *version, *path, *sha256, *package;
        char *inner_path; /* the library that it wraps, preloaded behind it; NULL: none */
        struct fb_name_value *tunables; /* key, value as asked */
        size_t tunable_count;
        struct fb_name_value *effective; /* key, value as read back; or "unverified" */
        size_t effective_count;
        struct fb_name_value *env; /* the exact environment */
        size_t env_count;
    } allocator;
    char *clock, *order;   /* "virtual" | "real", "lockstep" | "free" */
    char *layout;          /* "fixed" | "random" */
    char *thp;             /* "advised" | "always" | "never" | "off (no except-advised)" */
    bool clock_proven;     /* false: an allocator known to read the clock was not seen doing so */
    enum fb_status status; /* the worst of its repetitions */
    char *status_detail;
    struct fb_repetition *repetitions;
    size_t repetition_count;
    struct fb_timing timing;
    struct fb_summary
        summary[FB_METRIC_COUNT]; /* over done repetitions; timing metrics over timing runs */
    struct fb_limit *limits;      /* at most one a metric */
    size_t limit_count;
};

struct fb_host {
    char *kernel, *libc, *cpu, *machine;
    char *boot; /* the kernel's boot id: tells two machines of one make apart; NULL: not recorded */
    unsigned cpus_online, cpus_allowed;
    uint64_t memory_bytes, swap_bytes, page_bytes;
    uint64_t cgroup_limit_bytes; /* 0 = none */
    char *thp, *overcommit;
    bool statm_exact;
};

/* Which cells of a plan a result holds: cell number g of the whole (from 0) is in shard
 * g mod count + 1, so those of a shard are every count-th. */
struct fb_shard {
    unsigned index;       /* 1 … count; 0: merged from several */
    unsigned count;       /* 1: a whole run; 0: of a release that did not record it */
    uint64_t cells_total; /* of all shards */
    char *plan;           /* sha256 over the cell ids and the options that matter */
};

/* One of the runs that a merged result was joined from. */
struct fb_merged_run {
    unsigned shard;
    char *folder; /* as given to merge */
    char **argv;
    size_t argc;
    char *started, *finished;
    bool interrupted;
    struct fb_host host;
};

struct fb_result {
    char *version;
    char **argv;
    size_t argc;
    char *started, *finished; /* ISO 8601 UTC; finished NULL while running */
    bool interrupted;
    struct fb_host host; /* merged: of the first part */
    struct fb_shard shard;
    struct fb_merged_run *parts; /* merged results only, by shard */
    size_t part_count;
    struct fb_cell *cells;
    size_t cell_count;
};

/* Whether the cell ran a person's own program, as `exec` does, and replayed nothing. */
bool fb_cell_is_program(const struct fb_cell *cell);
/* Whether the cell replayed a recording (.fbt) and no workload. */
bool fb_cell_is_recording(const struct fb_cell *cell);

/* Zeroes everything and makes every value NaN, so that nothing unmeasured reads as 0. */
void fb_repetition_init(struct fb_repetition *repetition);
void fb_checkpoint_deinit(struct fb_checkpoint *checkpoint);
void fb_repetition_deinit(struct fb_repetition *repetition);
void fb_cell_deinit(struct fb_cell *cell);
/* Whether any checkpoint saw huge pages. Then no run repeats to the byte: the kernel joins pages to
 * huge ones on its own, when it comes to it (khugepaged). */
bool fb_cell_used_huge_pages(const struct fb_cell *cell);
void fb_result_deinit(struct fb_result *result);

/* How many cells the shard (index ≥ 1) should hold. */
uint64_t fb_shard_cells(const struct fb_shard *shard);

/* A cell's id with every character but letters, digits, ".", "_", "-" replaced by "_"; past 200
 * characters its head and a hash of the whole id. New string. */
char *fb_cell_file_name(const char *id);

#endif
