/* The result folder: its name, results/latest, and the documents that are exported beside it. */
#ifndef FB_COMMANDS_FOLDER_H
#define FB_COMMANDS_FOLDER_H

#include "commands/options.h"
#include "commands/plan.h"
#include "report/document.h"
#include "result/record.h"

/* The folder that results go to: options->output, else results/<workload>-<UTC> with a number
 * behind it when that is taken. Nothing is made yet. New string. */
char *fb_folder_choose(const struct fb_run_options *options, const struct fb_plan *plan);

/* The same with the name that stands for <workload>. */
char *fb_folder_choose_named(const struct fb_run_options *options, const char *name);

/* Points results/latest at a folder below results/, in one step. A reason why it could not is
 * returned as a new string for a note; NULL when done. */
char *fb_folder_link_latest(const char *folder);

/* Writes every document of --export that goes to a file. Devices and pipes are only opened until
 * `last`: they cannot be rewritten. IO errors name the file. */
int fb_folder_export(const struct fb_export_request *requests, size_t count,
                     const struct fb_document *document, bool last,
                     struct fb_error *err) FB_MUST_USE;

/* The document for stdout, or NULL when none goes there. */
const struct fb_export *fb_folder_stdout_export(const struct fb_export_request *requests,
                                                size_t count);

/* ISO 8601 UTC with seconds, compact ("20260131T120000Z") for names. New string. */
char *fb_folder_now(bool compact);

#endif
