/* The options of where results go and what is printed, which several commands share. */
#include "base/alloc.h"
#include "commands/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int fb_options_output(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    if (*text == '\0')
        return fb_fail(err, FB_ERROR_INPUT, "-o: the folder's name is empty");
    o->output = text;
    return 0;
}

char *fb_options_formats(void)
{
    char *known = fb_strdup("");
    for (size_t i = 0; i < fb_export_count; i++) {
        char *longer = fb_format("%s%s%s", known, i > 0 ? ", " : "", fb_exports[i].name);
        free(known);
        known = longer;
    }
    return known;
}

static int fail_format(const char *text, struct fb_error *err)
{
    char *known = fb_options_formats();
    (void)fb_fail(err, FB_ERROR_INPUT, "--export \"%s\": write FORMAT=FILE; formats: %s", text,
                  known);
    free(known);
    return -1;
}

int fb_options_add_export(struct fb_export_request **requests, size_t *count, const char *text,
                          struct fb_error *err)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0')
        return fail_format(text, err);
    char *name = fb_format("%.*s", (int)(equals - text), text);
    struct fb_export_request request = {fb_export_find(name), equals + 1};
    free(name);
    if (request.format == NULL)
        return fail_format(text, err);
    for (size_t i = 0; i < *count; i++) {
        if (strcmp((*requests)[i].file, request.file) == 0)
            return fb_fail(err, FB_ERROR_INPUT, "--export: two documents into \"%s\"",
                           request.file);
    }
    *requests = fb_realloc(*requests, *count + 1, sizeof **requests);
    (*requests)[(*count)++] = request;
    return 0;
}

int fb_options_export(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    return fb_options_add_export(&o->exports, &o->export_count, text, err);
}

bool fb_options_want_color(enum fb_when when)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    if (when != FB_WHEN_AUTO)
        return when == FB_WHEN_ALWAYS;
    if (no_color != NULL && *no_color != '\0')
        return false;
    return isatty(STDOUT_FILENO) && term != NULL && strcmp(term, "dumb") != 0;
}

int fb_options_color(struct fb_run_options *o, const char *text, struct fb_error *err)
{
    return fb_options_when("--color", text, &o->color, err);
}

char *fb_options_export_help(const char *text)
{
    char *known = fb_options_formats();
    char *whole = fb_format("%s; FORMAT is one of %s", text, known);
    free(known);
    return whole;
}
