#include "metrics/sentences.h"

#include "base/alloc.h"
#include "base/shell.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

#define LINE_CAP 65536U
#define SILENT_BELOW_BYTES (UINT64_C(4) << 20)

struct facts {
    const struct fb_cell *cell;
    const struct fb_attribution *attribution;
};

struct rule {
    bool (*applies)(const struct facts *facts);
    void (*tell)(const struct facts *facts, struct fb_buf *out);
    char *(*next)(const struct facts *facts); /* a new command line */
};

static const struct fb_checkpoint *find(const struct fb_cell *cell,
                                        bool (*fits)(const struct fb_repetition *repetition,
                                                     const struct fb_checkpoint *checkpoint))
{
    if (cell->repetition_count == 0)
        return NULL;
    const struct fb_repetition *first = &cell->repetitions[0];
    for (size_t i = 0; i < first->checkpoint_count; i++)
        if (first->checkpoints[i].attribution != NULL && fits(first, &first->checkpoints[i]))
            return &first->checkpoints[i];
    return NULL;
}

static bool is_peak(const struct fb_repetition *repetition, const struct fb_checkpoint *checkpoint)
{
    (void)repetition;
    return strcmp(checkpoint->kind, "peak_live") == 0;
}

static bool is_end(const struct fb_repetition *repetition, const struct fb_checkpoint *checkpoint)
{
    return strcmp(checkpoint->kind, "phase_end") == 0 &&
           (size_t)checkpoint->phase + 1 == repetition->phase_count;
}

static bool is_kept(const struct fb_repetition *repetition, const struct fb_checkpoint *checkpoint)
{
    return strcmp(checkpoint->kind, "phase_end") == 0 && checkpoint->phase >= 0 &&
           (size_t)checkpoint->phase < repetition->phase_count &&
           strcmp(repetition->phases[checkpoint->phase].name, repetition->kept_phase) == 0;
}

const struct fb_checkpoint *fb_explained_peak(const struct fb_cell *cell)
{
    return find(cell, is_peak);
}

const struct fb_checkpoint *fb_explained_end(const struct fb_cell *cell)
{
    return find(cell, is_end);
}

const struct fb_checkpoint *fb_explained_kept(const struct fb_cell *cell)
{
    const struct fb_checkpoint *kept = find(cell, is_kept);
    return kept != NULL ? kept : fb_explained_end(cell);
}

static double share(const struct facts *facts, uint64_t bytes)
{
    uint64_t all = facts->attribution->footprint_bytes;
    return all > 0 ? (double)bytes / (double)all : 0;
}

static bool matters(const struct facts *facts, enum fb_part part, double least)
{
    uint64_t bytes = facts->attribution->parts[part];
    return bytes >= SILENT_BELOW_BYTES && share(facts, bytes) >= least;
}

static void add_size(struct fb_buf *out, uint64_t bytes)
{
    char text[32];
    fb_buf_adds(out, fb_units_bytes(bytes, text, sizeof text));
}

/* "67 % (140 MiB of 209 MiB)" */
static void add_share(const struct facts *facts, enum fb_part part, struct fb_buf *out)
{
    uint64_t bytes = facts->attribution->parts[part];
    fb_buf_addf(out, "%.0f %% (", share(facts, bytes) * 100);
    add_size(out, bytes);
    fb_buf_adds(out, " of ");
    add_size(out, facts->attribution->footprint_bytes);
    fb_buf_adds(out, ")");
}

/* What was asked for on the command line stands in the id: "/NAME=VALUE" behind the contender. */
static void add_params(const struct fb_cell *cell, struct fb_buf *line)
{
    const char *id = cell->id != NULL ? cell->id : "";
    for (size_t i = 0; i < cell->workload.param_count; i++) {
        const struct fb_name_value *param = &cell->workload.params[i];
        char *part = fb_format("/%s=%s", param->name, param->value);
        if (strstr(id, part) != NULL) {
            fb_buf_adds(line, " -L ");
            fb_shell_add(line, part + 1);
        }
        free(part);
    }
}

static char *command(const struct facts *facts, const char *verb, const char *const *specs,
                     const char *options)
{
    const struct fb_cell *cell = facts->cell;
    struct fb_buf line;
    fb_buf_init(&line, LINE_CAP);
    fb_buf_addf(&line, "fragbench %s ", verb);
    fb_shell_add(&line, cell->workload.file != NULL ? cell->workload.file : "");
    add_params(cell, &line);
    if (cell->workload.scale > 0 && cell->workload.scale != 1)
        fb_buf_addf(&line, " --scale %g", cell->workload.scale);
    for (; *specs != NULL; specs++) {
        fb_buf_adds(&line, " -a ");
        fb_shell_add(&line, *specs);
    }
    fb_buf_adds(&line, options);
    char *text = fb_strdup(line.text);
    fb_buf_deinit(&line);
    return text;
}

/* What makes an allocator give back the pages it keeps, by its documented names. */
static const struct remedy {
    const char *backend, *key, *settings;
    const char *until; /* the last minor version that has it, as text; NULL: all */
    const char *where; /* " for …": where it helps; "" = everywhere */
} remedies[] = {
    {"jemalloc", "dirty_decay_ms", "dirty_decay_ms=0,muzzy_decay_ms=0", NULL, ""},
    {"ptmalloc2", "mmap_threshold", "mmap_threshold=65536,trim_threshold=131072", NULL,
     " for blocks of 64 KiB and more"},
    {"tcmalloc", "aggressive_decommit", "aggressive_decommit=true", NULL, ""},
    {"mimalloc", "decommit_delay", "decommit_delay=0", "2.0", ""},
    {"mimalloc", "purge_delay", "purge_delay=0", NULL, ""},
    {"scudo", "release_to_os_interval_ms", "release_to_os_interval_ms=0", NULL, ""},
};

static bool has_tunable(const struct fb_cell *cell, const char *key)
{
    for (size_t i = 0; i < cell->allocator.tunable_count; i++)
        if (strcmp(cell->allocator.tunables[i].name, key) == 0)
            return true;
    return false;
}

static const struct remedy *remedy_of(const struct fb_cell *cell)
{
    const char *backend = cell->allocator.backend != NULL ? cell->allocator.backend : "";
    const char *version = cell->allocator.version != NULL ? cell->allocator.version : "";
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++) {
        const struct remedy *remedy = &remedies[i];
        if (strcmp(remedy->backend, backend) != 0)
            continue;
        if (remedy->until != NULL && strncmp(version, remedy->until, strlen(remedy->until)) != 0)
            continue;
        return has_tunable(cell, remedy->key) ? NULL : remedy;
    }
    return NULL;
}

static const char *const nobody[] = {NULL};

static char *compare_contenders(const struct facts *facts)
{
    return command(facts, "run", nobody, " --explain");
}

static char *look_at_pattern(const struct facts *facts)
{
    return command(facts, "check", nobody, "");
}

static bool is_cached(const struct facts *facts)
{
    return matters(facts, FB_PART_CACHED, 0.25);
}

static void tell_cached(const struct facts *facts, struct fb_buf *out)
{
    const struct remedy *remedy = remedy_of(facts->cell);
    add_share(facts, FB_PART_CACHED, out);
    fb_buf_adds(out, " are free pages that it keeps for later; a purge gives them back. ");
    if (remedy != NULL)
        fb_buf_addf(out, "Purge when idle, or try %s%s.", remedy->settings, remedy->where);
    else
        fb_buf_adds(out, "Purge when idle, or see who gives them back by itself.");
}

static char *next_cached(const struct facts *facts)
{
    const struct remedy *remedy = remedy_of(facts->cell);
    if (remedy == NULL)
        return compare_contenders(facts);
    const struct fb_cell *cell = facts->cell;
    const char *spec = cell->allocator.spec;
    char *longer =
        fb_format("%s%c%s", spec, strchr(spec, ':') != NULL ? ',' : ':', remedy->settings);
    const char *const specs[] = {spec, longer, NULL};
    char *text = command(facts, "run", specs, " --explain");
    free(longer);
    return text;
}

static bool is_stuck(const struct facts *facts)
{
    return matters(facts, FB_PART_STUCK, 0.25);
}

static void tell_stuck(const struct facts *facts, struct fb_buf *out)
{
    add_share(facts, FB_PART_STUCK, out);
    fb_buf_adds(out,
                " are pages without any live byte that not even a purge gives back: they share "
                "a span or chunk with something live, or are its own tables. Another allocator "
                "cuts its spans differently.");
}

/* The class that keeps most beside its own bytes, where that is half of the holes. */
static const struct fb_hostage *main_holder(const struct fb_attribution *attribution)
{
    const struct fb_hostage *most = NULL;
    uint64_t excess = 0;
    for (size_t i = 0; i < attribution->hostage_count; i++) {
        const struct fb_hostage *hostage = &attribution->hostages[i];
        if (hostage->held_bytes - hostage->held_live_bytes > excess) {
            excess = hostage->held_bytes - hostage->held_live_bytes;
            most = hostage;
        }
    }
    return excess * 2 >= attribution->parts[FB_PART_HOLES] ? most : NULL;
}

static bool is_holed(const struct facts *facts)
{
    return matters(facts, FB_PART_HOLES, 0.25);
}

static void tell_holes(const struct facts *facts, struct fb_buf *out)
{
    const struct fb_hostage *holder = main_holder(facts->attribution);
    char pages[32];
    add_share(facts, FB_PART_HOLES, out);
    fb_buf_adds(out, " are holes on pages that something live keeps: true fragmentation, which no "
                     "purge can undo.");
    if (holder != NULL) {
        fb_buf_addf(out, " %s alone: ", holder->class_name);
        add_size(out, holder->held_live_bytes);
        fb_buf_adds(out, " live holds ");
        add_size(out, holder->held_bytes);
        fb_buf_addf(out, " in %s pages.", fb_units_count(holder->pages, pages, sizeof pages));
    }
    fb_buf_adds(out, " Keep what lives long apart from what lives short, or see who packs it more "
                     "densely.");
}

static bool is_rounded(const struct facts *facts)
{
    return matters(facts, FB_PART_ROUNDING, 0.15);
}

static void tell_rounding(const struct facts *facts, struct fb_buf *out)
{
    add_share(facts, FB_PART_ROUNDING, out);
    fb_buf_adds(out, " are rounding: its size classes are larger than what was asked for. Ask for "
                     "sizes that fit, or see whose classes do.");
}

static bool is_live(const struct facts *facts)
{
    return matters(facts, FB_PART_LIVE, 0.85);
}

static void tell_live(const struct facts *facts, struct fb_buf *out)
{
    const struct fb_hostage *most = NULL;
    for (size_t i = 0; i < facts->attribution->hostage_count; i++)
        if (most == NULL || facts->attribution->hostages[i].live_bytes > most->live_bytes)
            most = &facts->attribution->hostages[i];
    add_share(facts, FB_PART_LIVE, out);
    fb_buf_adds(out, " are live data: no allocator and no setting makes this small.");
    if (most != NULL) {
        fb_buf_addf(out, " Look at what the program keeps, first at %s (", most->class_name);
        add_size(out, most->live_bytes);
        fb_buf_adds(out, ").");
    }
}

static const struct rule rules[] = {
    {is_cached, tell_cached, next_cached},      {is_stuck, tell_stuck, compare_contenders},
    {is_holed, tell_holes, compare_contenders}, {is_rounded, tell_rounding, compare_contenders},
    {is_live, tell_live, look_at_pattern},
};
enum { RULES = sizeof rules / sizeof rules[0] };

void fb_sentences_init(struct fb_sentences *sentences, const struct fb_cell *cell)
{
    *sentences = (struct fb_sentences){.checkpoint = fb_explained_kept(cell)};
    if (sentences->checkpoint == NULL)
        return;
    const struct facts facts = {cell, sentences->checkpoint->attribution};
    sentences->items = fb_alloc(RULES, sizeof *sentences->items);
    for (size_t i = 0; i < RULES; i++) {
        if (!rules[i].applies(&facts))
            continue;
        struct fb_buf text;
        fb_buf_init(&text, LINE_CAP);
        rules[i].tell(&facts, &text);
        sentences->items[sentences->count++] =
            (struct fb_sentence){fb_strdup(text.text), rules[i].next(&facts)};
        fb_buf_deinit(&text);
    }
}

void fb_sentences_deinit(struct fb_sentences *sentences)
{
    for (size_t i = 0; i < sentences->count; i++) {
        free(sentences->items[i].text);
        free(sentences->items[i].command);
    }
    free(sentences->items);
    *sentences = (struct fb_sentences){0};
}
