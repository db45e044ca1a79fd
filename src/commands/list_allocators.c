#include "commands/list.h"

#include "allocators/backends.h"
#include "base/alloc.h"
#include "base/suggest.h"
#include "commands/columns.h"
#include "harness/contender.h"
#include "workload/keys.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const readback_words[] = {
    [FB_READBACK_NONE] = "cannot be read back",
    [FB_READBACK_WORKER] = "read back in the run",
    [FB_READBACK_LDSO] = "read back before the run",
    [FB_READBACK_VERBOSE] = "read back before the run",
};

static const char *or_dash(const char *text)
{
    return text != NULL && *text != '\0' ? text : "-";
}

static int find_contender(const struct fb_backend *backend, struct fb_contenders *out,
                          struct fb_error *err)
{
    const char *spec = backend->name;
    return fb_contenders_resolve(&spec, 1, out, err);
}

static int add_allocator(struct fb_columns *columns, const struct fb_backend *backend,
                         struct fb_error *err)
{
    struct fb_contenders found = {0};
    if (find_contender(backend, &found, err) != 0)
        return -1;
    const struct fb_contender *contender = &found.items[0];
    const char *installed = contender->available ? "yes" : "no";
    fb_columns_add(columns,
                   (const char *const[]){backend->name, installed, or_dash(contender->version),
                                         or_dash(contender->path), or_dash(backend->package)});
    fb_contenders_deinit(&found);
    return 0;
}

static int print_all(struct fb_error *err)
{
    struct fb_columns columns;
    int status = 0;
    fb_columns_init(&columns, "lllll");
    fb_columns_add(
        &columns, (const char *const[]){"allocator", "installed", "version", "library", "package"});
    for (size_t i = 0; status == 0 && i < fb_backend_count; i++)
        status = add_allocator(&columns, &fb_backends[i], err);
    if (status == 0)
        fb_columns_print(&columns, "", stdout);
    fb_columns_deinit(&columns);
    return status;
}

/* "since 2.1", "until 2.0.9", "2.0 to 2.1" or nothing. */
static char *version_range(const struct fb_tunable *tunable)
{
    if (*tunable->since != '\0' && *tunable->until != '\0')
        return fb_format("%s to %s", tunable->since, tunable->until);
    if (*tunable->since != '\0')
        return fb_format("since %s", tunable->since);
    if (*tunable->until != '\0')
        return fb_format("until %s", tunable->until);
    return fb_strdup("");
}

static void print_tunables(const struct fb_backend *backend)
{
    struct fb_columns columns;
    fb_columns_init(&columns, "lllll");
    fb_columns_add(&columns,
                   (const char *const[]){"tunable", "values", "versions", "proof", "meaning"});
    for (size_t i = 0; i < backend->tunable_count; i++) {
        const struct fb_tunable *tunable = &backend->tunables[i];
        char *range = version_range(tunable);
        char *help = fb_format("%s%s", tunable->help,
                               tunable->needs_real_clock ? " (needs --clock real)" : "");
        fb_columns_add(&columns, (const char *const[]){tunable->key, tunable->values, range,
                                                       readback_words[tunable->readback], help});
        free(help);
        free(range);
    }
    fb_columns_print(&columns, "  ", stdout);
    fb_columns_deinit(&columns);
}

static int print_one(const struct fb_backend *backend, struct fb_error *err)
{
    struct fb_contenders found = {0};
    if (find_contender(backend, &found, err) != 0)
        return -1;
    const struct fb_contender *contender = &found.items[0];
    (void)printf("%s: %s\n", backend->name, backend->help);
    if (contender->available)
        (void)printf("  version  %s\n  library  %s\n", or_dash(contender->version),
                     or_dash(contender->path));
    else
        (void)printf("  %s\n", contender->unavailable);
    if (backend->tunable_count > 0) {
        (void)printf("\n  use: -a %s:%s=VALUE\n\n", backend->name, backend->tunables[0].key);
        print_tunables(backend);
    }
    fb_contenders_deinit(&found);
    return 0;
}

static int fail_unknown(const char *name, struct fb_error *err)
{
    const char **names = fb_alloc(fb_backend_count, sizeof *names);
    for (size_t i = 0; i < fb_backend_count; i++)
        names[i] = fb_backends[i].name;
    const char *near = fb_suggest(name, names, fb_backend_count);
    free(names);
    return fb_fail(err, FB_ERROR_INPUT, "no allocator \"%s\"; %s%s%s", name,
                   near != NULL ? "did you mean \"" : "see `fragbench list allocators`",
                   near != NULL ? near : "", near != NULL ? "\"?" : "");
}

int fb_list_allocators(const char *name, struct fb_error *err)
{
    const struct fb_backend *backend = name != NULL ? fb_backend_find(name) : NULL;
    if (name == NULL)
        return print_all(err);
    return backend != NULL ? print_one(backend, err) : fail_unknown(name, err);
}
