/* The allocator's own account, by kind: the public interfaces of each, into one vocabulary. */
#include "worker/explain.h"

#include "worker/foreign.h"

#include <stdint.h>

/* In the order of enum fb_account of result/attribution.h, which a test holds. */
enum { ALLOCATED, ACTIVE, RESIDENT, RETAINED, METADATA };

/* mallinfo2() counts chunks: headers and what thread caches hold are in use to it. It does not
 * know which of its pages malloc_trim has given back. glibc ≥ 2.33 and scudo ≥ 14 have it. */
static void read_mallinfo(uint64_t *account)
{
    if (mallinfo2 == NULL)
        return;
    struct fb_mallinfo info = mallinfo2();
    account[ALLOCATED] = info.uordblks + info.hblkhd;
    account[RESIDENT] = info.arena + info.hblkhd;
}

/* Scudo fills the same struct with other meanings: hblkhd is all that it mapped. */
static void read_scudo(uint64_t *account)
{
    if (mallinfo2 == NULL)
        return;
    struct fb_mallinfo info = mallinfo2();
    account[ALLOCATED] = info.uordblks;
    account[RETAINED] = info.fordblks;
}

static void read_jemalloc(uint64_t *account)
{
    static const struct {
        const char *name;
        int account;
    } rows[] = {
        {"stats.allocated", ALLOCATED}, {"stats.active", ACTIVE},     {"stats.resident", RESIDENT},
        {"stats.retained", RETAINED},   {"stats.metadata", METADATA},
    };
    uint64_t epoch = 1; /* statistics are as of the last write to it */
    if (mallctl == NULL || mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) != 0)
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t value, size = sizeof value;
        if (mallctl(rows[i].name, &value, &size, NULL, 0) == 0)
            account[rows[i].account] = value;
    }
}

static bool property(const char *name, uint64_t *value)
{
    size_t read = 0;
    if (!MallocExtension_GetNumericProperty(name, &read))
        return false;
    *value = read;
    return true;
}

/* gperftools: the heap is what came from the system, given back (unmapped) or not. */
static void read_tcmalloc(uint64_t *account)
{
    uint64_t heap, unmapped, page_heap_free, physical;
    if (MallocExtension_GetNumericProperty == NULL)
        return;
    (void)property("generic.current_allocated_bytes", &account[ALLOCATED]);
    if (!property("generic.heap_size", &heap) ||
        !property("tcmalloc.pageheap_unmapped_bytes", &unmapped))
        return;
    account[RETAINED] = unmapped;
    if (property("tcmalloc.pageheap_free_bytes", &page_heap_free))
        account[ACTIVE] = heap - unmapped - page_heap_free;
    if (property("generic.total_physical_bytes", &physical)) {
        account[RESIDENT] = physical;
        account[METADATA] = physical + unmapped > heap ? physical + unmapped - heap : 0;
    }
}

/* mimalloc's release build counts segments, not blocks: committed is all there is. */
static void read_mimalloc(uint64_t *account)
{
    size_t elapsed, user, system, resident, peak_resident, committed, peak_committed, faults;
    if (mi_process_info == NULL)
        return;
    mi_process_info(&elapsed, &user, &system, &resident, &peak_resident, &committed,
                    &peak_committed, &faults);
    account[RESIDENT] = committed;
}

void fb_explain_account(struct fb_shared *shared, enum fb_purge kind)
{
    for (int i = 0; i < FB_OWN_ACCOUNT_COUNT; i++)
        shared->own_account[i] = FB_OWN_ACCOUNT_NA;
    static void (*const readers[])(uint64_t * account) = {
        [FB_PURGE_GLIBC] = read_mallinfo,    [FB_PURGE_JEMALLOC] = read_jemalloc,
        [FB_PURGE_TCMALLOC] = read_tcmalloc, [FB_PURGE_MIMALLOC] = read_mimalloc,
        [FB_PURGE_SCUDO] = read_scudo,
    };
    if ((size_t)kind < sizeof readers / sizeof *readers && readers[kind] != NULL)
        readers[kind](shared->own_account);
}
