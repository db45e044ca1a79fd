/* {a,b} as shells expand it: cross product, nested, in order. */
#include "harness/contender.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { EXPANSION_MAX = 1000 };

struct list {
    char **items;
    size_t count;
};

static void free_list(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct list){0};
}

/* The brace that closes the one at open, or NULL. */
static const char *closing(const char *open)
{
    int depth = 0;
    for (const char *at = open; *at != '\0'; at++) {
        depth += *at == '{';
        depth -= *at == '}';
        if (depth == 0)
            return at;
    }
    return NULL;
}

/* The end of the alternative that starts at: a comma or the closing brace of this level. */
static const char *alternative_end(const char *at, const char *close)
{
    int depth = 0;
    for (; at < close; at++) {
        depth += *at == '{';
        depth -= *at == '}';
        if (depth == 0 && *at == ',')
            return at;
    }
    return close;
}

static int expand(const char *text, struct list *list, struct fb_error *err)
{
    const char *open = strchr(text, '{');
    if (open == NULL) {
        if (list->count == EXPANSION_MAX)
            return fb_fail(err, FB_ERROR_INPUT, "braces expand to more than %d contenders",
                           EXPANSION_MAX);
        list->items = fb_realloc(list->items, list->count + 1, sizeof *list->items);
        list->items[list->count++] = fb_strdup(text);
        return 0;
    }
    const char *close = closing(open);
    const char *at = open + 1;
    int result = 0;
    for (bool last = false; !last && result == 0;) {
        const char *end = alternative_end(at, close);
        char *chosen =
            fb_format("%.*s%.*s%s", (int)(open - text), text, (int)(end - at), at, close + 1);
        result = expand(chosen, list, err);
        free(chosen);
        last = end == close;
        at = end + 1;
    }
    return result;
}

static int check_balance(const char *text, struct fb_error *err)
{
    int depth = 0;
    for (const char *at = text; *at != '\0'; at++) {
        depth += *at == '{';
        depth -= *at == '}';
        if (depth < 0)
            break;
    }
    if (depth == 0)
        return 0;
    return fb_fail(err, FB_ERROR_INPUT, "\"%s\" has a brace without its partner", text);
}

int fb_brace_expand(const char *text, char ***out, size_t *count, struct fb_error *err)
{
    struct list list = {0};
    if (check_balance(text, err) != 0)
        return -1;
    if (expand(text, &list, err) != 0) {
        free_list(&list);
        return -1;
    }
    *out = list.items;
    *count = list.count;
    return 0;
}
