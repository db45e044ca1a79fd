#include "harness/exec/environ.h"

#include "base/alloc.h"
#include "trace/live.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *value_in(char *const *environment, const char *name)
{
    size_t length = strlen(name);
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

/* Takes the entry (a new string); one of the same name goes. */
static void put(char **list, size_t *count, char *entry)
{
    size_t length = strcspn(entry, "=");
    for (size_t i = 0; i < *count; i++) {
        if (strncmp(list[i], entry, length + 1) != 0)
            continue;
        free(list[i]);
        list[i] = entry;
        return;
    }
    list[(*count)++] = entry;
}

static char *join(const char *first, const char *second)
{
    bool both = first != NULL && first[0] != '\0' && second != NULL && second[0] != '\0';
    return fb_format("%s%s%s", first != NULL ? first : "", both ? ":" : "",
                     second != NULL ? second : "");
}

/* New string; "" when there is nothing to preload. */
static char *preload_list(const struct fb_environ_additions *additions, const char *own)
{
    const struct fb_contender *contender = additions->contender;
    const char *parts[] = {additions->live_library, contender->path, contender->inner_path,
                           additions->libc, own};
    char *list = fb_strdup("");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char *longer = join(list, parts[i]);
        free(list);
        list = longer;
    }
    return list;
}

static char *setting_entry(const struct fb_setting *setting, const char *own)
{
    /* Of two values for one tunable ld.so takes the last, so the contender's comes behind. */
    if (strcmp(setting->key, "GLIBC_TUNABLES") != 0 || own == NULL)
        return fb_format("%s=%s", setting->key, setting->value);
    char *value = join(own, setting->value);
    char *entry = fb_format("%s=%s", setting->key, value);
    free(value);
    return entry;
}

static char **copy(char *const *own, size_t room, size_t *count)
{
    size_t size = 0;
    while (own[size] != NULL)
        size++;
    char **list = fb_alloc(size + room + 1, sizeof *list);
    for (*count = 0; *count < size; ++*count)
        list[*count] = fb_strdup(own[*count]);
    return list;
}

char **fb_environ_with_pid(char *const *own, pid_t pid)
{
    size_t count;
    char **list = copy(own, 1, &count);
    put(list, &count, fb_format("FRAGBENCH_PID=%ld", (long)pid));
    return list;
}

char **fb_environ_new(char *const *own, const struct fb_environ_additions *additions)
{
    const struct fb_contender *contender = additions->contender;
    size_t count;
    char **list = copy(own, contender->env_count + 2, &count);
    char *preload = preload_list(additions, value_in(own, "LD_PRELOAD"));
    if (preload[0] != '\0')
        put(list, &count, fb_format("LD_PRELOAD=%s", preload));
    free(preload);
    for (size_t i = 0; i < contender->env_count; i++)
        put(list, &count, setting_entry(&contender->env[i], value_in(own, contender->env[i].key)));
    if (additions->live_library != NULL)
        put(list, &count, fb_format("%s=%s", FB_LIVE_VARIABLE, additions->live_block));
    list[count] = NULL;
    return list;
}
