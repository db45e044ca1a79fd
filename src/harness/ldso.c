/* Reading glibc's tunables back: ld.so --list-tunables (2.33 on) under the same environment. */
#include "harness/tunables.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "harness/capture.h"
#include "harness/spec.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

enum { OUTPUT_MAX = 65536 };

static int find_interpreter(struct dl_phdr_info *info, size_t size, void *path)
{
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t address = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type == PT_INTERP)
            memcpy(path, &address, sizeof address);
    }
    return 1; /* the first object is the program itself */
}

/* The dynamic linker that this program was started by: the worker's, too. */
static const char *interpreter(void)
{
    const char *path = NULL;
    (void)dl_iterate_phdr(find_interpreter, &path);
    return path;
}

static int list_tunables(const struct fb_contender *contender, struct fb_buf *out)
{
    const char *linker = interpreter();
    if (linker == NULL)
        return -1;
    char *program = fb_strdup(linker), *flag = fb_strdup("--list-tunables");
    char *variable = fb_format("%s=%s", contender->env[0].key, contender->env[0].value);
    char *argv[] = {program, flag, NULL}, *env[] = {variable, NULL};
    int result = fb_capture(argv, env, out, NULL);
    free(program);
    free(flag);
    free(variable);
    return result;
}

/* "glibc.malloc.KEY: 0x1 (min: …" → "0x1", new string; NULL when the key is not there. */
static char *value_in(const char *listing, const char *key)
{
    char *head = fb_format("glibc.malloc.%s: ", key);
    const char *line = strstr(listing, head);
    char *value = NULL;
    if (line != NULL) {
        line += strlen(head);
        value = fb_format("%.*s", (int)strcspn(line, " \n"), line);
    }
    free(head);
    return value;
}

static void compare(struct fb_contender *contender, const struct fb_setting *asked,
                    const char *listing)
{
    const struct fb_tunable *tunable = fb_backend_tunable(contender->backend, asked->key);
    char *fault = NULL;
    char *set = fb_tunable_value(contender->backend, tunable, asked->value, &fault);
    char *read = value_in(listing, asked->key);
    if (read == NULL)
        contender->rejected =
            fb_format("this C library has no tunable glibc.malloc.%s", asked->key);
    else if (set != NULL && !fb_tunable_agrees(tunable, set, read))
        contender->rejected =
            fb_format("%s=%s did not take: ld.so reads %s", asked->key, asked->value, read);
    if (read != NULL)
        fb_settings_add(&contender->effective, &contender->effective_count, asked->key, read);
    free(fault);
    free(set);
    free(read);
}

void fb_tunables_verify_ldso(struct fb_contender *contender)
{
    if (contender->backend->style != FB_TUNABLES_GLIBC || contender->env_count == 0)
        return;
    struct fb_buf listing;
    fb_buf_init(&listing, OUTPUT_MAX);
    if (list_tunables(contender, &listing) == 0)
        for (size_t i = 0; i < contender->tunable_count && contender->rejected == NULL; i++)
            compare(contender, &contender->tunables[i], listing.text);
    fb_buf_deinit(&listing);
}
