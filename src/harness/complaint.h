/* What loaders and allocators print when something is wrong, recognised. */
#ifndef FB_HARNESS_COMPLAINT_H
#define FB_HARNESS_COMPLAINT_H

/* Why a library was not preloaded, in words for people; NULL when text has no such line. Static or
 * in a static buffer: valid until the next call. */
const char *fb_complaint_of_preload(const char *text);
/* The first line in which an allocator refuses a setting; NULL when there is none. Static buffer.
 */
const char *fb_complaint_of_tunable(const char *text);
/* Why the library cannot work on this machine (page size); NULL. */
const char *fb_complaint_of_machine(const char *text);

#endif
