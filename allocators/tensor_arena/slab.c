#include "tensor_arena/slab.h"

#include "preload/contract.h"
#include "tensor_arena/heap.h"

enum { QUARTERS = 4, LOOKED_AT = 8, BITS = 64, WORDS = TA_SLAB_SLOTS / BITS };

struct slab {
    uint32_t first; /* page; the table's free list runs through here */
    uint32_t next, prev;
    uint32_t run;
    uint16_t free;
    uint8_t class;
    uint8_t quarter;      /* of the list it is in; QUARTERS = in none */
    uint64_t bits[WORDS]; /* 1 = free */
};

struct bin {
    struct ta_lock lock;
    uint32_t current;
    uint32_t partial[QUARTERS]; /* by free share, fullest first */
    uint64_t slabs, free_slots;
} __attribute__((aligned(64)));

static struct {
    struct ta_lock table_lock;
    struct ta_table table;
    struct bin bins[TA_CLASSES];
} slabs;

static struct slab *slab_at(uint32_t index)
{
    return (struct slab *)(void *)slabs.table.base + index;
}

int ta_slabs_open(void)
{
    return ta_table_open(&slabs.table, sizeof(struct slab), TA_INDEX_LIMIT);
}

static void link_partial(struct bin *bin, uint32_t index)
{
    struct slab *slab = slab_at(index);
    slab->quarter = (uint8_t)(slab->free * QUARTERS / (ta_classes[slab->class].slots + 1U));
    uint32_t *head = &bin->partial[slab->quarter];
    slab->prev = 0;
    slab->next = *head;
    if (*head != 0)
        slab_at(*head)->prev = index;
    *head = index;
}

static void unlink_partial(struct bin *bin, uint32_t index)
{
    struct slab *slab = slab_at(index);
    if (slab->prev != 0)
        slab_at(slab->prev)->next = slab->next;
    else
        bin->partial[slab->quarter] = slab->next;
    if (slab->next != 0)
        slab_at(slab->next)->prev = slab->prev;
    slab->quarter = QUARTERS;
}

static void fill_bits(struct slab *slab, uint32_t slots)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t left = slots > i * BITS ? slots - i * BITS : 0;
        slab->bits[i] = left >= BITS ? UINT64_MAX : (UINT64_C(1) << left) - 1;
    }
}

static uint32_t take_record(void)
{
    ta_lock(&slabs.table_lock);
    uint32_t index = ta_table_take(&slabs.table);
    ta_unlock(&slabs.table_lock);
    return index;
}

static void give_record(uint32_t index)
{
    ta_lock(&slabs.table_lock);
    ta_table_give(&slabs.table, index);
    ta_unlock(&slabs.table_lock);
}

static uint32_t make_slab(struct bin *bin, uint32_t class)
{
    const struct ta_class *kind = &ta_classes[class];
    bool zeroed;
    uint32_t index = take_record();
    if (index == 0)
        return 0;
    uint32_t run = ta_heap_take(TA_AREA_SMALL, kind->pages, 1, &zeroed);
    if (run == 0) {
        give_record(index);
        return 0;
    }
    struct slab *slab = slab_at(index);
    *slab = (struct slab){.first = ta_run_at(run)->first,
                          .run = run,
                          .free = kind->slots,
                          .class = (uint8_t) class,
                          .quarter = QUARTERS};
    fill_bits(slab, kind->slots);
    for (uint32_t page = 0; page < kind->pages; page++)
        ta_region_mark(slab->first + page, TA_WORD(TA_KIND_SLAB, class, index));
    bin->slabs++;
    bin->free_slots += kind->slots;
    return index;
}

static void drop_slab(struct bin *bin, uint32_t index)
{
    const struct slab *slab = slab_at(index);
    uint32_t run = slab->run;
    bin->slabs--;
    bin->free_slots -= slab->free;
    give_record(index);
    ta_heap_give(run);
}

/* The lowest among the first few of the fullest. */
static uint32_t pick(const struct bin *bin)
{
    for (uint32_t quarter = 0; quarter < QUARTERS; quarter++) {
        uint32_t best = bin->partial[quarter], other = best;
        for (uint32_t i = 0; i < LOOKED_AT && other != 0; i++) {
            if (slab_at(other)->first < slab_at(best)->first)
                best = other;
            other = slab_at(other)->next;
        }
        if (best != 0)
            return best;
    }
    return 0;
}

static bool advance(struct bin *bin, uint32_t class)
{
    uint32_t index = pick(bin);
    if (index != 0)
        unlink_partial(bin, index);
    else
        index = make_slab(bin, class);
    bin->current = index;
    return index != 0;
}

/* Up to `count` of the slab's lowest free blocks onto the list. */
static uint32_t take_from(struct slab *slab, uint32_t count, struct ta_block **list)
{
    char *base = ta_region_address(slab->first);
    size_t size = ta_classes[slab->class].size;
    uint32_t taken = 0;
    for (uint32_t word = 0; word < WORDS && taken < count; word++) {
        uint64_t bits = slab->bits[word];
        while (bits != 0 && taken < count) {
            uint32_t slot = word * BITS + (uint32_t)__builtin_ctzll(bits);
            struct ta_block *block = (struct ta_block *)(void *)(base + slot * size);
            bits &= bits - 1;
            block->next = *list;
            *list = block;
            taken++;
        }
        slab->bits[word] = bits;
    }
    slab->free = (uint16_t)(slab->free - taken);
    return taken;
}

uint32_t ta_slabs_take(uint32_t class, uint32_t count, struct ta_block **list)
{
    struct bin *bin = &slabs.bins[class];
    uint32_t taken = 0;
    *list = NULL;
    ta_lock(&bin->lock);
    while (taken < count) {
        if (bin->current == 0 && !advance(bin, class))
            break;
        struct slab *slab = slab_at(bin->current);
        taken += take_from(slab, count - taken, list);
        if (slab->free == 0)
            bin->current = 0; /* full: found again by the first of its blocks that is freed */
    }
    bin->free_slots -= taken;
    ta_unlock(&bin->lock);
    return taken;
}

/* Where a slab belongs after a block came back. */
static void reshelve(struct bin *bin, uint32_t index)
{
    struct slab *slab = slab_at(index);
    uint32_t slots = ta_classes[slab->class].slots;
    if (slab->free == slots) {
        if (slab->quarter != QUARTERS)
            unlink_partial(bin, index);
        if (bin->current == index)
            bin->current = 0;
        drop_slab(bin, index);
    } else if (bin->current != index && slab->quarter != slab->free * QUARTERS / (slots + 1U)) {
        if (slab->quarter != QUARTERS)
            unlink_partial(bin, index);
        link_partial(bin, index);
    }
}

static void give_block(struct bin *bin, uint32_t class, void *block)
{
    uint32_t index = TA_WORD_INDEX(ta_region_word(ta_region_page(block)));
    struct slab *slab = slab_at(index);
    size_t offset = (size_t)((char *)block - (char *)ta_region_address(slab->first));
    uint32_t slot = (uint32_t)((uint64_t)offset * ta_classes[class].reciprocal >> 32);
    uint64_t bit = UINT64_C(1) << slot % BITS;
    if ((size_t)slot * ta_classes[class].size != offset)
        fba_panic("a pointer into the middle of a block was freed");
    if ((slab->bits[slot / BITS] & bit) != 0)
        fba_panic("a block was freed twice");
    slab->bits[slot / BITS] |= bit;
    slab->free++;
    bin->free_slots++;
    reshelve(bin, index);
}

void ta_slabs_give(uint32_t class, struct ta_block *list, uint32_t count)
{
    struct bin *bin = &slabs.bins[class];
    ta_lock(&bin->lock);
    while (count-- != 0) {
        struct ta_block *next = list->next;
        give_block(bin, class, list);
        list = next;
    }
    ta_unlock(&bin->lock);
}

void ta_slabs_count(struct ta_slab_counts *out)
{
    *out = (struct ta_slab_counts){0};
    for (uint32_t i = 0; i < TA_CLASSES; i++) {
        struct bin *bin = &slabs.bins[i];
        ta_lock(&bin->lock);
        out->slabs += bin->slabs;
        out->slots += bin->slabs * ta_classes[i].slots;
        out->free_slots += bin->free_slots;
        ta_unlock(&bin->lock);
    }
}

void ta_slabs_lock(void)
{
    for (uint32_t i = 0; i < TA_CLASSES; i++)
        ta_lock(&slabs.bins[i].lock);
    ta_lock(&slabs.table_lock);
}

void ta_slabs_unlock(void)
{
    ta_unlock(&slabs.table_lock);
    for (uint32_t i = 0; i < TA_CLASSES; i++)
        ta_unlock(&slabs.bins[i].lock);
}
