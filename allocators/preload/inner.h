/* The next allocator in line, for those of ours that wrap one: libc's, or the one that stands
 * behind ours in LD_PRELOAD.
 *
 * Found once by dlsym(RTLD_NEXT). dlsym may itself allocate (its error text, a lock's state), which
 * comes back to our malloc before the search is over: such calls are served from a static bootstrap
 * buffer that is never given back, and fba_inner_owns_bootstrap() tells its blocks from others.
 * Nobody waits for another's search: dlsym takes the loader's lock, which a thread in dlopen holds
 * while it allocates. A thread that comes before the first answer searches for itself; all find the
 * same.
 */
#ifndef ALLOCATORS_PRELOAD_INNER_H
#define ALLOCATORS_PRELOAD_INNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fba_inner {
    void *(*malloc)(size_t size);
    void *(*calloc)(size_t count, size_t size);
    void *(*realloc)(void *block, size_t size);
    void (*free)(void *block);
    int (*posix_memalign)(void **out, size_t align, size_t size);
    size_t (*malloc_usable_size)(void *block);
    bool is_glibc; /* moves blocks of more than 32 MiB by mremap instead of copying; see usable.h */
    void (*purge)(void); /* gives back what it can; NULL where it has no such call */
};

/* The inner allocator, or NULL while this thread is inside the search for it: then use
 * fba_bootstrap_allocate(). */
const struct fba_inner *fba_inner(void);
/* Zeroed, aligned; panics when the buffer (64 KiB) is full: nothing needs so much. */
void *fba_bootstrap_allocate(size_t size, size_t align);
size_t fba_bootstrap_usable(const void *block);

#define FBA_BOOTSTRAP_BYTES ((size_t)64 << 10)
extern unsigned char fba_bootstrap[FBA_BOOTSTRAP_BYTES];

/* In line: each free asks. */
static inline bool fba_inner_owns_bootstrap(const void *block)
{
    return (uintptr_t)block - (uintptr_t)fba_bootstrap < FBA_BOOTSTRAP_BYTES;
}

#endif
