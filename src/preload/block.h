/* The shared block as the preloaded library sees it: mapped at the first call, whoever makes it. */
#ifndef FB_PRELOAD_BLOCK_H
#define FB_PRELOAD_BLOCK_H

#include "trace/shared.h"

/* NULL without a block: somebody preloaded the library by hand. Keeps errno. */
struct fb_shared *fb_preload_block(void);

#endif
