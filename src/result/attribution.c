#include "result/attribution.h"

#include "result/snapshot.h"

#include <stdlib.h>

const char *const fb_part_names[FB_PART_COUNT] = {
    "live", "rounding", "holes", "cached", "stuck", "startup", "base",
};

const char *const fb_account_names[FB_ACCOUNT_COUNT] = {
    "allocated", "active", "resident", "retained", "metadata",
};

const char *const fb_extent_names[FB_EXTENT_KIND_COUNT] = {
    "anonymous",
    "heap",
    "library",
    "base",
};

void fb_attribution_free(struct fb_attribution *attribution)
{
    if (attribution == NULL)
        return;
    free(attribution->hostages);
    free(attribution->heat_file);
    free(attribution);
}

uint64_t fb_attribution_sum(const struct fb_attribution *attribution)
{
    uint64_t sum = attribution->free_bytes;
    for (int part = 0; part < FB_PART_COUNT; part++)
        if (part != FB_PART_CACHED && part != FB_PART_STUCK)
            sum += attribution->parts[part];
    return sum;
}
