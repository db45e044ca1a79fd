/* The -L options: axes of parameter values, and their cross product. */
#ifndef FB_COMMANDS_AXES_H
#define FB_COMMANDS_AXES_H

#include "base/error.h"
#include "workload/workload.h"

#include <stddef.h>

#define FB_AXES_MAX_SETS 10000 /* more cells than anyone waits for: most likely a slip */

struct fb_param_axis {
    char *name;
    char **values;
    size_t count;
};

struct fb_param_axes {
    struct fb_param_axis *items;
    size_t count;
};

/* Adds "VAR=V1,V2". Commas inside {}, [] or () and inside quotes do not split. INPUT errors: no
 * '=', an empty value, a variable given twice, more than FB_AXES_MAX_SETS sets in all. */
int fb_axes_add(struct fb_param_axes *axes, const char *text, struct fb_error *err) FB_MUST_USE;
/* The size of the cross product; 1 without axes. */
size_t fb_axes_sets(const struct fb_param_axes *axes);
/* Set `index` of the product, the last axis running fastest; out has room for axes->count.
 * The strings stay the axes'. */
void fb_axes_pick(const struct fb_param_axes *axes, size_t index, struct fb_override *out);
void fb_axes_deinit(struct fb_param_axes *axes);

#endif
