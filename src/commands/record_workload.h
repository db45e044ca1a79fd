/* `record --workload`: a workload file from a recording. */
#ifndef FB_COMMANDS_RECORD_WORKLOAD_H
#define FB_COMMANDS_RECORD_WORKLOAD_H

#include "base/error.h"

#include <stdbool.h>

/* INPUT: path is there and force is not set, or it does not end in .yaml. */
int fb_record_workload_check(const char *path, bool force, struct fb_error *err) FB_MUST_USE;
/* Fits a workload to the recording, writes it to path and says on stderr how near it comes. */
int fb_record_workload(const char *recording, const char *path, struct fb_error *err) FB_MUST_USE;

#endif
