/* The malloc family over contract.h, compiled into each of our libraries.
 *
 *  1. Everything a standard or glibc's manual says about arguments is settled here, so that an
 *     allocator sees sizes from 1 to PTRDIFF_MAX, alignments of at least 16, blocks that are not
 * NULL.
 *  2. The library opens at the first call, whoever makes it: constructors of other libraries call
 *     malloc before ours runs. A call from within the opening (dlsym allocates) goes straight to
 * the allocator, which must be able to answer it half open.
 *  3. free, realloc and malloc_usable_size of a block need no opening: a block came from an open
 * one.
 *  4. errno: ENOMEM on refusal and EINVAL on a bad alignment; posix_memalign returns them instead.
 *     An allocator leaves errno alone, so free() keeps it, as glibc 2.33 and POSIX 2024 promise.
 *  5. Fork handlers are registered by the constructor: early, so that prepare runs after the
 * handlers of the program, which may allocate, and parent/child before them.
 */
#include "preload/contract.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* What fragbench and `strings` find in the file: a copy of the library outside of a package knows
 * its version too. */
FBA_EXPORT const char fragbench_allocator_version[] =
    "fragbench allocator: VERSION\t\t" FBA_VERSION "\n";

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define MIN_ALIGN ((size_t)16)

/* An allocator whose fast path is short and whose slow ones are marked noinline may define
 * FBA_FLATTEN: malloc and free become one function with it. */
#ifdef FBA_FLATTEN
#define FBA_FLAT __attribute__((flatten))
#else
#define FBA_FLAT
#endif

static struct {
    _Atomic bool open;
} family;

static __thread bool opening;

static __attribute__((noinline, cold)) void open_family(void)
{
    if (opening)
        return;
    int saved = errno;
    opening = true;
    fba_open();
    opening = false;
    atomic_store_explicit(&family.open, true, memory_order_release);
    errno = saved;
}

static inline void enter(void)
{
    if (!LIKELY(atomic_load_explicit(&family.open, memory_order_acquire)))
        open_family();
}

static __attribute__((noinline, cold)) void *refuse(void)
{
    errno = ENOMEM;
    return NULL;
}

static inline bool is_power(size_t align)
{
    return align != 0 && (align & (align - 1)) == 0;
}

static inline void *allocate(size_t size, size_t align)
{
    if (!LIKELY(size <= PTRDIFF_MAX))
        return refuse();
    enter();
    void *block = fba_allocate(size != 0 ? size : 1, align < MIN_ALIGN ? MIN_ALIGN : align);
    return LIKELY(block != NULL) ? block : refuse();
}

/* libc's headers name these parameters with underscores of their own. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
FBA_EXPORT FBA_FLAT void *malloc(size_t size)
{
    return allocate(size, MIN_ALIGN);
}

FBA_EXPORT FBA_FLAT void free(void *block)
{
    if (LIKELY(block != NULL))
        fba_release(block);
}

FBA_EXPORT void *calloc(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total) || total > PTRDIFF_MAX)
        return refuse();
    enter();
    void *block = fba_allocate_zeroed(total != 0 ? total : 1);
    return LIKELY(block != NULL) ? block : refuse();
}

FBA_EXPORT void *realloc(void *block, size_t size)
{
    if (block == NULL)
        return allocate(size, MIN_ALIGN);
    if (size == 0) { /* as glibc; C23 leaves it undefined */
        fba_release(block);
        return NULL;
    }
    if (size > PTRDIFF_MAX)
        return refuse();
    void *resized = fba_resize(block, size);
    return LIKELY(resized != NULL) ? resized : refuse();
}

FBA_EXPORT void *reallocarray(void *block, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        return refuse();
    return realloc(block, total);
}

FBA_EXPORT void *aligned_alloc(size_t align, size_t size)
{
    if (!is_power(align)) {
        errno = EINVAL;
        return NULL;
    }
    return allocate(size, align);
}

/* glibc rounds an alignment up to a power of two here. */
FBA_EXPORT void *memalign(size_t align, size_t size)
{
    if (align > SIZE_MAX / 2 + 1) {
        errno = EINVAL;
        return NULL;
    }
    if (align > 1 && !is_power(align))
        align = (size_t)1 << (64 - __builtin_clzll(align));
    return allocate(size, align);
}

FBA_EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    if (!is_power(align) || align % sizeof(void *) != 0)
        return EINVAL;
    int saved = errno; /* not said to be set by this function */
    void *block = allocate(size, align);
    errno = saved;
    if (block == NULL)
        return ENOMEM;
    *out = block;
    return 0;
}

FBA_EXPORT void *valloc(size_t size)
{
    return allocate(size, (size_t)sysconf(_SC_PAGESIZE));
}

FBA_EXPORT void *pvalloc(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), padded;
    if (__builtin_add_overflow(size, page - 1, &padded))
        return refuse();
    padded &= ~(page - 1);
    return allocate(padded != 0 ? padded : page, page);
}

FBA_EXPORT size_t malloc_usable_size(void *block)
{
    return block != NULL ? fba_usable(block) : 0;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

__attribute__((constructor)) static void set_up(void)
{
    enter();
    if (pthread_atfork(fba_fork_prepare, fba_fork_parent, fba_fork_child) != 0)
        fba_panic("no room for the fork handlers");
}
