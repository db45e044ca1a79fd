/* The op stream: what the workload compiler writes and the worker replays.
 *
 * A trace is one file: header, class table, phase table, stream table, ops. All
 * integers little-endian host order (x86-64 and arm64 are both), every section
 * 64-byte aligned, ops 16 bytes each so that replay runs at memory speed. The
 * bytes depend on nothing but the workload, its parameters, the seed and the
 * scale. Read-only once written; any number of processes may map it.
 *
 * Objects live in slots. A slot is reused after its object is freed, so the
 * object table stays as small as the largest number of objects alive at once.
 *
 * Threads: one stream of ops each, a thread is one life of one stream. Stream 0 is the
 * worker's main thread; it starts, parks and joins the others and takes the checkpoints. Two
 * orders run the same trace:
 *   lockstep  one thread runs at a time. TURN ends a stream's turn and names the one that
 *             goes next; a stream that was just started waits for its first turn. PARK,
 *             RESUME and AWAIT do nothing: the turns say it all.
 *   free      threads run at once. TURN does nothing unless it is strict. PARK waits until
 *             the main thread's RESUME, AWAIT waits until that stream is parked (or has
 *             ended), THREAD_JOIN until it has ended. An op on an object that another stream
 *             allocated (FOREIGN) waits for the object.
 * JOIN in lockstep hands the turn to the stream, which has nothing left but its END, so that
 * the thread's exit happens inside its own turn, and goes on after pthread_join.
 * Slots freed by one stream are used again within the phase by that stream only, or by the one
 * that takes its place after its end; objects of shared classes get slots that the phase has not
 * used yet. So waiting for an object cannot confuse it with another one. At a phase's end, and
 * wherever else every thread has parked and been awaited, all slots may be used by all.
 */
#ifndef FB_TRACE_FORMAT_H
#define FB_TRACE_FORMAT_H

#include <stdint.h>

#define FB_TRACE_MAGIC 0x3143415254424d46ULL /* "FMBTRAC1" */
#define FB_TRACE_VERSION 1U
#define FB_NAME_MAX 64 /* of a class or phase, terminator included */

enum fb_op_kind {
    FB_OP_END = 0,      /* end of the stream */
    FB_OP_ALLOC,        /* slot, class; arg = size in bytes; called and touched as the class says */
    FB_OP_FREE,         /* slot, class */
    FB_OP_REALLOC,      /* slot, class; arg = new size; new bytes touched as the class says */
    FB_OP_PACE,         /* sleep until arg ns after the phase began (no-op when that is past) */
    FB_OP_SLEEP,        /* sleep for arg ns */
    FB_OP_PHASE_BEGIN,  /* arg = phase index */
    FB_OP_PHASE_END,    /* arg = phase index; after the phase's own frees */
    FB_OP_ITERATION,    /* arg = iteration index in the phase; ends a degraded iteration */
    FB_OP_SAMPLE,       /* flags = enum fb_sample_reason; read footprint and live together */
    FB_OP_CHECKPOINT,   /* flags = enum fb_checkpoint_kind; arg = phase index */
    FB_OP_PURGE,        /* give back what can be: this thread's caches, then globally */
    FB_OP_HEARTBEAT,    /* 4 pairs of 64 B and one pair of 64 KiB */
    FB_OP_TURN,         /* arg = stream that goes next */
    FB_OP_THREAD_START, /* main only: arg = stream */
    FB_OP_THREAD_JOIN,  /* main only: arg = stream */
    FB_OP_PARK,         /* not main: wait until resumed */
    FB_OP_RESUME,       /* main only: arg = stream, which is parked or will be */
    FB_OP_AWAIT,        /* main only: arg = stream; wait until it is parked */
    FB_OP_HOLD,         /* remember the time: a SLEEP with SINCE_HOLD counts from here */
    FB_OP_SCOPE_BEGIN,  /* arg = nesting depth before, from 0 */
    FB_OP_SCOPE_END,    /* arg = nesting depth after */
    FB_OP_KIND_COUNT
};

/* FREE, REALLOC: another stream allocated the object, which is of a shared class. */
#define FB_OP_FLAG_FOREIGN 1U
#define FB_OP_FLAG_SCOPE 2U      /* ALLOC, FREE: an object of the innermost open scope */
#define FB_OP_FLAG_STRICT 4U     /* TURN: followed in free order, too */
#define FB_OP_FLAG_SINCE_HOLD 8U /* SLEEP: until arg ns after this stream's last HOLD */
#define FB_OP_FLAG_OWN 16U       /* PURGE: this thread's caches only, no global purge */

struct fb_op {
    uint8_t kind;
    uint8_t flags;
    uint16_t class_index;
    uint32_t slot;
    uint64_t arg;
};
_Static_assert(sizeof(struct fb_op) == 16, "a 16-byte op");

enum fb_call { FB_CALL_MALLOC = 0, FB_CALL_CALLOC, FB_CALL_REALLOC, FB_CALL_ALIGNED };

/* How a new block is written: one byte a page, every byte, not at all, or one
 * byte a page over the first `touch_share` / 2^32 of it. */
enum fb_touch { FB_TOUCH_PAGES = 0, FB_TOUCH_ALL, FB_TOUCH_NONE, FB_TOUCH_SHARE };

struct fb_trace_class {
    char name[FB_NAME_MAX];
    uint8_t call;  /* enum fb_call */
    uint8_t touch; /* enum fb_touch */
    uint8_t kept;  /* 1 = lifetime: run, stays through the retained_* measurements */
    uint8_t
        shared; /* 1 = some object of it is freed by another stream: allocations are announced */
    uint8_t pad[4];
    uint64_t align; /* for FB_CALL_ALIGNED: a power of two ≥ 8 */
    uint64_t touch_share;
};

struct fb_trace_phase {
    char name[FB_NAME_MAX];
    uint64_t iterations; /* 0: the phase has none */
    uint64_t every_ns;   /* 0: no pace */
    uint8_t fail_on_refusal;
    uint8_t pad[7];
};

struct fb_trace_stream {
    uint64_t first_op; /* index into the ops section */
    uint64_t op_count; /* END included */
};

/* Why the compiler placed a sample. */
enum fb_sample_reason {
    FB_SAMPLE_START = 0,
    FB_SAMPLE_ITERATION,
    FB_SAMPLE_PEAK,   /* a local maximum of live bytes */
    FB_SAMPLE_VOLUME, /* so many bytes allocated since the last */
    FB_SAMPLE_CHECKPOINT,
    FB_SAMPLE_TIME, /* taken from outside, real clock only; also each second of a pause */
};

enum fb_checkpoint_kind {
    FB_CHECKPOINT_START = 0, /* before the first phase */
    FB_CHECKPOINT_PEAK_LIVE, /* first moment of the largest live bytes */
    FB_CHECKPOINT_PHASE_END, /* arg = phase */
    FB_CHECKPOINT_IDLE_0S,   /* everything but lifetime: run freed */
    FB_CHECKPOINT_IDLE_1S,
    FB_CHECKPOINT_IDLE_10S,
    FB_CHECKPOINT_ACTIVE_10S,
    FB_CHECKPOINT_PURGED,
    FB_CHECKPOINT_KIND_COUNT
};

struct fb_trace_header {
    uint64_t magic;
    uint32_t version;
    uint32_t class_count;
    uint32_t phase_count;
    uint32_t stream_count;
    uint64_t class_offset, phase_offset, stream_offset, op_offset; /* bytes from the start */
    uint64_t op_count;                                             /* all streams, marks included */
    uint64_t slot_count;
    uint64_t sample_count;     /* SAMPLE + CHECKPOINT ops: the size of the sample array */
    uint64_t checkpoint_count; /* CHECKPOINT ops */
    uint64_t seed;
    /* Totals, of the allocator calls alone (teardown excluded). */
    uint64_t alloc_calls, free_calls, realloc_calls;
    uint64_t allocated_bytes;    /* Σ requested, over all allocations and growths */
    uint64_t peak_live_bytes;    /* max L */
    uint64_t peak_touched_bytes; /* max T */
    uint64_t end_live_bytes;     /* L at the last phase's end */
    uint64_t peak_objects;
    uint64_t duration_ns; /* virtual time at the last phase's end */
    /* The cost model that times were computed with. */
    uint64_t cost_op_ns;        /* per allocator call */
    uint64_t cost_bytes_per_us; /* touched bytes */
    uint32_t thread_peak;       /* most threads alive at once, main included; 1: single-threaded */
    uint32_t turn_ops; /* allocator calls after which a turn passes on, 0 when single-threaded */
    uint64_t reserved[7];
};

/* T's rule, shared by compiler and worker: bytes of a block of `size` that its
 * class writes, in whole pages of 4 KiB but never more than size. */
static inline uint64_t fb_trace_touched_bytes(const struct fb_trace_class *class, uint64_t size)
{
    if (class->touch == FB_TOUCH_NONE)
        return 0;
    if (class->touch != FB_TOUCH_SHARE)
        return size;
    /* size × share / 2^32 in two halves: the product needs up to 79 bits. */
    uint64_t share =
        (size >> 32) * class->touch_share + (((size & UINT32_MAX) * class->touch_share) >> 32);
    uint64_t pages = (share + 4095U) & ~UINT64_C(4095);
    return share == 0 ? 0 : (pages < size ? pages : size);
}

/* The cost model: ns that one allocator call plus touching takes. */
static inline uint64_t fb_trace_cost_ns(const struct fb_trace_header *header, uint64_t touched)
{
    return header->cost_op_ns + touched * 1000U / header->cost_bytes_per_us;
}

#endif
