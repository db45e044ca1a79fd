/* Messages to the harness (trace/shared.h says what they mean). */
#ifndef FB_WORKER_DOORBELL_H
#define FB_WORKER_DOORBELL_H

#include "trace/shared.h"

#include <stdbool.h>

/* Sends a bell and, when asked, waits for the answer: enum fb_answer; GO when not asked. -1 when
 * the harness is gone. */
int fb_doorbell_ring(const struct fb_bell *bell, bool wait);

#endif
