/* doctor: tries what fragbench needs, one finding each. */
#include "harness/host.h"

#include "base/alloc.h"
#include "base/units.h"
#include "harness/exercise.h"
#include "harness/probe.h"
#include "harness/proc.h"
#include "harness/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* level: FB_FINDING_*; text and advice are taken (advice may be NULL). */
static void add(struct fb_doctor_findings *out, int level, const char *topic, char *text,
                char *advice)
{
    out->items = fb_realloc(out->items, out->count + 1, sizeof *out->items);
    struct fb_doctor_finding *finding = &out->items[out->count++];
    *finding =
        (struct fb_doctor_finding){.topic = fb_strdup(topic), .text = text, .advice = advice};
    finding->level = level == FB_FINDING_OK     ? FB_FINDING_OK
                     : level == FB_FINDING_NOTE ? FB_FINDING_NOTE
                                                : FB_FINDING_PROBLEM;
}

/* Probes whose answer is yes or no. */
static const struct {
    const char *topic;
    bool (*probe)(void);
    int level; /* when the answer is no */
    const char *yes, *no, *advice;
} probes[] = {
    {"layout", fb_probe_personality, FB_FINDING_NOTE, "address randomisation can be switched off",
     "address randomisation cannot be switched off: cells say \"layout: random\" and are not exact",
     "in a container, run with --security-opt seccomp=unconfined"},
    {"memfd", fb_probe_memfd, FB_FINDING_PROBLEM, "shared blocks can be made",
     "memfd_create does not work: nothing can be run", "look for a seccomp filter"},
    {"pagemap", fb_probe_pagemap, FB_FINDING_PROBLEM, "tells which pages are present",
     "/proc/self/pagemap is not readable: checkpoints cannot be taken",
     "mount /proc with hidepid=0 and allow ptrace access to own processes"},
    {"PAGEMAP_SCAN", fb_probe_pagemap_scan, FB_FINDING_NOTE, "works",
     "not there (Linux 6.7 has it): page maps are read word by word", NULL},
    {"THP except advised", fb_probe_thp_except_advised, FB_FINDING_NOTE, "works",
     "not there (Linux 6.18 has it): on a system set to always, cells run with THP off", NULL},
};

static void check_probes(struct fb_doctor_findings *out)
{
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        bool yes = probes[i].probe();
        const char *advice = yes ? NULL : probes[i].advice;
        add(out, yes ? FB_FINDING_OK : probes[i].level, probes[i].topic,
            fb_strdup(yes ? probes[i].yes : probes[i].no),
            advice != NULL ? fb_strdup(advice) : NULL);
    }
}

static void check_statm(struct fb_doctor_findings *out)
{
    uint64_t worst;
    if (fb_probe_statm(&worst))
        add(out, FB_FINDING_OK, "statm", fb_strdup("exact to the page"), NULL);
    else
        add(out, FB_FINDING_NOTE, "statm",
            fb_format("lags by up to %" PRIu64 " pages: curves are that much off, checkpoints not",
                      worst),
            fb_strdup("Linux 6.17 and later count exactly"));
}

static void check_thp(struct fb_doctor_findings *out)
{
    char word[32];
    const char *enabled = fb_thp_enabled(word, sizeof word);
    bool always = strcmp(enabled, "always") == 0;
    add(out, always ? FB_FINDING_NOTE : FB_FINDING_OK, "THP",
        fb_format("the system says %s%s", enabled,
                  always ? ": cells are brought down to madvise" : ""),
        always ? fb_strdup("--thp always measures what the system does") : NULL);
}

static void check_memory(struct fb_doctor_findings *out)
{
    struct fb_host host;
    char size[32], available[32];
    uint64_t free_bytes = 0;
    fb_host_read(&host);
    if (fb_proc_meminfo("MemAvailable:", &free_bytes, NULL) != 0)
        free_bytes = 0;
    add(out, FB_FINDING_OK, "memory",
        fb_format("%s, %s available, page size %" PRIu64,
                  fb_units_bytes(host.memory_bytes, size, sizeof size),
                  fb_units_bytes(free_bytes, available, sizeof available), host.page_bytes),
        NULL);
    if (host.cgroup_limit_bytes != 0)
        add(out, FB_FINDING_NOTE, "cgroup limit",
            fb_strdup(fb_units_bytes(host.cgroup_limit_bytes, size, sizeof size)),
            fb_strdup("cells that need more end as oom-killed"));
    else
        add(out, FB_FINDING_OK, "cgroup limit", fb_strdup("none"), NULL);
    if (host.swap_bytes != 0)
        add(out, FB_FINDING_NOTE, "swap",
            fb_strdup(fb_units_bytes(host.swap_bytes, size, sizeof size)),
            fb_strdup(
                "swapped bytes are counted at checkpoints only; swapoff -a for exact curves"));
    else
        add(out, FB_FINDING_OK, "swap", fb_strdup("none"), NULL);
    bool strict = strcmp(host.overcommit, "2") == 0;
    add(out, strict ? FB_FINDING_NOTE : FB_FINDING_OK, "overcommit", fb_strdup(host.overcommit),
        strict ? fb_strdup("allocators that reserve address space may be refused") : NULL);
    fb_host_deinit(&host);
}

static void check_limits(struct fb_doctor_findings *out)
{
    char text[256];
    if (fb_proc_read("/proc/sys/vm/max_map_count", text, sizeof text, NULL) == 0) {
        long count = strtol(text, NULL, 10);
        add(out, count < 65530 ? FB_FINDING_NOTE : FB_FINDING_OK, "vm.max_map_count",
            fb_format("%ld", count),
            count < 65530 ? fb_strdup("low: a small mmap_threshold may run out of mappings")
                          : NULL);
    }
    if (fb_proc_read("/proc/sys/kernel/core_pattern", text, sizeof text, NULL) == 0) {
        text[strcspn(text, "\n")] = '\0';
        add(out, FB_FINDING_OK, "core pattern",
            fb_format("%s (workers run with core dumps off)", text), NULL);
    }
}

static bool is_in_path(const char *program)
{
    const char *path = getenv("PATH");
    bool found = false;
    while (path != NULL && *path != '\0' && !found) {
        size_t length = strcspn(path, ":");
        char *file = fb_format("%.*s/%s", (int)length, path, program);
        found = length > 0 && access(file, X_OK) == 0;
        free(file);
        path += length + (path[length] == ':');
    }
    return found;
}

static void check_gnuplot(struct fb_doctor_findings *out)
{
    if (is_in_path("gnuplot"))
        add(out, FB_FINDING_OK, "gnuplot", fb_strdup("found"), NULL);
    else
        add(out, FB_FINDING_NOTE, "gnuplot", fb_strdup("not found: no pictures"),
            fb_strdup("apt-get install gnuplot-nox"));
}

/* One small run of the contender: does its library really answer, does the clock reach it? */
static void check_contender(struct fb_doctor_findings *out, const struct fb_contender *contender)
{
    struct fb_exercise seen;
    struct fb_error err = {0};
    if (!contender->available) {
        add(out, FB_FINDING_NOTE, contender->label, fb_strdup(contender->unavailable), NULL);
        return;
    }
    if (fb_exercise_run(contender, &seen, &err) != 0) {
        add(out, FB_FINDING_PROBLEM, contender->label, fb_strdup(err.text), NULL);
        return;
    }
    if (seen.status != FB_STATUS_OK)
        add(out, FB_FINDING_PROBLEM, contender->label,
            fb_format("%s: %s", fb_status_name(seen.status),
                      seen.detail != NULL ? seen.detail : "no reason known"),
            NULL);
    else
        add(out, seen.clock_proven ? FB_FINDING_OK : FB_FINDING_PROBLEM, contender->label,
            fb_format("%s%s%s answers, clock read %" PRIu64 " times%s", contender->version,
                      contender->version[0] != '\0' ? ", " : "",
                      seen.owner != NULL ? seen.owner : "nobody", seen.clock_calls,
                      seen.clock_proven ? "" : ": the virtual clock does not reach it"),
            seen.clock_proven ? NULL : fb_strdup("use --clock real with it"));
    fb_exercise_deinit(&seen);
}

static void check_contenders(struct fb_doctor_findings *out)
{
    static const char *const all[] = {"all"};
    struct fb_contenders contenders;
    struct fb_error err = {0};
    char worker[4096], clock_library[4096];
    if (fb_runner_locate(worker, clock_library, sizeof worker, &err) != 0) {
        add(out, FB_FINDING_PROBLEM, "worker", fb_strdup(err.text), NULL);
        return;
    }
    add(out, FB_FINDING_OK, "worker", fb_strdup(worker), NULL);
    if (fb_contenders_resolve(all, 1, &contenders, &err) != 0) {
        add(out, FB_FINDING_PROBLEM, "allocators", fb_strdup(err.text), NULL);
        return;
    }
    for (size_t i = 0; i < contenders.count; i++)
        check_contender(out, &contenders.items[i]);
    fb_contenders_deinit(&contenders);
}

void fb_doctor(struct fb_doctor_findings *out)
{
    *out = (struct fb_doctor_findings){0};
    check_statm(out);
    check_probes(out);
    check_thp(out);
    check_memory(out);
    check_limits(out);
    check_gnuplot(out);
    check_contenders(out);
}

void fb_doctor_findings_deinit(struct fb_doctor_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->items[i].topic);
        free(findings->items[i].text);
        free(findings->items[i].advice);
    }
    free(findings->items);
    *findings = (struct fb_doctor_findings){0};
}
