#include "commands/draw.h"

#include "base/alloc.h"
#include "base/process.h"
#include "commands/locate.h"
#include "result/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PICTURE_CAP_BYTES ((size_t)64 << 20)
#define TIMEOUT_NS (UINT64_C(120) * 1000000000U)

const char *const fb_draw_formats[] = {"svg", "png", "dat", NULL};

/* The names that gnuplot needs to find itself and its fonts; everything else could change a
 * picture. */
static const char *const passed_on[] = {"PATH",
                                        "HOME",
                                        "TMPDIR",
                                        "FONTCONFIG_FILE",
                                        "FONTCONFIG_PATH",
                                        "XDG_CACHE_HOME",
                                        "XDG_CONFIG_HOME",
                                        "XDG_DATA_HOME"};
#define PASSED_ON (sizeof passed_on / sizeof passed_on[0])

static void fill_environment(char *env[PASSED_ON + 2])
{
    size_t count = 0;
    env[count++] = fb_strdup("LC_ALL=C.UTF-8");
    for (size_t i = 0; i < PASSED_ON; i++) {
        const char *value = getenv(passed_on[i]);
        if (value != NULL)
            env[count++] = fb_format("%s=%s", passed_on[i], value);
    }
    env[count] = NULL;
}

/* gnuplot's complaint without the template's text that it repeats: the last line that says
 * something. */
static const char *last_line(char *text)
{
    char *last = text;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        if (line[strspn(line, " \t^")] != '\0')
            last = line;
    return last;
}

static int judge(const struct fb_picture *picture, struct fb_process_outcome *outcome,
                 struct fb_error *err)
{
    if (!outcome->found)
        return fb_fail(err, FB_ERROR_IO,
                       "gnuplot is not installed; pictures need it: apt-get install gnuplot-nox");
    if (outcome->timed_out)
        return fb_fail(err, FB_ERROR_IO, "%s: gnuplot took more than 2 min and was stopped",
                       picture->name);
    if (outcome->out.overflow)
        return fb_fail(err, FB_ERROR_IO, "%s: the picture is larger than 64 MiB", picture->name);
    if (outcome->exit_code != 0 || outcome->out.length == 0)
        return fb_fail(err, FB_ERROR_IO, "%s: gnuplot ended with code %d: %.600s", picture->name,
                       outcome->exit_code, last_line(outcome->errs.text));
    return 0;
}

static int run_gnuplot(const struct fb_picture *picture, const char *format, struct fb_buf *out,
                       struct fb_error *err)
{
    char *template = NULL;
    char *env[PASSED_ON + 2];
    struct fb_process_outcome outcome = {0};
    if (fb_locate_template(picture->kind, &template, err) != 0)
        return -1;
    fill_environment(env);
    const char *argv[] = {"gnuplot", "-d", "-c", template, FB_PROCESS_INPUT, format, NULL};
    const struct fb_process_request request = {argv, (const char *const *)env, picture->data.text,
                                               picture->data.length, TIMEOUT_NS};
    int status = fb_process_run(&request, PICTURE_CAP_BYTES, &outcome, err);
    if (status == 0) {
        status = judge(picture, &outcome, err);
        if (status == 0) {
            *out = outcome.out;
            fb_buf_init(&outcome.out, 1);
        }
        fb_process_outcome_deinit(&outcome);
    }
    for (size_t i = 0; env[i] != NULL; i++)
        free(env[i]);
    free(template);
    return status;
}

int fb_draw_picture(const struct fb_picture *picture, const char *format, struct fb_buf *out,
                    struct fb_error *err)
{
    if (picture->data.overflow)
        return fb_fail(err, FB_ERROR_IO, "%s: its data are larger than 64 MiB", picture->name);
    if (strcmp(format, "dat") != 0)
        return run_gnuplot(picture, format, out, err);
    fb_buf_init(out, PICTURE_CAP_BYTES);
    fb_buf_add(out, picture->data.text, picture->data.length);
    return 0;
}

static char *path_of(const char *dir, const struct fb_picture *picture, const char *format)
{
    return fb_format("%s/%s.%s", dir, picture->name, format);
}

static int check_free(const struct fb_pictures *pictures, const char *dir, const char *format,
                      struct fb_error *err)
{
    int status = 0;
    for (size_t i = 0; i < pictures->count && status == 0; i++) {
        char *path = path_of(dir, &pictures->items[i], format);
        if (access(path, F_OK) == 0)
            status = fb_fail(err, FB_ERROR_INPUT, "%s is there; -f replaces it, -o draws elsewhere",
                             path);
        free(path);
    }
    return status;
}

static int draw_file(const struct fb_picture *picture, const char *dir, const char *format,
                     bool say, struct fb_error *err)
{
    struct fb_buf bytes = {0};
    if (fb_draw_picture(picture, format, &bytes, err) != 0)
        return -1;
    char *path = path_of(dir, picture, format);
    int status = fb_store_write_file(path, bytes.text, bytes.length, err);
    if (status == 0 && say)
        (void)printf("%s\n", path);
    free(path);
    fb_buf_deinit(&bytes);
    return status;
}

int fb_draw_files(const struct fb_pictures *pictures, const char *dir, const char *format,
                  bool force, bool say, struct fb_error *err)
{
    if (pictures->count == 0)
        return 0;
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return fb_fail_errno(err, "cannot make folder %s; make it, or give another with -o", dir);
    if (!force && check_free(pictures, dir, format, err) != 0)
        return -1;
    int status = 0;
    for (size_t i = 0; i < pictures->count; i++)
        if (draw_file(&pictures->items[i], dir, format, say, err) != 0)
            status = -1; /* the others may still succeed; the first error is the one reported */
    return status;
}

bool fb_draw_by_default(const struct fb_plot_kind *kind, const struct fb_plot_request *request)
{
    size_t workloads = 0;
    for (size_t i = 0; i < request->source_count; i++)
        workloads += request->sources[i].groups.count;
    if (strcmp(kind->name, "change") == 0 && request->base == NULL)
        return false;
    return kind->by_default == FB_PLOT_ALWAYS ||
           (kind->by_default == FB_PLOT_OF_SEVERAL && workloads > 1);
}

int fb_draw_result(const char *dir, const struct fb_result *result, size_t *count,
                   struct fb_error *err)
{
    struct fb_plot_source source;
    struct fb_pictures pictures = {0};
    fb_plot_source_init(&source, dir, result, true, FB_PLOT_WIDTH_DEFAULT);
    const struct fb_plot_request request = {.sources = &source,
                                            .source_count = 1,
                                            .metric = FB_METRIC_COUNT,
                                            .threshold = FB_PLOT_THRESHOLD_DEFAULT,
                                            .width = FB_PLOT_WIDTH_DEFAULT};
    for (size_t i = 0; i < fb_plot_kind_count; i++)
        if (fb_draw_by_default(&fb_plot_kinds[i], &request))
            fb_plot_kinds[i].make(&request, &pictures);
    char *folder = fb_format("%s/plots", dir);
    int status = fb_draw_files(&pictures, folder, "svg", true, false, err);
    *count = pictures.count;
    free(folder);
    fb_pictures_deinit(&pictures);
    fb_plot_source_deinit(&source);
    return status;
}

/* gnuplot fills every line with blanks. */
static void add_trimmed(struct fb_buf *out, char *text)
{
    char *state = NULL;
    for (char *line = strtok_r(text, "\n", &state); line != NULL;
         line = strtok_r(NULL, "\n", &state)) {
        size_t length = strlen(line);
        while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\f'))
            length--;
        if (length > 0)
            fb_buf_addf(out, "%.*s\n", (int)length, line);
    }
}

int fb_draw_sketch(const char *dir, const struct fb_result *result, unsigned columns,
                   struct fb_buf *out, struct fb_error *err)
{
    struct fb_plot_source source;
    struct fb_pictures pictures = {0};
    fb_plot_source_init(&source, dir, result, true, FB_PLOT_WIDTH_MAX);
    const struct fb_plot_request request = {
        .sources = &source, .source_count = 1, .metric = FB_METRIC_COUNT, .width = columns};
    fb_plot_kind_find("sketch")->make(&request, &pictures);
    int status = 0;
    fb_buf_init(out, PICTURE_CAP_BYTES);
    for (size_t i = 0; i < pictures.count && status == 0; i++) {
        struct fb_buf text = {0};
        status = fb_draw_picture(&pictures.items[i], "txt", &text, err);
        if (status != 0)
            break;
        add_trimmed(out, text.text);
        fb_buf_deinit(&text);
    }
    if (status != 0)
        fb_buf_deinit(out);
    fb_pictures_deinit(&pictures);
    fb_plot_source_deinit(&source);
    return status;
}
