/* The pairs of a mapping, merge keys put in. */
#include "base/alloc.h"
#include "workload/tree.h"

#include <stdlib.h>
#include <string.h>

static bool is_merge(struct fb_node key)
{
    const char *text = fb_node_text(key);
    return text != NULL && strcmp(text, "<<") == 0 &&
           key.raw->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

const struct fb_pair *fb_pairs_find(const struct fb_pairs *pairs, const char *name)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (strcmp(pairs->items[i].name, name) == 0)
            return &pairs->items[i];
    return NULL;
}

/* False when the mapping is full. */
static bool append(struct fb_pairs *pairs, struct fb_node key, struct fb_node value)
{
    if (pairs->count == FB_PAIRS_MAX)
        return false;
    /* The array doubles at powers of two. */
    if ((pairs->count & (pairs->count - 1)) == 0)
        pairs->items =
            fb_realloc(pairs->items, pairs->count > 0 ? pairs->count * 2 : 1, sizeof *pairs->items);
    pairs->items[pairs->count++] =
        (struct fb_pair){.key = key, .value = value, .name = fb_node_text(key)};
    return true;
}

static void report_duplicate(const struct fb_pair *first, struct fb_node key, const char *title)
{
    fb_node_fault(key, "duplicate-key", "\"%.40s\" is twice in %s, first in line %zu; keep one",
                  first->name, title, first->key.raw->start_mark.line + 1);
}

/* Own pairs of the mapping; `merged`: those that are there already win, silently. */
static void add_own(struct fb_pairs *pairs, struct fb_node mapping, const char *title, bool merged)
{
    for (size_t i = 0; i < fb_node_pair_count(mapping); i++) {
        struct fb_node key = fb_node_pair_key(mapping, i);
        if (is_merge(key))
            continue;
        if (fb_node_text(key) == NULL) {
            fb_node_fault(key, "wrong-type", "a key of %s is no text; write \"name: value\"",
                          title);
            continue;
        }
        const struct fb_pair *first = fb_pairs_find(pairs, fb_node_text(key));
        if (first != NULL && !merged)
            report_duplicate(first, key, title);
        if (first != NULL)
            continue;
        if (!append(pairs, key, fb_node_pair_value(mapping, i))) {
            fb_node_fault(key, "too-large", "%s has more than 1,000 keys; use fewer", title);
            return;
        }
    }
}

static void add_merges(struct fb_pairs *pairs, struct fb_node mapping, const char *title);

static void merge(struct fb_pairs *pairs, struct fb_node from, const char *title)
{
    if (!fb_node_is_mapping(from)) {
        fb_node_fault(from, "wrong-type",
                      "\"<<\" in %s merges mappings only; name the anchor of one", title);
        return;
    }
    add_own(pairs, from, title, true);
    add_merges(pairs, from, title);
}

static void add_merges(struct fb_pairs *pairs, struct fb_node mapping, const char *title)
{
    for (size_t i = 0; i < fb_node_pair_count(mapping); i++) {
        struct fb_node value = fb_node_pair_value(mapping, i);
        if (!is_merge(fb_node_pair_key(mapping, i)))
            continue;
        if (!fb_node_is_list(value))
            merge(pairs, value, title);
        for (size_t j = 0; j < fb_node_count(value); j++)
            merge(pairs, fb_node_item(value, j), title);
    }
}

void fb_pairs_init(struct fb_pairs *pairs, struct fb_node mapping, const char *title)
{
    *pairs = (struct fb_pairs){0};
    add_own(pairs, mapping, title, false);
    add_merges(pairs, mapping, title);
}

void fb_pairs_deinit(struct fb_pairs *pairs)
{
    free(pairs->items);
    *pairs = (struct fb_pairs){0};
}
