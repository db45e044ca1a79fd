/* Who belongs to the tree. What they hold is weigh.c's. */
#include "harness/exec/family.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "harness/proc.h"
#include "harness/run.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SCAN_SHARE 50U /* a scan's cost to the pause after it: 2 % */

struct pids {
    pid_t *items;
    size_t count, capacity;
};

/* A process that a scan sees for the first time. */
struct newcomer {
    pid_t pid, parent;
    char state;
    bool ours;
};

int fb_family_stat_parse(const char *text, pid_t *parent, char *state)
{
    const char *name_end = strrchr(text, ')'); /* a name may hold anything, ')' too */
    if (name_end == NULL || name_end[1] != ' ' || name_end[2] == '\0' || name_end[3] != ' ')
        return -1;
    char *end;
    long number = strtol(name_end + 4, &end, 10);
    if (end == name_end + 4)
        return -1;
    *state = name_end[2];
    *parent = (pid_t)number;
    return 0;
}

void fb_family_init(struct fb_family *family, pid_t root)
{
    uint64_t swap_bytes = 0;
    *family = (struct fb_family){.root = root, .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE)};
    family->swap = fb_proc_meminfo("SwapTotal:", &swap_bytes, NULL) == 0 && swap_bytes > 0;
}

void fb_family_deinit(struct fb_family *family)
{
    free(family->members);
    free(family->strangers);
    *family = (struct fb_family){0};
}

static int by_pid(const void *left, const void *right)
{
    pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;
    return (a > b) - (a < b);
}

static int by_member_pid(const void *left, const void *right)
{
    pid_t a = ((const struct fb_process *)left)->pid, b = ((const struct fb_process *)right)->pid;
    return (a > b) - (a < b);
}

static void list_pids(struct pids *pids)
{
    DIR *folder = opendir("/proc");
    if (folder == NULL)
        return;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        if (pids->count == pids->capacity) {
            pids->capacity = pids->capacity == 0 ? 512 : pids->capacity * 2;
            pids->items = fb_realloc(pids->items, pids->capacity, sizeof *pids->items);
        }
        pids->items[pids->count++] = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    (void)closedir(folder);
    if (pids->count > 1)
        qsort(pids->items, pids->count, sizeof *pids->items, by_pid);
}

struct fb_process *fb_family_find(const struct fb_family *family, pid_t pid)
{
    const struct fb_process key = {.pid = pid};
    if (family->count == 0)
        return NULL;
    return bsearch(&key, family->members, family->count, sizeof key, by_member_pid);
}

static bool is_stranger(const struct fb_family *family, pid_t pid)
{
    return family->stranger_count > 0 &&
           bsearch(&pid, family->strangers, family->stranger_count, sizeof pid, by_pid) != NULL;
}

static bool read_stat(pid_t pid, pid_t *parent, char *state)
{
    char path[64], text[1024] = "";
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    return fb_proc_read(path, text, sizeof text, NULL) == 0 &&
           fb_family_stat_parse(text, parent, state) == 0;
}

static size_t meet_newcomers(const struct fb_family *family, const struct pids *pids,
                             struct newcomer *out)
{
    size_t count = 0;
    for (size_t i = 0; i < pids->count; i++) {
        struct fb_process *member = fb_family_find(family, pids->items[i]);
        if (member != NULL)
            member->marked = true;
        else if (!is_stranger(family, pids->items[i]) &&
                 read_stat(pids->items[i], &out[count].parent, &out[count].state))
            out[count++].pid = pids->items[i];
    }
    return count;
}

static bool is_ours(const struct fb_family *family, const struct newcomer *all, size_t count,
                    pid_t parent)
{
    if (parent == family->root || fb_family_find(family, parent) != NULL)
        return true;
    for (size_t i = 0; i < count; i++)
        if (all[i].ours && all[i].pid == parent)
            return true;
    return false;
}

/* A child may have a smaller number than its parent, where the numbers have wrapped: repeated until
 * nothing changes. */
static void recognise(const struct fb_family *family, struct newcomer *all, size_t count)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < count; i++) {
            if (all[i].ours || !is_ours(family, all, count, all[i].parent))
                continue;
            all[i].ours = true;
            changed = true;
        }
    }
}

/* The strangers of this scan are those of the next: who has gone drops out by itself. */
static void remember_strangers(struct fb_family *family, const struct pids *pids,
                               const struct newcomer *all, size_t count)
{
    pid_t *strangers = fb_alloc(pids->count, sizeof *strangers);
    size_t kept = 0, next = 0;
    for (size_t i = 0; i < pids->count; i++) {
        while (next < count && all[next].pid < pids->items[i])
            next++;
        bool fresh = next < count && all[next].pid == pids->items[i] && !all[next].ours;
        if (fresh || is_stranger(family, pids->items[i]))
            strangers[kept++] = pids->items[i];
    }
    free(family->strangers);
    family->strangers = strangers;
    family->stranger_count = kept;
}

static void drop_gone(struct fb_family *family)
{
    size_t kept = 0;
    for (size_t i = 0; i < family->count; i++) {
        if (family->members[i].marked)
            family->members[kept++] = family->members[i];
        else
            family->correction_due = true;
    }
    family->count = kept;
}

static void add_ours(struct fb_family *family, const struct newcomer *all, size_t count,
                     uint64_t now_ns)
{
    size_t before = family->count;
    family->members = fb_realloc(family->members, before + count + 1, sizeof *family->members);
    for (size_t i = 0; i < count; i++) {
        if (!all[i].ours)
            continue;
        family->members[family->count++] = (struct fb_process){
            .pid = all[i].pid,
            .parent = all[i].parent,
            .first_seen_ns = now_ns,
            .twice_bytes = UINT64_MAX, /* all of it, until weighed */
            .replaced = true,
        };
        family->seen++;
    }
    if (family->count > 1)
        qsort(family->members, family->count, sizeof *family->members, by_member_pid);
    family->correction_due = family->correction_due || (before > 0 && family->count > before);
}

static bool read_title(pid_t pid, char title[FB_PROCESS_NAME])
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
    if (fb_proc_read(path, title, FB_PROCESS_NAME, NULL) != 0)
        return false;
    title[strcspn(title, "\n")] = '\0';
    return true;
}

/* The executable's link changes with exec. It cannot be read of a zombie, nor without privileges of
 * a program that has raised its own; the latter goes by its title then. */
static bool read_program(pid_t pid, char program[FB_PROCESS_NAME])
{
    char path[64], target[PATH_MAX];
    (void)snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return (errno == EACCES || errno == EPERM) && read_title(pid, program);
    target[length] = '\0';
    const char *slash = strrchr(target, '/');
    (void)snprintf(program, FB_PROCESS_NAME, "%.*s", FB_PROCESS_NAME - 1,
                   slash != NULL ? slash + 1 : target);
    return true;
}

static void identify(struct fb_process *process)
{
    char program[FB_PROCESS_NAME];
    if (!read_program(process->pid, program) || strcmp(process->program, program) == 0)
        return;
    if (process->program[0] != '\0')
        process->twice_bytes = 0; /* exec: all its memory is new */
    memcpy(process->program, program, sizeof program);
    (void)read_title(process->pid, process->title);
    process->replaced = true;
    process->settled = false;
    process->looks = 0;
}

static bool shares_memory(pid_t pid, pid_t parent)
{
    return syscall(SYS_kcmp, pid, parent, KCMP_VM, 0, 0) == 0;
}

static void refresh(struct fb_family *family)
{
    for (size_t i = 0; i < family->count; i++) {
        struct fb_process *process = &family->members[i];
        char state = '?';
        process->marked = false;
        /* An orphan's parent is the keeper from then on. */
        if (read_stat(process->pid, &process->parent, &state))
            process->zombie = state == 'Z' || state == 'X';
        if (process->zombie)
            continue;
        identify(process);
        process->borrowed =
            process->parent != family->root && shares_memory(process->pid, process->parent);
    }
}

void fb_family_scan(struct fb_family *family, uint64_t now_ns, bool at_once)
{
    struct pids pids = {0};
    if (!at_once && now_ns < family->next_scan_ns)
        return;
    uint64_t began_ns = fb_clock_spent_ns();
    list_pids(&pids);
    struct newcomer *all = fb_alloc(pids.count + 1, sizeof *all);
    size_t count = meet_newcomers(family, &pids, all);
    recognise(family, all, count);
    remember_strangers(family, &pids, all, count);
    drop_gone(family);
    add_ours(family, all, count, now_ns);
    refresh(family);
    free(all);
    free(pids.items);
    family->next_scan_ns = now_ns + (fb_clock_spent_ns() - began_ns) * SCAN_SHARE;
}

size_t fb_family_alive(const struct fb_family *family)
{
    size_t alive = 0;
    for (size_t i = 0; i < family->count; i++)
        alive += !family->members[i].zombie;
    return alive;
}
