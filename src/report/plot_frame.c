#include "base/alloc.h"
#include "report/plot_data.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_CAP_BYTES 65536U
#define TITLE_PX 56U /* title and subtitle */
#define SMALL_PX 15U /* a line of small text */
#define LEGEND_PX 17U
#define BOTTOM_PX 8U

void fb_plot_frame_init(struct fb_plot_frame *frame, unsigned width)
{
    *frame = (struct fb_plot_frame){.width = width,
                                    .plot_px = width * 3 / 8,
                                    .axis_px = 56,
                                    .left_px = 76,
                                    .right_px = 24,
                                    .title = "",
                                    .x_label = "",
                                    .y_label = ""};
    fb_buf_init(&frame->subtitle, TEXT_CAP_BYTES);
    fb_buf_init(&frame->caption, TEXT_CAP_BYTES);
}

void fb_plot_frame_deinit(struct fb_plot_frame *frame)
{
    fb_buf_deinit(&frame->subtitle);
    fb_buf_deinit(&frame->caption);
}

double fb_plot_frame_inner(const struct fb_plot_frame *frame)
{
    return (double)frame->width - frame->left_px - frame->right_px;
}

/* The end of the first line of text: the last blank within `most` bytes, or most. */
static size_t line_end(const char *text, size_t most)
{
    if (strlen(text) <= most)
        return strlen(text);
    size_t end = most;
    while (end > 0 && text[end] != ' ')
        end--;
    if (end > 0)
        return end;
    while (most > 1 && ((unsigned char)text[most] & 0xc0U) == 0x80U)
        most--;
    return most;
}

/* The caption's lines: row 5 and on of the texts. Returns how many. */
static unsigned put_caption(const struct fb_plot_frame *frame, struct fb_buf *data)
{
    size_t most = fb_plot_fit_small((double)frame->width - 32);
    unsigned lines = 0;
    for (const char *rest = frame->caption.text; *rest != '\0' && lines < FB_PLOT_CAPTION_LINES;
         lines++) {
        size_t length = line_end(rest, most > 0 ? most : 1);
        bool cut = lines + 1 == FB_PLOT_CAPTION_LINES && rest[length] != '\0';
        char *line = fb_format("%.*s%s", (int)length, rest, cut ? " …" : "");
        fb_buf_addf(data, "%u\t", lines + 5);
        fb_plot_field(data, line);
        fb_buf_adds(data, "\n");
        free(line);
        rest += length + strspn(rest + length, " ");
    }
    return lines;
}

static unsigned put_texts(const struct fb_plot_frame *frame, struct fb_buf *data)
{
    char *title = fb_plot_cut(frame->title, fb_plot_fit((double)frame->width * 0.82));
    char *subtitle =
        fb_plot_cut(frame->subtitle.text, fb_plot_fit_small((double)frame->width - 32));
    const char *texts[] = {title, subtitle, frame->x_label, frame->y_label};
    fb_plot_dataset(data, "texts");
    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        fb_buf_addf(data, "%u\t", i + 1);
        fb_plot_field(data, texts[i]);
        fb_buf_adds(data, "\n");
    }
    free(title);
    free(subtitle);
    return put_caption(frame, data);
}

void fb_plot_frame_put(const struct fb_plot_frame *frame, const double *extra, size_t extra_count,
                       struct fb_buf *data)
{
    unsigned lines = put_texts(frame, data);
    unsigned top = TITLE_PX + frame->top_rows * SMALL_PX;
    unsigned bottom = top + frame->plot_px;
    unsigned legend = bottom + frame->axis_px;
    unsigned caption = legend + frame->legend_rows * LEGEND_PX + 6;
    unsigned height = caption + lines * SMALL_PX + BOTTOM_PX;
    const unsigned own[] = {frame->width, height, frame->left_px, frame->right_px,
                            top,          bottom, legend,         caption};
    size_t own_count = sizeof own / sizeof own[0];
    fb_plot_dataset(data, "numbers");
    for (size_t i = 0; i < own_count + extra_count; i++) {
        fb_buf_addf(data, "%zu\t", i + 1);
        fb_plot_number(data, i < own_count ? own[i] : extra[i - own_count]);
        fb_buf_adds(data, "\n");
    }
}
