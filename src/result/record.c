#include "result/record.h"

#include "base/alloc.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* File systems allow 255 bytes a name; ".<repetition>.csv" and a temporary suffix come on top. */
#define FILE_NAME_MAX 200U
#define FILE_NAME_HEAD (FILE_NAME_MAX - 17U) /* "-" and 16 digits */

enum outcome { DONE, SKIPPED, FAILED };

static const struct {
    const char *name;
    enum outcome outcome;
} statuses[FB_STATUS_COUNT] = {
    [FB_STATUS_OK] = {"ok", DONE},
    [FB_STATUS_REFUSED] = {"refused", DONE},
    [FB_STATUS_CRASHED] = {"crashed", FAILED},
    [FB_STATUS_TIMEOUT] = {"timeout", FAILED},
    [FB_STATUS_OOM_KILLED] = {"oom-killed", FAILED},
    [FB_STATUS_OVER_MEMORY_LIMIT] = {"over-memory-limit", FAILED},
    [FB_STATUS_CORRUPTED] = {"corrupted", FAILED},
    [FB_STATUS_NOT_PRELOADED] = {"not-preloaded", FAILED},
    [FB_STATUS_BAD_TUNABLE] = {"bad-tunable", FAILED},
    [FB_STATUS_UNSUPPORTED] = {"unsupported", SKIPPED},
    [FB_STATUS_NOT_INSTALLED] = {"not-installed", SKIPPED},
    [FB_STATUS_INTERRUPTED] = {"interrupted", FAILED},
};

const char *const fb_point_reasons[FB_POINT_REASON_COUNT + 1] = {
    "start", "iteration", "peak", "volume", "checkpoint", "time", NULL,
};

const char *fb_status_name(enum fb_status status)
{
    return statuses[status].name;
}

enum fb_status fb_status_find(const char *name)
{
    int status = 0;
    while (status < FB_STATUS_COUNT && strcmp(statuses[status].name, name) != 0)
        status++;
    return (enum fb_status)status;
}

bool fb_status_done(enum fb_status status)
{
    return statuses[status].outcome == DONE;
}

bool fb_status_skipped(enum fb_status status)
{
    return statuses[status].outcome == SKIPPED;
}

void fb_repetition_init(struct fb_repetition *repetition)
{
    memset(repetition, 0, sizeof *repetition);
    for (int metric = 0; metric < FB_METRIC_COUNT; metric++)
        repetition->values[metric] = NAN;
}

void fb_checkpoint_deinit(struct fb_checkpoint *checkpoint)
{
    free(checkpoint->allocator);
    fb_attribution_free(checkpoint->attribution);
    *checkpoint = (struct fb_checkpoint){0};
}

static void free_texts(char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
}

void fb_repetition_deinit(struct fb_repetition *repetition)
{
    for (size_t i = 0; i < repetition->phase_count; i++)
        free(repetition->phases[i].name);
    free(repetition->phases);
    for (size_t i = 0; i < repetition->checkpoint_count; i++)
        fb_checkpoint_deinit(&repetition->checkpoints[i]);
    free(repetition->checkpoints);
    free(repetition->series.points);
    free(repetition->series_file);
    free(repetition->status_detail);
    free(repetition->stderr_text);
    free(repetition->log_file);
    for (size_t i = 0; i < repetition->program_count; i++) {
        free(repetition->programs[i].name);
        free(repetition->programs[i].answered_by);
    }
    free(repetition->programs);
    free_texts(repetition->notes, repetition->note_count);
    free(repetition->notes);
    memset(repetition, 0, sizeof *repetition);
}

static void free_pairs(struct fb_name_value *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(pairs[i].name);
        free(pairs[i].value);
    }
    free(pairs);
}

bool fb_cell_used_huge_pages(const struct fb_cell *cell)
{
    for (size_t i = 0; i < cell->repetition_count; i++) {
        const struct fb_repetition *repetition = &cell->repetitions[i];
        for (size_t j = 0; j < repetition->checkpoint_count; j++)
            if (repetition->checkpoints[j].huge_bytes > 0)
                return true;
    }
    return false;
}

void fb_cell_deinit(struct fb_cell *cell)
{
    char *const texts[] = {
        cell->id,
        cell->workload.name,
        cell->workload.file,
        cell->workload.sha256,
        cell->workload.trace_sha256,
        cell->workload.command,
        cell->workload.driver,
        cell->allocator.name,
        cell->allocator.backend,
        cell->allocator.spec,
        cell->allocator.version,
        cell->allocator.path,
        cell->allocator.inner_path,
        cell->allocator.sha256,
        cell->allocator.package,
        cell->clock,
        cell->order,
        cell->layout,
        cell->thp,
        cell->status_detail,
        cell->timing.status_detail,
    };
    free_texts(texts, sizeof texts / sizeof texts[0]);
    free_pairs(cell->workload.params, cell->workload.param_count);
    free_pairs(cell->allocator.tunables, cell->allocator.tunable_count);
    free_pairs(cell->allocator.effective, cell->allocator.effective_count);
    free_pairs(cell->allocator.env, cell->allocator.env_count);
    for (size_t i = 0; i < cell->repetition_count; i++)
        fb_repetition_deinit(&cell->repetitions[i]);
    free(cell->repetitions);
    free(cell->limits);
    memset(cell, 0, sizeof *cell);
}

static void free_host(const struct fb_host *host)
{
    char *const texts[] = {host->kernel, host->libc, host->cpu,       host->machine,
                           host->boot,   host->thp,  host->overcommit};
    free_texts(texts, sizeof texts / sizeof texts[0]);
}

static void free_argv(char **argv, size_t argc)
{
    if (argv != NULL)
        free_texts(argv, argc);
    free(argv);
}

static void free_part(const struct fb_merged_run *part)
{
    char *const texts[] = {part->folder, part->started, part->finished};
    free_texts(texts, sizeof texts / sizeof texts[0]);
    free_argv(part->argv, part->argc);
    free_host(&part->host);
}

void fb_result_deinit(struct fb_result *result)
{
    char *const texts[] = {result->version, result->started, result->finished, result->shard.plan};
    free_texts(texts, sizeof texts / sizeof texts[0]);
    free_argv(result->argv, result->argc);
    free_host(&result->host);
    for (size_t i = 0; i < result->part_count; i++)
        free_part(&result->parts[i]);
    free(result->parts);
    for (size_t i = 0; i < result->cell_count; i++)
        fb_cell_deinit(&result->cells[i]);
    free(result->cells);
    memset(result, 0, sizeof *result);
}

uint64_t fb_shard_cells(const struct fb_shard *shard)
{
    uint64_t rest = shard->cells_total % shard->count;
    return shard->cells_total / shard->count + (rest >= shard->index);
}

/* FNV-1a: keeps two long ids apart that share their first characters. */
static unsigned long long hash_text(const char *text)
{
    unsigned long long hash = 0xcbf29ce484222325ULL;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
    return hash;
}

char *fb_cell_file_name(const char *id)
{
    char *name = fb_strdup(id);
    for (char *at = name; *at != '\0'; at++) {
        bool plain = isascii((unsigned char)*at) && isalnum((unsigned char)*at);
        if (!plain && strchr("._-", *at) == NULL)
            *at = '_';
    }
    if (strlen(name) <= FILE_NAME_MAX)
        return name;
    name[FILE_NAME_HEAD] = '\0';
    char *shortened = fb_format("%s-%016llx", name, hash_text(id));
    free(name);
    return shortened;
}

bool fb_cell_is_recording(const struct fb_cell *cell)
{
    const char *ending = cell->workload.file != NULL ? strrchr(cell->workload.file, '.') : NULL;
    return ending != NULL && strcmp(ending, ".fbt") == 0;
}

bool fb_cell_is_program(const struct fb_cell *cell)
{
    return cell->workload.command != NULL;
}
