/* Measures of a run of a person's own program: those of a replay that make sense for it. */
#ifndef FB_METRICS_PROGRAM_H
#define FB_METRICS_PROGRAM_H

#include "result/record.h"

#include <stdbool.h>

/* fb_measure(), then n/a with its reason what cannot be known: without the live bytes everything
 * that is a comparison with them; always what only a replay has. */
void fb_measure_program(struct fb_repetition *repetition, bool live_counted);

#endif
