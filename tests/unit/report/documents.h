/* Documents for the export formats: a run, a comparison with a finding of every judgement, and both
 * with names as nasty as a stranger can make them. */
#ifndef FB_TESTS_UNIT_REPORT_DOCUMENTS_H
#define FB_TESTS_UNIT_REPORT_DOCUMENTS_H

#include "report/document.h"

#define DOCUMENT_SETS 3

struct sheaf {
    struct fb_result results[DOCUMENT_SETS];
    struct fb_document_set sets[DOCUMENT_SETS];
    struct fb_findings findings;
    struct fb_document document;
};

/* The sample result with its limits judged. */
void sheaf_run(struct sheaf *sheaf);
/* Base and new: each judgement once as gating and once not. `sets` 2 or 3. */
void sheaf_comparison(struct sheaf *sheaf, size_t sets);
/* Markup, quotes, control characters, broken UTF-8, percent signs and line breaks everywhere that a
 * person, a file or a program may have put them. */
void sheaf_make_nasty(struct sheaf *sheaf);
void sheaf_deinit(struct sheaf *sheaf);

/* The rendered format; new string. */
char *sheaf_export(const struct sheaf *sheaf, const char *format);

#endif
