/* Reasons of n/a as static text.
 *
 * struct fb_repetition points to reasons that live for ever. Those read from a file are kept here
 * once each for the process's life; their number is bounded, so a hostile file cannot grow it.
 * Main thread only.
 */
#ifndef FB_RESULT_REASON_H
#define FB_RESULT_REASON_H

/* The same text with static life; "other" when more than 256 different ones have been seen. */
const char *fb_reason_keep(const char *text);

#endif
