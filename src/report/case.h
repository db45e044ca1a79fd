/* A document as test cases: every cell of a run and every limit, or every finding of a comparison.
 * What CI systems are told comes from here, so that they agree on what failed. */
#ifndef FB_REPORT_CASE_H
#define FB_REPORT_CASE_H

#include "report/document.h"

enum fb_case_outcome {
    FB_CASE_PASSED = 0,
    FB_CASE_SKIPPED, /* nothing was judged, or it says neither yes nor no */
    FB_CASE_FAILURE, /* a gate */
    FB_CASE_ERROR,   /* the cell gave no figures */
};

/* How loudly a person is told. */
enum fb_case_level { FB_CASE_SILENT = 0, FB_CASE_NOTICE, FB_CASE_WARNING, FB_CASE_LOUD };

struct fb_case {
    const struct fb_cell *cell;       /* of a missing one the base's */
    const struct fb_finding *finding; /* NULL: the cell itself */
    const char *set;                  /* the label of its set; "" of a run */
    enum fb_case_outcome outcome;
    enum fb_case_level level;
    const char *type; /* static: a judgement's or a status's name */
    char *name;       /* owned: "jemalloc (steps=10) ratio_peak" */
    char *message;    /* owned: one line that says all */
};

struct fb_cases {
    struct fb_case *items;
    size_t count;
};

void fb_cases_init(struct fb_cases *cases, const struct fb_document *document);
void fb_cases_deinit(struct fb_cases *cases);

/* New median minus base's, and that over the base's; NaN where either is missing or the base is 0.
 * Against a limit: the value minus the limit. */
double fb_finding_delta(const struct fb_finding *finding);
double fb_finding_share(const struct fb_finding *finding);

/* The line of the workload's file that a case is about: its limit's; 0 = not known. */
unsigned fb_case_line(const struct fb_case *item);
/* The workload's file as CI systems want it, without "./" before it; "" = not known. */
const char *fb_case_file(const struct fb_case *item);
/* Real time that the cell's runs took, in s. */
double fb_cell_wall_s(const struct fb_cell *cell);
/* " (steps=10)" or "". New string. */
char *fb_cell_params(const struct fb_cell *cell);

#endif
