/* Pictures through gnuplot: finds the templates, runs the program, writes the files.
 *
 * gnuplot sees a template of ours, the data of a picture and nothing else: no init files, no
 * settings from the environment, no name that a stranger chose.
 */
#ifndef FB_COMMANDS_DRAW_H
#define FB_COMMANDS_DRAW_H

#include "report/plot.h"

/* "svg", "png"; "dat" is the data itself and needs no gnuplot; "txt" is for the sketch. */
extern const char *const fb_draw_formats[]; /* what a person may ask for; NULL-terminated */

/* The picture as the bytes of a file; *out is initialised here on success. Without gnuplot an IO
 * error that says what to install. */
int fb_draw_picture(const struct fb_picture *picture, const char *format, struct fb_buf *out,
                    struct fb_error *err) FB_MUST_USE;

/* Draws all into DIR/NAME.FORMAT; DIR is made (its parent must exist). An existing file is refused
 * before anything is drawn unless force. Paths are printed on stdout when `say`. */
int fb_draw_files(const struct fb_pictures *pictures, const char *dir, const char *format,
                  bool force, bool say, struct fb_error *err) FB_MUST_USE;

/* Whether a picture of the kind is drawn when none is named: there may be data for it, and it is
 * over several workloads where it must be. Without --base "change" never is. */
bool fb_draw_by_default(const struct fb_plot_kind *kind, const struct fb_plot_request *request);

/* The pictures of a run that has just ended, as svg into DIR/plots; their number into *count. */
int fb_draw_result(const char *dir, const struct fb_result *result, size_t *count,
                   struct fb_error *err) FB_MUST_USE;

/* Draws the curves of the result as text for a terminal of so many columns. The result's series
 * are in dir. Nothing to draw: an empty buffer. *out is initialised here on success. */
int fb_draw_sketch(const char *dir, const struct fb_result *result, unsigned columns,
                   struct fb_buf *out, struct fb_error *err) FB_MUST_USE;

#endif
