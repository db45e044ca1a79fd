/* Plain statements about where a cell's memory is, each with a command to look further.
 *
 * A table of rules over the parts of one checkpoint: the end of the phase that kept most, after a
 * purge was tried there. A rule is silent below its share of the footprint and below 4 MiB.
 */
#ifndef FB_METRICS_SENTENCES_H
#define FB_METRICS_SENTENCES_H

#include "result/record.h"

struct fb_sentence {
    char *text;    /* whole sentences, without the allocator's name at the start: "67 % …" */
    char *command; /* runs as it stands, from where the workload's path is valid */
};

struct fb_sentences {
    struct fb_sentence *items; /* in order of the rules */
    size_t count;
    const struct fb_checkpoint *checkpoint; /* what they are about, borrowed; NULL: nothing known */
};

void fb_sentences_init(struct fb_sentences *sentences, const struct fb_cell *cell);
void fb_sentences_deinit(struct fb_sentences *sentences);

/* The explained checkpoints of a cell's first repetition: at the largest live bytes, and at the end
 * of the last phase. NULL where there is none. */
const struct fb_checkpoint *fb_explained_peak(const struct fb_cell *cell);
const struct fb_checkpoint *fb_explained_end(const struct fb_cell *cell);
/* Of the phase that kept most; the last one's where that was not looked at. */
const struct fb_checkpoint *fb_explained_kept(const struct fb_cell *cell);

#endif
