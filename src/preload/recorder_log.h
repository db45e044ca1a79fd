/* What the recorder's hooks share: the calling thread's place in the spool, and what is next in
 * line behind the recorder.
 *
 * All state that belongs to one process lives in pages that the kernel wipes in a forked child
 * (MADV_WIPEONFORK), so the child notices at its first call that it is another process, without a
 * system call and before any of its fork handlers ran, and makes a spool segment of its own.
 *
 * A hook is: enter, the real call, note, leave. Between enter and leave the thread's `inside` is
 * set: calls that the allocator, libc or a signal handler make then are passed on and not recorded.
 * The fast path is in this header: one compare of generations, one of room.
 */
#ifndef FB_PRELOAD_RECORDER_LOG_H
#define FB_PRELOAD_RECORDER_LOG_H

#include "trace/spool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* The functions next in line. NULL until fb_log_resolve(). */
struct fb_next {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
    void *(*mremap)(void *, size_t, size_t, int, ...);
    uintptr_t allocator_begin, allocator_end; /* of the object that answers malloc */
};

struct fb_log_thread {
    uint64_t generation; /* of the process that the rest belongs to */
    uint64_t *cursor, *end, *begin;
    struct fb_spool_chunk *chunk;
    uint64_t time_ns; /* of its last TIME record */
    uint64_t sequence;
    uint32_t number;
    uint32_t site; /* the last that was written into the chunk */
    bool inside;
    bool
        walking; /* the stack, or loads what it needs for that: what is allocated then is its own */
    bool numbered;
    bool ended; /* its last record is written; what comes now is late */
    bool late;  /* has borrowed the late thread's place until leave */
};

struct fb_log_process {
    uint64_t generation; /* 0: not this process's yet */
    bool off;            /* records nothing any more */
    _Alignas(64) _Atomic uint64_t ticket;
};

extern struct fb_next fb_next;
extern struct fb_log_process *fb_log_process;
extern __thread struct fb_log_thread fb_log_self __attribute__((tls_model("initial-exec")));

/* Finds what is next in line; harmless when done. */
void fb_log_resolve(void);
/* Gives the thread a place with room, or says that nothing is recorded (false). Keeps errno. */
bool fb_log_prepare(struct fb_log_thread *thread);
/* At least so many words of room in the thread's chunk, or in a new one. false: there is none, and
 * the process records no more. Not for late calls. */
bool fb_log_make_room(struct fb_log_thread *thread, size_t words);
/* Gives back what an ended thread borrowed. */
void fb_log_leave_late(struct fb_log_thread *thread);

static inline bool fb_log_enter(struct fb_log_thread *thread)
{
    if (thread->inside)
        return false;
    thread->inside = true;
    if (__builtin_expect(thread->generation == fb_log_process->generation &&
                             thread->end - thread->cursor >= (ptrdiff_t)FB_SPOOL_RESERVE_WORDS,
                         true))
        return true;
    if (fb_log_prepare(thread))
        return true;
    thread->inside = false;
    return false;
}

static inline void fb_log_leave(struct fb_log_thread *thread)
{
    if (__builtin_expect(thread->late, false))
        fb_log_leave_late(thread);
    thread->inside = false;
}

static inline uint64_t fb_log_ticket(void)
{
    return atomic_fetch_add_explicit(&fb_log_process->ticket, 1, memory_order_seq_cst) + 1;
}

static inline void fb_log_publish(struct fb_log_thread *thread)
{
    atomic_store_explicit(&thread->chunk->used_words, (uint32_t)(thread->cursor - thread->begin),
                          memory_order_release);
}

/* The coarse clock is read from memory that the kernel keeps up to date: some 5 ns, and exact to
 * its tick of 1 to 10 ms, which is what pauses are replayed from. */
static inline void fb_log_time(struct fb_log_thread *thread)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
    if (ns == thread->time_ns)
        return;
    thread->time_ns = ns;
    *thread->cursor++ = FB_SPOOL_HEAD(FB_SPOOL_TIME, 0, 0);
    *thread->cursor++ = ns;
}

/* Adds to what the recorder holds of private memory; negative takes away. */
void fb_log_own(int64_t bytes);

/* A record of two words, with a ticket. */
static inline void fb_log_address(struct fb_log_thread *thread, enum fb_spool_kind kind,
                                  unsigned aux, const void *block)
{
    thread->cursor[1] = (uintptr_t)block & FB_SPOOL_ADDRESS_MASK;
    thread->cursor[0] = FB_SPOOL_HEAD(kind, aux, fb_log_ticket());
    thread->cursor += 2;
    fb_log_publish(thread);
}

/* A record with a size. A birth is recorded when the block is there. */
static inline void fb_log_birth(struct fb_log_thread *thread, enum fb_spool_kind kind, unsigned aux,
                                const void *block, size_t size)
{
    fb_log_time(thread);
    uint64_t address = (uintptr_t)block & FB_SPOOL_ADDRESS_MASK;
    uint64_t *record = thread->cursor;
    bool fits = size < FB_SPOOL_SIZE_LONG;
    record[0] = FB_SPOOL_HEAD(kind, aux, fb_log_ticket());
    record[1] = address | (fits ? (uint64_t)size : FB_SPOOL_SIZE_LONG) << 48;
    record[2] = size;
    thread->cursor += fits ? 2 : 3;
    fb_log_publish(thread);
}

/* The bootstrap heap (recorder_bootstrap.c): for calls that come before malloc was found. */
void *fb_bootstrap_alloc(size_t size, size_t align);
bool fb_bootstrap_owns(const void *block);
/* A new block with what the old one held. */
void *fb_bootstrap_move(void *block, size_t size, void *(*allocate)(size_t));

#endif
