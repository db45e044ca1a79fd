/* The processes below a keeper and what they hold.
 *
 * Found by scanning /proc for parents (the kernel's lists of children are an option of its
 * configuration and miss processes while others exit). A scan costs about a microsecond a process
 * of the machine, so strangers are remembered and scans are spaced to take at most 2 % of the time.
 *
 * The footprint of a tree is the sum of anonymous memory and swap over its processes. After a fork
 * parent and child share pages, which RssAnon counts in each of them. Pss counts them once, but
 * walks page tables (27 ms a GiB). So the curve is the sum of RssAnon less what is known to be
 * counted twice: a process that was forked is taken to share all it has when first seen, and
 * readings of Pss correct that, spaced to take at most 2 % of the time. A vfork'd child that has
 * not called exec yet is its parent's memory itself and not counted.
 */
#ifndef FB_HARNESS_EXEC_FAMILY_H
#define FB_HARNESS_EXEC_FAMILY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { FB_PROCESS_NAME = 64 };

struct fb_process {
    pid_t pid, parent;
    uint64_t first_seen_ns;
    uint64_t anon_bytes;  /* as last read */
    uint64_t twice_bytes; /* of them, counted in another process already */
    bool borrowed;        /* vfork: the memory is its parent's */
    bool zombie;
    char program[FB_PROCESS_NAME]; /* file name of its executable; "" not known yet */
    char title[FB_PROCESS_NAME];   /* as it was called: redis-server, where the file is another */
    bool replaced;                 /* exec has happened since the caller cleared it */
    unsigned looks;                /* the caller's: how often it was looked into */
    bool settled;                  /* the caller's: who answers is known */
    size_t objects;                /* the caller's: how many it had at its last look */
    bool marked;                   /* internal to a scan */
};

struct fb_family {
    pid_t root;                 /* the keeper */
    struct fb_process *members; /* by pid */
    size_t count;
    pid_t *strangers; /* by pid; seen and not ours */
    size_t stranger_count;
    size_t seen; /* processes that ever were members */
    bool swap;   /* the system has swap: read the slower file that tells it */
    uint64_t page_bytes;
    uint64_t next_scan_ns, next_correction_ns;
    bool correction_due; /* a process came or went */
};

struct fb_family_exact {
    uint64_t rss_bytes, footprint_bytes, lazyfree_bytes, huge_bytes, swap_bytes;
    uint64_t mappings; /* of the process that has most: the limit is a process's */
};

/* The numbers of /proc/PID/stat that a scan needs. -1: no such text. */
int fb_family_stat_parse(const char *text, pid_t *parent, char *state) FB_MUST_USE;

void fb_family_init(struct fb_family *family, pid_t root);
void fb_family_deinit(struct fb_family *family);

/* Finds members that came or went, if it is time to look again; `now` is CLOCK_MONOTONIC. */
void fb_family_scan(struct fb_family *family, uint64_t now_ns, bool at_once);
/* Reads all members; their sum in bytes, each page once. */
uint64_t fb_family_footprint(struct fb_family *family, uint64_t now_ns);
/* The exact and expensive sources (smaps_rollup, maps) of all members; corrects the curve too. */
void fb_family_exact(struct fb_family *family, struct fb_family_exact *out);
/* Members that still run. */
size_t fb_family_alive(const struct fb_family *family);
/* NULL when there is none of that number. */
struct fb_process *fb_family_find(const struct fb_family *family, pid_t pid);

/* Given RssAnon and Pss_Anon of all members, youngest last: how much of each is counted twice. The
 * surplus is laid on the youngest first, so that it goes when they go. */
void fb_family_spread(struct fb_process *const *by_age, const uint64_t *pss_bytes, size_t count);

#endif
