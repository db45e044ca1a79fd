/* What a recorded program held beside the heap, in words. */
#ifndef FB_REPORT_RECORDED_H
#define FB_REPORT_RECORDED_H

#include "base/buf.h"
#include "result/record.h"

/* "12 MiB beside the heap: 8 MiB mapped by the program, 3 MiB data of libraries, 1 MiB stacks";
 * parts of 0 are left out. */
void fb_recorded_beside(const struct fb_recorded *recorded, struct fb_buf *out);

#endif
