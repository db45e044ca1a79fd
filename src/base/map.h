/* A hash map from 64-bit keys to 64-bit values: addresses or object numbers to what is known of
 * them.
 *
 * Open addressing with linear probing, at most two thirds full; deletion moves later entries back,
 * so nothing but live entries is ever probed. A key is never UINT64_MAX. Zero-initialised is
 * empty; the owner calls deinit. Not shared between threads.
 */
#ifndef FB_BASE_MAP_H
#define FB_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fb_map_entry {
    uint64_t key;
    uint64_t value;
};

struct fb_map {
    struct fb_map_entry *entries;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
};

void fb_map_deinit(struct fb_map *map);
/* Adds or replaces. */
void fb_map_put(struct fb_map *map, uint64_t key, uint64_t value);
/* Whether the key is there; then *value is its value. */
bool fb_map_get(const struct fb_map *map, uint64_t key, uint64_t *value);
/* The same, and removes it. */
bool fb_map_take(struct fb_map *map, uint64_t key, uint64_t *value);

#endif
