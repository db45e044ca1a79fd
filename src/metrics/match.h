/* The comparison key: what two cells must have in common for their figures to be set against each
 * other. One table; --by names fields of it that are meant to differ.
 *
 * Left out: the trace of a recording (its name counts), and version and hash of the allocators that
 * come with fragbench, whose build is shown and not refused. */
#ifndef FB_METRICS_MATCH_H
#define FB_METRICS_MATCH_H

#include "base/buf.h"
#include "result/record.h"

enum fb_match {
    FB_MATCH_WORKLOAD = 0,
    FB_MATCH_PARAMS,
    FB_MATCH_SCALE,
    FB_MATCH_SEED,
    FB_MATCH_TRACE,
    FB_MATCH_ALLOCATOR,
    FB_MATCH_TUNABLES,
    FB_MATCH_VERSION,
    FB_MATCH_SHA256,
    FB_MATCH_LIBC,
    FB_MATCH_MACHINE,
    FB_MATCH_PAGE_SIZE,
    FB_MATCH_THP,
    FB_MATCH_CPUS,
    FB_MATCH_CLOCK,
    FB_MATCH_ORDER,
    FB_MATCH_LAYOUTS,
    FB_MATCH_COUNT
};

/* A set of fields. */
#define FB_MATCH_BIT(field) (1U << (unsigned)(field))

struct fb_match_info {
    const char *name;  /* for --by and messages */
    unsigned implies;  /* fields that differ of necessity where this one does */
    bool within_a_set; /* cells of one result set can differ in it */
    const char *help;
};

extern const struct fb_match_info fb_matches[FB_MATCH_COUNT];

/* FB_MATCH_COUNT when there is none of that name. */
enum fb_match fb_match_find(const char *name);
/* The fields and what each implies. */
unsigned fb_match_closure(unsigned fields);
/* The fields without those that another of them implies. */
unsigned fb_match_heads(unsigned fields);

/* A field's value as people read it; "none" where it is empty. New string. */
char *fb_match_text(enum fb_match field, const struct fb_host *host, const struct fb_cell *cell);
/* The fields in which the two differ. */
unsigned fb_match_differences(const struct fb_host *host_a, const struct fb_cell *a,
                              const struct fb_host *host_b, const struct fb_cell *b);

/* The name by which cells of two sets are paired: workload, contender and varied parameters, less
 * the fields of `by`. New string. */
char *fb_match_identity(const struct fb_cell *cell, unsigned by);
/* The varied parameters of a cell's id, "count=100"; "" where none was. Part of the id. */
const char *fb_match_varied(const struct fb_cell *cell);

/* Whether two cells of a person's own program, run by `exec` or recorded, may have held different
 * data: a program's demand changes with its code, a workload's does not. */
bool fb_match_data_may_differ(const struct fb_cell *a, const struct fb_cell *b);

#endif
