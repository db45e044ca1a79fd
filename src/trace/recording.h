/* A recording on disk: what a program asked its allocator for, in one order over all its threads.
 *
 * docs/trace-format.md describes the bytes. In short: a header, then blocks; each block is
 * compressed for itself and carries checksums of its header and its content, so a file that was
 * cut off is good up to its last whole block, and a changed byte is noticed wherever it is. The
 * last block is the end with totals. It holds sizes, times and thread numbers: no addresses, no
 * contents, and no names but those of call sites, where they were asked for (record --sites).
 *
 * Objects are numbered by birth, from 0; an event names one by how many births ago it was.
 */
#ifndef FB_TRACE_RECORDING_H
#define FB_TRACE_RECORDING_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FB_RECORDING_MAGIC UINT64_C(0x31434552424d4246) /* "FBMBREC1" */
#define FB_RECORDING_VERSION 3U
#define FB_RECORDING_VERSION_LEAST 1U                 /* that is still read */
#define FB_RECORDING_VERSION_MEMORY 2U                /* the first that has MEMORY, */
#define FB_RECORDING_VERSION_SITES 3U                 /* and call sites */
#define FB_RECORDING_BLOCK_MAGIC UINT32_C(0x4b4c4246) /* "FBLK" */
#define FB_RECORDING_COLUMNS 4U
#define FB_RECORDING_SHARES 16U /* 16 sixteenths: every page */
#define FB_RECORDING_SIZE_MAX (UINT64_C(1) << 46)
#define FB_RECORDING_TIME_MAX_NS (UINT64_C(1) << 60)
#define FB_RECORDING_BLOCK_BYTES_MAX (UINT32_C(1) << 21) /* unpacked */

enum fb_recording_kind {
    FB_RECORDING_MALLOC = 0, /* births: size */
    FB_RECORDING_CALLOC,
    FB_RECORDING_REALLOC_NEW, /* realloc(NULL, size) */
    FB_RECORDING_ALIGNED,     /* and align_log2 */
    FB_RECORDING_REALLOC,     /* object, new size */
    FB_RECORDING_FREE,        /* object */
    FB_RECORDING_SHARE,       /* object, share: how much of it was resident */
    FB_RECORDING_EXIT,        /* the thread ended */
    FB_RECORDING_KIND_COUNT,
    /* In the file only: */
    FB_RECORDING_THREAD = FB_RECORDING_KIND_COUNT, /* the events that follow are its */
    FB_RECORDING_TIME,                             /* since the last, in µs */
    FB_RECORDING_MEMORY,                           /* what the process held at about that time */
    FB_RECORDING_SITE,                             /* of the births that follow; 0: not known */
    FB_RECORDING_OPCODE_COUNT
};

enum fb_recording_column {
    FB_RECORDING_OPCODES = 0, /* a byte an event */
    FB_RECORDING_SIZES,       /* the rest: LEB128 numbers */
    FB_RECORDING_REFERENCES,  /* births ago, from 1 */
    FB_RECORDING_OTHERS,      /* alignments, shares, threads, times, memory, sites */
};

struct fb_recording_header {
    uint64_t magic;
    uint32_t version;
    uint32_t reserved[12];
    uint32_t checksum; /* of what stands before it */
};
_Static_assert(sizeof(struct fb_recording_header) == 64, "a 64-byte header");

enum fb_recording_block_kind {
    FB_RECORDING_EVENTS = 1,
    FB_RECORDING_END,
    FB_RECORDING_SITES, /* the frames of call sites, between the events and the end */
};

#define FB_RECORDING_SITES_MAX (UINT32_C(1) << 17) /* numbers are below it, from 1 */
/* Of one frame's text, in bytes; longer ones are cut. */
#define FB_RECORDING_FRAME_MAX 512U

struct fb_recording_block {
    uint32_t magic;
    uint32_t kind;     /* enum fb_recording_block_kind */
    uint32_t sequence; /* from 0 */
    uint32_t event_count;
    uint32_t column_bytes[FB_RECORDING_COLUMNS]; /* unpacked */
    uint32_t packed_bytes;                       /* that follow */
    uint32_t packed_checksum;
    uint32_t reserved;
    uint32_t checksum; /* of what stands before it */
};
_Static_assert(sizeof(struct fb_recording_block) == 48, "a 48-byte block header");

/* Why a recording ends where it does. */
enum fb_recording_reason {
    FB_RECORDING_EXITED = 0, /* the program's end */
    FB_RECORDING_LIMIT,      /* --limit */
    FB_RECORDING_TIME_OVER,  /* --for */
    FB_RECORDING_STOPPED,    /* a signal to fragbench */
    FB_RECORDING_NO_ROOM,    /* the recorder had no room for its buffers */
    FB_RECORDING_REASON_COUNT
};

/* The payload of the end block. */
struct fb_recording_totals {
    uint64_t events;  /* threads, times and memory not counted */
    uint64_t objects; /* births */
    uint64_t threads; /* the highest number + 1 */
    uint64_t duration_ns;
    uint64_t foreign_frees; /* of blocks that the recording did not see born; left out */
    uint64_t missed_frees;  /* seen only because the address came again; put in there */
    uint64_t reason;        /* enum fb_recording_reason */
};

/* Anonymous memory of the recorded process, resident or swapped, in whole KiB; without what is the
 * recorder's own. What is not named here is taken to be the heap's. */
struct fb_recording_memory {
    uint64_t anonymous_bytes; /* all of it */
    uint64_t library_bytes;   /* of it: data of the program and of its libraries, */
    uint64_t stack_bytes;     /* stacks of threads, */
    uint64_t mapped_bytes;    /* and what the program mapped by itself */
};

static inline uint64_t fb_recording_beside_bytes(const struct fb_recording_memory *memory)
{
    return memory->library_bytes + memory->stack_bytes + memory->mapped_bytes;
}

/* All measurements of a recording in short. */
struct fb_recording_memories {
    uint64_t count;
    struct fb_recording_memory peak; /* the one with most anonymous memory */
};

/* FNV-1a, 32 bits: every single changed byte changes it. */
static inline uint32_t fb_recording_checksum(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint32_t hash = UINT32_C(2166136261);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT32_C(16777619);
    return hash;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct fb_recording_event {
    enum fb_recording_kind kind;
    uint32_t thread;
    uint64_t time_ns; /* since the recording's begin; never falls */
    uint64_t object;  /* by birth, from 0 */
    uint32_t handle;  /* the same among those alive: small, used again after a free */
    uint32_t site;    /* births: where it was asked for; 0: not known */
    uint64_t size;    /* births, REALLOC: asked for; FREE, SHARE: what it has */
    uint64_t old_size;
    uint8_t align_log2;
    uint8_t share; /* sixteenths */
};

/* What the event adds to the live bytes, modulo 2^64: what it takes away is negative. */
static inline uint64_t fb_recording_change(const struct fb_recording_event *event)
{
    if (event->kind > FB_RECORDING_FREE)
        return 0;
    return (event->kind == FB_RECORDING_FREE ? 0 : event->size) - event->old_size;
}

struct fb_recording; /* opaque */

/* Whether the file begins as a recording does: enough to tell it from a workload. */
bool fb_recording_is(const void *data, size_t size);
/* Opens and checks header and end. INPUT errors name the path and the offset. */
int fb_recording_open(struct fb_recording **out, const char *path,
                      struct fb_error *err) FB_MUST_USE;
/* The same from memory, which stays the caller's and must outlive it. */
int fb_recording_open_memory(struct fb_recording **out, const char *path, const void *data,
                             size_t size, struct fb_error *err) FB_MUST_USE;
void fb_recording_close(struct fb_recording *recording);
/* Whether the end is there; else it was cut off, and *totals is zero. */
bool fb_recording_complete(const struct fb_recording *recording,
                           struct fb_recording_totals *totals);
/* The next event: 1 with *event, 0 at the end, -1 for damage (INPUT, with the offset). What it
 * gives is consistent: objects are alive, sizes in 0 … FB_RECORDING_SIZE_MAX. */
int fb_recording_next(struct fb_recording *recording, struct fb_recording_event *event,
                      struct fb_error *err) FB_MUST_USE;
/* What was measured up to the last event given; all of it once that was the end. */
void fb_recording_memories(const struct fb_recording *recording, struct fb_recording_memories *out);
/* The highest number of a call site that has frames; 0: none were recorded. */
uint32_t fb_recording_site_count(const struct fb_recording *recording);
/* The frames of a site, the innermost first, one a line; "" where they are not known. */
const char *fb_recording_site(const struct fb_recording *recording, uint32_t site);
/* Back to the first event. */
void fb_recording_rewind(struct fb_recording *recording);
/* INPUT error at the place of the last event. */
int fb_recording_fail(const struct fb_recording *recording, struct fb_error *err, const char *what);

/* --- writing ---------------------------------------------------------------------------------- */

struct fb_recording_writer; /* opaque */

/* Writes the header to fd, an empty regular file. */
int fb_recording_writer_open(struct fb_recording_writer **out, int fd,
                             struct fb_error *err) FB_MUST_USE;
/* What follows happens on that thread at that time (never before the last; then it counts as at
 * the same time). */
void fb_recording_writer_at(struct fb_recording_writer *writer, uint32_t thread, uint64_t time_ns);
/* The births that follow were asked for at that site. */
void fb_recording_writer_site(struct fb_recording_writer *writer, uint32_t site);
/* A birth of that kind; returns the object's number. */
uint64_t fb_recording_writer_birth(struct fb_recording_writer *writer, enum fb_recording_kind kind,
                                   uint64_t size, unsigned align_log2);
void fb_recording_writer_realloc(struct fb_recording_writer *writer, uint64_t object,
                                 uint64_t size);
void fb_recording_writer_free(struct fb_recording_writer *writer, uint64_t object);
void fb_recording_writer_share(struct fb_recording_writer *writer, uint64_t object, unsigned share);
/* Measured at about the time of the last event. The parts are at most the whole. */
void fb_recording_writer_memory(struct fb_recording_writer *writer,
                                const struct fb_recording_memory *memory);
void fb_recording_writer_exit(struct fb_recording_writer *writer);
/* Writes what is pending as a block of its own. -1 once a write failed (IO); the file then ends
 * with its last whole block and nothing more is written. */
int fb_recording_writer_flush(struct fb_recording_writer *writer, struct fb_error *err) FB_MUST_USE;
/* The frames of sites 1 … count, as fb_recording_site() gives them; after the last event. What is
 * no printable text in them becomes "?". */
void fb_recording_writer_sites(struct fb_recording_writer *writer, const char *const *frames,
                               uint32_t count);
/* Bytes in the file, and whether a write has failed. */
uint64_t fb_recording_writer_bytes(const struct fb_recording_writer *writer);
bool fb_recording_writer_failed(const struct fb_recording_writer *writer);
uint64_t fb_recording_writer_events(const struct fb_recording_writer *writer);
/* Flushes, writes the end (totals: the last three are given, the rest is counted) and frees the
 * writer. */
int fb_recording_writer_close(struct fb_recording_writer *writer,
                              const struct fb_recording_totals *totals,
                              struct fb_error *err) FB_MUST_USE;

#endif
