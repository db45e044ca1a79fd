/* The cells of a result that may be compared with one another: one workload, parameter set, seed,
 * scale, clock and order. */
#ifndef FB_REPORT_GROUP_H
#define FB_REPORT_GROUP_H

#include "base/buf.h"
#include "metrics/summary.h"
#include "result/record.h"

struct fb_group {
    struct fb_cell *cells; /* copies that share all they point to with the result */
    size_t count;
    const char *times_apart; /* static text: why times are not to be compared; NULL: they are */
};

struct fb_groups {
    struct fb_group *items; /* in the order of their first cells */
    size_t count;
};

void fb_groups_init(struct fb_groups *groups, const struct fb_result *result);
void fb_groups_deinit(struct fb_groups *groups);

/* fb_verdict_init() of the group's cells; untimed where their times are apart. */
void fb_group_judge(const struct fb_group *group, struct fb_verdict *verdict);

/* What the repetitions of the group's fullest cell differ by: bit 1 << axis for each fb_axis. */
unsigned fb_group_axes(const struct fb_group *group);
/* When two values of the group are a tie: "within 2 % or overlapping over the layouts", or over
 * whatever its runs differ by. */
void fb_group_tie(const struct fb_group *group, const char *within, struct fb_buf *out);

/* Of a person's own program (`exec`), not of a replay. */
bool fb_group_is_program(const struct fb_group *group);

/* "kv-cache-growth (sequences=256)". */
void fb_group_title(const struct fb_group *group, struct fb_buf *out);
/* "1,234 allocator calls, peak live 512 MiB, seed 42" and "virtual clock, lockstep, 3 layouts". */
void fb_group_facts(const struct fb_group *group, struct fb_buf *out);
void fb_group_setup(const struct fb_group *group, struct fb_buf *out);
/* "8 CPUs, Linux 6.1.0, glibc 2.36, x86_64". */
void fb_host_line(const struct fb_host *host, struct fb_buf *out);

/* The first repetition that is done; NULL when none is. */
const struct fb_repetition *fb_cell_done(const struct fb_cell *cell);
/* NULL → "". */
const char *fb_text_or_empty(const char *text);

#endif
