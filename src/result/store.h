/* Result folders on disk: result.json, series/<cell>.<repetition>.csv, workloads/<name>.yaml.
 *
 * Every file is written under a temporary name in the same folder and renamed, so
 * a reader never sees half a file and an interrupted run keeps what it had. A
 * full disk is an error that names the file; earlier files stay intact.
 */
#ifndef FB_RESULT_STORE_H
#define FB_RESULT_STORE_H

#include "result/record.h"

#include <jansson.h>

/* Makes dir (and parents) with series/ in it. Exists and not empty: refused
 * (INPUT, says -f) unless force, which removes what an earlier run and its report wrote and
 * nothing else. */
int fb_store_create(const char *dir, bool force, struct fb_error *err) FB_MUST_USE;

/* A folder inside it that some commands need: "logs". There already is no error. */
int fb_store_make_folder(const char *dir, const char *name, struct fb_error *err) FB_MUST_USE;

/* Writes result.json anew. */
int fb_store_write_result(const char *dir, const struct fb_result *result,
                          struct fb_error *err) FB_MUST_USE;
/* Writes a repetition's series, sets series_file; then the points may be dropped. */
int fb_store_write_series(const char *dir, const struct fb_cell *cell,
                          struct fb_repetition *repetition, struct fb_error *err) FB_MUST_USE;

/* path is a folder or its result.json. A foreign, damaged or newer-schema file is
 * an INPUT error with the position. */
int fb_store_read_result(const char *path, struct fb_result *out, struct fb_error *err) FB_MUST_USE;
int fb_store_read_series(const char *dir, const struct fb_repetition *repetition,
                         struct fb_series *out, struct fb_error *err) FB_MUST_USE;

/* For joining results: whether every series and page map that the result names is there and inside
 * its folder; and copying them all into another folder made by fb_store_create(). */
int fb_store_check_series(const char *dir, const struct fb_result *result,
                          struct fb_error *err) FB_MUST_USE;
int fb_store_copy_series(const char *from, const struct fb_result *result, const char *to,
                         struct fb_error *err) FB_MUST_USE;
/* The folder of a result that is given as a folder or as its result.json. New string. */
char *fb_store_folder_of(const char *path);
/* Keeps a workload's text as workloads/NAME.yaml, so that a result says what was run
 * wherever it is taken. IO errors name the file. */
int fb_store_keep_workload(const char *dir, const char *name, const char *text, size_t size,
                           struct fb_error *err) FB_MUST_USE;
/* The text kept with a result; NULL: none. New string. */
char *fb_store_read_workload(const char *dir, const char *name);

/* The document itself, for exports and tests. New reference. */
json_t *fb_store_json(const struct fb_result *result);
/* The document as text, exactly as in result.json, line end included. New string. */
char *fb_store_text(const struct fb_result *result);
/* Writes text to path through a temporary name and rename. */
int fb_store_write_file(const char *path, const void *data, size_t size,
                        struct fb_error *err) FB_MUST_USE;

#endif
