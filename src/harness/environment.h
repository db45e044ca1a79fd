/* The worker's environment: built from nothing, so that none of the caller's variables (MALLOC_*,
 * GLIBC_TUNABLES, LD_*) reaches an allocator. */
#ifndef FB_HARNESS_ENVIRONMENT_H
#define FB_HARNESS_ENVIRONMENT_H

#include "harness/contender.h"

/* The strings' size with terminators, the same for every cell: it moves the stack. */
#define FB_ENVIRONMENT_BYTES 4096

/* NULL-terminated array of new strings: LD_PRELOAD=CLOCK[:LIBRARY], LC_ALL, PATH, the tunables'
 * variables, LD_LIBRARY_PATH (see environment.c), FRAGBENCH_PAD. Larger contents are padded to the
 * next multiple. */
char **fb_environment_new(const struct fb_contender *contender, const char *clock_library);
void fb_environment_free(char **environment);

#endif
