/* The sentences a person acts on. */
#ifndef FB_REPORT_VERDICT_H
#define FB_REPORT_VERDICT_H

#include "report/group.h"

/* Who needs least at the peak and at the end, at what speed, who refused work, and what to set.
 * Lines are led by `bullet`; commands are led by `command` and ended by `command_end`. */
struct fb_verdict_style {
    const char *bullet, *command, *command_end;
    const char *note; /* leads what stands in a command's place */
    bool without_use; /* a ranking follows and says what to set */
};
void fb_verdict_render(const struct fb_group *group, const struct fb_verdict_style *style,
                       struct fb_buf *out);

#endif
