/* Where workloads are: a path as given, or a bare name in the workload folders. And where the
 * templates of pictures are. */
#ifndef FB_COMMANDS_LOCATE_H
#define FB_COMMANDS_LOCATE_H

#include "base/error.h"

#include <stddef.h>

/* An existing path is itself; a bare name is NAME.yaml in ./workloads, then the installed
 * folder, then the source tree's. A path that is not there is returned as it is when it looks like
 * one (has '/' or ends in .yaml or .fbt), for the loader's own message. An unknown bare name is an
 * INPUT error with a suggestion. New string. */
int fb_locate_workload(const char *argument, char **path, struct fb_error *err) FB_MUST_USE;

/* The files of all workload folders, by name; a name in an earlier folder hides the later one.
 * New array of new strings. */
char **fb_locate_all(size_t *count);
void fb_locate_free(char **paths, size_t count);

/* "workloads/kv.yaml" → "kv". New string. */
char *fb_locate_name(const char *path);

/* plots/KIND.gp of the installed folder, or else of the source tree; an IO error names where it was
 * looked for. Never the current folder's: a template is a program. New string. */
int fb_locate_template(const char *kind, char **path, struct fb_error *err) FB_MUST_USE;

#endif
