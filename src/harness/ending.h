/* From how a worker ended to a status: a pure function, so that a table can test it. */
#ifndef FB_HARNESS_ENDING_H
#define FB_HARNESS_ENDING_H

#include "result/record.h"
#include "trace/shared.h"

#include <stdbool.h>

struct fb_ending {
    int wait_status;        /* as waitpid() gives it */
    bool ready;             /* it came as far as READY */
    enum fb_worker_end end; /* as it says itself */
    int fault_errno;
    uint64_t fault_op, op_index;
    const char *fault_text;
    const char *phase_name; /* NULL: before the first phase */
    uint64_t refused_calls, refused_bytes;
    const char *text; /* what it printed */
    bool oom_known;   /* the kernel's count of OOM kills was read before and after */
    bool oom_moved;
};

/* *detail: NULL when ok, else a new string that says where and what. */
enum fb_status fb_ending_judge(const struct fb_ending *ending, char **detail);

#endif
