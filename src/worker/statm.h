/* The worker's own reading of its footprint: about 2 µs, exact from Linux 6.17 on. */
#ifndef FB_WORKER_STATM_H
#define FB_WORKER_STATM_H

#include <stdint.h>

int fb_statm_open(void);
/* (resident − shared) pages of /proc/self/statm in bytes = RssAnon. */
int fb_statm_footprint(int fd, uint64_t page_bytes, uint64_t *bytes);

#endif
