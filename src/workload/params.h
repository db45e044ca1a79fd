/* A workload's parameters: declared in the file, replaced by -L, used as $name. */
#ifndef FB_WORKLOAD_PARAMS_H
#define FB_WORKLOAD_PARAMS_H

#include "workload/tree.h"
#include "workload/workload.h"

struct fb_params {
    struct fb_pairs pairs;     /* name and value as declared, then as overridden */
    bool *broken;              /* in or behind a cycle, reported already; owned */
    struct fb_tree *overrides; /* one tree an override; owned */
    size_t override_count;
};

/* declared: the params mapping, raw NULL when there is none. Faults: bad-name, unknown-override,
 * unknown-param and cyclic-param among the parameters themselves, an override's syntax. */
void fb_params_init(struct fb_params *params, struct fb_node declared,
                    const struct fb_override *overrides, size_t override_count,
                    struct fb_diagnostics *diagnostics);
void fb_params_deinit(struct fb_params *params);

/* Follows $name to the value it stands for; any other node is its own value. False when the
 * parameter is unknown (a fault) or broken (reported before). */
bool fb_params_resolve(const struct fb_params *params, struct fb_node node, struct fb_node *out);

/* Names and final values as text, for the record; *count entries, owned by the caller. */
struct fb_param *fb_params_export(const struct fb_params *params, size_t *count);

#endif
