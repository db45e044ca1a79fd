/* Everything that goes to stderr: errors, notes and the one line of progress.
 *
 * One owner, so that a message never lands in the middle of the progress line: the line
 * is wiped before a message is printed. Single-threaded.
 */
#ifndef FB_COMMANDS_MESSAGE_H
#define FB_COMMANDS_MESSAGE_H

#include "base/error.h"

#include <stddef.h>

/* "fragbench: TEXT". */
void fb_message_error(const struct fb_error *err);
void fb_message_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Text that is complete in itself (diagnostics, tables); printed as it is. */
void fb_message_text(const char *text);

/* "fragbench: unknown WHAT "WORD"; did you mean …? (WHAT: all of them)". */
void fb_message_unknown(const char *what, const char *word, const char *const *known, size_t count);

/* Draws text as the progress line (no newline); NULL wipes it. Terminals only. */
void fb_message_line(const char *text);

#endif
