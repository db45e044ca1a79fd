#include "result/fields.h"

#include "result/field_values.h"
#include "result/record.h"

/* clang-format off */
#define ROW(kind_, type, member, name_) \
    {.name = (name_), .kind = FB_FIELD_##kind_, .offset = offsetof(struct type, member)}
#define CHARS(type, member, name_) \
    {.name = (name_), .kind = FB_FIELD_CHARS, .offset = offsetof(struct type, member), \
     .size = sizeof ((struct type *)0)->member}
#define LIST(kind_, type, member, count, name_) \
    {.name = (name_), .kind = FB_FIELD_##kind_, .offset = offsetof(struct type, member), \
     .count_offset = offsetof(struct type, count)}
#define OBJECT(fields_, name_) \
    {.name = (name_), .kind = FB_FIELD_OBJECT, .fields = (fields_)}
#define ARRAY(type, member, count, fields_, name_) \
    {.name = (name_), .kind = FB_FIELD_ARRAY, .offset = offsetof(struct type, member), \
     .count_offset = offsetof(struct type, count), \
     .size = sizeof *((struct type *)0)->member, .fields = (fields_)}
#define CUSTOM(encode_, decode_, name_) \
    {.name = (name_), .kind = FB_FIELD_CUSTOM, .encode = (encode_), .decode = (decode_)}
/* Members that files of earlier releases lack. */
#define LATER_ROW(kind_, type, member, name_) \
    {.name = (name_), .kind = FB_FIELD_##kind_, .offset = offsetof(struct type, member), \
     .optional = true}
#define LATER_LIST(kind_, type, member, count, name_) \
    {.name = (name_), .kind = FB_FIELD_##kind_, .offset = offsetof(struct type, member), \
     .count_offset = offsetof(struct type, count), .optional = true}
#define LATER_OBJECT(fields_, name_) \
    {.name = (name_), .kind = FB_FIELD_OBJECT, .fields = (fields_), .optional = true}
#define LATER_ARRAY(type, member, count, fields_, name_) \
    {.name = (name_), .kind = FB_FIELD_ARRAY, .offset = offsetof(struct type, member), \
     .count_offset = offsetof(struct type, count), \
     .size = sizeof *((struct type *)0)->member, .fields = (fields_), .optional = true}
#define END {.name = NULL}

static const struct fb_field phase_fields[] = {
    ROW(TEXT, fb_phase_record, name, "name"),
    ROW(U64, fb_phase_record, iterations, "iterations"),
    ROW(U64, fb_phase_record, footprint_bytes, "footprint_bytes"),
    ROW(U64, fb_phase_record, live_bytes, "live_bytes"),
    ROW(NUMBER, fb_phase_record, ratio, "ratio"),
    ROW(NUMBER, fb_phase_record, kept_bytes, "kept_bytes"),
    ROW(U64, fb_phase_record, peak_footprint_bytes, "peak_footprint_bytes"),
    ROW(U64, fb_phase_record, peak_live_bytes, "peak_live_bytes"),
    LATER_ROW(U64, fb_phase_record, peak_t_ns, "peak_t_ns"),
    END,
};

/* "phase" stands between kind and t_ns in the file; field_values.c puts its name there. */
const struct fb_field fb_checkpoint_fields[] = {
    CHARS(fb_checkpoint, kind, "kind"),
    CUSTOM(fb_phase_encode, fb_phase_decode, "phase"),
    ROW(U64, fb_checkpoint, t_ns, "t_ns"),
    ROW(U64, fb_checkpoint, rss_bytes, "rss_bytes"),
    ROW(U64, fb_checkpoint, footprint_bytes, "footprint_bytes"),
    ROW(U64, fb_checkpoint, live_bytes, "live_bytes"),
    ROW(U64, fb_checkpoint, touched_bytes, "touched_bytes"),
    ROW(U64, fb_checkpoint, usable_bytes, "usable_bytes"),
    ROW(U64, fb_checkpoint, lazyfree_bytes, "lazyfree_bytes"),
    ROW(U64, fb_checkpoint, huge_bytes, "huge_bytes"),
    ROW(U64, fb_checkpoint, swap_bytes, "swap_bytes"),
    ROW(U64, fb_checkpoint, mappings, "mappings"),
    LATER_LIST(COUNTERS, fb_checkpoint, allocator, allocator_count, "allocator"),
    END,
};

static const struct fb_field program_record_fields[] = {
    ROW(TEXT, fb_program_record, name, "name"),
    ROW(TEXT, fb_program_record, answered_by, "answered_by"),
    ROW(U64, fb_program_record, processes, "processes"),
    ROW(U64, fb_program_record, peak_bytes, "peak_bytes"),
    END,
};

static const struct fb_field repetition_fields[] = {
    ROW(UNSIGNED, fb_repetition, index, "index"),
    ROW(U64, fb_repetition, seed, "seed"),
    ROW(UNSIGNED, fb_repetition, layout, "layout"),
    ROW(STATUS, fb_repetition, status, "status"),
    ROW(TEXT, fb_repetition, status_detail, "status_detail"),
    ROW(NUMBER, fb_repetition, wall_s, "wall_s"),
    ROW(U64, fb_repetition, ops, "ops"),
    ROW(U64, fb_repetition, refused_calls, "refused"),
    ROW(U64, fb_repetition, refused_bytes, "refused_bytes"),
    ROW(U64, fb_repetition, skipped_calls, "skipped_calls"),
    ROW(U64, fb_repetition, degraded_iterations, "degraded_iterations"),
    ROW(U64, fb_repetition, clock_calls, "clock_calls"),
    ROW(U64, fb_repetition, missed_ticks, "missed_ticks"),
    CUSTOM(fb_metrics_encode, fb_metrics_decode, "metrics"),
    CUSTOM(fb_na_encode, fb_na_decode, "na"),
    CHARS(fb_repetition, kept_phase, "kept_phase"),
    ARRAY(fb_repetition, phases, phase_count, phase_fields, "phases"),
    CUSTOM(fb_checkpoints_encode, fb_checkpoints_decode, "checkpoints"),
    ROW(TEXT, fb_repetition, series_file, "series"),
    ROW(TEXT, fb_repetition, stderr_text, "stderr"),
    LATER_ROW(TEXT, fb_repetition, log_file, "log"),
    LATER_ARRAY(fb_repetition, programs, program_count, program_record_fields, "programs"),
    LATER_LIST(TEXTS, fb_repetition, notes, note_count, "notes"),
    END,
};

static const struct fb_field recorded_fields[] = {
    ROW(U64, fb_cell, workload.recorded.peak_bytes, "peak_bytes"),
    ROW(U64, fb_cell, workload.recorded.mapped_bytes, "mapped_bytes"),
    ROW(U64, fb_cell, workload.recorded.library_bytes, "library_bytes"),
    ROW(U64, fb_cell, workload.recorded.stack_bytes, "stack_bytes"),
    END,
};

static const struct fb_field workload_fields[] = {
    ROW(TEXT, fb_cell, workload.name, "name"),
    ROW(TEXT, fb_cell, workload.file, "file"),
    ROW(TEXT, fb_cell, workload.sha256, "sha256"),
    ROW(TEXT, fb_cell, workload.trace_sha256, "trace_sha256"),
    LIST(PAIRS, fb_cell, workload.params, workload.param_count, "params"),
    ROW(U64, fb_cell, workload.seed, "seed"),
    ROW(NUMBER, fb_cell, workload.scale, "scale"),
    LATER_ROW(TEXT, fb_cell, workload.command, "command"),
    LATER_ROW(TEXT, fb_cell, workload.driver, "driver"),
    LATER_OBJECT(recorded_fields, "recorded"),
    END,
};

static const struct fb_field allocator_fields[] = {
    ROW(TEXT, fb_cell, allocator.name, "name"),
    ROW(TEXT, fb_cell, allocator.backend, "backend"),
    ROW(TEXT, fb_cell, allocator.spec, "spec"),
    ROW(TEXT, fb_cell, allocator.version, "version"),
    ROW(TEXT, fb_cell, allocator.path, "path"),
    LATER_ROW(TEXT, fb_cell, allocator.inner_path, "inner_path"),
    ROW(TEXT, fb_cell, allocator.sha256, "sha256"),
    ROW(TEXT, fb_cell, allocator.package, "package"),
    LIST(PAIRS, fb_cell, allocator.tunables, allocator.tunable_count, "tunables"),
    LIST(PAIRS, fb_cell, allocator.effective, allocator.effective_count, "effective"),
    LIST(PAIRS, fb_cell, allocator.env, allocator.env_count, "env"),
    END,
};

static const struct fb_field timing_fields[] = {
    ROW(BOOL, fb_cell, timing.done, "done"),
    ROW(STATUS, fb_cell, timing.status, "status"),
    ROW(TEXT, fb_cell, timing.status_detail, "status_detail"),
    ROW(UNSIGNED, fb_cell, timing.runs, "runs"),
    ROW(NUMBER, fb_cell, timing.wall_s, "wall_s"),
    ROW(NUMBER, fb_cell, timing.null_s, "null_s"),
    ROW(U64, fb_cell, timing.ops, "ops"),
    CUSTOM(fb_timing_encode, fb_timing_decode, "metrics"),
    END,
};

static const struct fb_field limit_fields[] = {
    CUSTOM(fb_limit_metric_encode, fb_limit_metric_decode, "metric"),
    ROW(NUMBER, fb_limit, max, "max"),
    ROW(UNSIGNED, fb_limit, line, "line"),
    END,
};

static const struct fb_field cell_fields[] = {
    ROW(TEXT, fb_cell, id, "id"),
    LATER_ROW(UNSIGNED, fb_cell, part, "part"),
    OBJECT(workload_fields, "workload"),
    OBJECT(allocator_fields, "allocator"),
    ROW(TEXT, fb_cell, clock, "clock"),
    ROW(TEXT, fb_cell, order, "order"),
    ROW(TEXT, fb_cell, layout, "layout"),
    ROW(TEXT, fb_cell, thp, "thp"),
    ROW(BOOL, fb_cell, clock_proven, "clock_proven"),
    ROW(STATUS, fb_cell, status, "status"),
    ROW(TEXT, fb_cell, status_detail, "status_detail"),
    CUSTOM(fb_summary_encode, fb_summary_decode, "summary"),
    OBJECT(timing_fields, "timing"),
    LATER_ARRAY(fb_cell, limits, limit_count, limit_fields, "limits"),
    ARRAY(fb_cell, repetitions, repetition_count, repetition_fields, "repetitions"),
    END,
};

static const struct fb_field program_fields[] = {
    ROW(TEXT, fb_result, version, "version"),
    END,
};

/* Of a run, and of each part of a merged one. */
#define HOST_ROWS(type) \
    ROW(TEXT, type, host.kernel, "kernel"), \
    ROW(TEXT, type, host.libc, "libc"), \
    ROW(TEXT, type, host.cpu, "cpu"), \
    ROW(TEXT, type, host.machine, "machine"), \
    LATER_ROW(TEXT, type, host.boot, "boot"), \
    ROW(UNSIGNED, type, host.cpus_online, "ncpu"), \
    ROW(UNSIGNED, type, host.cpus_allowed, "ncpu_allowed"), \
    ROW(U64, type, host.memory_bytes, "memory_bytes"), \
    ROW(U64, type, host.swap_bytes, "swap_bytes"), \
    ROW(U64, type, host.page_bytes, "page_bytes"), \
    ROW(U64, type, host.cgroup_limit_bytes, "cgroup_limit_bytes"), \
    ROW(TEXT, type, host.thp, "thp"), \
    ROW(TEXT, type, host.overcommit, "overcommit"), \
    ROW(BOOL, type, host.statm_exact, "statm_exact"), \
    END

static const struct fb_field host_fields[] = {HOST_ROWS(fb_result)};
static const struct fb_field part_host_fields[] = {HOST_ROWS(fb_merged_run)};

static const struct fb_field shard_fields[] = {
    ROW(UNSIGNED, fb_result, shard.index, "index"),
    ROW(UNSIGNED, fb_result, shard.count, "count"),
    ROW(U64, fb_result, shard.cells_total, "cells_total"),
    ROW(TEXT, fb_result, shard.plan, "plan"),
    END,
};

static const struct fb_field part_fields[] = {
    ROW(UNSIGNED, fb_merged_run, shard, "shard"),
    ROW(TEXT, fb_merged_run, folder, "folder"),
    LIST(TEXTS, fb_merged_run, argv, argc, "argv"),
    ROW(TEXT, fb_merged_run, started, "started"),
    ROW(TEXT, fb_merged_run, finished, "finished"),
    ROW(BOOL, fb_merged_run, interrupted, "interrupted"),
    OBJECT(part_host_fields, "host"),
    END,
};

const struct fb_field fb_result_fields[] = {
    OBJECT(program_fields, "fragbench"),
    LIST(TEXTS, fb_result, argv, argc, "argv"),
    ROW(TEXT, fb_result, started, "started"),
    ROW(TEXT, fb_result, finished, "finished"),
    ROW(BOOL, fb_result, interrupted, "interrupted"),
    OBJECT(host_fields, "host"),
    LATER_OBJECT(shard_fields, "shard"),
    LATER_ARRAY(fb_result, parts, part_count, part_fields, "parts"),
    CUSTOM(fb_units_encode, fb_units_decode, "units"),
    ARRAY(fb_result, cells, cell_count, cell_fields, "cells"),
    END,
};
