/* libfragbench-recorder.so: writes down what a program asks its allocator for.
 *
 * Preloaded before the allocator, it answers the whole malloc family (and operator new and delete,
 * recorder_new.c), passes each call on to the next in line and appends a record to the spool
 * (trace/spool.h). A free is recorded before it is made, an allocation after, a realloc on both
 * sides. malloc_usable_size is not answered: it goes to the allocator by itself.
 *
 * Without FRAGBENCH_SPOOL, or once there is no more room, everything is passed on and nothing else
 * happens.
 */
#include "preload/recorder_big.h"
#include "preload/recorder_log.h"
#include "preload/recorder_sites.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define BOOTSTRAP_ALIGN 16U

/* libc's headers name these parameters with underscores of their own. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

/* C23's, and what glibc 2.26 took out of its headers. */
EXPORT void free_sized(void *block, size_t size);
EXPORT void free_aligned_sized(void *block, size_t align, size_t size);
EXPORT void cfree(void *block);

static void note_birth(struct fb_log_thread *thread, enum fb_spool_kind kind, unsigned aux,
                       void *block, size_t size)
{
    if (__builtin_expect(size >= FB_SPOOL_BIG_BYTES, false))
        fb_big_born(block, size);
    fb_log_birth(thread, kind, aux, block, size);
}

static inline void note_death(struct fb_log_thread *thread, void *block)
{
    unsigned share = 0;
    if (__builtin_expect(fb_big_possible(block), false))
        share = fb_big_take(block, true);
    if (__builtin_expect(share == FB_BIG_OWN, false))
        return;
    fb_log_time(thread);
    fb_log_address(thread, FB_SPOOL_RELEASE, share, block);
}

/* Before the constructor of anybody: the first call may be this one. */
static bool resolved(void)
{
    static _Atomic bool looking;
    if (fb_next.malloc == NULL && !atomic_exchange(&looking, true)) {
        fb_log_resolve();
        atomic_store(&looking, false);
    }
    return fb_next.malloc != NULL;
}

/* A block that was asked for while the recorder was at work. */
static void *own(const struct fb_log_thread *thread, void *block)
{
    if (thread->walking && block != NULL)
        fb_big_own(block);
    return block;
}

EXPORT void *malloc(size_t size)
{
    struct fb_log_thread *thread = &fb_log_self;
    if (!fb_sites_enter(thread, size))
        return resolved() ? own(thread, fb_next.malloc(size))
                          : fb_bootstrap_alloc(size, BOOTSTRAP_ALIGN);
    void *block = fb_next.malloc(size);
    if (block != NULL)
        note_birth(thread, FB_SPOOL_MALLOC, 0, block, size);
    fb_log_leave(thread);
    return block;
}

EXPORT void *calloc(size_t count, size_t size)
{
    struct fb_log_thread *thread = &fb_log_self;
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    if (!fb_sites_enter(thread, bytes)) /* the bootstrap heap is zeroed, and used once */
        return resolved() ? own(thread, fb_next.calloc(count, size))
                          : fb_bootstrap_alloc(bytes, BOOTSTRAP_ALIGN);
    void *block = fb_next.calloc(count, size);
    if (block != NULL)
        note_birth(thread, FB_SPOOL_CALLOC, 0, block, bytes);
    fb_log_leave(thread);
    return block;
}

EXPORT void free(void *block)
{
    struct fb_log_thread *thread = &fb_log_self;
    if (block == NULL || fb_bootstrap_owns(block))
        return;
    if (!fb_log_enter(thread)) {
        if (thread->walking && fb_big_possible(block))
            (void)fb_big_take(block, false);
        if (resolved())
            fb_next.free(block);
        return;
    }
    note_death(thread, block);
    fb_next.free(block);
    fb_log_leave(thread);
}

/* realloc(block, 0) frees with some allocators and shrinks with others: what came back says. */
static void *recorded_realloc(struct fb_log_thread *thread, void *block, size_t size)
{
    if (block == NULL) {
        void *fresh = fb_next.realloc(NULL, size);
        if (fresh != NULL)
            note_birth(thread, FB_SPOOL_REALLOC_NEW, 0, fresh, size);
        return fresh;
    }
    if (fb_big_possible(block))
        (void)fb_big_take(block, false);
    fb_log_time(thread);
    fb_log_address(thread, FB_SPOOL_REALLOC_BEGIN, 0, block);
    void *moved = fb_next.realloc(block, size);
    if (moved != NULL) {
        if (size >= FB_SPOOL_BIG_BYTES)
            fb_big_add(moved, size);
        fb_log_birth(thread, FB_SPOOL_REALLOC_END, 0, moved, size);
        return moved;
    }
    /* aux 1: the block is gone */
    thread->cursor[0] =
        FB_SPOOL_HEAD(FB_SPOOL_REALLOC_FAILED, size == 0 ? 1U : 0U, fb_log_ticket());
    thread->cursor++;
    fb_log_publish(thread);
    return NULL;
}

EXPORT void *realloc(void *block, size_t size)
{
    struct fb_log_thread *thread = &fb_log_self;
    if (__builtin_expect(block != NULL && fb_bootstrap_owns(block), false))
        return fb_bootstrap_move(block, size, resolved() ? malloc : NULL);
    if (!(block == NULL ? fb_sites_enter(thread, size) : fb_log_enter(thread))) {
        if (resolved()) {
            if (thread->walking && block != NULL && fb_big_possible(block))
                (void)fb_big_take(block, false);
            return own(thread, fb_next.realloc(block, size));
        }
        return block == NULL ? fb_bootstrap_alloc(size, BOOTSTRAP_ALIGN) : NULL;
    }
    void *moved = recorded_realloc(thread, block, size);
    fb_log_leave(thread);
    return moved;
}

/* Not passed on as it is: glibc's own calls realloc, which would be recorded, others' do not. */
EXPORT void *reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, bytes);
}

static unsigned log2_of(size_t align)
{
    return align > 1 ? 63U - (unsigned)__builtin_clzll(align) : 0;
}

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    struct fb_log_thread *thread = &fb_log_self;
    if (!fb_sites_enter(thread, size)) {
        if (resolved())
            return fb_next.posix_memalign(out, align, size);
        *out = fb_bootstrap_alloc(size, align);
        return *out != NULL ? 0 : ENOMEM;
    }
    int failed = fb_next.posix_memalign(out, align, size);
    if (failed == 0)
        note_birth(thread, FB_SPOOL_ALIGNED, log2_of(align), *out, size);
    fb_log_leave(thread);
    return failed;
}

/* memalign and its like: `call` with its own arguments, the block of that alignment and size. */
#define ALIGNED(call, align, size)                                           \
    struct fb_log_thread *thread = &fb_log_self;                             \
    if (!fb_sites_enter(thread, (size)))                                     \
        return resolved() ? (call) : fb_bootstrap_alloc((size), (align));    \
    void *block = (call);                                                    \
    if (block != NULL)                                                       \
        note_birth(thread, FB_SPOOL_ALIGNED, log2_of(align), block, (size)); \
    fb_log_leave(thread);                                                    \
    return block

EXPORT void *aligned_alloc(size_t align, size_t size)
{
    ALIGNED(fb_next.aligned_alloc(align, size), align, size);
}

EXPORT void *memalign(size_t align, size_t size)
{
    ALIGNED(fb_next.memalign(align, size), align, size);
}

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

EXPORT void *valloc(size_t size)
{
    ALIGNED(fb_next.valloc(size), page_bytes(), size);
}

EXPORT void *pvalloc(size_t size)
{
    ALIGNED(fb_next.pvalloc(size), page_bytes(), (size + page_bytes() - 1) & ~(page_bytes() - 1));
}

EXPORT void free_sized(void *block, size_t size)
{
    (void)size;
    free(block);
}

EXPORT void free_aligned_sized(void *block, size_t align, size_t size)
{
    (void)align, (void)size;
    free(block);
}

EXPORT void cfree(void *block)
{
    free(block);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
