#include "base/map.h"

#include "base/alloc.h"

#include <stdlib.h>

#define EMPTY UINT64_MAX
#define CAPACITY_FIRST 1024U

void fb_map_deinit(struct fb_map *map)
{
    free(map->entries);
    *map = (struct fb_map){0};
}

/* Fibonacci hashing (Knuth, TAOCP 3, 6.4), the high half folded in: addresses differ in the middle
 * bits, numbers in the low ones. */
static size_t home_of(const struct fb_map *map, uint64_t key)
{
    uint64_t mixed = key * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed ^ mixed >> 32) & (map->capacity - 1);
}

/* The key's place, or the empty one where it would be put. */
static size_t find(const struct fb_map *map, uint64_t key)
{
    size_t at = home_of(map, key);
    while (map->entries[at].key != EMPTY && map->entries[at].key != key)
        at = (at + 1) & (map->capacity - 1);
    return at;
}

static void grow(struct fb_map *map)
{
    struct fb_map larger = {.capacity = map->capacity == 0 ? CAPACITY_FIRST : map->capacity * 2,
                            .count = map->count};
    larger.entries = fb_alloc(larger.capacity, sizeof *larger.entries);
    for (size_t i = 0; i < larger.capacity; i++)
        larger.entries[i].key = EMPTY;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].key != EMPTY)
            larger.entries[find(&larger, map->entries[i].key)] = map->entries[i];
    free(map->entries);
    *map = larger;
}

void fb_map_put(struct fb_map *map, uint64_t key, uint64_t value)
{
    if (map->count * 3 >= map->capacity * 2)
        grow(map);
    struct fb_map_entry *entry = &map->entries[find(map, key)];
    map->count += entry->key == EMPTY;
    *entry = (struct fb_map_entry){key, value};
}

bool fb_map_get(const struct fb_map *map, uint64_t key, uint64_t *value)
{
    if (map->count == 0)
        return false;
    const struct fb_map_entry *entry = &map->entries[find(map, key)];
    if (entry->key == EMPTY)
        return false;
    *value = entry->value;
    return true;
}

/* Fills the hole with the next entry that may stand there (Knuth's algorithm R), and so on. */
static void close_hole(struct fb_map *map, size_t hole)
{
    size_t mask = map->capacity - 1;
    for (size_t at = (hole + 1) & mask; map->entries[at].key != EMPTY; at = (at + 1) & mask) {
        size_t home = home_of(map, map->entries[at].key);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue; /* its home lies behind the hole */
        map->entries[hole] = map->entries[at];
        hole = at;
    }
    map->entries[hole].key = EMPTY;
}

bool fb_map_take(struct fb_map *map, uint64_t key, uint64_t *value)
{
    if (map->count == 0)
        return false;
    size_t at = find(map, key);
    if (map->entries[at].key == EMPTY)
        return false;
    *value = map->entries[at].value;
    map->count--;
    close_hole(map, at);
    return true;
}
