/* An allocator that takes PAD_PERCENT more for every block than was asked for, and writes to it so
 * that it counts: a build that became worse by a known amount. With 0 it is the allocator as it is,
 * and SHIFT_PAGES moves the addresses of what is mapped later: a build that differs in nothing that
 * should matter. Over glibc's malloc; with PAD_OVER_JEMALLOC over jemalloc, to be linked to it. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#ifndef PAD_PERCENT
#define PAD_PERCENT 0
#endif
#define PAGE 4096U

#ifdef SHIFT_PAGES
char fragbench_test_shift[SHIFT_PAGES * PAGE]; /* makes the library's own mapping longer */
#endif

#ifdef PAD_OVER_JEMALLOC
/* jemalloc's own names, which the functions below do not hide. */
void *mallocx(size_t size, int flags);
void *rallocx(void *block, size_t size, int flags);
void dallocx(void *block, int flags);
size_t sallocx(const void *block, int flags);
#define ZERO 0x40
static int align_flag(size_t align)
{
    return __builtin_ctzl(align); /* MALLOCX_ALIGN */
}
static void *take(size_t size)
{
    return mallocx(size, 0);
}
static void *take_zeroed(size_t size)
{
    return mallocx(size, ZERO);
}
static void *take_aligned(size_t align, size_t size)
{
    return mallocx(size, align_flag(align));
}
static void *take_again(void *block, size_t size)
{
    return block == NULL ? mallocx(size, 0) : rallocx(block, size, 0);
}
static void give(void *block)
{
    if (block != NULL)
        dallocx(block, 0);
}
static size_t usable(void *block)
{
    return block == NULL ? 0 : sallocx(block, 0);
}
#else
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *block);
static void *take(size_t size)
{
    return __libc_malloc(size);
}
static void *take_zeroed(size_t size)
{
    return __libc_calloc(1, size);
}
static void *take_aligned(size_t align, size_t size)
{
    return __libc_memalign(align, size);
}
static void *take_again(void *block, size_t size)
{
    return __libc_realloc(block, size);
}
static void give(void *block)
{
    __libc_free(block);
}
/* glibc keeps the chunk's size, with three flags, before the block; 8 bytes of it are head. */
static size_t usable(void *block)
{
    return block == NULL ? 0 : (((size_t *)block)[-1] & ~(size_t)7) - sizeof(size_t);
}
#endif

void *malloc(size_t size);
void free(void *block);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void *memalign(size_t align, size_t size);
void *aligned_alloc(size_t align, size_t size);
int posix_memalign(void **out, size_t align, size_t size);
size_t malloc_usable_size(void *block);

static size_t padded(size_t size)
{
    return size + size / 100 * PAD_PERCENT + size % 100 * PAD_PERCENT / 100;
}

/* Writes to every page of the padding. */
static void *touch(void *block, size_t size)
{
    char *bytes = block;
    size_t end = padded(size);
    if (bytes == NULL || end == size)
        return block;
    for (size_t at = size; at < end; at += PAGE)
        ((volatile char *)bytes)[at] = 1;
    ((volatile char *)bytes)[end - 1] = 1;
    return block;
}

void *malloc(size_t size)
{
    return touch(take(padded(size)), size);
}

void free(void *block)
{
    give(block);
}

void *calloc(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return touch(take_zeroed(padded(total)), total);
}

void *realloc(void *old, size_t size)
{
    return touch(take_again(old, padded(size)), size);
}

void *memalign(size_t align, size_t size)
{
    return touch(take_aligned(align, padded(size)), size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
    *out = memalign(align, size);
    return *out == NULL ? ENOMEM : 0;
}

size_t malloc_usable_size(void *block)
{
    return usable(block);
}
