#include "commands/progress.h"
#include "base/clock.h"

#include "base/buf.h"
#include "base/units.h"
#include "commands/message.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)
#define PLAIN_EVERY_NS (30 * NS_PER_S)
#define LINE_CAP_BYTES 4096

unsigned fb_progress_terminal_width(int fd)
{
    struct winsize size;
    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static bool can_redraw(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term != NULL && *term != '\0' && strcmp(term, "dumb") != 0;
}

void fb_progress_init(struct fb_progress *progress, enum fb_when when, size_t total)
{
    *progress = (struct fb_progress){.total = total, .started_ns = fb_clock_now_ns()};
    progress->printed_ns = progress->started_ns;
    if (when == FB_WHEN_NEVER)
        progress->style = FB_PROGRESS_NONE;
    else if (when == FB_WHEN_ALWAYS || can_redraw())
        progress->style = FB_PROGRESS_REDRAW;
    else
        progress->style = FB_PROGRESS_PLAIN;
}

static const char *phase_name(const struct fb_run_progress *run)
{
    const struct fb_trace_header *trace = run->request->trace;
    const struct fb_trace_phase *phases = (const void *)((const char *)trace + trace->phase_offset);
    return run->phase < trace->phase_count ? phases[run->phase].name : "";
}

static double share_done(const struct fb_run_progress *run)
{
    if (run->ops_total == 0)
        return 0;
    double share = (double)run->ops_done / (double)run->ops_total;
    return share < 1 ? share : 1;
}

/* "jemalloc layout 1  serve 43 %  live 310 MiB  RSS 341 MiB" */
static void add_run(struct fb_buf *line, const struct fb_run_progress *run)
{
    char live[32], rss[32];
    const struct fb_run_request *request = run->request;
    fb_buf_addf(line, "%s ", request->contender->label);
    if (request->mode == FB_MODE_TIMING) {
        fb_buf_addf(line, "timing  %.0f %%", 100 * share_done(run));
        return;
    }
    fb_buf_addf(line, "layout %u  %s %.0f %%  live %s  RSS %s", request->layout, phase_name(run),
                100 * share_done(run), fb_units_bytes(run->live_bytes, live, sizeof live),
                fb_units_bytes(run->footprint_bytes, rss, sizeof rss));
}

/* From the share of all runs that is done; nothing before that says something. */
static void add_eta(struct fb_buf *line, const struct fb_progress *progress, double done)
{
    char text[32];
    double elapsed_s = (double)(fb_clock_now_ns() - progress->started_ns) / (double)NS_PER_S;
    if (elapsed_s < 1 || done < 0.01 || done > (double)progress->total)
        return;
    double left_s = elapsed_s * ((double)progress->total - done) / done;
    if (left_s < 1e9)
        fb_buf_addf(line, "  ETA %s",
                    fb_units_time((uint64_t)(left_s + 0.5) * NS_PER_S, text, sizeof text));
}

static void compose(struct fb_buf *line, const struct fb_progress *progress,
                    const struct fb_run_progress *running, size_t count, size_t done)
{
    double share = (double)(progress->done_before + done);
    size_t current = progress->done_before + done + (count > 0 ? 1 : 0);
    fb_buf_addf(line, "[%2zu/%zu] ", current, progress->total);
    if (count > 0)
        add_run(line, &running[0]);
    if (count > 1)
        fb_buf_addf(line, "  (+%zu more)", count - 1);
    for (size_t i = 0; i < count; i++)
        share += share_done(&running[i]);
    add_eta(line, progress, share);
}

/* Cuts to the terminal's width less one column (a full line would wrap), by characters. */
static void cut(char *text, unsigned width)
{
    unsigned shown = 0;
    for (; *text != '\0'; text++) {
        shown += ((unsigned char)*text & 0xc0U) != 0x80U;
        if (shown >= width) {
            *text = '\0';
            return;
        }
    }
}

void fb_progress_update(void *user, const struct fb_run_progress *running, size_t count,
                        size_t done, size_t total)
{
    (void)total;
    struct fb_progress *progress = user;
    uint64_t now = fb_clock_now_ns();
    if (progress->style == FB_PROGRESS_NONE ||
        (progress->style == FB_PROGRESS_PLAIN && now - progress->printed_ns < PLAIN_EVERY_NS))
        return;
    struct fb_buf line;
    fb_buf_init(&line, LINE_CAP_BYTES);
    compose(&line, progress, running, count, done);
    if (progress->style == FB_PROGRESS_REDRAW) {
        unsigned width = fb_progress_terminal_width(STDERR_FILENO);
        if (width > 1)
            cut(line.text, width);
        fb_message_line(line.text);
    } else {
        fb_message_note("%s", line.text);
        progress->printed_ns = now;
    }
    fb_buf_deinit(&line);
}

void fb_progress_batch_done(struct fb_progress *progress, size_t runs)
{
    progress->done_before += runs;
}

void fb_progress_end(struct fb_progress *progress)
{
    if (progress->style == FB_PROGRESS_REDRAW)
        fb_message_line(NULL);
}
