/* What the parser's tests share: parsing text and judging what came of it. */
#ifndef FB_TESTS_WORKLOAD_PARSING_H
#define FB_TESTS_WORKLOAD_PARSING_H

#include "workload/workload.h"

/* The workload, or a failed test that shows the faults. Freed by the caller. */
struct fb_workload *parse_well(const char *text, const struct fb_override *overrides,
                               size_t override_count);
/* All faults as a person sees them, under the name "test.yaml"; a failed test when there are
 * none. Freed by the caller. */
char *parse_badly(const char *text, const struct fb_override *overrides, size_t override_count);
/* A whole file; *size without the terminator that is added. Freed by the caller. */
char *read_file(const char *path, size_t *size);

#endif
