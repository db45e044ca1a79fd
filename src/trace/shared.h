/* The block of memory that harness, worker and preload libraries share: one
 * memfd a run, made and sized by the harness, inherited by the worker as
 * FB_FD_SHARED. MAP_SHARED on both sides, so the kernel books it as RssShmem and
 * it never counts as the allocator's.
 *
 * Layout: this struct, then (at the offsets it holds) the sample array, the object table, the
 * latency histogram, the actors' counters; behind total_bytes the objects' details. The harness
 * fills the "in" part before exec; the worker owns the "out" part until it has died; the clock
 * words are read by the clock library and advanced by whichever worker thread has the turn.
 *
 * The doorbell (FB_FD_DOORBELL) is a SOCK_SEQPACKET pair: the worker sends one
 * struct fb_bell and, for READY and CHECKPOINT, waits for one byte back. End of file on
 * either side means the other died.
 */
#ifndef FB_TRACE_SHARED_H
#define FB_TRACE_SHARED_H

#include <stdatomic.h>
#include <stdint.h>

#define FB_SHARED_MAGIC 0x444552414853424dULL
#define FB_SHARED_VERSION 4U

/* Fixed descriptors in the worker. */
enum { FB_FD_SHARED = 3, FB_FD_TRACE = 4, FB_FD_DOORBELL = 5 };

enum fb_clock_mode { FB_CLOCK_VIRTUAL = 0, FB_CLOCK_REAL };
enum fb_order { FB_ORDER_LOCKSTEP = 0, FB_ORDER_FREE };
enum fb_run_mode {
    FB_MODE_MEMORY = 0, /* samples and checkpoints */
    FB_MODE_TIMING,     /* real clock, pauses skipped, no samples, latency histogram */
};

/* How to give back everything (see allocators/backends.h). DETECT looks at which
 * interfaces the library that answers malloc exports. */
enum fb_purge {
    FB_PURGE_DETECT = 0,
    FB_PURGE_NONE,
    FB_PURGE_GLIBC,    /* malloc_trim(0) */
    FB_PURGE_JEMALLOC, /* mallctl thread.tcache.flush, arena.<all>.purge */
    FB_PURGE_TCMALLOC, /* MallocExtension_MarkThreadIdle, _ReleaseFreeMemory */
    FB_PURGE_MIMALLOC, /* mi_collect(true) */
    FB_PURGE_SCUDO,    /* mallopt(M_PURGE, 0) */
    FB_PURGE_TBB,      /* scalable_allocation_command(TBBMALLOC_CLEAN_ALL_BUFFERS) */
    FB_PURGE_OWN,      /* fragbench_purge(), the contract of fragbench/purge.h */
};

#define FB_RUN_NULL 1U    /* make no allocator call, touch nothing: calibration */
#define FB_RUN_VERIFY 2U  /* stamp every block, check at free */
#define FB_RUN_EXPLAIN 4U /* fill the objects' details */

enum fb_worker_end {
    FB_WORKER_RUNNING = 0,
    FB_WORKER_DONE,
    FB_WORKER_CORRUPTED, /* a stamp was overwritten: see fault_* */
    FB_WORKER_REFUSED,   /* an allocation failed in a phase with on_refusal: fail */
    FB_WORKER_BAD_TRACE,
    FB_WORKER_OS_ERROR, /* errno in fault_errno */
};

struct fb_sample {
    uint64_t t_ns;
    uint64_t footprint_bytes; /* RssAnon: statm resident − shared */
    uint64_t live_bytes;
    uint64_t touched_bytes;
    uint64_t volume_bytes; /* requested bytes allocated so far */
    uint64_t iteration;
    uint32_t phase;
    uint32_t reason; /* enum fb_sample_reason */
};

/* One row of the object table, by slot; address NULL = no object, FB_OBJECT_REFUSED = its
 * allocation was refused or skipped, and another thread may be waiting to free it. */
struct fb_object {
    void *address;
    uint64_t size_class; /* size << 16 | class index */
};
#define FB_OBJECT_REFUSED ((void *)(uintptr_t)16)
#define FB_OBJECT_PACK(size, class_index) ((uint64_t)(size) << 16 | (class_index))
#define FB_OBJECT_SIZE(packed) ((packed) >> 16)
#define FB_OBJECT_CLASS(packed) ((uint16_t)(packed))
#define FB_OBJECT_SIZE_MAX ((UINT64_C(1) << 47) - 1)

/* FB_RUN_EXPLAIN: what else is known of the object in the same slot. */
struct fb_object_detail {
    uint64_t born_ns;      /* since the replay began, of its allocation */
    uint64_t usable_bytes; /* as of the last checkpoint; 0: the allocator does not tell */
};

/* Where the worker maps the details: 64 GiB, far below all that the kernel or an allocator places
 * by itself. They are mapped in every memory run, filled or not, so that being looked at moves no
 * address: jemalloc's decay would tell. */
#define FB_DETAIL_ADDRESS UINT64_C(0x1000000000)

/* Latencies in clock ticks, log-linear: bucket b < 64 holds b ticks; above that
 * 32 buckets a power of two (3 % wide). */
#define FB_LATENCY_BUCKETS 2048U
#define FB_LATENCY_STRIDE 32U /* every 32nd allocator call on average is timed */

static inline uint32_t fb_latency_bucket(uint64_t ticks)
{
    if (ticks < 64)
        return (uint32_t)ticks;
    uint32_t log2 = 63U - (uint32_t)__builtin_clzll(ticks);
    uint32_t bucket = (log2 - 5U) * 32U + 32U + (uint32_t)((ticks >> (log2 - 5U)) & 31U);
    return bucket < FB_LATENCY_BUCKETS ? bucket : FB_LATENCY_BUCKETS - 1;
}

/* The smallest tick count of a bucket. */
static inline uint64_t fb_latency_ticks(uint32_t bucket)
{
    if (bucket < 64)
        return bucket;
    uint32_t log2 = (bucket - 32U) / 32U + 5U;
    return (UINT64_C(1) << log2) + ((uint64_t)(bucket & 31U) << (log2 - 5U));
}

/* One thread's counters, a cache line each: a counter that threads share caps replay at some
 * 60 million ops a second for two threads. live and touched go below 0 in a thread that frees
 * what others allocated; their sums are right. A finished thread's row goes on with the next one.
 */
struct fb_counters {
    _Alignas(64) _Atomic int64_t live_bytes;
    _Atomic int64_t touched_bytes;
    _Atomic uint64_t volume_bytes;
    _Atomic uint64_t ops_done;
    _Atomic uint64_t op_index; /* of a thread that does not publish into fb_shared */
};

/* One of the allocator's own counters, as allocators/include/fragbench/stats.h has them. */
struct fb_stat {
    char name[40];
    uint64_t value;
};
#define FB_STATS_MAX 64

/* Addresses of the worker that are written to but are no heap. */
struct fb_data_range {
    uint64_t start, end;
    uint32_t is_allocator; /* of the allocator's library, or of one that only it needs */
    uint32_t pad;
};
#define FB_DATA_RANGES_MAX 64

/* The allocator's own account of its memory, in the order of enum fb_account (result/). */
#define FB_OWN_ACCOUNT_COUNT 5
#define FB_OWN_ACCOUNT_NA UINT64_MAX

#define FB_OWNER_MAX 256
#define FB_READBACK_MAX 1024

struct fb_shared {
    uint64_t magic;
    uint32_t version;
    uint32_t ready; /* 1 once the harness has filled the "in" part */

    /* in */
    uint32_t clock_mode; /* enum fb_clock_mode */
    uint32_t order;      /* enum fb_order */
    uint32_t mode;       /* enum fb_run_mode */
    uint32_t flags;      /* FB_RUN_* */
    uint32_t purge;      /* enum fb_purge */
    int32_t pin_cpu; /* lockstep with threads: run here once the allocator counted CPUs; −1: no */
    uint64_t brk_shift_bytes; /* the layout: moved by the clock library's constructor */
    uint64_t sample_offset, sample_capacity;
    uint64_t object_offset, object_count;
    uint64_t latency_offset; /* FB_LATENCY_BUCKETS × uint64_t, then the same for frees */
    uint64_t counters_offset, counters_count; /* struct fb_counters, one a thread alive at once */
    uint64_t total_bytes;                     /* what the worker maps in one piece */
    uint64_t detail_offset, detail_bytes; /* struct fb_object_detail, one an object; 0: no table */
    char readback_keys[FB_READBACK_MAX];  /* "\n"-separated tunables to read back */

    /* clock, a cache line of its own */
    _Alignas(64) _Atomic uint64_t now_ns; /* virtual time since the worker began */
    _Atomic uint64_t clock_calls;         /* clock reads answered */
    _Atomic uint64_t sleep_calls;         /* sleeps of the allocator's answered virtually */

    /* out: progress, written without order; good enough for a progress line */
    _Alignas(
        64) _Atomic uint64_t op_index; /* lockstep: of the thread that has the turn; free: main's */
    _Atomic uint64_t iteration;
    _Atomic uint32_t phase;
    _Atomic uint32_t sample_used;
    _Atomic uint64_t last_footprint_bytes;

    /* out: facts before the first op */
    char malloc_owner[FB_OWNER_MAX]; /* path of the object that defines malloc */
    char free_owner[FB_OWNER_MAX];
    char readback[FB_READBACK_MAX]; /* "key=value\n" for what the allocator answers */
    uint64_t page_bytes;
    uint64_t cpus_seen;
    uint32_t purge_used; /* enum fb_purge after DETECT */
    uint32_t pad1;

    struct fb_data_range data_ranges[FB_DATA_RANGES_MAX];
    uint32_t data_range_count;
    uint32_t pad3;

    /* out: before the bell of a purged checkpoint, read before its purge */
    uint64_t own_account[FB_OWN_ACCOUNT_COUNT]; /* FB_OWN_ACCOUNT_NA: it has no such counter */

    /* out: at each checkpoint, before the bell */
    struct fb_stat stats[FB_STATS_MAX];
    uint32_t stat_count;
    uint32_t pad2;

    /* out: the end */
    uint32_t end; /* enum fb_worker_end */
    int32_t fault_errno;
    uint64_t fault_op;
    uint64_t fault_slot;
    char fault_text[FB_OWNER_MAX];
    uint64_t ops_done;      /* allocator calls made */
    uint64_t refused_calls; /* allocations that returned NULL */
    uint64_t refused_bytes; /* Σ their sizes */
    uint64_t skipped_calls; /* not tried because their iteration was degraded */
    uint64_t degraded_iterations;
    uint64_t wall_ns;     /* first op to last phase's end, raw CLOCK_MONOTONIC */
    uint64_t wall_ticks;  /* the same in ticks: their ratio calibrates latencies */
    uint64_t timer_ticks; /* cost of reading the tick counter twice, median */
    uint64_t minor_faults, major_faults, user_ns, system_ns; /* over the phases, this process */
};

static inline struct fb_counters *fb_shared_counters(struct fb_shared *shared)
{
    return (struct fb_counters *)(void *)((char *)shared + shared->counters_offset);
}

/* The sums over all threads: exact in lockstep, a moment's mixture where threads run at once. */
static inline uint64_t fb_shared_live_bytes(struct fb_shared *shared)
{
    int64_t sum = 0;
    for (uint64_t i = 0; i < shared->counters_count; i++)
        sum +=
            atomic_load_explicit(&fb_shared_counters(shared)[i].live_bytes, memory_order_relaxed);
    return sum > 0 ? (uint64_t)sum : 0;
}

static inline uint64_t fb_shared_touched_bytes(struct fb_shared *shared)
{
    int64_t sum = 0;
    for (uint64_t i = 0; i < shared->counters_count; i++)
        sum += atomic_load_explicit(&fb_shared_counters(shared)[i].touched_bytes,
                                    memory_order_relaxed);
    return sum > 0 ? (uint64_t)sum : 0;
}

static inline uint64_t fb_shared_volume_bytes(struct fb_shared *shared)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < shared->counters_count; i++)
        sum +=
            atomic_load_explicit(&fb_shared_counters(shared)[i].volume_bytes, memory_order_relaxed);
    return sum;
}

/* What the harness answers to a bell that waits. */
enum fb_answer {
    FB_ANSWER_GO = 0,
    FB_ANSWER_PURGE, /* CHECKPOINT: read the account, purge on all threads, ring again, end */
};

enum fb_bell_kind { FB_BELL_READY = 1, FB_BELL_CHECKPOINT, FB_BELL_END };

/* One message from worker to harness. */
struct fb_bell {
    uint32_t kind;       /* enum fb_bell_kind */
    uint32_t checkpoint; /* enum fb_checkpoint_kind */
    uint32_t phase;
    uint32_t sample;       /* index of the sample that belongs to the checkpoint */
    uint64_t usable_bytes; /* Σ malloc_usable_size over live objects */
    uint32_t purged;       /* CHECKPOINT: 1 = the same one again, after FB_ANSWER_PURGE */
    uint32_t pad;
};

#endif
