#include "harness/host.h"

#include "base/alloc.h"
#include "harness/library.h"
#include "harness/probe.h"
#include "harness/proc.h"
#include "harness/run.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static char *read_word(const char *path)
{
    char text[128];
    if (fb_proc_read(path, text, sizeof text, NULL) != 0)
        return fb_strdup("");
    text[strcspn(text, "\n")] = '\0';
    return fb_strdup(text);
}

/* x86 has "model name"; arm64 only numbers, so the machine's name stands in. */
static char *cpu_name(const char *machine)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *line = NULL, *name = NULL;
    size_t size = 0;
    while (file != NULL && name == NULL && getline(&line, &size, file) > 0) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL)
            name = fb_format("%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    free(line);
    if (file != NULL)
        (void)fclose(file);
    return name != NULL ? name : fb_strdup(machine);
}

static unsigned cpus_allowed(void)
{
    cpu_set_t set;
    /* Fails beyond 1024 CPUs: then the online ones are as good an answer. */
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    return (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
}

static uint64_t meminfo_or_zero(const char *key)
{
    uint64_t bytes = 0;
    return fb_proc_meminfo(key, &bytes, NULL) == 0 ? bytes : 0;
}

static uint64_t limit_in(const char *path)
{
    char text[64];
    char *end;
    if (fb_proc_read(path, text, sizeof text, NULL) != 0)
        return UINT64_MAX;
    unsigned long long limit = strtoull(text, &end, 10);
    return end == text ? UINT64_MAX : limit; /* "max" */
}

/* The least limit on the way up from this process's group: cgroup v2, as in a container too, where
 * the group's own files are at the mount's root. 0 = none. */
static uint64_t cgroup_limit(void)
{
    char text[4096], group[4096] = "";
    if (fb_proc_read("/proc/self/cgroup", text, sizeof text, NULL) == 0) {
        const char *line = strstr(text, "0::");
        if (line != NULL)
            (void)snprintf(group, sizeof group, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
    }
    uint64_t least = limit_in("/sys/fs/cgroup/memory.max");
    for (char *slash; (slash = strrchr(group, '/')) != NULL; *slash = '\0') {
        char *path = fb_format("/sys/fs/cgroup%s/memory.max", group);
        uint64_t limit = limit_in(path);
        least = limit < least ? limit : least;
        free(path);
    }
    return least == UINT64_MAX ? 0 : least;
}

void fb_host_read(struct fb_host *host)
{
    struct utsname name;
    char thp[32];
    *host = (struct fb_host){0};
    if (uname(&name) != 0)
        name = (struct utsname){0};
    host->kernel = fb_format("%s %s", name.sysname, name.release);
    host->machine = fb_strdup(name.machine);
    char *libc = fb_library_libc_version();
    host->libc = fb_format("glibc %s", libc);
    free(libc);
    host->cpu = cpu_name(name.machine);
    host->cpus_online = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    host->cpus_allowed = cpus_allowed();
    host->memory_bytes = meminfo_or_zero("MemTotal:");
    host->swap_bytes = meminfo_or_zero("SwapTotal:");
    host->boot = read_word("/proc/sys/kernel/random/boot_id");
    host->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    host->cgroup_limit_bytes = cgroup_limit();
    host->thp = fb_strdup(fb_thp_enabled(thp, sizeof thp));
    host->overcommit = read_word("/proc/sys/vm/overcommit_memory");
    host->statm_exact = fb_probe_statm(NULL);
}

void fb_host_deinit(struct fb_host *host)
{
    char *const strings[] = {host->kernel, host->libc, host->cpu,       host->machine,
                             host->boot,   host->thp,  host->overcommit};
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
        free(strings[i]);
    *host = (struct fb_host){0};
}
