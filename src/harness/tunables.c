#include "harness/tunables.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/suggest.h"
#include "base/units.h"
#include "harness/library.h"
#include "harness/spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { VARIABLE_MAX = 4096 };

/* 1, 0 or -1: no bool. */
static int bool_of(const char *text)
{
    static const char *const words[] = {"0", "false", "no", "off", "1", "true", "yes", "on"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(text, words[i]) == 0)
            return i >= 4;
    return -1;
}

static bool whole_number(const char *text, int base, long long *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, base);
    return end != text && *end == '\0' && errno == 0 && !isspace((unsigned char)*text);
}

static bool real_number(const char *text, double *out)
{
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && errno == 0;
}

static char *bytes_value(const char *value, char **fault)
{
    struct fb_error err = {0};
    uint64_t bytes;
    /* 0x10000 is common in glibc's own output, and no unit. */
    long long number;
    if (whole_number(value, 0, &number))
        return fb_format("%lld", number);
    if (fb_units_parse(FB_UNIT_BYTES, value, &bytes, &err) == 0)
        return fb_format("%llu", (unsigned long long)bytes);
    *fault = fb_strdup(err.text);
    return NULL;
}

static char *bool_value(const struct fb_backend *backend, const char *value, char **fault)
{
    int flag = bool_of(value);
    if (flag < 0) {
        *fault = fb_format("\"%s\" is neither true nor false", value);
        return NULL;
    }
    if (backend->style == FB_TUNABLES_LIST)
        return fb_strdup(flag ? "true" : "false");
    return fb_strdup(flag ? "1" : "0");
}

char *fb_tunable_value(const struct fb_backend *backend, const struct fb_tunable *tunable,
                       const char *value, char **fault)
{
    long long number;
    double real;
    switch (tunable->type) {
    case FB_TUNABLE_BYTES:
        return bytes_value(value, fault);
    case FB_TUNABLE_BOOL:
        return bool_value(backend, value, fault);
    case FB_TUNABLE_NUMBER:
        if (whole_number(value, 10, &number))
            return fb_strdup(value);
        *fault = fb_format("\"%s\" is no whole number", value);
        return NULL;
    case FB_TUNABLE_REAL:
        if (real_number(value, &real))
            return fb_strdup(value);
        *fault = fb_format("\"%s\" is no number", value);
        return NULL;
    case FB_TUNABLE_WORD:
        break;
    }
    /* A separator inside a value would start another tunable. */
    if (backend->style != FB_TUNABLES_EACH && strpbrk(value, ":,=") != NULL) {
        *fault = fb_format("\"%s\" holds a separator", value);
        return NULL;
    }
    return fb_strdup(value);
}

bool fb_tunable_agrees(const struct fb_tunable *tunable, const char *set, const char *read)
{
    long long a, b;
    double x, y;
    if (tunable->type == FB_TUNABLE_BOOL && bool_of(set) >= 0)
        return bool_of(set) == bool_of(read);
    if (whole_number(set, 0, &a) && whole_number(read, 0, &b))
        return a == b;
    if (tunable->type == FB_TUNABLE_REAL && real_number(set, &x) && real_number(read, &y))
        return x - y < 1e-9 && y - x < 1e-9;
    return strcmp(set, read) == 0;
}

static char *unknown_key(const struct fb_backend *backend, const char *key)
{
    const char **known = fb_alloc(backend->tunable_count, sizeof *known);
    for (size_t i = 0; i < backend->tunable_count; i++)
        known[i] = backend->tunables[i].key;
    const char *near = fb_suggest(key, known, backend->tunable_count);
    free(known);
    if (near != NULL)
        return fb_format("%s has no tunable \"%s\"; did you mean \"%s\"?", backend->name, key,
                         near);
    return fb_format("%s has no tunable \"%s\"; see \"fragbench list allocators %s\"",
                     backend->name, key, backend->name);
}

/* Only release numbers can be compared: "so-4.5.10" is an ABI's. */
static char *out_of_range(const struct fb_contender *contender, const struct fb_tunable *tunable)
{
    const char *name = contender->backend->name, *version = contender->version;
    if (!isdigit((unsigned char)version[0]))
        return NULL;
    if (tunable->since[0] != '\0' && fb_version_compare(version, tunable->since) < 0)
        return fb_format("%s %s does not know \"%s\": it came with %s", name, version, tunable->key,
                         tunable->since);
    if (tunable->until[0] != '\0' && fb_version_compare(version, tunable->until) > 0)
        return fb_format("%s %s does not know \"%s\" any more: %s was the last", name, version,
                         tunable->key, tunable->until);
    return NULL;
}

static char *variable_of(const struct fb_backend *backend, const char *key)
{
    char *variable = fb_format("%s%s", backend->variable, key);
    for (char *at = variable; *at != '\0'; at++)
        *at = (char)toupper((unsigned char)*at);
    return variable;
}

/* How the library spells a key, by what stands in the file: the whole variable (tcmalloc), or the
 * key alone (mimalloc, which puts "mimalloc_" before it; lists). NULL: it cannot be told, as with
 * oneTBB's proxy, whose reader is another library. New string. */
static char *spelling_of(const struct fb_contender *contender, const char *key)
{
    const struct fb_backend *backend = contender->backend;
    if (backend->style == FB_TUNABLES_LIST)
        return fb_strdup(key);
    char *prefix = fb_strdup(backend->variable);
    bool upper = fb_library_holds(contender->path, prefix, strlen(prefix));
    for (char *at = prefix; *at != '\0'; at++)
        *at = (char)tolower((unsigned char)*at);
    bool lower = fb_library_holds(contender->path, prefix, strlen(prefix));
    free(prefix);
    if (upper)
        return variable_of(backend, key);
    return lower ? fb_strdup(key) : NULL;
}

/* Whether the library can know the key at all: its name stands in the file, as a string of
 * its own (tcmalloc_minimal mentions sampling in a warning). This catches builds that lack a
 * feature, whatever their version. glibc packs its names too tightly for that; ld.so answers for
 * it. */
static char *not_in_library(const struct fb_contender *contender, const struct fb_tunable *tunable)
{
    if (contender->path == NULL || contender->backend->style == FB_TUNABLES_GLIBC)
        return NULL;
    char *name = spelling_of(contender, tunable->key);
    char *fault = NULL;
    if (name != NULL && !fb_library_holds(contender->path, name, strlen(name) + 1))
        fault = fb_format("%s does not know \"%s\": the name is not in the library",
                          contender->path, tunable->key);
    free(name);
    return fault;
}

static char *check_key(const struct fb_contender *contender, const char *key)
{
    const struct fb_tunable *tunable = fb_backend_tunable(contender->backend, key);
    if (tunable == NULL)
        return unknown_key(contender->backend, key);
    char *fault = out_of_range(contender, tunable);
    return fault != NULL ? fault : not_in_library(contender, tunable);
}

static void add_to_list(struct fb_buf *list, const struct fb_backend *backend, const char *key,
                        const char *value)
{
    const char *family = backend->style == FB_TUNABLES_GLIBC ? "glibc.malloc." : "";
    if (list->length > 0)
        fb_buf_addf(list, "%c", backend->separator);
    fb_buf_addf(list, "%s%s%c%s", family, key, backend->assign, value);
}

/* One setting into the list variable or a variable of its own; NULL or the fault. */
static char *apply(struct fb_contender *contender, const struct fb_setting *setting,
                   struct fb_buf *list)
{
    const struct fb_backend *backend = contender->backend;
    char *fault = check_key(contender, setting->key);
    if (fault != NULL)
        return fault;
    const struct fb_tunable *tunable = fb_backend_tunable(backend, setting->key);
    char *value = fb_tunable_value(backend, tunable, setting->value, &fault);
    if (value == NULL) {
        char *text = fb_format("%s of %s: %s", setting->key, backend->name, fault);
        free(fault);
        return text;
    }
    contender->needs_real_clock |= tunable->needs_real_clock && bool_of(value) != 0;
    if (backend->style == FB_TUNABLES_EACH) {
        char *variable = variable_of(backend, setting->key);
        fb_settings_add(&contender->env, &contender->env_count, variable, value);
        free(variable);
    } else {
        add_to_list(list, backend, setting->key, value);
    }
    free(value);
    return NULL;
}

static void reject(struct fb_contender *contender, char *fault)
{
    contender->rejected = fault;
    fb_settings_free(contender->env, contender->env_count);
    contender->env = NULL;
    contender->env_count = 0;
}

void fb_tunables_prepare(struct fb_contender *contender)
{
    struct fb_buf list;
    char *fault = NULL;
    fb_buf_init(&list, VARIABLE_MAX);
    for (size_t i = 0; i < contender->tunable_count && fault == NULL; i++)
        fault = apply(contender, &contender->tunables[i], &list);
    if (fault == NULL && list.overflow)
        fault = fb_format("the tunables are longer than %d bytes", VARIABLE_MAX);
    if (fault != NULL)
        reject(contender, fault);
    else if (list.length > 0)
        fb_settings_add(&contender->env, &contender->env_count, contender->backend->variable,
                        list.text);
    fb_buf_deinit(&list);
}
