/* What an allocator of ours implements; preload/malloc.c makes the whole malloc family of it.
 *
 * malloc.c has done, once for all: early calls (before any constructor), overflow of count × size,
 * PTRDIFF_MAX, alignments (powers of two; below 16 becomes 16), errno, realloc(NULL, n), realloc(p,
 * 0) (frees and returns NULL, as glibc does), free(NULL), posix_memalign's and aligned_alloc's
 * rules, and the registration of fork handlers. So an implementation only sees sizes from 1 to
 * PTRDIFF_MAX, alignments ≥ 16, and blocks that are not NULL. It never sets errno for success; it
 * returns NULL for "no" and malloc.c sets ENOMEM.
 *
 * Threads: any function may be called on any thread at any time after fba_open() was begun on some
 * thread; an implementation serialises its own opening. Nothing here may call malloc or anything of
 * libc that does (stdio, dlsym after start, pthread_create). A broken invariant is a message by
 * write(2) to descriptor 2 and abort(), through fba_panic().
 */
#ifndef ALLOCATORS_PRELOAD_CONTRACT_H
#define ALLOCATORS_PRELOAD_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>

/* Called at the first use, before anything else; cheap when it is done already. */
void fba_open(void);
void *fba_allocate(size_t size, size_t align);
/* As fba_allocate(size, 16), but zeroed; fresh pages of the kernel need no writing. */
void *fba_allocate_zeroed(size_t size);
/* Grows or shrinks, content kept up to the smaller size; NULL leaves the old block as it was. */
void *fba_resize(void *block, size_t size);
void fba_release(void *block);
/* What may be written, ≥ the size asked for. */
size_t fba_usable(const void *block);

/* Around fork, in the thread that forks: take all locks, give them back; the child has one thread.
 */
void fba_fork_prepare(void);
void fba_fork_parent(void);
void fba_fork_child(void);

/* What a shared library of ours shows; everything else is hidden. */
#define FBA_EXPORT __attribute__((visibility("default")))

/* One line "fragbench-NAME: text" to descriptor 2, in one write; text beyond 500 bytes is cut. */
void fba_say(const char *text);
/* preload/panic.c: "fragbench-NAME: text" to descriptor 2, then abort(). */
_Noreturn void fba_panic(const char *text);
/* Option NAME of an allocator: the environment variable FRAGBENCH_<ALLOCATOR>_<NAME>, as the
 * harness sets it. Sizes take units ("512MiB", "64k"), booleans 0/1. A value that cannot be read is
 * a line on descriptor 2 and counts as not given: a service must start. Needs no allocation. */
const char *fba_option(const char *variable);
bool fba_option_bytes(const char *variable, size_t *out);
bool fba_option_count(const char *variable, size_t *out);
bool fba_option_bool(const char *variable, bool *out);

#endif
