#include "metrics/matchup.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Two sets, or one twice, with the identity of every cell. */
struct sides {
    const struct fb_result *base, *other;
    char **base_ids, **other_ids;
    const struct fb_matchup_rule *pairing;
    size_t set;
};

bool fb_matchup_is_base(const struct fb_cell *cell, const char *base)
{
    const char *name = cell->allocator.name == NULL ? "" : cell->allocator.name;
    return strcmp(name, base) == 0 || strcmp(fb_match_varied(cell), base) == 0;
}

static char **identities(const struct fb_result *result, unsigned by)
{
    char **ids = fb_alloc(result->cell_count, sizeof *ids);
    for (size_t i = 0; i < result->cell_count; i++)
        ids[i] = fb_match_identity(&result->cells[i], by);
    return ids;
}

static void free_identities(char **ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(ids[i]);
    free(ids);
}

static void add(struct fb_matchups *pairs, const struct sides *sides, const struct fb_cell *base,
                const struct fb_cell *cell, bool ambiguous)
{
    pairs->items = fb_realloc(pairs->items, pairs->count + 1, sizeof *pairs->items);
    bool both = base != NULL && cell != NULL;
    unsigned differing =
        both ? fb_match_differences(&sides->base->host, base, &sides->other->host, cell) : 0;
    pairs->items[pairs->count++] =
        (struct fb_matchup){sides->set, base, cell, ambiguous, differing};
}

static bool same_id(const struct fb_cell *a, const struct fb_cell *b)
{
    return a->id != NULL && b->id != NULL && strcmp(a->id, b->id) == 0;
}

/* The base of a cell: the one asked for, the same one, or the first of its kind; *others counts
 * how many there were to choose from. */
static const struct fb_cell *find_base(const struct sides *sides, size_t other, size_t *others)
{
    const struct fb_cell *first = NULL, *same = NULL;
    *others = 0;
    for (size_t i = 0; i < sides->base->cell_count; i++) {
        const struct fb_cell *candidate = &sides->base->cells[i];
        if (strcmp(sides->base_ids[i], sides->other_ids[other]) != 0)
            continue;
        if (sides->pairing->base != NULL && fb_matchup_is_base(candidate, sides->pairing->base)) {
            *others = 1;
            return candidate;
        }
        first = first == NULL ? candidate : first;
        same = same_id(candidate, &sides->other->cells[other]) ? candidate : same;
        ++*others;
    }
    bool alone = sides->base == sides->other;
    if (sides->pairing->base != NULL && alone)
        return NULL; /* a group without the base that was asked for */
    if (same != NULL && !alone)
        *others = 1;
    return same != NULL && !alone ? same : first;
}

/* What is set against one cell of the base; where nothing is, it is missing. Bases found and how
 * many there were to choose from are those of the other set's cells. */
static void add_of_base(struct fb_matchups *pairs, const struct sides *sides, size_t base,
                        const struct fb_cell *const *found, const size_t *others)
{
    const struct fb_cell *cell = &sides->base->cells[base];
    bool has_partner = false;
    for (size_t i = 0; i < sides->other->cell_count; i++) {
        const struct fb_cell *other = &sides->other->cells[i];
        has_partner |= strcmp(sides->base_ids[base], sides->other_ids[i]) == 0;
        if (found[i] == cell && other != cell)
            add(pairs, sides, cell, other, sides->base != sides->other && others[i] > 1);
    }
    if (!has_partner)
        add(pairs, sides, cell, NULL, false);
}

static void pair_set(struct fb_matchups *pairs, struct sides *sides)
{
    size_t count = sides->other->cell_count;
    const struct fb_cell **found = fb_alloc(count, sizeof(struct fb_cell *));
    size_t *others = fb_alloc(count, sizeof *others);
    sides->base_ids = identities(sides->base, sides->pairing->by);
    sides->other_ids = identities(sides->other, sides->pairing->by);
    for (size_t i = 0; i < count; i++)
        found[i] = find_base(sides, i, &others[i]);
    for (size_t i = 0; i < sides->base->cell_count; i++)
        add_of_base(pairs, sides, i, found, others);
    for (size_t i = 0; i < count; i++)
        if (found[i] == NULL)
            add(pairs, sides, NULL, &sides->other->cells[i], false);
    free_identities(sides->base_ids, sides->base->cell_count);
    free_identities(sides->other_ids, count);
    free(others);
    free(found);
}

void fb_matchups_init(struct fb_matchups *pairs, const struct fb_compare_set *sets,
                      size_t set_count, const struct fb_matchup_rule *pairing)
{
    *pairs = (struct fb_matchups){0};
    size_t first = set_count == 1 ? 0 : 1;
    for (size_t set = first; set < set_count; set++) {
        struct sides sides = {
            .base = sets[0].result, .other = sets[set].result, .pairing = pairing, .set = set};
        pair_set(pairs, &sides);
    }
}

void fb_matchups_deinit(struct fb_matchups *pairs)
{
    free(pairs->items);
    *pairs = (struct fb_matchups){0};
}
