#include "metrics/refusal.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_CAP ((size_t)1 << 20)

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

/* "libc is A in base and B in new; cpus is …": every field, both values. */
static void add_differences(const struct fb_compare_set *sets, const struct fb_matchup *pair,
                            unsigned fields, struct fb_buf *out)
{
    const struct fb_compare_set *set = &sets[pair->set];
    bool within = pair->set == 0;
    for (size_t i = 0; i < FB_MATCH_COUNT; i++) {
        enum fb_match field = (enum fb_match)i;
        if ((fields & FB_MATCH_BIT(field)) == 0)
            continue;
        char *before = fb_match_text(field, &sets[0].result->host, pair->base);
        char *after = fb_match_text(field, &set->result->host, pair->cell);
        fb_buf_addf(out, "%s%s: %s in %s, %s in %s", out->length > 0 ? "; " : "",
                    fb_matches[i].name, before,
                    within ? or_empty(pair->base->allocator.name) : sets[0].label, after,
                    within ? or_empty(pair->cell->allocator.name) : set->label);
        free(before);
        free(after);
    }
}

static char *explain(const struct fb_compare_set *sets, const struct fb_matchup *pair,
                     unsigned fields)
{
    if (pair->ambiguous)
        return fb_format("several cells of %s could be meant, %s among them", sets[0].label,
                         or_empty(pair->base->allocator.name));
    struct fb_buf out;
    fb_buf_init(&out, TEXT_CAP);
    add_differences(sets, pair, fields, &out);
    char *text = fb_strdup(out.text);
    fb_buf_deinit(&out);
    return text;
}

/* A cause that is known already counts one cell more. */
static void count_cell(struct fb_refusals *refusals, const char *why, const struct fb_matchup *pair,
                       unsigned fields, bool skip)
{
    size_t place = 0;
    while (place < refusals->count && strcmp(refusals->items[place].why, why) != 0)
        place++;
    if (place == refusals->count) {
        refusals->items = fb_realloc(refusals->items, refusals->count + 1, sizeof *refusals->items);
        refusals->items[refusals->count++] = (struct fb_refusal){
            fb_strdup(why), fb_strdup(or_empty(pair->cell->id)), fields, 0, skip};
    }
    refusals->items[place].cells++;
}

char *fb_refusals_add(struct fb_refusals *refusals, const struct fb_compare_set *sets,
                      const struct fb_matchup *pair, unsigned allowed)
{
    unsigned fields = pair->ambiguous ? 0 : pair->differing & ~allowed;
    char *why = explain(sets, pair, fields);
    count_cell(refusals, why, pair, fields, false);
    refusals->pairs++;
    refusals->fields |= fields;
    char *text = fb_format("not compared: %s", why);
    free(why);
    return text;
}

/* The words before both values: of an allocator's version its name alone, "jemalloc 5.3.0-1". */
static void add_field_name(enum fb_match field, const struct fb_matchup *pair, struct fb_buf *out)
{
    const bool of_library = field == FB_MATCH_VERSION || field == FB_MATCH_SHA256;
    if (of_library)
        fb_buf_addf(out, "%s ", or_empty(pair->base->allocator.name));
    if (field != FB_MATCH_VERSION)
        fb_buf_addf(out, "%s ", fb_matches[field].name);
}

char *fb_refusals_skip(struct fb_refusals *refusals, const struct fb_compare_set *sets,
                       const struct fb_matchup *pair, unsigned allowed)
{
    unsigned fields = fb_match_heads(pair->differing & ~allowed);
    struct fb_buf out;
    fb_buf_init(&out, TEXT_CAP);
    for (size_t i = 0; i < FB_MATCH_COUNT; i++) {
        enum fb_match field = (enum fb_match)i;
        if ((fields & FB_MATCH_BIT(field)) == 0)
            continue;
        char *expected = fb_match_text(field, &sets[0].result->host, pair->base);
        char *found = fb_match_text(field, &sets[pair->set].result->host, pair->cell);
        fb_buf_adds(&out, out.length > 0 ? "; " : "");
        add_field_name(field, pair, &out);
        fb_buf_addf(&out, "%s expected, %s found", expected, found);
        free(expected);
        free(found);
    }
    char *why = fb_strdup(out.text);
    fb_buf_deinit(&out);
    count_cell(refusals, why, pair, fields, true);
    refusals->skipped++;
    return why;
}

/* "skipped: libc glibc 2.36 expected, glibc 2.41 found (w/jemalloc and 3 more)". */
static void add_skip(const struct fb_refusal *skip, struct fb_buf *out)
{
    fb_buf_addf(out, "fragbench: skipped: %s (%s", skip->why, skip->first);
    if (skip->cells > 1)
        fb_buf_addf(out, " and %zu more", skip->cells - 1);
    fb_buf_adds(out, ")\n");
}

static void add_advice(const struct fb_refusal *refusal, struct fb_buf *out)
{
    if (refusal->fields == 0) {
        fb_buf_adds(out, "  say which with --base NAME\n");
        return;
    }
    unsigned named = fb_match_heads(refusal->fields); /* what they imply need not be named */
    fb_buf_adds(out, "  measure both under the same conditions, or say that this is meant to "
                     "differ: --by ");
    bool any = false;
    for (size_t i = 0; i < FB_MATCH_COUNT; i++) {
        if ((named & FB_MATCH_BIT(i)) == 0)
            continue;
        fb_buf_addf(out, "%s%s", any ? "," : "", fb_matches[i].name);
        any = true;
    }
    fb_buf_adds(out, "\n");
}

char *fb_refusals_text(const struct fb_refusals *refusals)
{
    if (refusals->count == 0)
        return NULL;
    struct fb_buf out;
    fb_buf_init(&out, TEXT_CAP);
    for (size_t i = 0; i < refusals->count; i++) {
        const struct fb_refusal *refusal = &refusals->items[i];
        if (refusal->skip) {
            add_skip(refusal, &out);
            continue;
        }
        fb_buf_addf(&out, "fragbench: cannot compare %s", refusal->first);
        if (refusal->cells > 1)
            fb_buf_addf(&out, " and %zu more", refusal->cells - 1);
        fb_buf_addf(&out, ": %s\n", refusal->why);
        add_advice(refusal, &out);
    }
    char *text = fb_strdup(out.text);
    fb_buf_deinit(&out);
    return text;
}

void fb_refusals_deinit(struct fb_refusals *refusals)
{
    for (size_t i = 0; i < refusals->count; i++) {
        free(refusals->items[i].why);
        free(refusals->items[i].first);
    }
    free(refusals->items);
    *refusals = (struct fb_refusals){0};
}
