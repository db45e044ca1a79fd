/* "did you mean": the candidate nearest to a misspelt word. */
#ifndef FB_HARNESS_NEAREST_H
#define FB_HARNESS_NEAREST_H

#include <stddef.h>

/* The best candidate so far, kept by fb_nearest_offer(). */
struct fb_nearest {
    const char *word;
    const char *best; /* NULL: nothing is near */
    size_t distance;
};

void fb_nearest_init(struct fb_nearest *nearest, const char *word);
/* Keeps candidate when its edit distance is smaller, and at most a third of the word (at least 2).
 */
void fb_nearest_offer(struct fb_nearest *nearest, const char *candidate);

#endif
