/* Exit codes: one table for what they mean, which one wins, and what --help shows. */
#ifndef FB_COMMANDS_EXIT_CODE_H
#define FB_COMMANDS_EXIT_CODE_H

#include "base/error.h"
#include "result/record.h"

/* What happened, as bits; any number of them at once. */
#define FB_HAPPENED_BAD_INPUT 1U   /* command line or workload */
#define FB_HAPPENED_IO 2U          /* could not work */
#define FB_HAPPENED_SIGNAL 4U      /* a person or the system ended it */
#define FB_HAPPENED_NOTHING 8U     /* nothing to run */
#define FB_HAPPENED_INCOMPLETE 16U /* a cell failed */
#define FB_HAPPENED_GATE 32U       /* something judged did not pass */

/* The exit code of the weightiest bit; signal is the number for FB_HAPPENED_SIGNAL. */
int fb_exit_code(unsigned happened, int signal);

/* The bit of an error's kind; 0 for none. */
unsigned fb_exit_of_error(const struct fb_error *err);

/* The bits of a finished result: NOTHING when every cell was skipped, INCOMPLETE when a
 * cell failed, or refused work in a phase that says on_refusal: fail, or its timing pass failed. */
unsigned fb_exit_of_result(const struct fb_result *result);

/* An argp help filter that ends --help with the table of codes. */
char *fb_exit_help_filter(int key, const char *text, void *input);

#endif
