#include "preload/recorder_big.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CAPACITY_FIRST 4096U
#define PAGES_A_CALL 4096U /* of mincore: a vector of 4 KiB on the stack */

_Atomic uint8_t fb_big_filter[FB_BIG_FILTER];

struct entry {
    uintptr_t address; /* 0: empty */
    size_t size;       /* 0: the recorder's own */
};

static struct {
    atomic_flag lock;
    struct entry *entries;
    size_t capacity; /* a power of two */
    size_t count;
} table;

static bool fresh_pages;

static void lock(void)
{
    while (atomic_flag_test_and_set(&table.lock))
        (void)sched_yield();
}

static void unlock(void)
{
    atomic_flag_clear(&table.lock);
}

static size_t home_of(uintptr_t address, size_t capacity)
{
    uint64_t mixed = (uint64_t)address * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed ^ mixed >> 32) & (capacity - 1);
}

static size_t find(const struct entry *entries, size_t capacity, uintptr_t address)
{
    size_t at = home_of(address, capacity);
    while (entries[at].address != 0 && entries[at].address != address)
        at = (at + 1) & (capacity - 1);
    return at;
}

static struct entry *map_entries(size_t capacity)
{
    void *memory = mmap(NULL, capacity * sizeof(struct entry), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* false: no memory; the block's share will not be known. */
static bool grow(void)
{
    size_t capacity = table.capacity == 0 ? CAPACITY_FIRST : table.capacity * 2;
    struct entry *entries = map_entries(capacity);
    if (entries == NULL)
        return false;
    for (size_t i = 0; i < table.capacity; i++)
        if (table.entries[i].address != 0)
            entries[find(entries, capacity, table.entries[i].address)] = table.entries[i];
    if (table.entries != NULL)
        (void)munmap(table.entries, table.capacity * sizeof *table.entries);
    fb_log_own((int64_t)((capacity - table.capacity) * sizeof *table.entries));
    table.entries = entries;
    table.capacity = capacity;
    return true;
}

/* A bucket that was full once stays so: it then lets some blocks through that are not there. */
static void count_in(const void *block)
{
    _Atomic uint8_t *bucket = &fb_big_filter[fb_big_place(block)];
    uint8_t count = atomic_load_explicit(bucket, memory_order_relaxed);
    if (count < UINT8_MAX)
        atomic_store_explicit(bucket, (uint8_t)(count + 1), memory_order_relaxed);
}

static void count_out(const void *block)
{
    _Atomic uint8_t *bucket = &fb_big_filter[fb_big_place(block)];
    uint8_t count = atomic_load_explicit(bucket, memory_order_relaxed);
    if (count > 0 && count < UINT8_MAX)
        atomic_store_explicit(bucket, (uint8_t)(count - 1), memory_order_relaxed);
}

void fb_big_add(const void *block, size_t size)
{
    int saved = errno;
    lock();
    if (table.count * 2 < table.capacity || grow()) {
        struct entry *entry = &table.entries[find(table.entries, table.capacity, (uintptr_t)block)];
        if (entry->address == 0) {
            table.count++;
            count_in(block);
        }
        *entry = (struct entry){(uintptr_t)block, size};
    }
    unlock();
    errno = saved;
}

void fb_big_own(const void *block)
{
    fb_big_add(block, 0);
}

/* The pages that a block has to itself. 0: none. */
static size_t own_pages(uintptr_t address, size_t size, uintptr_t *begin)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t end = (address + size) & ~(uintptr_t)(page_bytes - 1);
    *begin = (address + page_bytes - 1) & ~(uintptr_t)(page_bytes - 1);
    return end > *begin ? (end - *begin) / page_bytes : 0;
}

/* What is in a block that was just born is nobody's, and what calloc() zeroed reads as zero again.
 * What the kernel refuses (locked pages) stays as it is. */
void fb_big_born(void *block, size_t size)
{
    fb_big_add(block, size);
    if (!fresh_pages)
        return;
    int saved = errno;
    uintptr_t begin = 0;
    size_t pages = own_pages((uintptr_t)block, size, &begin);
    if (pages > 0)
        (void)madvise((void *)begin, pages * (size_t)sysconf(_SC_PAGESIZE), MADV_DONTNEED);
    errno = saved;
}

/* Closes the gap with what may stand there, and so on (Knuth, TAOCP 3, 6.4, algorithm R). */
static void erase(size_t hole)
{
    size_t mask = table.capacity - 1;
    for (size_t at = (hole + 1) & mask; table.entries[at].address != 0; at = (at + 1) & mask) {
        size_t home = home_of(table.entries[at].address, table.capacity);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        table.entries[hole] = table.entries[at];
        hole = at;
    }
    table.entries[hole].address = 0;
    table.count--;
}

static size_t resident_pages(uintptr_t begin, size_t pages, size_t page_bytes)
{
    unsigned char vector[PAGES_A_CALL];
    size_t resident = 0;
    for (size_t done = 0; done < pages; done += PAGES_A_CALL) {
        size_t now = pages - done < PAGES_A_CALL ? pages - done : PAGES_A_CALL;
        if (mincore((void *)(begin + done * page_bytes), now * page_bytes, vector) != 0)
            return pages;
        for (size_t i = 0; i < now; i++)
            resident += vector[i] & 1U;
    }
    return resident;
}

/* In sixteenths, rounded up: a little written is not nothing. The pages that the block shares with
 * others are left out where it has pages of its own. mincore rather than the page map, which would
 * need a file that the program might close; it takes a page that was swapped out for untouched. */
static unsigned share_of(uintptr_t address, size_t size)
{
    uintptr_t begin = 0;
    size_t pages = own_pages(address, size, &begin);
    if (pages == 0)
        return FB_SPOOL_SHARES;
    size_t resident = resident_pages(begin, pages, (size_t)sysconf(_SC_PAGESIZE));
    return (unsigned)((resident * FB_SPOOL_SHARES + pages - 1) / pages);
}

unsigned fb_big_take(const void *block, bool measure)
{
    int saved = errno;
    size_t size = 0;
    bool there = false;
    lock();
    if (table.capacity != 0) {
        size_t at = find(table.entries, table.capacity, (uintptr_t)block);
        if (table.entries[at].address != 0) {
            there = true;
            size = table.entries[at].size;
            erase(at);
            count_out(block);
        }
    }
    unlock();
    unsigned share = size > 0 && measure ? share_of((uintptr_t)block, size) + 1 : 0;
    errno = saved;
    return there && size == 0 ? FB_BIG_OWN : share;
}

/* Entry by entry, the lock not held while the record is made: that may wait for room. */
static bool entry_at(size_t index, struct entry *entry, bool *more)
{
    lock();
    *more = index < table.capacity;
    if (*more)
        *entry = table.entries[index];
    unlock();
    return *more && entry->address != 0 && entry->size != 0;
}

void fb_big_note_all(struct fb_log_thread *thread)
{
    bool more = true;
    for (size_t i = 0; more; i++) {
        struct entry entry;
        if (!entry_at(i, &entry, &more) || !fb_log_enter(thread))
            continue;
        fb_log_address(thread, FB_SPOOL_SHARE, share_of(entry.address, entry.size) + 1,
                       (void *)entry.address);
        fb_log_leave(thread);
    }
}

size_t fb_big_bytes(void)
{
    return table.capacity * sizeof *table.entries;
}

void fb_big_open(void)
{
    const char *fresh = environ != NULL ? getenv(FB_SPOOL_FRESH_VARIABLE) : NULL;
    fresh_pages = fresh_pages || (fresh != NULL && *fresh == '1');
    if (table.entries != NULL)
        memset(table.entries, 0, table.capacity * sizeof *table.entries);
    table.count = 0;
    for (size_t i = 0; i < FB_BIG_FILTER; i++)
        atomic_store_explicit(&fb_big_filter[i], 0, memory_order_relaxed);
    atomic_flag_clear(&table.lock);
}
