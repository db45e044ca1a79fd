/* A recording in the place of a workload: what `run` and `check` make of a .fbt file.
 *
 * Loading reads the whole recording once: it counts, and notes of each object what is known only
 * at its death, which its class needs at its birth. Then fb_replica_run() plays it into a
 * ledger, as the generator plays a workload; the compiler does that pass by pass.
 *
 * What becomes of it:
 *
 * Threads: one stream each, started at the thread's first event and joined after its last. Those
 * that lived at the recording's end live through the tail. Now and then all of them meet, so that
 * slots of objects that were passed on can be used again.
 *
 * Order: the recording's. Events of different threads may change places within a window of
 * FB_REPLICA_WINDOW events, so that turns are worth their cost; never where one is about an object
 * that another thread touched in that window, never around a block of FB_REPLICA_BIG_BYTES or more
 * (the peaks are theirs), and never across a millisecond.
 *
 * Time: a pace wherever the recording is ahead of the cost model by a millisecond.
 *
 * Classes: by call, alignment, range of size, share touched, and whether another thread frees it;
 * where the recording has call sites also by the FB_REPLICA_SITES that held most at its peak.
 *
 * A realloc of an object that another thread has or will have: free and allocate, since in free
 * order nothing else keeps the two threads apart.
 *
 * Phases: one, "recorded", in up to 100 iterations of equal time, from which drift is measured.
 */
#ifndef FB_WORKLOAD_REPLICA_H
#define FB_WORKLOAD_REPLICA_H

#include "base/map.h"
#include "trace/recording.h"
#include "workload/ledger.h"
#include "workload/sites.h"
#include "workload/workload.h"

#define FB_REPLICA_WINDOW 400U
#define FB_REPLICA_BIG_BYTES (UINT64_C(256) << 10)
#define FB_REPLICA_PACE_NS UINT64_C(1000000)
/* Slots of objects that other threads freed are used again when all threads have met, which they do
 * for so many slots, and for a part of that for each living thread. */
#define FB_REPLICA_RESTING 65536U
#define FB_REPLICA_RESTING_PART 256U
#define FB_REPLICA_THREADS_MAX 65535U /* streams of a trace */

#define FB_REPLICA_SITES 64U

/* What is noted of an object by its number. */
#define FB_REPLICA_SHARE_MASK 0x1fU /* sixteenths touched */
#define FB_REPLICA_SHARED 0x20U     /* another thread frees or reallocates it */

struct fb_replica_thread {
    uint64_t last_event; /* number of its last */
    bool seen;
    bool exited;
};

struct fb_replica {
    struct fb_recording *recording;
    uint8_t *objects; /* by number: FB_REPLICA_* */
    uint64_t object_count, object_capacity;
    struct fb_replica_thread *threads; /* by number */
    uint32_t thread_count;
    uint32_t handle_count; /* most objects alive */
    uint64_t event_count;
    uint64_t duration_ns;
    struct fb_recording_memories memories;
    uint64_t iterations;
    uint32_t resting_slots;  /* FB_REPLICA_RESTING; less in tests */
    uint64_t split_reallocs; /* those done as free and allocate */
    struct fb_trace_class *classes;
    size_t class_count, class_capacity;
    struct fb_map class_of;    /* key of what tells classes apart → index */
    struct fb_site_uses sites; /* empty where the recording has none */
    uint8_t *site_ranks; /* by call site: 1 … FB_REPLICA_SITES, 0: has no classes of its own. NULL
                            where the recording has no sites */
};

/* Loads path as a workload. On failure (-1) the fault is in diagnostics. */
int fb_replica_load(const char *path, size_t override_count, struct fb_workload **out,
                    struct fb_diagnostics *diagnostics) FB_MUST_USE;
void fb_replica_free(struct fb_replica *replica);

/* The index of a born object's class; it is in the table after loading. */
uint16_t fb_replica_class(struct fb_replica *replica, const struct fb_recording_event *birth);

/* Plays all of it, tail included. */
int fb_replica_run(const struct fb_workload *workload, struct fb_ledger *ledger,
                   struct fb_error *err) FB_MUST_USE;

#endif
