/* Tunables read back before the run, where the allocator tells of them by name: glibc through
 * ld.so --list-tunables (2.33 on), mimalloc through its verbose start-up lines. */
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

static int list_glibc(const struct fb_contender *contender, struct fb_buf *out)
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

/* Through a shell, because the lines go to stderr and must reach stdout. */
static int list_mimalloc(const struct fb_contender *contender, struct fb_buf *out)
{
    static const char script[] = "MIMALLOC_VERBOSE=1 LD_PRELOAD=\"$0\" exec /bin/true 2>&1";
    char *argv[] = {fb_strdup("/bin/sh"), fb_strdup("-c"), fb_strdup(script),
                    fb_strdup(contender->path), NULL};
    char **env = fb_alloc(contender->env_count + 1, sizeof *env);
    for (size_t i = 0; i < contender->env_count; i++)
        env[i] = fb_format("%s=%s", contender->env[i].key, contender->env[i].value);
    int result = fb_capture(argv, env, out, NULL);
    for (size_t i = 0; argv[i] != NULL; i++)
        free(argv[i]);
    for (size_t i = 0; i < contender->env_count; i++)
        free(env[i]);
    free(env);
    return result;
}

/* How a kind of listing is made, and what stands before and after a key in it. */
static const struct listing {
    enum fb_readback readback;
    int (*list)(const struct fb_contender *contender, struct fb_buf *out);
    const char *before, *after;
    const char *reader; /* for messages */
    bool complete;      /* a key that is not listed does not exist; else it may be an alias */
} listings[] = {
    {FB_READBACK_LDSO, list_glibc, "glibc.malloc.", ": ", "ld.so", true},
    {FB_READBACK_VERBOSE, list_mimalloc, "option '", "': ", "mimalloc", false},
};

/* "glibc.malloc.KEY: 0x1 (min: …" → "0x1", new string; NULL when the key is not there. */
static char *value_in(const struct listing *listing, const char *text, const char *key)
{
    char *head = fb_format("%s%s%s", listing->before, key, listing->after);
    const char *line = strstr(text, head);
    char *value = NULL;
    if (line != NULL) {
        line += strlen(head);
        value = fb_format("%.*s", (int)strcspn(line, " \n"), line);
    }
    free(head);
    return value;
}

static void compare(struct fb_contender *contender, const struct fb_setting *asked,
                    const struct listing *listing, const char *text)
{
    const struct fb_tunable *tunable = fb_backend_tunable(contender->backend, asked->key);
    char *fault = NULL;
    char *set = fb_tunable_value(contender->backend, tunable, asked->value, &fault);
    char *read = value_in(listing, text, asked->key);
    if (read == NULL && listing->complete)
        contender->rejected = fb_format("%s has no tunable %s", listing->reader, asked->key);
    else if (read != NULL && set != NULL && !fb_tunable_agrees(tunable, set, read))
        contender->rejected = fb_format("%s=%s did not take: %s reads %s", asked->key, asked->value,
                                        listing->reader, read);
    if (read != NULL)
        fb_settings_add(&contender->effective, &contender->effective_count, asked->key, read);
    free(fault);
    free(set);
    free(read);
}

static const struct listing *listing_of(const struct fb_contender *contender)
{
    for (size_t i = 0; i < contender->tunable_count; i++) {
        const struct fb_tunable *tunable =
            fb_backend_tunable(contender->backend, contender->tunables[i].key);
        for (size_t k = 0; k < sizeof listings / sizeof listings[0]; k++)
            if (tunable != NULL && tunable->readback == listings[k].readback)
                return &listings[k];
    }
    return NULL;
}

void fb_tunables_verify(struct fb_contender *contender)
{
    const struct listing *listing = listing_of(contender);
    if (listing == NULL || contender->env_count == 0)
        return;
    struct fb_buf text;
    fb_buf_init(&text, OUTPUT_MAX);
    if (listing->list(contender, &text) == 0)
        for (size_t i = 0; i < contender->tunable_count && contender->rejected == NULL; i++)
            compare(contender, &contender->tunables[i], listing, text.text);
    fb_buf_deinit(&text);
}
