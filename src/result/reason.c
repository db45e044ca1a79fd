#include "result/reason.h"

#include "base/alloc.h"

#include <stddef.h>
#include <string.h>

#define REASONS_MAX 256U

static struct {
    const char *texts[REASONS_MAX];
    size_t count;
} kept;

const char *fb_reason_keep(const char *text)
{
    for (size_t i = 0; i < kept.count; i++)
        if (strcmp(kept.texts[i], text) == 0)
            return kept.texts[i];
    if (kept.count == REASONS_MAX)
        return "other";
    kept.texts[kept.count] = fb_strdup(text);
    return kept.texts[kept.count++];
}
