/* Keys were checked against the libraries named in the package column of Debian 12
 * (the strings in the binary, and what each prints about a wrong key) and against the
 * documentation of later versions, which the since/until columns tell apart. */
#include "allocators/backends.h"

#include <string.h>

#define NUMBER FB_TUNABLE_NUMBER
#define BYTES FB_TUNABLE_BYTES
#define BOOL FB_TUNABLE_BOOL
#define REAL FB_TUNABLE_REAL
#define WORD FB_TUNABLE_WORD
#define WORKER FB_READBACK_WORKER
#define LDSO FB_READBACK_LDSO
#define VERBOSE FB_READBACK_VERBOSE
#define UNREAD FB_READBACK_NONE

/* The GNU C library manual, "Memory Allocation Tunables". A value that does not parse is
 * dropped without a word, hence the read-back through ld.so. */
static const struct fb_tunable glibc_tunables[] = {
    {"arena_max", NUMBER, "count, 0 = by CPUs", "", "", LDSO, false, "most arenas ever made"},
    {"arena_test", NUMBER, "count", "", "", LDSO, false, "arenas before the limit is worked out"},
    {"mmap_threshold", BYTES, "bytes", "", "", LDSO, false,
     "blocks from this size get a mapping of their own; setting it stops the dynamic threshold"},
    {"mmap_max", NUMBER, "count", "", "", LDSO, false, "most blocks with their own mapping"},
    {"trim_threshold", BYTES, "bytes", "", "", LDSO, false,
     "free bytes at the top of the heap that are given back; stops the dynamic threshold"},
    {"top_pad", BYTES, "bytes", "", "", LDSO, false, "extra bytes asked for at each growth"},
    {"tcache_count", NUMBER, "0 … 65535", "2.26", "", LDSO, false,
     "cached chunks per size, thread"},
    {"tcache_max", BYTES, "bytes", "2.26", "", LDSO, false, "largest cached chunk"},
    {"tcache_unsorted_limit", NUMBER, "count, 0 = none", "2.26", "", LDSO, false,
     "chunks looked at in the unsorted list while filling the cache"},
    {"mxfast", BYTES, "bytes", "2.30", "", LDSO, false, "largest fastbin chunk"},
    {"perturb", NUMBER, "0 … 255", "", "", LDSO, false, "fill byte of new and freed blocks"},
    {"check", NUMBER, "0 … 3", "", "", LDSO, false, "heap checks (need libc_malloc_debug)"},
    {"hugetlb", NUMBER, "0, 1 = madvise, 2 = default huge page, or its size", "2.35", "", LDSO,
     false, "huge pages for heaps and mappings"},
};

/* jemalloc(3), "opt.*"; read back by mallctl("opt.KEY"). */
static const struct fb_tunable jemalloc_tunables[] = {
    {"dirty_decay_ms", NUMBER, "ms, 0 = at once, -1 = never", "5.0", "", WORKER, false,
     "time over which unused dirty pages are given back"},
    {"muzzy_decay_ms", NUMBER, "ms, 0 = at once, -1 = never", "5.0", "", WORKER, false,
     "the same from lazily freed to unmapped"},
    {"narenas", NUMBER, "count", "", "", WORKER, false, "arenas (default: 4 a CPU)"},
    {"background_thread", BOOL, "true, false", "5.0", "", WORKER, true,
     "purge from a thread of its own"},
    {"max_background_threads", NUMBER, "count", "5.1", "", WORKER, false, "most of those threads"},
    {"tcache", BOOL, "true, false", "", "", WORKER, false, "per-thread caches"},
    {"tcache_max", BYTES, "bytes", "5.3", "", WORKER, false, "largest cached size"},
    {"lg_tcache_max", NUMBER, "log2 of bytes", "", "", UNREAD, false, "the same, older spelling"},
    {"tcache_nslots_small_max", NUMBER, "count", "5.3", "", WORKER, false,
     "most cached blocks of a small size"},
    {"tcache_nslots_large", NUMBER, "count", "5.3", "", WORKER, false,
     "most cached blocks of a large size"},
    {"tcache_gc_incr_bytes", BYTES, "bytes", "5.3", "", WORKER, false,
     "allocated bytes between two looks at the cache"},
    {"retain", BOOL, "true, false", "5.0", "", WORKER, false, "keep address space for reuse"},
    {"thp", WORD, "default, always, never", "5.1", "", WORKER, false, "transparent huge pages"},
    {"metadata_thp", WORD, "disabled, auto, always", "5.1", "", WORKER, false,
     "huge pages for its own data"},
    {"percpu_arena", WORD, "disabled, percpu, phycpu", "5.0", "", WORKER, false, "an arena a CPU"},
    {"oversize_threshold", BYTES, "bytes, 0 = off", "5.2", "", WORKER, false,
     "sizes that go to an arena of their own, given back at once"},
    {"lg_extent_max_active_fit", NUMBER, "log2 of a ratio", "5.1", "", WORKER, false,
     "largest free extent that may serve a smaller request"},
    {"cache_oblivious", BOOL, "true, false", "5.3.1", "", WORKER, false,
     "shift large blocks within their pages (one page each)"},
    {"hpa", BOOL, "true, false", "5.3", "", WORKER, false, "huge page allocator (experimental)"},
    {"trust_madvise", BOOL, "true, false", "5.3", "", WORKER, false, "MADV_DONTNEED zeroes"},
    {"dss", WORD, "disabled, primary, secondary", "", "", WORKER, false, "use of brk"},
    {"zero", BOOL, "true, false", "", "", WORKER, false, "zero every new block"},
    {"junk", WORD, "true, false, alloc, free", "", "", WORKER, false, "fill blocks with a pattern"},
    {"zero_realloc", WORD, "alloc, free, abort", "5.3", "", WORKER, false, "realloc(p, 0)"},
    {"abort", BOOL, "true, false", "", "", WORKER, false, "abort on warnings"},
    {"abort_conf", BOOL, "true, false", "5.0", "", WORKER, false, "abort on a wrong setting"},
};

/* gperftools docs/tcmalloc.html. The numeric properties of MallocExtension read some back. */
static const struct fb_tunable tcmalloc_tunables[] = {
    {"release_rate", REAL, "0 … 10, 0 = never", "", "", WORKER, false,
     "how fast unused pages are given back"},
    {"aggressive_decommit", BOOL, "true, false", "2.2", "", WORKER, false,
     "give every free page back at once"},
    {"heap_limit_mb", NUMBER, "MiB", "2.2", "", WORKER, false, "largest heap"},
    {"max_total_thread_cache_bytes", BYTES, "512KiB … 1GiB", "", "", WORKER, false,
     "all thread caches together"},
    {"sample_parameter", BYTES, "bytes, 0 = off", "", "", UNREAD, false,
     "heap sampling (the full library only)"},
    {"transfer_num_obj", NUMBER, "count", "2.2", "", UNREAD, false,
     "blocks moved at once between caches"},
    {"large_alloc_report_threshold", BYTES, "bytes", "", "", UNREAD, false,
     "sizes that are reported on stderr"},
    {"disable_memory_release", BOOL, "true, false", "2.7", "", UNREAD, false, "never give back"},
    {"skip_mmap", BOOL, "true, false", "", "", UNREAD, false, "do not use mmap"},
    {"skip_sbrk", BOOL, "true, false", "", "", UNREAD, false, "do not use brk"},
    {"devmem_start", NUMBER, "MiB", "", "", UNREAD, false, "start in /dev/mem"},
    {"devmem_limit", NUMBER, "MiB", "", "", UNREAD, false, "end in /dev/mem"},
    {"memfs_malloc_path", WORD, "path", "", "", UNREAD, false, "hugetlbfs to allocate from"},
    {"memfs_limit_mb", NUMBER, "MiB", "", "", UNREAD, false, "most of it"},
};

/* mimalloc-doc, "Environment Options"; read back from its verbose lines. 2.0.9 renamed reset_delay
 * to decommit_delay and still takes the old name; 2.1 renamed it again, to purge_delay. */
static const struct fb_tunable mimalloc_tunables[] = {
    {"reset_delay", NUMBER, "ms", "", "2.0.99", VERBOSE, false,
     "delay before unused pages are given back, older spelling"},
    {"decommit_delay", NUMBER, "ms", "2.0.9", "2.0.99", VERBOSE, false,
     "delay before unused pages are given back"},
    {"purge_delay", NUMBER, "ms, 0 = at once, -1 = never", "2.1.0", "", VERBOSE, false,
     "delay before unused pages are given back"},
    {"page_reset", BOOL, "0, 1", "", "2.0.99", VERBOSE, false,
     "give back the pages of a free page"},
    {"allow_decommit", BOOL, "0, 1", "2.0.0", "2.0.99", VERBOSE, false,
     "whether pages are given back at all"},
    {"purge_decommits", BOOL, "0, 1", "2.1.0", "", VERBOSE, false,
     "whether giving back decommits or only resets"},
    {"segment_decommit_delay", NUMBER, "ms", "2.0.0", "2.0.99", VERBOSE, false,
     "the same for whole segments"},
    {"decommit_extend_delay", NUMBER, "ms", "2.0.9", "2.0.99", VERBOSE, false,
     "added for each free in the meantime"},
    {"purge_extend_delay", NUMBER, "ms", "2.1.0", "", VERBOSE, false,
     "added for each free in the meantime"},
    {"abandoned_page_decommit", BOOL, "0, 1", "2.0.0", "2.0.99", VERBOSE, false,
     "give back pages that a finished thread left"},
    {"abandoned_page_purge", BOOL, "0, 1", "2.1.0", "", VERBOSE, false,
     "give back pages that a finished thread left"},
    {"eager_commit", BOOL, "0, 1", "", "", VERBOSE, false, "commit whole segments"},
    {"eager_commit_delay", NUMBER, "segments", "", "", VERBOSE, false,
     "first segments of a thread that are not committed eagerly"},
    {"arena_eager_commit", NUMBER, "0, 1, 2", "2.1.0", "", VERBOSE, false, "commit whole arenas"},
    {"arena_reserve", BYTES, "bytes", "2.1.0", "", UNREAD, false, "address space of an arena"},
    {"large_os_pages", BOOL, "0, 1", "", "2.0.99", VERBOSE, false, "2 MiB pages"},
    {"allow_large_os_pages", BOOL, "0, 1", "2.1.0", "", VERBOSE, false, "2 MiB pages"},
    {"reserve_huge_os_pages", NUMBER, "count", "", "", VERBOSE, false, "1 GiB pages at start"},
    {"reserve_huge_os_pages_at", NUMBER, "node", "2.0.0", "", VERBOSE, false, "on this node"},
    {"reserve_os_memory", BYTES, "bytes", "2.0.0", "", UNREAD, false, "reserved at start"},
    {"use_numa_nodes", NUMBER, "count", "", "", VERBOSE, false, "nodes it believes in"},
    {"limit_os_alloc", BOOL, "0, 1", "2.0.0", "2.0.99", VERBOSE, false, "reserved memory only"},
    {"disallow_os_alloc", BOOL, "0, 1", "2.1.0", "", VERBOSE, false, "reserved memory only"},
    {"max_segment_reclaim", NUMBER, "count", "2.0.0", "", VERBOSE, false,
     "abandoned segments looked at in one go"},
    {"destroy_on_exit", BOOL, "0, 1", "2.0.9", "", VERBOSE, false, "release all at exit"},
};

/* LLVM's ScudoHardenedAllocator document; a wrong key is passed over in silence. */
static const struct fb_tunable scudo_tunables[] = {
    {"release_to_os_interval_ms", NUMBER, "ms, -1 = never", "", "", UNREAD, false,
     "least time between two rounds of giving back"},
    {"quarantine_size_kb", NUMBER, "KiB, 0 = off", "", "", UNREAD, false, "freed blocks held back"},
    {"thread_local_quarantine_size_kb", NUMBER, "KiB", "", "", UNREAD, false,
     "the same in a thread's cache"},
    {"quarantine_max_chunk_size", BYTES, "bytes", "", "", UNREAD, false, "largest block held"},
    {"dealloc_type_mismatch", BOOL, "true, false", "", "", UNREAD, false, "check malloc/delete"},
    {"delete_size_mismatch", BOOL, "true, false", "", "", UNREAD, false, "check sized delete"},
    {"zero_contents", BOOL, "true, false", "", "", UNREAD, false, "zero every new block"},
    {"pattern_fill_contents", BOOL, "true, false", "", "", UNREAD, false, "fill new blocks"},
    {"may_return_null", BOOL, "true, false", "", "", UNREAD, false, "NULL instead of abort"},
};

/* oneTBB's "Memory Allocation" reference: the two variables that the library reads. */
static const struct fb_tunable tbb_tunables[] = {
    {"use_huge_pages", BOOL, "0, 1", "", "", UNREAD, false, "huge pages for its regions"},
    {"set_huge_size_threshold", BYTES, "bytes", "", "", UNREAD, false,
     "sizes from which nothing is cached"},
};

/* docs/budgeted.md */
static const struct fb_tunable budgeted_tunables[] = {
    {"budget", BYTES, "bytes", "", "", UNREAD, false, "the limit; none when not given"},
    {"mode", WORD, "charged, footprint", "", "", UNREAD, false,
     "what the budget bounds: handed-out bytes, or what a container is killed for"},
    {"soft", BYTES, "bytes", "", "", UNREAD, false,
     "the limit at which the program is asked to save"},
};

/* docs/request-arena.md */
static const struct fb_tunable request_arena_tunables[] = {
    {"chunk", BYTES, "bytes, 64KiB to 1GiB", "", "", UNREAD, false, "size of a chunk"},
    {"large", BYTES, "bytes", "", "", UNREAD, false, "larger objects go to the inner allocator"},
    {"cap", BYTES, "bytes, 0 = none", "", "", UNREAD, false, "most of the room for one request"},
    {"on_cap", WORD, "spill, refuse", "", "", UNREAD, false, "what happens at the cap"},
    {"pool", BYTES, "bytes", "", "", UNREAD, false, "free chunks that are kept for all threads"},
    {"range", BYTES, "bytes", "", "", UNREAD, false, "address space set aside for chunks"},
    {"debug", BOOL, "0, 1", "", "", UNREAD, false, "find pointers used after their scope ended"},
};

/* docs/tensor-arena.md */
static const struct fb_tunable tensor_arena_tunables[] = {
    {"ladder", WORD, "fine, coarse", "", "", UNREAD, false,
     "size classes: 16 to a doubling, or 4, 16, 64, 256 KiB and 1 MiB alone from 4 KiB on"},
    {"large", BYTES, "bytes", "", "", UNREAD, false,
     "from here blocks lie apart from the small ones (default 64KiB)"},
    {"direct", BYTES, "bytes", "", "", UNREAD, false,
     "from here a block is a mapping of its own, returned at once, as with 4MiB (default: none)"},
    {"huge", BOOL, "0, 1", "", "", UNREAD, false, "ask for huge pages (default 1)"},
    {"cache", BYTES, "bytes", "", "", UNREAD, false,
     "most free memory that stays resident, whatever was learnt (default: no limit)"},
    {"keep", WORD, "learn, peak, all, none", "", "", UNREAD, false,
     "which free memory stays: as learnt, all up to the peak, all, none"},
};

static const char *const no_libraries[] = {NULL};
static const char *const budgeted_libraries[] = {"libfragbench-budgeted.so", NULL};
static const char *const request_arena_libraries[] = {"libfragbench-request-arena.so", NULL};
static const char *const tensor_arena_libraries[] = {"libfragbench-tensor-arena.so", NULL};
static const char *const jemalloc_libraries[] = {"libjemalloc.so.2", "libjemalloc.so", NULL};
static const char *const tcmalloc_libraries[] = {"libtcmalloc_minimal.so.4", "libtcmalloc.so.4",
                                                 NULL};
static const char *const mimalloc_libraries[] = {"libmimalloc.so.2", "libmimalloc.so.3",
                                                 "libmimalloc.so", NULL};
static const char *const scudo_libraries[] = {
    "/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.scudo_standalone-*.so",
    "/usr/lib/llvm-*/lib/clang/*/lib/*-linux-gnu/libclang_rt.scudo_standalone.so",
    "libscudo_standalone.so", NULL};
static const char *const tbb_libraries[] = {"libtbbmalloc_proxy.so.2", NULL};

#define TUNABLES(rows) .tunables = (rows), .tunable_count = sizeof(rows) / sizeof((rows)[0])

const struct fb_backend fb_backends[] = {
    {.name = "ptmalloc2",
     .alias = "glibc",
     .libraries = no_libraries,
     .symbol = "gnu_get_libc_version",
     .style = FB_TUNABLES_GLIBC,
     .variable = "GLIBC_TUNABLES",
     .separator = ':',
     .assign = '=',
     TUNABLES(glibc_tunables),
     .purge = FB_BACKEND_PURGE_GLIBC,
     .flags = FB_BACKEND_DEFAULT | FB_BACKEND_LIBC,
     .help = "the GNU C library's own malloc"},
    {.name = "jemalloc",
     .package = "libjemalloc2",
     .libraries = jemalloc_libraries,
     .symbol = "mallctl",
     .style = FB_TUNABLES_LIST,
     .variable = "MALLOC_CONF",
     .separator = ',',
     .assign = ':',
     TUNABLES(jemalloc_tunables),
     .purge = FB_BACKEND_PURGE_JEMALLOC,
     .flags = FB_BACKEND_DEFAULT | FB_BACKEND_READS_CLOCK,
     .help = "size-class runs in per-thread arenas; gives pages back over time"},
    {.name = "tcmalloc",
     .alias = "gperftools",
     .package = "libtcmalloc-minimal4",
     .libraries = tcmalloc_libraries,
     .symbol = "MallocExtension_ReleaseFreeMemory",
     .style = FB_TUNABLES_EACH,
     .variable = "TCMALLOC_",
     TUNABLES(tcmalloc_tunables),
     .purge = FB_BACKEND_PURGE_TCMALLOC,
     .flags = FB_BACKEND_DEFAULT,
     .help = "gperftools' thread-caching malloc; gives pages back by freed volume"},
    {.name = "mimalloc",
     .package = "libmimalloc2.0",
     .libraries = mimalloc_libraries,
     .symbol = "mi_version",
     .style = FB_TUNABLES_EACH,
     .variable = "MIMALLOC_",
     TUNABLES(mimalloc_tunables),
     .purge = FB_BACKEND_PURGE_MIMALLOC,
     .flags = FB_BACKEND_DEFAULT | FB_BACKEND_READS_CLOCK,
     .help = "free-list sharding in 64 KiB pages of thread-owned segments"},
    {.name = "scudo",
     .package = "libclang-rt-14-dev",
     .libraries = scudo_libraries,
     .symbol = "__scudo_print_stats",
     .style = FB_TUNABLES_LIST,
     .variable = "SCUDO_OPTIONS",
     .separator = ':',
     .assign = '=',
     TUNABLES(scudo_tunables),
     .purge = FB_BACKEND_PURGE_SCUDO,
     .help = "LLVM's hardened allocator (standalone), Android's default"},
    {.name = "tbbmalloc",
     .alias = "tbb",
     .package = "libtbbmalloc2",
     .libraries = tbb_libraries,
     .symbol = "__TBB_malloc_proxy",
     .style = FB_TUNABLES_EACH,
     .variable = "TBB_MALLOC_",
     TUNABLES(tbb_tunables),
     .purge = FB_BACKEND_PURGE_TBB,
     .help = "oneTBB's scalable allocator through its malloc proxy"},
    {.name = "budgeted",
     .libraries = budgeted_libraries,
     .symbol = "fragbench_budgeted_set",
     .style = FB_TUNABLES_EACH,
     .variable = "FRAGBENCH_BUDGETED_",
     TUNABLES(budgeted_tunables),
     .flags = FB_BACKEND_OWN | FB_BACKEND_WRAPS,
     .help = "ours: a hard limit in front of another allocator (NAME+INNER, else libc's)"},
    {.name = "tensor-arena",
     .libraries = tensor_arena_libraries,
     .symbol = "fragbench_tensor_alloc",
     .style = FB_TUNABLES_EACH,
     .variable = "FRAGBENCH_TENSOR_ARENA_",
     TUNABLES(tensor_arena_tunables),
     .purge = FB_BACKEND_PURGE_OWN,
     .flags = FB_BACKEND_OWN | FB_BACKEND_SCOPES | FB_BACKEND_READS_CLOCK,
     .help = "ours: slabs, page runs and a ring for activations; keeps what it learns is reused"},
    {.name = "request-arena",
     .libraries = request_arena_libraries,
     .symbol = "fragbench_request_arena_set_cap",
     .style = FB_TUNABLES_EACH,
     .variable = "FRAGBENCH_REQUEST_ARENA_",
     TUNABLES(request_arena_tunables),
     .flags = FB_BACKEND_OWN | FB_BACKEND_WRAPS | FB_BACKEND_SCOPES,
     .help = "ours: what lives for a request in one room, the rest in another allocator"},
    {.name = "null",
     .libraries = no_libraries,
     .purge = FB_BACKEND_PURGE_NONE,
     .flags = FB_BACKEND_NULL,
     .help = "makes no allocator call and touches nothing: what the harness itself costs"},
};
const size_t fb_backend_count = sizeof fb_backends / sizeof fb_backends[0];

const struct fb_backend *fb_backend_find(const char *name)
{
    for (size_t i = 0; i < fb_backend_count; i++) {
        const struct fb_backend *backend = &fb_backends[i];
        if (strcmp(backend->name, name) == 0 ||
            (backend->alias != NULL && strcmp(backend->alias, name) == 0))
            return backend;
    }
    return NULL;
}

const struct fb_tunable *fb_backend_tunable(const struct fb_backend *backend, const char *key)
{
    for (size_t i = 0; i < backend->tunable_count; i++)
        if (strcmp(backend->tunables[i].key, key) == 0)
            return &backend->tunables[i];
    return NULL;
}
