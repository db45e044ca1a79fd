#include "harness/spec.h"

#include "base/alloc.h"
#include "base/suggest.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void fb_settings_add(struct fb_setting **settings, size_t *count, const char *key,
                     const char *value)
{
    *settings = fb_realloc(*settings, *count + 1, sizeof **settings);
    (*settings)[(*count)++] = (struct fb_setting){fb_strdup(key), fb_strdup(value)};
}

void fb_settings_free(struct fb_setting *settings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(settings[i].key);
        free(settings[i].value);
    }
    free(settings);
}

static void deinit_spec(struct fb_spec *spec)
{
    free(spec->text);
    free(spec->label);
    free(spec->path);
    fb_settings_free(spec->settings, spec->setting_count);
    *spec = (struct fb_spec){0};
}

void fb_specs_deinit(struct fb_specs *specs)
{
    for (size_t i = 0; i < specs->count; i++)
        deinit_spec(&specs->items[i]);
    free(specs->items);
    *specs = (struct fb_specs){0};
}

static bool is_same(const struct fb_spec *a, const struct fb_spec *b)
{
    if (a->path == NULL || b->path == NULL)
        return a->backend == b->backend && a->inner == b->inner;
    return strcmp(a->path, b->path) == 0;
}

/* Takes *spec. The same spec twice is dropped; one label for two things would make cells that
 * cannot be told apart. */
static int append(struct fb_specs *specs, struct fb_spec *spec, struct fb_error *err)
{
    for (size_t i = 0; i < specs->count; i++) {
        const struct fb_spec *old = &specs->items[i];
        if (strcmp(old->label, spec->label) != 0)
            continue;
        int result = is_same(old, spec)
                         ? 0
                         : fb_fail(err, FB_ERROR_INPUT,
                                   "two contenders are called \"%s\" (%s and %s); name them: "
                                   "-a LABEL=/path/lib.so",
                                   spec->label, old->text, spec->text);
        deinit_spec(spec);
        return result;
    }
    specs->items = fb_realloc(specs->items, specs->count + 1, sizeof *specs->items);
    specs->items[specs->count++] = *spec;
    return 0;
}

static int fail_unknown(const char *name, struct fb_error *err)
{
    const char **known = fb_alloc(2 * fb_backend_count, sizeof *known);
    for (size_t i = 0; i < fb_backend_count; i++) {
        known[2 * i] = fb_backends[i].name;
        known[2 * i + 1] = fb_backends[i].alias;
    }
    const char *near = fb_suggest(name, known, 2 * fb_backend_count);
    free(known);
    if (near != NULL)
        return fb_fail(err, FB_ERROR_INPUT, "unknown allocator \"%s\"; did you mean \"%s\"?", name,
                       near);
    return fb_fail(err, FB_ERROR_INPUT,
                   "unknown allocator \"%s\"; see \"fragbench list allocators\", or give a library "
                   "as -a LABEL=/path/lib.so",
                   name);
}

static int append_backend(struct fb_specs *specs, const struct fb_backend *backend,
                          const char *text, struct fb_error *err)
{
    struct fb_spec spec = {
        .text = fb_strdup(text), .label = fb_strdup(backend->name), .backend = backend};
    return append(specs, &spec, err);
}

/* Every backend that has all of the flags `with` and none of `without`. */
static int append_group(struct fb_specs *specs, unsigned with, unsigned without,
                        struct fb_error *err)
{
    for (size_t i = 0; i < fb_backend_count; i++) {
        const struct fb_backend *backend = &fb_backends[i];
        if ((backend->flags & with) != with || (backend->flags & without) != 0)
            continue;
        if (append_backend(specs, backend, backend->name, err) != 0)
            return -1;
    }
    return 0;
}

static int parse_name(struct fb_specs *specs, const char *name, struct fb_error *err)
{
    if (strcmp(name, "all") == 0)
        return append_group(specs, 0, FB_BACKEND_NULL, err);
    const struct fb_backend *backend = fb_backend_find(name);
    return backend == NULL ? fail_unknown(name, err) : append_backend(specs, backend, name, err);
}

static int parse_names(struct fb_specs *specs, const char *text, struct fb_error *err)
{
    int result = 0;
    for (const char *at = text; result == 0;) {
        size_t length = strcspn(at, ",");
        char *name = fb_format("%.*s", (int)length, at);
        if (length == 0)
            result = fb_fail(err, FB_ERROR_INPUT, "\"%s\" has an empty name in its list", text);
        else
            result = parse_name(specs, name, err);
        free(name);
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    return result;
}

static int parse_path(struct fb_specs *specs, const char *text, struct fb_error *err)
{
    const char *assign = strchr(text, '=');
    bool named = assign != NULL && assign < strchr(text, '/');
    const char *path = named ? assign + 1 : text;
    char *label =
        named ? fb_format("%.*s", (int)(assign - text), text) : fb_strdup(strrchr(text, '/') + 1);
    for (const char *at = label; *at != '\0' || at == label; at++) {
        if (isalnum((unsigned char)*at) || (*at != '\0' && strchr("._+-", *at) != NULL))
            continue;
        int result = fb_fail(err, FB_ERROR_INPUT,
                             "\"%s\" is no name for a library: letters, digits, \".\", \"_\", "
                             "\"+\" and \"-\", as in -a LABEL=/path/lib.so",
                             label);
        free(label);
        return result;
    }
    struct fb_spec spec = {.text = fb_strdup(text), .label = label, .path = fb_strdup(path)};
    return append(specs, &spec, err);
}

static int parse_setting(struct fb_spec *spec, const char *at, size_t length, struct fb_error *err)
{
    const char *assign = memchr(at, '=', length);
    if (assign == NULL || assign == at || assign + 1 == at + length)
        return fb_fail(err, FB_ERROR_INPUT, "\"%s\": a tunable is key=value, \"%.*s\" is not",
                       spec->text, (int)length, at);
    char *key = fb_format("%.*s", (int)(assign - at), at);
    char *value = fb_format("%.*s", (int)(at + length - assign - 1), assign + 1);
    int result = 0;
    for (size_t i = 0; i < spec->setting_count; i++)
        if (strcmp(spec->settings[i].key, key) == 0)
            result = fb_fail(err, FB_ERROR_INPUT, "\"%s\" sets %s twice", spec->text, key);
    if (result == 0)
        fb_settings_add(&spec->settings, &spec->setting_count, key, value);
    free(key);
    free(value);
    return result;
}

static int parse_settings(struct fb_spec *spec, const char *settings, struct fb_error *err)
{
    if (spec->backend->style == FB_TUNABLES_NONE)
        return fb_fail(err, FB_ERROR_INPUT, "\"%s\": %s has no tunables", spec->text,
                       spec->backend->name);
    for (const char *at = settings;;) {
        size_t length = strcspn(at, ",");
        if (parse_setting(spec, at, length, err) != 0)
            return -1;
        if (at[length] == '\0')
            return 0;
        at += length + 1;
    }
}

/* The backend named before the colon; NULL with the error set. */
static const struct fb_backend *tuned_backend(const char *text, const char *colon,
                                              struct fb_error *err)
{
    char *name = fb_format("%.*s", (int)(colon - text), text);
    const struct fb_backend *backend = fb_backend_find(name);
    if (backend == NULL && strchr(name, ',') != NULL)
        (void)fb_fail(err, FB_ERROR_INPUT,
                      "\"%s\": with tunables, one allocator an option; give -a more than once",
                      text);
    else if (backend == NULL)
        (void)fail_unknown(name, err);
    free(name);
    return backend;
}

/* "+INNER" at the end of text: *plus is where it begins, or the text's end. */
static int parse_inner(const char *text, const struct fb_backend *backend, const char *plus,
                       const struct fb_backend **inner, struct fb_error *err)
{
    *inner = NULL;
    if (*plus == '\0')
        return 0;
    if ((backend->flags & FB_BACKEND_WRAPS) == 0)
        return fb_fail(err, FB_ERROR_INPUT, "\"%s\": %s wraps no other allocator", text,
                       backend->name);
    *inner = fb_backend_find(plus + 1);
    if (*inner == NULL)
        return fail_unknown(plus + 1, err);
    if (((*inner)->flags & (FB_BACKEND_WRAPS | FB_BACKEND_NULL)) != 0)
        return fb_fail(err, FB_ERROR_INPUT, "\"%s\": %s cannot be wrapped", text, (*inner)->name);
    return 0;
}

/* NAME:settings, NAME:settings+INNER or NAME+INNER. */
static int parse_tuned(struct fb_specs *specs, const char *text, struct fb_error *err)
{
    const char *name_end = text + strcspn(text, ":+");
    const char *plus = strchrnul(text, '+');
    const struct fb_backend *backend = tuned_backend(text, name_end, err), *inner = NULL;
    if (backend == NULL || parse_inner(text, backend, plus, &inner, err) != 0)
        return -1;
    struct fb_spec spec = {.text = fb_strdup(text),
                           .label = fb_format("%s%s", backend->name, name_end),
                           .backend = backend,
                           .inner = inner};
    int result = 0;
    if (*name_end == ':') {
        char *settings = fb_format("%.*s", (int)(plus - name_end - 1), name_end + 1);
        result = parse_settings(&spec, settings, err);
        free(settings);
    }
    if (result != 0) {
        deinit_spec(&spec);
        return -1;
    }
    return append(specs, &spec, err);
}

static int parse_one(struct fb_specs *specs, const char *text, struct fb_error *err)
{
    const char *tuned = strpbrk(text, ":+"), *slash = strchr(text, '/');
    if (tuned != NULL && slash == NULL)
        return parse_tuned(specs, text, err);
    if (tuned != NULL && *tuned == ':' && tuned < slash)
        return parse_tuned(specs, text, err);
    if (slash != NULL)
        return parse_path(specs, text, err);
    if (strchr(text, '=') != NULL)
        return fb_fail(err, FB_ERROR_INPUT,
                       "\"%s\": LABEL= takes a library by path (with a slash: ./lib.so); tunables "
                       "are NAME:key=value",
                       text);
    return parse_names(specs, text, err);
}

static int parse_value(struct fb_specs *specs, const char *value, struct fb_error *err)
{
    char **texts;
    size_t count;
    if (fb_brace_expand(value, &texts, &count, err) != 0)
        return -1;
    int result = 0;
    for (size_t i = 0; i < count; i++) {
        if (result == 0)
            result = parse_one(specs, texts[i], err);
        free(texts[i]);
    }
    free(texts);
    return result;
}

int fb_specs_parse(const char *const *values, size_t count, struct fb_specs *out,
                   struct fb_error *err)
{
    struct fb_specs specs = {0};
    int result = count == 0 ? append_group(&specs, FB_BACKEND_DEFAULT, 0, err) : 0;
    for (size_t i = 0; i < count && result == 0; i++)
        result = parse_value(&specs, values[i], err);
    if (result != 0) {
        fb_specs_deinit(&specs);
        return -1;
    }
    *out = specs;
    return 0;
}
