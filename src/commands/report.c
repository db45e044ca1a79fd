/* `fragbench report`: one HTML page from one result folder or several. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/units.h"
#include "commands/commands.h"
#include "commands/exit_code.h"
#include "commands/message.h"
#include "commands/report_parts.h"
#include "report/html.h"
#include "result/store.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PAGE_CAP_BYTES ((size_t)1 << 28)

struct report_options {
    const char **results;
    size_t result_count;
    const char *output; /* NULL: report.html in the first result's folder */
};

static const struct argp_option shown[] = {
    {"output", 'o', "FILE", 0, "where to write; default: RESULT/report.html", 0},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct report_options *options = state->input;
    switch (key) {
    case 'o':
        options->output = arg;
        return 0;
    case ARGP_KEY_ARG:
        options->results =
            fb_realloc(options->results, options->result_count + 1, sizeof *options->results);
        options->results[options->result_count++] = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no result given; `fragbench run` writes one into results/");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int write_page(const struct fb_report_parts *parts, const char *file, struct fb_error *err)
{
    struct fb_buf page;
    fb_buf_init(&page, PAGE_CAP_BYTES);
    fb_html_render(&parts->document, &parts->extra, &page);
    int status = page.overflow ? fb_fail(err, FB_ERROR_IO,
                                         "%s: the page is above 256 MiB; report "
                                         "fewer results at once",
                                         file)
                               : fb_store_write_file(file, page.text, page.length, err);
    if (status == 0) {
        char size[32];
        fb_message_note("the report is in %s (%s)", file,
                        fb_units_bytes(page.length, size, sizeof size));
    }
    fb_buf_deinit(&page);
    return status;
}

static int make(const struct report_options *options, struct fb_error *err)
{
    struct fb_report_parts parts;
    char *file = NULL;
    int status = fb_report_parts_read(&parts, options->results, options->result_count, err);
    if (status == 0) {
        file = options->output != NULL ? fb_strdup(options->output)
                                       : fb_format("%sreport.html", parts.folders[0]);
        fb_report_parts_link(&parts, file);
        fb_report_parts_judge(&parts);
        fb_report_parts_draw(&parts);
        status = write_page(&parts, file, err);
    }
    free(file);
    fb_report_parts_deinit(&parts);
    return status;
}

int cmd_report(int argc, char **argv)
{
    static const struct argp argp = {
        .options = shown,
        .parser = parse_option,
        .args_doc = "RESULT...",
        .doc =
            "Write one HTML page from results: who needs how much and why, curves, settings.\v"
            "A RESULT is a folder of `fragbench run`, or its result.json; LABEL=RESULT names it.",
        .help_filter = fb_exit_help_filter,
    };
    struct report_options options = {0};
    struct fb_error err = {0};
    (void)argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (make(&options, &err) != 0)
        fb_message_error(&err);
    free(options.results);
    return fb_exit_code(fb_exit_of_error(&err), 0);
}
