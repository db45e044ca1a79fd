/* The topics of `list`. Each prints its table, or what is known of one name, on stdout. */
#ifndef FB_COMMANDS_LIST_H
#define FB_COMMANDS_LIST_H

#include "base/error.h"

/* name NULL = the whole table. An unknown name is an INPUT error with a suggestion. */
int fb_list_allocators(const char *name, struct fb_error *err) FB_MUST_USE;
int fb_list_workloads(const char *name, struct fb_error *err) FB_MUST_USE;
int fb_list_metrics(const char *name, struct fb_error *err) FB_MUST_USE;
int fb_list_keys(const char *name, struct fb_error *err) FB_MUST_USE;
/* The whole key table as GitHub tables, one a place where keys stand; docs/language.md has it. */
void fb_list_keys_markdown(void);

#endif
