#include "tensor_arena/direct.h"

#include "tensor_arena/os.h"
#include "tensor_arena/region.h"

#include <string.h>

enum { FIRST_SLOTS = 256 };

struct entry {
    uintptr_t start; /* 0 = free */
    size_t bytes;
};

static struct {
    struct ta_lock lock;
    struct entry *table;
    size_t slots; /* a power of two */
    size_t blocks, bytes;
} direct;

static size_t home(uintptr_t start)
{
    return (size_t)((start >> TA_PAGE_SHIFT) * UINT64_C(0x9E3779B97F4A7C15) >> 20) &
           (direct.slots - 1);
}

/* The slot of a block, or the free one where it would go; there is a table. */
static size_t probe(uintptr_t start)
{
    size_t slot = home(start);
    while (direct.table[slot].start != 0 && direct.table[slot].start != start)
        slot = (slot + 1) & (direct.slots - 1);
    return slot;
}

static bool make_room(void)
{
    if (direct.table != NULL && (direct.blocks + 1) * 2 <= direct.slots)
        return true;
    size_t old_slots = direct.slots, slots = old_slots == 0 ? FIRST_SLOTS : old_slots * 2;
    struct entry *old = direct.table, *table = ta_os->map(slots * sizeof *table);
    if (table == NULL)
        return false;
    direct.table = table;
    direct.slots = slots;
    for (size_t i = 0; old != NULL && i < old_slots; i++) {
        if (old[i].start != 0)
            table[probe(old[i].start)] = old[i];
    }
    if (old != NULL)
        ta_os->unmap(old, old_slots * sizeof *old);
    return true;
}

static void add(uintptr_t start, size_t bytes)
{
    direct.table[probe(start)] = (struct entry){.start = start, .bytes = bytes};
    direct.blocks++;
    direct.bytes += bytes;
}

/* Closes the gap: what stands behind it and would rather be in it moves up. */
static void take_out(size_t slot)
{
    size_t mask = direct.slots - 1;
    direct.blocks--;
    direct.bytes -= direct.table[slot].bytes;
    for (size_t next = (slot + 1) & mask; direct.table[next].start != 0; next = (next + 1) & mask) {
        size_t wish = home(direct.table[next].start);
        if (((next - wish) & mask) >= ((next - slot) & mask)) {
            direct.table[slot] = direct.table[next];
            slot = next;
        }
    }
    direct.table[slot].start = 0;
}

static bool round_up(size_t size, size_t *bytes)
{
    return !__builtin_add_overflow(size, TA_PAGE - 1, bytes) && (*bytes &= ~(TA_PAGE - 1)) != 0;
}

/* Maps more than needed and lets go of both ends. */
static char *map_aligned(size_t bytes, size_t align)
{
    size_t all;
    if (align <= TA_PAGE)
        return ta_os->map(bytes);
    if (__builtin_add_overflow(bytes, align, &all))
        return NULL;
    char *start = ta_os->map(all);
    if (start == NULL)
        return NULL;
    size_t skip = (align - (uintptr_t)start % align) % align;
    if (skip != 0)
        ta_os->unmap(start, skip);
    ta_os->unmap(start + skip + bytes, align - skip);
    return start + skip;
}

void *ta_direct_take(size_t size, size_t align)
{
    size_t huge = (size_t)TA_HUGE_PAGES << TA_PAGE_SHIFT;
    size_t bytes;
    if (!round_up(size, &bytes))
        return NULL;
    char *start = map_aligned(bytes, bytes >= huge && align < huge ? huge : align);
    if (start == NULL)
        return NULL;
    if (bytes >= huge)
        (void)ta_os->huge(start, bytes, true); /* all of it: mremap takes no two mappings at once */
    ta_lock(&direct.lock);
    bool room = make_room();
    if (room)
        add((uintptr_t)start, bytes);
    ta_unlock(&direct.lock);
    if (!room)
        ta_os->unmap(start, bytes);
    return room ? start : NULL;
}

size_t ta_direct_usable(const void *block)
{
    ta_lock(&direct.lock);
    size_t bytes = 0;
    if (direct.table != NULL && direct.table[probe((uintptr_t)block)].start != 0)
        bytes = direct.table[probe((uintptr_t)block)].bytes;
    ta_unlock(&direct.lock);
    return bytes;
}

bool ta_direct_give(void *block)
{
    size_t bytes = ta_direct_usable(block);
    if (bytes == 0)
        return false;
    ta_lock(&direct.lock);
    take_out(probe((uintptr_t)block));
    ta_unlock(&direct.lock);
    ta_os->unmap(block, bytes);
    return true;
}

/* Another block may get the old address before the table knows: so the lock is held over the call.
 */
void *ta_direct_resize(void *block, size_t size)
{
    size_t bytes, old = ta_direct_usable(block);
    if (old == 0 || !round_up(size, &bytes))
        return NULL;
    if (bytes == old)
        return block;
    ta_lock(&direct.lock);
    void *moved = ta_os->remap(block, old, bytes);
    if (moved != NULL) {
        take_out(probe((uintptr_t)block));
        add((uintptr_t)moved, bytes);
    }
    ta_unlock(&direct.lock);
    return moved;
}

void ta_direct_count(uint64_t *blocks, uint64_t *bytes)
{
    ta_lock(&direct.lock);
    *blocks = direct.blocks;
    *bytes = direct.bytes;
    ta_unlock(&direct.lock);
}

void ta_direct_lock(void)
{
    ta_lock(&direct.lock);
}

void ta_direct_unlock(void)
{
    ta_unlock(&direct.lock);
}
