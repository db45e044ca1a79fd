#include "tensor_arena/classes.h"

#include "tensor_arena/region.h"

enum {
    FEWEST_SLOTS = 8,
    TAIL_SHARE = 64,       /* of a slab may be left over at its end */
    PAGES_OWN_FROM = 8192, /* from here a block gets pages of its own … */
    PAGES_OWN_SHARE = 32,  /* … where the last page wastes at most this share */
    SLAB_BYTES = 64 << 10, /* at most, unless that were fewer than FEWEST_SLOTS */
    BATCH_BYTES = 16 << 10,
    BATCH_MOST = 64,
};

static const uint32_t coarse_sizes[] = {4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20};

struct ta_class ta_classes[TA_CLASSES];

static bool coarse_ladder;

static uint32_t size_of(uint32_t class)
{
    if (class >= TA_FINE_CLASSES)
        return coarse_sizes[class - TA_FINE_CLASSES];
    if (class < 32)
        return (class + 1) * 16;
    uint32_t step = class - 32;
    return (32U << step / 16) * (17 + step % 16);
}

/* What so many pages leave over behind the last slot. */
static uint32_t rest_of(uint32_t pages, uint32_t size)
{
    return pages * (uint32_t)TA_PAGE % size;
}

/* The most pages up to SLAB_BYTES that leave little over; else up to twice as many; else those that
 * leave the smallest share. */
static uint32_t pages_of(uint32_t size)
{
    uint32_t page = (uint32_t)TA_PAGE;
    uint32_t most = size * TA_SLAB_SLOTS < SLAB_BYTES ? size * TA_SLAB_SLOTS : SLAB_BYTES;
    uint32_t fewest = (size * FEWEST_SLOTS + page - 1) / page;
    uint32_t limit = most / page > fewest ? most / page : fewest;
    uint32_t best = limit;
    for (uint32_t i = 0; i <= 2 * limit - fewest; i++) {
        uint32_t pages = i <= limit - fewest ? limit - i : fewest + i;
        if ((uint64_t)rest_of(pages, size) * best < (uint64_t)rest_of(best, size) * pages)
            best = pages;
        if (rest_of(best, size) * TAIL_SHARE <= best * page)
            break;
    }
    return best;
}

static uint32_t within(uint32_t value, uint32_t least, uint32_t most)
{
    if (value < least)
        return least;
    return value > most ? most : value;
}

void ta_classes_open(bool coarse)
{
    coarse_ladder = coarse;
    for (uint32_t i = 0; i < TA_CLASSES; i++) {
        uint32_t size = size_of(i), pages = pages_of(size);
        uint32_t slots = (uint32_t)(pages * TA_PAGE / size);
        uint32_t batch = within(BATCH_BYTES / size, 1, BATCH_MOST);
        ta_classes[i] = (struct ta_class){
            .size = size,
            .reciprocal = (uint32_t)(((UINT64_C(1) << 32) + size - 1) / size),
            .slots = (uint16_t)(slots < TA_SLAB_SLOTS ? slots : TA_SLAB_SLOTS),
            .pages = (uint16_t)pages,
            .batch = (uint16_t)batch,
            .cached = (uint16_t)(2 * batch),
        };
    }
}

static uint32_t coarse_class(size_t size, size_t align)
{
    for (uint32_t i = 0; i < TA_CLASSES - TA_FINE_CLASSES; i++) {
        if (coarse_sizes[i] >= size && align <= TA_PAGE)
            return TA_FINE_CLASSES + i;
    }
    return TA_NO_CLASS;
}

uint32_t ta_class_of(size_t size, size_t align)
{
    if (coarse_ladder && size > TA_QUICK_LIMIT - 1)
        return coarse_class(size, align);
    if (size > TA_FINE_LIMIT || align > TA_PAGE)
        return TA_NO_CLASS;
    size_t rest = (TA_PAGE - size % TA_PAGE) % TA_PAGE;
    if (size >= PAGES_OWN_FROM && rest * PAGES_OWN_SHARE <= size)
        return TA_NO_CLASS;
    uint32_t class = ta_class_fine(size);
    while (class < TA_FINE_CLASSES && ta_classes[class].size % align != 0)
        class ++;
    return class < TA_FINE_CLASSES ? class : TA_NO_CLASS;
}
