#include "harness/environment.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define PAD_NAME "FRAGBENCH_PAD="

static char *pad(size_t used)
{
    size_t least = used + sizeof PAD_NAME;
    size_t whole = (least + FB_ENVIRONMENT_BYTES - 1) / FB_ENVIRONMENT_BYTES * FB_ENVIRONMENT_BYTES;
    size_t fill = whole - least;
    char *text = fb_alloc(sizeof PAD_NAME + fill, 1);
    memcpy(text, PAD_NAME, sizeof PAD_NAME - 1);
    memset(text + sizeof PAD_NAME - 1, 'x', fill);
    return text;
}

char **fb_environment_new(const struct fb_contender *contender, const char *clock_library)
{
    char **list = fb_alloc(contender->env_count + 5, sizeof *list);
    size_t count = 0, used = 0;
    bool preloads = contender->path != NULL;
    bool wraps = contender->inner_path != NULL;
    list[count++] = fb_format("LD_PRELOAD=%s%s%s%s%s", clock_library, preloads ? ":" : "",
                              preloads ? contender->path : "", wraps ? ":" : "",
                              wraps ? contender->inner_path : "");
    list[count++] = fb_strdup("LC_ALL=C");
    list[count++] = fb_strdup("PATH=/usr/local/bin:/usr/bin:/bin");
    for (size_t i = 0; i < contender->env_count; i++)
        list[count++] = fb_format("%s=%s", contender->env[i].key, contender->env[i].value);
    for (size_t i = 0; i < count; i++)
        used += strlen(list[i]) + 1;
    list[count] = pad(used);
    return list;
}

void fb_environment_free(char **environment)
{
    for (size_t i = 0; environment[i] != NULL; i++)
        free(environment[i]);
    free(environment);
}
