/* Small experiments: what this kernel really does. */
#ifndef FB_HARNESS_PROBE_H
#define FB_HARNESS_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/* Touches known numbers of pages and looks whether statm says exactly that. *worst_pages (may be
 * NULL): the largest difference seen. */
bool fb_probe_statm(uint64_t *worst_pages);
/* Whether a child may switch address randomisation off. */
bool fb_probe_personality(void);
/* PR_SET_THP_DISABLE with EXCEPT_ADVISED, tried in a child: Linux 6.18. */
bool fb_probe_thp_except_advised(void);
bool fb_probe_memfd(void);
/* /proc/self/pagemap tells which pages are present. */
bool fb_probe_pagemap(void);
/* The PAGEMAP_SCAN ioctl: Linux 6.7. */
bool fb_probe_pagemap_scan(void);

#endif
