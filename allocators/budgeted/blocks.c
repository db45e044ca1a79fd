#include "budgeted/blocks.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_SLOTS 512 /* a power of two; 12 KiB */
#define VECTOR_PAGES 4096
#define NEWEST 16

struct entry {
    uintptr_t address; /* 0 = empty */
    size_t bytes;
    size_t touched_pages; /* from the beginning on */
    size_t untouched;     /* bytes, when last looked at */
};

static struct {
    pthread_mutex_t lock;
    struct entry *slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t used;
    size_t untouched;         /* sum over the table */
    uintptr_t newest[NEWEST]; /* a ring of addresses; most likely to have been touched since */
    size_t added;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Fibonacci hashing: blocks lie on multiples of pages. */
static size_t home_of(uintptr_t address, size_t slot_count)
{
    return (size_t)((address * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (slot_count - 1);
}

static struct entry *slot_of(struct entry *slots, size_t slot_count, uintptr_t address)
{
    size_t at = home_of(address, slot_count);
    while (slots[at].address != 0 && slots[at].address != address)
        at = (at + 1) & (slot_count - 1);
    return &slots[at];
}

static bool grow(void)
{
    size_t count = state.slot_count != 0 ? 2 * state.slot_count : FIRST_SLOTS;
    int saved = errno;
    struct entry *slots = mmap(NULL, count * sizeof *slots, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved;
    if (slots == MAP_FAILED)
        return false;
    for (size_t i = 0; i < state.slot_count; i++) {
        if (state.slots[i].address != 0)
            *slot_of(slots, count, state.slots[i].address) = state.slots[i];
    }
    if (state.slots != NULL)
        (void)munmap(state.slots, state.slot_count * sizeof *slots);
    state.slots = slots;
    state.slot_count = count;
    return true;
}

bool fba_blocks_add(void *block, size_t bytes)
{
    (void)pthread_mutex_lock(&state.lock);
    bool room = 2 * (state.used + 1) <= state.slot_count || grow();
    if (room) {
        struct entry *slot = slot_of(state.slots, state.slot_count, (uintptr_t)block);
        *slot = (struct entry){.address = (uintptr_t)block, .bytes = bytes, .untouched = bytes};
        state.newest[state.added++ % NEWEST] = (uintptr_t)block;
        state.untouched += bytes;
        state.used++;
    }
    (void)pthread_mutex_unlock(&state.lock);
    return room;
}

/* Empties a slot and moves back those behind it that would no longer be found. */
static void empty(size_t hole)
{
    size_t mask = state.slot_count - 1;
    state.untouched -= state.slots[hole].untouched;
    for (size_t at = (hole + 1) & mask; state.slots[at].address != 0; at = (at + 1) & mask) {
        size_t home = home_of(state.slots[at].address, state.slot_count);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            state.slots[hole] = state.slots[at];
            hole = at;
        }
    }
    state.slots[hole].address = 0;
    state.used--;
}

void fba_blocks_remove(void *block)
{
    (void)pthread_mutex_lock(&state.lock);
    if (state.slot_count != 0) {
        struct entry *slot = slot_of(state.slots, state.slot_count, (uintptr_t)block);
        if (slot->address != 0)
            empty((size_t)(slot - state.slots));
    }
    (void)pthread_mutex_unlock(&state.lock);
}

/* Pages of [first, first + count) that are not resident; *leading: resident ones before the first
 * that is not. What cannot be asked counts as not resident. */
static size_t absent_pages(uintptr_t first, size_t count, size_t page, size_t *leading)
{
    unsigned char vector[VECTOR_PAGES];
    size_t absent = 0;
    *leading = 0;
    for (size_t done = 0; done < count;) {
        size_t part = count - done < VECTOR_PAGES ? count - done : VECTOR_PAGES;
        bool known = mincore((void *)(first + done * page), part * page, vector) == 0;
        for (size_t i = 0; i < part; i++) {
            bool resident = known && (vector[i] & 1) != 0;
            absent += !resident;
            *leading += resident && absent == 0;
        }
        done += part;
    }
    return absent;
}

static void look_at(struct entry *entry, size_t page)
{
    uintptr_t first = entry->address & ~(uintptr_t)(page - 1);
    size_t pages = (entry->address + entry->bytes - first + page - 1) / page, leading = 0,
           absent = 0;
    if (entry->untouched == 0)
        return; /* what was touched stays so while the block is handed out */
    if (entry->touched_pages < pages)
        absent = absent_pages(first + entry->touched_pages * page, pages - entry->touched_pages,
                              page, &leading);
    entry->touched_pages += leading;
    state.untouched = state.untouched - entry->untouched + absent * page;
    entry->untouched = absent * page;
}

static void look_at_newest(size_t page, size_t enough)
{
    for (size_t i = 0; i < NEWEST && state.untouched > enough; i++) {
        uintptr_t address = state.newest[(state.added - 1 - i) % NEWEST];
        struct entry *entry = slot_of(state.slots, state.slot_count, address);
        if (address != 0 && entry->address == address)
            look_at(entry, page);
    }
}

size_t fba_blocks_untouched(size_t enough)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int saved = errno;
    (void)pthread_mutex_lock(&state.lock);
    if (state.slot_count != 0)
        look_at_newest(page, enough);
    for (size_t i = 0; i < state.slot_count && state.untouched > enough; i++) {
        if (state.slots[i].address != 0)
            look_at(&state.slots[i], page);
    }
    size_t untouched = state.untouched;
    (void)pthread_mutex_unlock(&state.lock);
    errno = saved;
    return untouched;
}

size_t fba_blocks_count(void)
{
    (void)pthread_mutex_lock(&state.lock);
    size_t used = state.used;
    (void)pthread_mutex_unlock(&state.lock);
    return used;
}

void fba_blocks_fork_prepare(void)
{
    (void)pthread_mutex_lock(&state.lock);
}

void fba_blocks_fork_done(void)
{
    (void)pthread_mutex_unlock(&state.lock);
}
