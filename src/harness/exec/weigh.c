/* What the processes of a tree hold. */
#include "harness/exec/family.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "harness/proc.h"
#include "harness/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CORRECTION_SHARE 50U /* of the time: 2 % */

/* One process's smaps_rollup. */
struct rollup {
    uint64_t rss, pss_anon, swap_pss, lazyfree, huge, swap;
};

/* A process that may not be read so (setuid) or has gone: -1. Pss_Anon is there from Linux 5.4. */
static int read_rollup(pid_t pid, struct rollup *out)
{
    char path[64], text[4096] = "";
    struct rollup read = {0};
    const struct {
        const char *key;
        uint64_t *value;
    } rows[] = {
        {"Rss:", &read.rss},           {"Pss_Anon:", &read.pss_anon},
        {"LazyFree:", &read.lazyfree}, {"AnonHugePages:", &read.huge},
        {"Swap:", &read.swap},         {"SwapPss:", &read.swap_pss},
    };
    (void)snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", (long)pid);
    if (fb_proc_read(path, text, sizeof text, NULL) != 0)
        return -1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (fb_proc_field_parse(text, rows[i].key, rows[i].value) != 0)
            return -1;
    *out = read;
    return 0;
}

static uint64_t read_anon(const struct fb_family *family, const struct fb_process *process)
{
    struct fb_statm statm;
    uint64_t held;
    if (family->swap)
        return fb_proc_held(process->pid, &held, NULL) == 0 ? held : 0;
    if (fb_proc_statm(process->pid, &statm, NULL) != 0)
        return 0;
    return statm.resident_bytes - statm.shared_bytes;
}

/* A process that still is its parent's image was forked: at its first reading it is taken to share
 * all it has. One that holds far less than that has called exec, with the same program. */
static void weigh(const struct fb_family *family, struct fb_process *process)
{
    process->anon_bytes = process->zombie || process->borrowed ? 0 : read_anon(family, process);
    if (process->borrowed)
        return;
    if (process->twice_bytes == UINT64_MAX) {
        const struct fb_process *parent = fb_family_find(family, process->parent);
        bool forked = parent != NULL && strcmp(parent->program, process->program) == 0;
        process->twice_bytes = forked ? process->anon_bytes : 0;
    }
    if (process->anon_bytes < process->twice_bytes / 2)
        process->twice_bytes = 0;
}

static int by_age(const void *left, const void *right)
{
    const struct fb_process *a = *(struct fb_process *const *)left;
    const struct fb_process *b = *(struct fb_process *const *)right;
    if (a->first_seen_ns != b->first_seen_ns)
        return a->first_seen_ns < b->first_seen_ns ? -1 : 1;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

void fb_family_spread(struct fb_process *const *by_age_order, const uint64_t *pss_bytes,
                      size_t count)
{
    uint64_t anon = 0, pss = 0;
    for (size_t i = 0; i < count; i++) {
        anon += by_age_order[i]->anon_bytes;
        pss += pss_bytes[i];
    }
    uint64_t surplus = anon > pss ? anon - pss : 0;
    for (size_t i = count; i-- > 0;) {
        struct fb_process *process = by_age_order[i];
        process->twice_bytes = surplus < process->anon_bytes ? surplus : process->anon_bytes;
        surplus -= process->twice_bytes;
    }
}

static void add(struct fb_family_exact *sum, const struct rollup *rollup)
{
    sum->rss_bytes += rollup->rss;
    sum->footprint_bytes += rollup->pss_anon + rollup->swap_pss;
    sum->lazyfree_bytes += rollup->lazyfree;
    sum->huge_bytes += rollup->huge;
    sum->swap_bytes += rollup->swap;
}

/* Members in order of age, and each one's share. One that cannot be read counts as it is. */
static size_t read_shares(struct fb_family *family, struct fb_process **order, uint64_t *pss,
                          struct fb_family_exact *sum)
{
    size_t count = 0;
    for (size_t i = 0; i < family->count; i++)
        if (!family->members[i].zombie && !family->members[i].borrowed)
            order[count++] = &family->members[i];
    if (count > 1)
        qsort(order, count, sizeof(struct fb_process *), by_age);
    for (size_t i = 0; i < count; i++) {
        struct rollup rollup;
        order[i]->anon_bytes = read_anon(family, order[i]);
        if (read_rollup(order[i]->pid, &rollup) != 0)
            rollup = (struct rollup){.rss = order[i]->anon_bytes, .pss_anon = order[i]->anon_bytes};
        pss[i] = rollup.pss_anon + rollup.swap_pss;
        add(sum, &rollup);
    }
    return count;
}

static void correct(struct fb_family *family, struct fb_family_exact *sum)
{
    struct fb_process **order = fb_alloc(family->count + 1, sizeof(struct fb_process *));
    uint64_t *pss = fb_alloc(family->count + 1, sizeof *pss);
    size_t count = read_shares(family, order, pss, sum);
    fb_family_spread(order, pss, count);
    family->correction_due = false;
    free(order);
    free(pss);
}

/* Copied pages raise the true sum while RssAnon stays, so it is looked at again even when nobody
 * came or went. */
static bool is_shared(const struct fb_family *family)
{
    for (size_t i = 0; i < family->count; i++)
        if (family->members[i].twice_bytes > 0 && family->members[i].twice_bytes != UINT64_MAX)
            return true;
    return false;
}

uint64_t fb_family_footprint(struct fb_family *family, uint64_t now_ns)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < family->count; i++)
        weigh(family, &family->members[i]);
    if (family->count > 1 && (family->correction_due || is_shared(family)) &&
        now_ns >= family->next_correction_ns) {
        struct fb_family_exact unused = {0};
        uint64_t began_ns = fb_clock_spent_ns();
        correct(family, &unused);
        family->next_correction_ns = now_ns + (fb_clock_spent_ns() - began_ns) * CORRECTION_SHARE;
    }
    for (size_t i = 0; i < family->count; i++) {
        const struct fb_process *process = &family->members[i];
        if (process->anon_bytes > process->twice_bytes)
            sum += process->anon_bytes - process->twice_bytes;
    }
    return sum;
}

void fb_family_exact(struct fb_family *family, struct fb_family_exact *out)
{
    *out = (struct fb_family_exact){0};
    correct(family, out);
    for (size_t i = 0; i < family->count; i++) {
        uint64_t mappings;
        if (!family->members[i].zombie &&
            fb_proc_mappings(family->members[i].pid, &mappings, NULL) == 0 &&
            mappings > out->mappings)
            out->mappings = mappings;
    }
}
