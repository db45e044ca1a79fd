/* Facts of this machine, for results and `doctor`. */
#ifndef FB_HARNESS_HOST_H
#define FB_HARNESS_HOST_H

#include "base/buf.h"
#include "result/record.h"

void fb_host_read(struct fb_host *host);
void fb_host_deinit(struct fb_host *host);

/* One line of `doctor`: what was checked, what was found, what to do. */
struct fb_doctor_finding {
    enum { FB_FINDING_OK, FB_FINDING_NOTE, FB_FINDING_PROBLEM } level;
    char *topic, *text, *advice; /* advice NULL when none */
};
struct fb_doctor_findings {
    struct fb_doctor_finding *items;
    size_t count;
};
/* Tries each thing for real: statm exactness by touching a known number of pages, personality,
 * memfd, PAGEMAP_SCAN, /proc/self/pagemap, THP and its prctl, preload of each allocator (proof),
 * clock library, gnuplot, core pattern, cgroup limit, swap, overcommit, vm.max_map_count. */
void fb_doctor(struct fb_doctor_findings *out);
void fb_doctor_findings_deinit(struct fb_doctor_findings *findings);

#endif
