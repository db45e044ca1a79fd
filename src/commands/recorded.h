/* From a recording's measurements to what results and texts know of them. */
#ifndef FB_COMMANDS_RECORDED_H
#define FB_COMMANDS_RECORDED_H

#include "result/record.h"
#include "trace/recording.h"

/* Zeroed where nothing was measured. */
struct fb_recorded fb_recorded_of(const struct fb_recording_memories *memories);

#endif
