#include "tensor_arena/region.h"

#include "tensor_arena/os.h"

#include <string.h>
#include <unistd.h>

/* Address space in multiples of the machine's memory: holes between blocks cost only that. Where
 * the process may not have so much, half of what it may: tables, stacks and files need some. */
enum { MEMORY_FACTOR = 8, ADDRESS_SHARE = 2 };

#define COMMIT_PAGES UINT32_C(8192) /* 32 MiB: one mprotect for so much growth */
#define TABLE_STEP ((size_t)64 << 10)
#define LEAST_BYTES ((size_t)16 << 20)
#define MOST_BYTES ((size_t)1 << 43) /* page numbers stay below 2^31 */

struct ta_region ta_region;

static size_t wanted_bytes(void)
{
    uint64_t wanted = ta_os_memory_bytes() * MEMORY_FACTOR;
    uint64_t share = ta_os_address_bytes() / ADDRESS_SHARE;
    uint64_t bytes = wanted < share ? wanted : share;
    if (bytes > MOST_BYTES)
        return MOST_BYTES;
    return bytes > LEAST_BYTES ? bytes : LEAST_BYTES;
}

static char *align_to_huge(char *start)
{
    size_t huge = (size_t)TA_HUGE_PAGES << TA_PAGE_SHIFT;
    return start + (huge - (uintptr_t)start % huge) % huge;
}

/* The first huge page of each area is left out: page 0 is none, and areas never touch. */
static void lay_out(struct ta_region *region)
{
    uint32_t pages = (uint32_t)(region->bytes >> TA_PAGE_SHIFT);
    uint32_t share = pages / TA_AREAS;
    for (unsigned id = 0; id < TA_AREAS; id++) {
        uint32_t begin = id * share + TA_HUGE_PAGES;
        region->areas[id] = (struct ta_area){
            .begin = begin, .end = (id + 1) * share, .committed = begin, .frontier = begin};
    }
}

int ta_region_open(void)
{
    size_t huge = (size_t)TA_HUGE_PAGES << TA_PAGE_SHIFT;
    for (size_t wanted = wanted_bytes(); wanted >= LEAST_BYTES; wanted /= 2) {
        size_t bytes = wanted / (TA_AREAS * huge) * (TA_AREAS * huge); /* whole huge pages each */
        size_t map_bytes = (bytes >> TA_PAGE_SHIFT) * sizeof(uint32_t);
        char *start = ta_os->reserve(bytes + huge + map_bytes);
        if (start == NULL)
            continue;
        ta_region.base = align_to_huge(start);
        ta_region.bytes = bytes;
        ta_region.map = (_Atomic uint32_t *)(void *)(ta_region.base + bytes);
        ta_region.zero_pages = (size_t)sysconf(_SC_PAGESIZE) <= TA_PAGE;
        lay_out(&ta_region);
        return 0;
    }
    return -1;
}

static size_t to_steps(size_t bytes)
{
    return (bytes + TABLE_STEP - 1) / TABLE_STEP * TABLE_STEP;
}

/* The words of an area begin at the page of memory that holds its first one. */
static int commit_map(enum ta_area_id id, uint32_t end)
{
    const struct ta_area *area = &ta_region.areas[id];
    size_t begin_bytes = (size_t)area->begin * sizeof(uint32_t) / TABLE_STEP * TABLE_STEP;
    size_t end_bytes = to_steps((size_t)end * sizeof(uint32_t));
    size_t limit_bytes = (size_t)area->end * sizeof(uint32_t);
    if (end_bytes > limit_bytes)
        end_bytes = limit_bytes;
    size_t done = begin_bytes + ta_region.map_committed[id];
    if (end_bytes <= done)
        return 0;
    if (ta_os->commit((char *)ta_region.map + done, end_bytes - done) != 0)
        return -1;
    ta_region.map_committed[id] = end_bytes - begin_bytes;
    return 0;
}

int ta_region_commit(enum ta_area_id id, uint32_t end)
{
    struct ta_area *area = &ta_region.areas[id];
    if (end <= area->committed)
        return 0;
    uint32_t wanted = (end + COMMIT_PAGES - 1) / COMMIT_PAGES * COMMIT_PAGES;
    if (wanted > area->end)
        wanted = area->end;
    if (end > wanted || commit_map(id, wanted) != 0)
        return -1;
    size_t bytes = (size_t)(wanted - area->committed) << TA_PAGE_SHIFT;
    char *start = ta_region_address(area->committed);
    if (ta_os->commit(start, bytes) != 0)
        return -1;
    /* Huge pages come where the heap asks for them, also on a system that gives them to everyone.
     */
    (void)ta_os->huge(start, bytes, false);
    area->committed = wanted;
    return 0;
}

/* No more elements than the region has pages: where address space is short, tables are, too. */
int ta_table_open(struct ta_table *table, size_t element_bytes, uint32_t limit)
{
    size_t pages = ta_region.bytes >> TA_PAGE_SHIFT;
    if (table->base != NULL)
        return 0;
    if (limit > pages)
        limit = (uint32_t)pages;
    char *base = ta_os->reserve(to_steps(element_bytes * limit));
    if (base == NULL)
        return -1;
    *table = (struct ta_table){.base = base, .element_bytes = element_bytes, .limit = limit};
    return 0;
}

uint32_t ta_table_take(struct ta_table *table)
{
    uint32_t index = table->free_head;
    if (index != 0) {
        memcpy(&table->free_head, table->base + index * table->element_bytes, sizeof index);
        return index;
    }
    if (table->count + 1 >= table->limit)
        return 0;
    size_t end = (table->count + 2) * table->element_bytes;
    if (end > table->committed_bytes) {
        if (ta_os->commit(table->base + table->committed_bytes, TABLE_STEP) != 0)
            return 0;
        table->committed_bytes += TABLE_STEP;
    }
    return ++table->count;
}

void ta_table_give(struct ta_table *table, uint32_t index)
{
    memcpy(table->base + index * table->element_bytes, &table->free_head, sizeof index);
    table->free_head = index;
}
