/* "Did you mean …?": the nearest of the known words. */
#ifndef FB_BASE_SUGGEST_H
#define FB_BASE_SUGGEST_H

#include <stddef.h>

/* The nearest of candidates by edit distance (swaps of neighbours cost one, case nothing), or NULL
 * when none is near: more than one slip in three letters is another word. NULL candidates are
 * passed over. */
const char *fb_suggest(const char *word, const char *const *candidates, size_t count);

#endif
