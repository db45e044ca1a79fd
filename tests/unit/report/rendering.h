/* Rendering the sample result, and saying what should be in it. */
#ifndef FB_TESTS_UNIT_REPORT_RENDERING_H
#define FB_TESTS_UNIT_REPORT_RENDERING_H

#include "result/record.h"

/* New string. */
char *rendering_table(const struct fb_result *result, unsigned width, bool color);
char *rendering_export(const struct fb_result *result, const char *format);
void assert_says(const char *text, const char *part);
void assert_silent(const char *text, const char *part);
/* Sets median, min and max of a cell's metric. */
void rendering_set(struct fb_cell *cell, enum fb_metric metric, double median, double min,
                   double max);

#endif
