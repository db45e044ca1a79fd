/* Tunables: from what a person wrote to the allocator's environment, and the proof that it took. */
#ifndef FB_HARNESS_TUNABLES_H
#define FB_HARNESS_TUNABLES_H

#include "harness/contender.h"

/* Checks contender->tunables against the backend's table, the library's version and its strings,
 * and fills env and needs_real_clock; a fault goes to contender->rejected (env is then empty). */
void fb_tunables_prepare(struct fb_contender *contender);

/* For allocators that tell their settings by name before a run (ptmalloc2 through ld.so, mimalloc
 * through its verbose lines): asks under env what became of each value; fills effective, and
 * rejected when one differs. What they do not tell (ld.so before 2.33) is not filled in. */
void fb_tunables_verify(struct fb_contender *contender);

/* What the value is for the allocator: bytes without unit, a bool as its style writes it. New
 * string; NULL with *fault (new string) when the value is of another type. */
char *fb_tunable_value(const struct fb_backend *backend, const struct fb_tunable *tunable,
                       const char *value, char **fault);
/* Whether a value read back means the same as the one that was set: 0x400 = 1024, 1 = true. */
bool fb_tunable_agrees(const struct fb_tunable *tunable, const char *set, const char *read);

#endif
