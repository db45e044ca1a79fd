/* What a report is made of, read from result folders. */
#ifndef FB_COMMANDS_REPORT_PARTS_H
#define FB_COMMANDS_REPORT_PARTS_H

#include "base/error.h"
#include "commands/report_pictures.h"
#include "metrics/compare.h"
#include "report/html.h"

struct fb_report_parts {
    struct fb_document document;
    struct fb_html_extra extra;
    struct fb_document_set *sets;
    struct fb_result *results;
    char **labels, **folders; /* a result each; folders end in a slash */
    char **links;             /* the folders as seen from the page; NULL = not below it */
    size_t count;
    struct fb_findings findings;     /* of one result: of its limits */
    struct fb_comparison comparison; /* of several: with the first */
    struct fb_buf compared;          /* as text */
    struct fb_report_pictures pictures;
    struct fb_html_workload *workloads;
    size_t workload_count;
};

/* Reads every result ("LABEL=PATH" or a path, of a folder or its result.json) and the workload
 * texts kept with it. INPUT errors: what fb_store_read_result() says. To be released in any case.
 */
int fb_report_parts_read(struct fb_report_parts *parts, const char *const *results, size_t count,
                         struct fb_error *err) FB_MUST_USE;

/* Judges what was read: one result by its limits, several against the first. Pairs that differ in
 * their conditions are not judged, and the page says so. */
void fb_report_parts_judge(struct fb_report_parts *parts);
/* Draws the pictures; see report_pictures.h. After judging. */
void fb_report_parts_draw(struct fb_report_parts *parts);

/* The page will be `file`: result folders beside or below it get links. */
void fb_report_parts_link(struct fb_report_parts *parts, const char *file);

void fb_report_parts_deinit(struct fb_report_parts *parts);

#endif
