/* The mappings of a process, from /proc/PID/maps or smaps. */
#ifndef FB_HARNESS_MAPPINGS_H
#define FB_HARNESS_MAPPINGS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fb_mapping {
    uint64_t start, end;
    uint64_t anonymous_bytes; /* resident or swapped; UINT64_MAX where sizes were not asked for */
    bool is_shared;
    bool is_hugetlb; /* its pages are not counted in RSS */
    bool is_heap, is_stack;
    bool is_recorder; /* of fragbench's recorder library, up to data_end */
    /* A private file mapping: end. One right behind an object's, without a name: where the object's
     * .bss ends in it, where sizes were asked for; the kernel makes one mapping of that and of what
     * lies next to it. Else start. */
    uint64_t data_end;
};

struct fb_mappings {
    struct fb_mapping *items; /* by address */
    size_t count;
};

/* with_sizes reads smaps, which walks page tables: some 27 ms per GiB resident. */
int fb_mappings_read(pid_t pid, bool with_sizes, struct fb_mappings *out,
                     struct fb_error *err) FB_MUST_USE;
/* Whether some mapping's name contains the text. false, too, where it cannot be read. */
bool fb_mappings_named(pid_t pid, const char *text);
void fb_mappings_deinit(struct fb_mappings *mappings);

#endif
