#include "harness/contender.h"

#include "base/alloc.h"
#include "base/sha256.h"
#include "harness/library.h"
#include "harness/spec.h"
#include "harness/tunables.h"

#include <stdlib.h>
#include <string.h>

static void deinit_contender(struct fb_contender *contender)
{
    char *const strings[] = {contender->label,    contender->spec,      contender->path,
                             contender->version,  contender->sha256,    contender->unavailable,
                             contender->rejected, contender->inner_path};
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
        free(strings[i]);
    fb_settings_free(contender->tunables, contender->tunable_count);
    fb_settings_free(contender->env, contender->env_count);
    fb_settings_free(contender->effective, contender->effective_count);
}

void fb_contenders_deinit(struct fb_contenders *contenders)
{
    for (size_t i = 0; i < contenders->count; i++)
        deinit_contender(&contenders->items[i]);
    free(contenders->items);
    *contenders = (struct fb_contenders){0};
}

static void find_backend(struct fb_contender *contender)
{
    const struct fb_backend *backend = contender->backend;
    if (backend->libraries[0] == NULL) {
        contender->available = true;
        return;
    }
    contender->path = fb_backend_locate(backend);
    contender->available = contender->path != NULL;
    if (!contender->available)
        contender->unavailable =
            backend->package != NULL
                ? fb_format("not installed (apt-get install %s)", backend->package)
                : fb_strdup("not installed");
}

static void find_inner(struct fb_contender *contender, const struct fb_backend *inner)
{
    if (inner == NULL || inner->libraries[0] == NULL || !contender->available)
        return;
    contender->inner_path = fb_backend_locate(inner);
    contender->available = contender->inner_path != NULL;
    if (!contender->available)
        contender->unavailable = fb_format("%s is not installed (apt-get install %s)", inner->name,
                                           inner->package != NULL ? inner->package : "it");
}

static void find_path(struct fb_contender *contender, const char *path)
{
    char *resolved = realpath(path, NULL);
    char *fault = fb_library_fault(resolved != NULL ? resolved : path);
    contender->path = resolved != NULL ? resolved : fb_strdup(path);
    contender->available = fault == NULL;
    contender->unsupported = fault != NULL && resolved != NULL;
    if (fault != NULL)
        contender->unavailable = fb_format("%s: %s", contender->path, fault);
    free(fault);
}

static int identify(struct fb_contender *contender, struct fb_error *err)
{
    const struct fb_backend *backend = contender->backend;
    char hex[FB_SHA256_HEX] = "";
    if (backend != NULL && (backend->flags & FB_BACKEND_LIBC) != 0)
        contender->version = fb_library_libc_version();
    else if (contender->path != NULL && contender->available)
        contender->version = fb_library_version(contender->path);
    else
        contender->version = fb_strdup("");
    if (contender->path != NULL && contender->available &&
        fb_sha256_file(contender->path, hex, err) != 0)
        return -1;
    contender->sha256 = fb_strdup(hex);
    return 0;
}

static int resolve(const struct fb_spec *spec, struct fb_contender *out, struct fb_error *err)
{
    struct fb_contender contender = {.label = fb_strdup(spec->label),
                                     .spec = fb_strdup(spec->text),
                                     .backend = spec->backend,
                                     .inner = spec->inner};
    for (size_t i = 0; i < spec->setting_count; i++)
        fb_settings_add(&contender.tunables, &contender.tunable_count, spec->settings[i].key,
                        spec->settings[i].value);
    if (spec->backend != NULL)
        find_backend(&contender);
    if (spec->backend != NULL)
        find_inner(&contender, spec->inner);
    else
        find_path(&contender, spec->path);
    if (identify(&contender, err) != 0) {
        deinit_contender(&contender);
        return -1;
    }
    if (contender.tunable_count > 0)
        fb_tunables_prepare(&contender);
    if (contender.tunable_count > 0 && contender.rejected == NULL)
        fb_tunables_verify(&contender);
    *out = contender;
    return 0;
}

int fb_contenders_resolve(const char *const *values, size_t count, struct fb_contenders *out,
                          struct fb_error *err)
{
    struct fb_specs specs;
    if (fb_specs_parse(values, count, &specs, err) != 0)
        return -1;
    struct fb_contenders found = {.items = fb_alloc(specs.count + 1, sizeof *found.items)};
    int result = 0;
    for (size_t i = 0; i < specs.count && result == 0; i++) {
        result = resolve(&specs.items[i], &found.items[found.count], err);
        found.count += result == 0;
    }
    fb_specs_deinit(&specs);
    if (result != 0) {
        fb_contenders_deinit(&found);
        return -1;
    }
    *out = found;
    return 0;
}
