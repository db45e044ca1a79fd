/* A readable workload made from a recording: an approximation in the language, to be changed and
 * scaled, where the recording itself can only be replayed.
 *
 * The recording is cut into phases: at equal times, after equally many bytes that came and went (a
 * burst may hold most of them), where the live bytes turn from growing to shrinking or back, and at
 * their peak. Objects become classes by range of size and by how they end.
 *
 * stays_… are never freed: lifetime run.
 *
 * kept_… are freed in a later phase, which is in their name: lifetime manual, that phase frees them
 * first. So what dies then lies among what lives on, as it did. Large ones are told apart by the
 * phase they were born in, too.
 *
 * temp_… are freed in the phase they were born in, or soon after it: a histogram of lifetimes in
 * allocations; a few have each its own. A pool's workers share the allocations equally, so there a
 * life is its part of what all threads allocated meanwhile.
 *
 * A block that realloc makes much larger or smaller is as good as one that dies and one that is
 * born. Phases in which other threads than main make most objects run on a pool of as many threads.
 *
 * Several ways to cut are tried; the one whose live bytes, at the peak and at the phases' ends,
 * come nearest the recording's is kept, the coarsest of those that are near enough.
 */
#ifndef FB_WORKLOAD_FIT_H
#define FB_WORKLOAD_FIT_H

#include "base/buf.h"
#include "workload/workload.h"

struct fb_fit_report {
    uint64_t recorded_peak_bytes, peak_bytes; /* live */
    size_t phases, classes;
};

/* recording: from fb_workload_load() of a .fbt file. name: of the new workload, made one that the
 * language takes. Appends the YAML to out. */
int fb_fit_make(const struct fb_workload *recording, const char *name, struct fb_buf *out,
                struct fb_fit_report *report, struct fb_error *err) FB_MUST_USE;

#endif
