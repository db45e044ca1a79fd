/* Where the bytes of a footprint are, at one checkpoint: the record.
 *
 * Parts are bytes and sum to footprint_bytes − mismatch_bytes. free_bytes is what lies on resident
 * pages without any live block; a purge on a second run of the same trace splits it into cached
 * and stuck. What is not known is absent (is_split false, FB_ACCOUNT_NA), never 0.
 */
#ifndef FB_RESULT_ATTRIBUTION_H
#define FB_RESULT_ATTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fb_part {
    FB_PART_LIVE = 0, /* resident requested bytes */
    FB_PART_ROUNDING, /* resident usable bytes beyond the requested ones */
    FB_PART_HOLES,    /* the rest of pages that hold a part of a live block */
    FB_PART_CACHED,   /* free pages that a purge gives back */
    FB_PART_STUCK,    /* free pages that it does not */
    FB_PART_STARTUP,  /* the allocator's pages before the first operation, still without a block */
    FB_PART_BASE,     /* the worker's own: data of program and libc, main stack */
    FB_PART_COUNT
};
/* "live", "rounding", … */
extern const char *const fb_part_names[FB_PART_COUNT];

/* What allocators say of themselves, in one vocabulary. */
enum fb_account {
    FB_ACCOUNT_ALLOCATED = 0, /* in blocks handed out, rounding included */
    FB_ACCOUNT_ACTIVE,        /* in pages that hold such blocks */
    FB_ACCOUNT_RESIDENT,      /* what it takes for backed by memory */
    FB_ACCOUNT_RETAINED,      /* address space kept without memory behind it */
    FB_ACCOUNT_METADATA,      /* its own tables */
    FB_ACCOUNT_COUNT
};
extern const char *const fb_account_names[FB_ACCOUNT_COUNT];
#define FB_ACCOUNT_NA UINT64_MAX

#define FB_OCCUPANCY_BINS 10
#define FB_CLASS_NAME_MAX 64

/* One class of objects and the pages whose blocks are all of that class. */
struct fb_hostage {
    char class_name[FB_CLASS_NAME_MAX];
    uint64_t live_bytes;                   /* resident requested bytes of the class, anywhere */
    uint64_t held_bytes;                   /* of pages that only it keeps */
    uint64_t held_live_bytes;              /* live bytes on those pages */
    uint64_t pages;                        /* their number */
    uint64_t histogram[FB_OCCUPANCY_BINS]; /* pages by live share: [0, 10 %), … [90 %, 100 %] */
};

/* One object that keeps pages alone. */
struct fb_holder {
    char class_name[FB_CLASS_NAME_MAX];
    uint64_t size_bytes; /* requested */
    uint64_t held_bytes; /* of pages without any other block */
    uint64_t age_ns;     /* since its allocation */
};
#define FB_HOLDERS_MAX 10

struct fb_attribution {
    uint64_t footprint_bytes; /* what the parts account for */
    uint64_t parts[FB_PART_COUNT];
    uint64_t free_bytes;    /* cached + stuck */
    bool is_split;          /* false: cached and stuck are not known and 0 */
    bool is_second_run;     /* all of this is of a second run, which differed from the first */
    int64_t mismatch_bytes; /* footprint − Σ parts; anything but 0 is a fault worth a report */
    uint64_t huge_bytes;    /* of the pages that are parts of huge pages */
    uint64_t swapped_bytes; /* of the pages that are swapped out */
    uint64_t blocks;        /* live objects */
    uint64_t snapshot_ns;   /* real time the worker waited for it */
    struct fb_hostage *hostages; /* classes with live blocks, in order of the workload; owned */
    size_t hostage_count;
    struct fb_holder holders[FB_HOLDERS_MAX]; /* by held_bytes beyond their size, then age */
    size_t holder_count;
    bool account_known; /* the allocator was asked, in the second run, before its purge */
    uint64_t account[FB_ACCOUNT_COUNT]; /* FB_ACCOUNT_NA: it has no such counter */
    char *heat_file;                    /* relative to the result folder; owned, NULL: none */
};

void fb_attribution_free(struct fb_attribution *attribution);
/* Σ parts in bytes, split or not. */
uint64_t fb_attribution_sum(const struct fb_attribution *attribution);

#endif
