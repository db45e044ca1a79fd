/* What fit.c, fit_survey.c and fit_write.c share: the recording as classes and phases. */
#ifndef FB_WORKLOAD_FIT_MODEL_H
#define FB_WORKLOAD_FIT_MODEL_H

#include "workload/replica.h"

#define FB_FIT_PHASES_MAX 64U
#define FB_FIT_TURNS_MAX 16U
#define FB_FIT_LIVES 40U         /* powers of 2 */
#define FB_FIT_SIZES_MAX 24U     /* distinct sizes that are written one by one … */
#define FB_FIT_SIZES_KNOWN 1024U /* … and that are counted one by one */
#define FB_FIT_PARTS 8U          /* of a range, where they are not */
#define FB_FIT_CYCLE_MAX 40U     /* objects whose sizes are written in their order */
#define FB_FIT_WORKERS_MAX 256U
#define FB_FIT_COUNTS_MAX 40U /* numbers in a list of counts, if there are not more workers */
#define FB_FIT_BIG_BYTES UINT64_C(65536)
#define FB_FIT_ITERATIONS 20U /* of a phase: equal parts of its events */

enum fb_fit_fate { FB_FIT_STAYS = 0, FB_FIT_KEPT, FB_FIT_TEMP };

struct fb_fit_options {
    unsigned phases;  /* parts of equal time, and of equally many bytes that come and go; the peak
                         cuts, too */
    double soon_part; /* an object that crosses a cut and lives for less than this part of a phase's
                         births is temporary all the same */
    bool timed_pools; /* tells the parts of a pool's phases apart, too */
    uint64_t volume_bytes, peak_bytes; /* of the recording, see fb_fit_measure() */
};

struct fb_fit_class {
    enum fb_fit_fate fate;
    unsigned range;      /* as fb_fit_range_bytes() */
    bool handed;         /* freed by another thread */
    uint32_t born, dies; /* phases, of large kept ones; else 0 */
    uint64_t count, bytes;
    struct fb_map sizes; /* size → count, of the first FB_FIT_SIZES_KNOWN */
    uint64_t parts[FB_FIT_PARTS];
    uint64_t order[FB_FIT_CYCLE_MAX][3]; /* birth, size, life */
    uint64_t lives[FB_FIT_LIVES];        /* in births of all threads */
    double touched;                      /* bytes */
    uint64_t aligned, align_log2, calloced;
    uint32_t births[FB_FIT_PHASES_MAX][FB_FIT_ITERATIONS]; /* when in its phase, by events */
    uint64_t deaths[FB_FIT_PHASES_MAX];                    /* of kept ones */
};

struct fb_fit_phase {
    uint64_t first_event;
    uint64_t begin_ns;
    uint64_t births, births_elsewhere; /* on other threads than main */
    uint64_t end_live_bytes;
    uint32_t threads; /* that made objects, without main */
};

struct fb_fit_model {
    struct fb_fit_class *classes;
    size_t class_count, class_capacity;
    struct fb_map class_of;
    struct fb_fit_phase phases[FB_FIT_PHASES_MAX];
    uint32_t phase_count;
    uint64_t duration_ns;
    uint64_t peak_bytes;
    uint32_t workers;  /* threads of the pool */
    double life_scale; /* what temporary ones' lifetimes are multiplied by; 1 */
    bool timed_pools;
};

/* The largest size of a range: factors of 4 up to 64 KiB, of 2 above. */
uint64_t fb_fit_range_bytes(unsigned range);

/* Whether objects of the range are told apart by their phases: those above FB_FIT_BIG_BYTES. */
static inline bool fb_fit_is_big(unsigned range)
{
    return range > 5;
}

/* Sets what of the options is the recording's own. */
int fb_fit_measure(struct fb_replica *replica, struct fb_fit_options *options,
                   struct fb_error *err) FB_MUST_USE;
/* Reads the recording. The caller calls deinit whatever happened. */
int fb_fit_survey(struct fb_replica *replica, const struct fb_fit_options *options,
                  struct fb_fit_model *model, struct fb_error *err) FB_MUST_USE;
void fb_fit_deinit(struct fb_fit_model *model);

/* The class's births in a phase. */
uint64_t fb_fit_births(const struct fb_fit_class *class, uint32_t phase);
/* Whether the phase has neither objects nor time: then it is not written. */
bool fb_fit_is_empty(const struct fb_fit_model *model, uint32_t phase);
/* A class's `size: …`. */
void fb_fit_add_sizes(const struct fb_fit_class *class, struct fb_buf *out);
/* Whether the class has so few objects that their sizes and lives are written in their order. */
bool fb_fit_is_listed(const struct fb_fit_class *class);
/* The class's objects as they were born. */
void fb_fit_sort_listed(const struct fb_fit_class *class, uint64_t order[FB_FIT_CYCLE_MAX][3]);
/* Of the parts from the first to the last that is not 0; there are parts + 1 ascending edges. */
void fb_fit_add_histogram(const uint64_t *edges, const uint64_t *counts, size_t parts,
                          struct fb_buf *out);
/* The model as YAML. */
void fb_fit_write(const struct fb_fit_model *model, const char *name, struct fb_buf *out);

#endif
