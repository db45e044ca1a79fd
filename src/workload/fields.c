/* The keys of one mapping, as the key table has them. */
#include "workload/reader.h"

#include <stdio.h>
#include <string.h>

static const struct fb_key *find_key(const char *where, const char *name)
{
    size_t count = 0;
    const struct fb_key *keys = fb_keys(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i].where, where) == 0 && strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

static void report_unknown(const struct fb_fields *fields, const struct fb_pair *pair)
{
    const char *known[FB_FIELDS_MAX];
    char advice[FB_TITLE_MAX];
    size_t count = 0, known_count = 0;
    const struct fb_key *keys = fb_keys(&count);
    for (size_t i = 0; i < count && known_count < FB_FIELDS_MAX; i++)
        if (strcmp(keys[i].where, fields->where) == 0)
            known[known_count++] = keys[i].name;
    fb_node_fault(pair->key, "unknown-key", "unknown key \"%.40s\" in %s%s", pair->name,
                  fields->title, fb_advise(pair->name, known, known_count, advice, sizeof advice));
}

bool fb_fields_read(const struct fb_value *mapping, const char *where, struct fb_node at,
                    struct fb_fields *out)
{
    if (!fb_node_is_mapping(mapping->node)) {
        fb_value_wrong_type(mapping);
        return false;
    }
    *out = (struct fb_fields){.where = where, .at = at};
    (void)snprintf(out->title, sizeof out->title, "%s", mapping->what);
    struct fb_pairs pairs;
    fb_pairs_init(&pairs, mapping->node, out->title);
    for (size_t i = 0; i < pairs.count; i++) {
        const struct fb_key *key = find_key(where, pairs.items[i].name);
        if (key == NULL) {
            report_unknown(out, &pairs.items[i]);
            out->unknown = true;
        } else if (out->count < FB_FIELDS_MAX) {
            out->items[out->count].key = key;
            out->items[out->count].name = pairs.items[i].key;
            out->items[out->count++].value = pairs.items[i].value;
        }
    }
    fb_pairs_deinit(&pairs);
    return true;
}

/* Index of the key, fields->count when it is absent. */
static size_t find_field(const struct fb_fields *fields, const char *name)
{
    size_t i = 0;
    while (i < fields->count && strcmp(fields->items[i].key->name, name) != 0)
        i++;
    return i;
}

bool fb_fields_has(const struct fb_fields *fields, const char *name)
{
    return find_field(fields, name) < fields->count;
}

struct fb_node fb_fields_key(const struct fb_fields *fields, const char *name)
{
    return fields->items[find_field(fields, name)].name;
}

struct fb_node fb_fields_raw(const struct fb_fields *fields, const char *name)
{
    return fields->items[find_field(fields, name)].value;
}

bool fb_fields_get(struct fb_reader *reader, const struct fb_fields *fields, const char *name,
                   struct fb_value *out)
{
    size_t index = find_field(fields, name);
    if (index == fields->count)
        return false;
    struct fb_value outer = {.values = fields->items[index].key->values};
    (void)snprintf(outer.what, sizeof outer.what, "%s of %.*s", name, FB_TITLE_MAX - 24,
                   fields->title);
    return fb_value_inner(reader, &outer, fields->items[index].value, out);
}

bool fb_fields_need(struct fb_reader *reader, const struct fb_fields *fields, const char *name,
                    struct fb_value *out)
{
    if (fb_fields_has(fields, name))
        return fb_fields_get(reader, fields, name, out);
    const struct fb_key *key = find_key(fields->where, name);
    fb_node_fault(fields->at, "missing-key", "%s is missing in %s; add it, such as \"%s\"", name,
                  fields->title, key != NULL ? key->example : name);
    return false;
}
