#include "preload/live.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* dlsym allocates before the functions it is to find are known; that comes from here. */
enum { EARLY_BYTES = 65536, EARLY_ALIGN = 16 };
_Alignas(64) static unsigned char early[EARLY_BYTES];
static _Atomic size_t early_used;

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */
static struct {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*usable_size)(void *);
} next;

static _Atomic bool found;
static LIVE_TLS bool searching;

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define ROW(member, name)                                  \
    {                                                      \
        name, __builtin_offsetof(__typeof__(next), member) \
    }
    ROW(malloc, "malloc"),
    ROW(free, "free"),
    ROW(calloc, "calloc"),
    ROW(realloc, "realloc"),
    ROW(memalign, "memalign"),
    ROW(aligned_alloc, "aligned_alloc"),
    ROW(posix_memalign, "posix_memalign"),
    ROW(valloc, "valloc"),
    ROW(pvalloc, "pvalloc"),
    ROW(usable_size, "malloc_usable_size"),
#undef ROW
};

static void *object_of(void *function)
{
    Dl_info info;
    return function != NULL && dladdr(function, &info) != 0 ? info.dli_fbase : NULL;
}

bool fb_live_is_allocators(void *function)
{
    void *own = object_of(function);
    return own != NULL && own == object_of((void *)(uintptr_t)next.malloc);
}

static _Noreturn void die(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
    abort();
}

static size_t know_nothing(void *block)
{
    (void)block;
    return 0;
}

static bool is_glibc(void)
{
    return fb_live_is_allocators(dlsym(RTLD_NEXT, "gnu_get_libc_version"));
}

/* tcmalloc allocates, by operator new, when it is asked for a size for the first time: that
 * question must not be asked of the block it just made, and so on for ever. */
static void warm_up(size_t (*usable_size)(void *))
{
    fba_usable_open(know_nothing, false);
    atomic_store_explicit(&found, true, memory_order_release);
    void *block = next.malloc(1);
    if (block != NULL && usable_size != NULL)
        (void)usable_size(block);
    next.free(block);
    if (usable_size != NULL)
        fba_usable_open(usable_size, is_glibc());
}

/* Run by the first caller, long before there is a second thread. */
static void search(void)
{
    searching = true;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(RTLD_NEXT, functions[i].name);
        memcpy((char *)&next + functions[i].offset, &function, sizeof function);
    }
    if (next.malloc == NULL || next.free == NULL || next.calloc == NULL || next.realloc == NULL)
        die("libfragbench-live: no malloc behind this library\n");
    /* Another object's function would read a foreign header. */
    if (!fb_live_is_allocators((void *)(uintptr_t)next.usable_size)) {
        next.usable_size = NULL;
        fb_live_slots_blind();
    }
    warm_up(next.usable_size);
    searching = false;
}

static inline bool is_ready(void)
{
    if (__builtin_expect(atomic_load_explicit(&found, memory_order_acquire), 1))
        return true;
    if (searching)
        return false;
    search();
    return true;
}

static void *early_take(size_t size, size_t align)
{
    size_t room = (size + EARLY_ALIGN + align - 1) / EARLY_ALIGN * EARLY_ALIGN + align;
    size_t at = atomic_fetch_add(&early_used, room);
    if (size > EARLY_BYTES || at + room > EARLY_BYTES)
        die("libfragbench-live: too many allocations before malloc was found\n");
    uintptr_t start = (uintptr_t)early + at + EARLY_ALIGN;
    start = (start + align - 1) / align * align;
    memcpy((void *)(start - sizeof size), &size, sizeof size);
    return (void *)start;
}

static bool is_early(const void *block)
{
    return (const unsigned char *)block >= early &&
           (const unsigned char *)block < early + EARLY_BYTES;
}

static size_t early_size(const void *block)
{
    size_t size;
    memcpy(&size, (const char *)block - sizeof size, sizeof size);
    return size;
}

static inline void *came(void *block)
{
    if (__builtin_expect(block != NULL, 1))
        fb_live_came(fb_live_usable(block));
    return block;
}

LIVE_EXPORT void *malloc(size_t size)
{
    if (!is_ready())
        return early_take(size, EARLY_ALIGN);
    return came(next.malloc(size));
}

LIVE_EXPORT void free(void *block)
{
    if (block == NULL || __builtin_expect(is_early(block), 0) || !is_ready())
        return;
    fb_live_went(fb_live_usable(block));
    next.free(block);
}

LIVE_EXPORT void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (is_ready())
        return came(next.calloc(count, size));
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return early_take(bytes, EARLY_ALIGN); /* static memory is zero, and is used once */
}

static void *move_early(void *old, size_t size)
{
    void *block = malloc(size);
    size_t had = early_size(old);
    if (block != NULL)
        memcpy(block, old, had < size ? had : size);
    return block;
}

LIVE_EXPORT void *realloc(void *old, size_t size)
{
    if (old == NULL)
        return malloc(size);
    if (is_early(old) || !is_ready())
        return move_early(old, size);
    size_t before = fb_live_usable(old);
    void *block = next.realloc(old, size);
    /* NULL for size 0 is a free; NULL for another leaves the old block as it is. */
    if (block != NULL)
        fb_live_moved(before, fb_live_usable(block));
    else if (size == 0)
        fb_live_went(before);
    return block;
}

LIVE_EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (!__builtin_mul_overflow(count, size, &bytes))
        return realloc(old, bytes);
    errno = ENOMEM;
    return NULL;
}

LIVE_EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    if (!is_ready()) {
        *out = early_take(size, align);
        return 0;
    }
    int error = next.posix_memalign(out, align, size);
    if (error == 0)
        (void)came(*out);
    return error;
}

LIVE_EXPORT void *memalign(size_t align, size_t size)
{
    return is_ready() ? came(next.memalign(align, size)) : early_take(size, align);
}

LIVE_EXPORT void *aligned_alloc(size_t align, size_t size)
{
    return is_ready() ? came(next.aligned_alloc(align, size)) : early_take(size, align);
}

/* An allocator without the old two is served by its memalign: libc's would come from libc. */
LIVE_EXPORT void *valloc(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!is_ready() || !fb_live_is_allocators((void *)(uintptr_t)next.valloc))
        return memalign(page, size);
    return came(next.valloc(size));
}

LIVE_EXPORT void *pvalloc(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!is_ready() || !fb_live_is_allocators((void *)(uintptr_t)next.pvalloc))
        return memalign(page, (size + page - 1) / page * page);
    return came(next.pvalloc(size));
}

LIVE_EXPORT size_t malloc_usable_size(void *block)
{
    if (block == NULL)
        return 0;
    return is_early(block) || !is_ready() ? early_size(block) : fb_live_usable(block);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
