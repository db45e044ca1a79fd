/* The buffers between a recorded program and fragbench.
 *
 * The recorder library (src/preload/recorder*.c) runs inside the program; it may not compress,
 * merge or write files there. It appends raw records to chunks of memory that both sides map: files
 * in a folder of fragbench's, named by FB_SPOOL_VARIABLE. `fragbench record` reads the chunks while
 * the program runs, brings the records of all threads into one order and writes the recording
 * (trace/recording.h). What a program wrote before it was killed is in the files and is read to
 * the last record.
 *
 * A process image (a process between two execs) makes files "PID-START-NUMBER": one segment each,
 * a second one when the first is in use. A segment is this header and FB_SPOOL_CHUNKS chunks. A
 * chunk belongs to one thread until it is full:
 *
 *     FREE ──claim──▶ CLAIMED ──thread, sequence──▶ OWNED ──full, or the thread ends──▶ FULL
 *       ▲───────────────── fragbench, when it has read all of it ─────────────────────────┘
 *
 * Order: each call takes a ticket from a counter of the process, a free before and an allocation
 * after the allocator's work, a realloc one before and one after. So an address that one thread
 * freed and another got carries its tickets in that order, on every machine: no clock has to agree
 * between processors. A thread takes its ticket only when it has room for the record, so what
 * fragbench waits for always comes.
 *
 * Records are 64-bit words. Word 0: kind in bits 0–7, aux in 8–15, ticket in 16–63 (0: none).
 * Word 1: address in bits 0–47, size in 48–63, FB_SPOOL_SIZE_LONG there meaning that word 2 is
 * the size. Records of call sites, which are written only where FB_SPOOL_SITES_VARIABLE asks for
 * them, have their own words.
 */
#ifndef FB_TRACE_SPOOL_H
#define FB_TRACE_SPOOL_H

#include <stdatomic.h>
#include <stdint.h>

#define FB_SPOOL_VARIABLE "FRAGBENCH_SPOOL"
#define FB_SPOOL_SITES_VARIABLE "FRAGBENCH_SITES" /* frames of a site; 0: no sites */
#define FB_SPOOL_FRESH_VARIABLE "FRAGBENCH_FRESH" /* "1": large blocks get fresh pages */
#define FB_SPOOL_ALIVE "alive" /* a file of the folder that fragbench holds a flock on */
#define FB_SPOOL_MAGIC UINT64_C(0x314c4f4f50534246)
#define FB_SPOOL_VERSION 3U
#define FB_SPOOL_CHUNKS 32U
#define FB_SPOOL_WORDS 8192U /* of a chunk: 64 KiB */
#define FB_SPOOL_DATA_OFFSET 4096U
#define FB_SPOOL_LATE UINT32_MAX /* the thread of calls that come after a thread's end */
#define FB_SPOOL_SIZE_LONG UINT64_C(0xffff)
#define FB_SPOOL_ADDRESS_MASK ((UINT64_C(1) << 48) - 1)
/* Room that a thread has before it makes a call: time, site, and a realloc's two records. */
#define FB_SPOOL_RESERVE_WORDS 14U
#define FB_SPOOL_FRAMES_MAX 64U
#define FB_SPOOL_SITES_MAX (UINT32_C(1) << 17) /* numbers are below it, as in a recording */
#define FB_SPOOL_PATH_WORDS_MAX 128U

/* Of blocks of at least this size the share of resident pages is noted. */
#define FB_SPOOL_BIG_BYTES UINT64_C(65536)
#define FB_SPOOL_SHARES 16U /* all pages; aux is the share + 1, 0 when not known */

enum fb_spool_state { FB_SPOOL_FREE = 0, FB_SPOOL_CLAIMED, FB_SPOOL_OWNED, FB_SPOOL_FULL };

enum fb_spool_kind {
    FB_SPOOL_END = 0, /* no record */
    FB_SPOOL_MALLOC,
    FB_SPOOL_CALLOC,
    FB_SPOOL_ALIGNED,        /* aux: log2 of the alignment */
    FB_SPOOL_REALLOC_NEW,    /* realloc(NULL, size) */
    FB_SPOOL_REALLOC_BEGIN,  /* address: the old one */
    FB_SPOOL_REALLOC_END,    /* address and size: the new ones; of this thread's last BEGIN */
    FB_SPOOL_REALLOC_FAILED, /* the old block stays as it was */
    FB_SPOOL_RELEASE,        /* free; aux: the share */
    FB_SPOOL_SHARE,          /* aux: the share of a block that lives on */
    FB_SPOOL_EXIT,           /* the thread ends */
    FB_SPOOL_TIME,           /* word 1: ns, CLOCK_MONOTONIC; no ticket */
    FB_SPOOL_MAP,            /* private anonymous memory that the program mapped by itself; aux 1:
                                where the range of this thread's last UNMAP moved to */
    FB_SPOOL_UNMAP,          /* the range is no longer that; aux 1: it is moved */
    FB_SPOOL_STACK,          /* address: near the top of the thread's stack */
    FB_SPOOL_SITE,           /* word 1: number of the site of this thread's births from here on, in
                                this chunk; 0: not known; no ticket */
    FB_SPOOL_FRAMES, /* word 1: a site's number; aux words: return addresses, innermost first */
    FB_SPOOL_MODULE, /* a loaded object; words 1 to 3: its first address, the one behind its
                        last, and what was added to the addresses in its file; aux words:
                        its path, ended by a zero byte */
    FB_SPOOL_KIND_COUNT
};

struct fb_spool_chunk {
    _Alignas(64) _Atomic uint32_t state; /* enum fb_spool_state */
    uint32_t thread;                     /* from 0, the main thread; or FB_SPOOL_LATE */
    uint64_t sequence;                   /* which of the thread's chunks, from 0 */
    _Atomic uint32_t used_words;         /* complete records */
};

struct fb_spool_segment {
    uint64_t magic; /* stored last */
    uint32_t version;
    int32_t pid;
    uint64_t start_ns;       /* of the image, CLOCK_MONOTONIC */
    _Atomic uint32_t stop;   /* fragbench: record no more */
    _Atomic uint32_t closed; /* the recorder: it stopped for want of room */
    int32_t parent_pid;      /* the process that this one was forked from, recorded too; 0: none */
    uint32_t pad;
    _Atomic uint64_t own_bytes; /* the recorder's own private anonymous memory */
    char program[64];           /* base names, for messages only: of the executable, */
    char allocator[64];         /* and of the object that answers malloc behind the recorder */
    struct fb_spool_chunk chunks[FB_SPOOL_CHUNKS];
};
_Static_assert(sizeof(struct fb_spool_segment) <= FB_SPOOL_DATA_OFFSET, "the header fits");

#define FB_SPOOL_SEGMENT_BYTES \
    (FB_SPOOL_DATA_OFFSET + (uint64_t)FB_SPOOL_CHUNKS * FB_SPOOL_WORDS * sizeof(uint64_t))

static inline uint64_t *fb_spool_words(struct fb_spool_segment *segment, uint32_t chunk)
{
    return (uint64_t *)(void *)((char *)segment + FB_SPOOL_DATA_OFFSET) +
           (uint64_t)chunk * FB_SPOOL_WORDS;
}

#define FB_SPOOL_HEAD(kind, aux, ticket) \
    ((uint64_t)(kind) | (uint64_t)(aux) << 8 | (uint64_t)(ticket) << 16)

#endif
