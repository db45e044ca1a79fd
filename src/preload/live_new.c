/* C++'s operators. jemalloc, tcmalloc and mimalloc define them, and a program's calls would go by
 * malloc to them directly. libstdc++'s own call malloc and free, which counts them already: then
 * these only hand on.
 *
 * Compiled with -fexceptions: operator new throws through here.
 */
#include "preload/live.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A function that is looked for behind this library at its first call. */
struct link {
    const char *name;
    _Atomic(void *) function;
    _Atomic bool counts; /* it is the allocator's own: no malloc is called that would count */
};

static void *resolve(struct link *link)
{
    void *function = atomic_load_explicit(&link->function, memory_order_acquire);
    if (__builtin_expect(function != NULL, 1))
        return function;
    function = dlsym(RTLD_NEXT, link->name);
    atomic_store_explicit(&link->counts, fb_live_is_allocators(function), memory_order_relaxed);
    atomic_store_explicit(&link->function, function, memory_order_release);
    return function;
}

static inline bool counts(struct link *link)
{
    return atomic_load_explicit(&link->counts, memory_order_relaxed);
}

/* An allocator's operator may call others of them, or malloc, by their exported names, which are
 * ours: only the outermost call counts. Put back by the compiler's cleanup, exceptions included. */
static inline struct fb_live_slot *begin(struct link *link)
{
    struct fb_live_slot *own = fb_live_slot;
    if (counts(link))
        fb_live_slot = &fb_live_nowhere;
    return own;
}

static inline void end(struct fb_live_slot *const *own)
{
    fb_live_slot = *own;
}

#define CLEANUP __attribute__((cleanup(end), unused))

static inline void *came(struct link *link, void *block)
{
    if (block != NULL && counts(link))
        fb_live_came(fb_live_usable(block));
    return block;
}

static inline void goes(struct link *link, void *block)
{
    if (block != NULL && counts(link))
        fb_live_went(fb_live_usable(block));
}

/* A C++ runtime that only some dlopen'd library brought is not behind us in ld.so's order. */
static void *without_runtime(size_t size, size_t align, bool nothrow)
{
    static const char text[] = "libfragbench-live: operator new: out of memory\n";
    void *block = align > 16 ? aligned_alloc(align, (size + align - 1) / align * align)
                             : malloc(size > 0 ? size : 1);
    if (block == NULL && !nothrow) {
        ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
        (void)written;
        abort();
    }
    return block;
}

/* Lists of parameters cannot stand in parentheses of their own.
 * NOLINTBEGIN(bugprone-macro-parentheses) */
#define NEW(id, symbol, parameters, arguments, align, nothrow) \
    LIVE_EXPORT void *id parameters __asm__(symbol);           \
    void *id parameters                                        \
    {                                                          \
        static struct link link = {.name = (symbol)};          \
        void *(*function)parameters;                           \
        void *block, *address = resolve(&link);                \
        if (address == NULL)                                   \
            return without_runtime(size, align, nothrow);      \
        memcpy(&function, &address, sizeof function);          \
        {                                                      \
            struct fb_live_slot *own CLEANUP = begin(&link);   \
            block = function arguments;                        \
        }                                                      \
        return came(&link, block);                             \
    }

#define DELETE(id, symbol, parameters, arguments)        \
    LIVE_EXPORT void id parameters __asm__(symbol);      \
    void id parameters                                   \
    {                                                    \
        static struct link link = {.name = (symbol)};    \
        void(*function) parameters;                      \
        void *address = resolve(&link);                  \
        if (address == NULL) {                           \
            free(block);                                 \
            return;                                      \
        }                                                \
        memcpy(&function, &address, sizeof function);    \
        goes(&link, block);                              \
        struct fb_live_slot *own CLEANUP = begin(&link); \
        function arguments;                              \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

/* clang-format off: one row an operator; size_t is 'm' on the 64-bit platforms */
typedef const void *nothrow_type;

NEW(new_one, "_Znwm", (size_t size), (size), 0, false)
NEW(new_array, "_Znam", (size_t size), (size), 0, false)
NEW(new_one_nothrow, "_ZnwmRKSt9nothrow_t", (size_t size, nothrow_type tag), (size, tag), 0, true)
NEW(new_array_nothrow, "_ZnamRKSt9nothrow_t", (size_t size, nothrow_type tag), (size, tag), 0, true)
NEW(new_one_aligned, "_ZnwmSt11align_val_t", (size_t size, size_t align), (size, align), align,
    false)
NEW(new_array_aligned, "_ZnamSt11align_val_t", (size_t size, size_t align), (size, align), align,
    false)
NEW(new_one_aligned_nothrow, "_ZnwmSt11align_val_tRKSt9nothrow_t",
    (size_t size, size_t align, nothrow_type tag), (size, align, tag), align, true)
NEW(new_array_aligned_nothrow, "_ZnamSt11align_val_tRKSt9nothrow_t",
    (size_t size, size_t align, nothrow_type tag), (size, align, tag), align, true)

DELETE(delete_one, "_ZdlPv", (void *block), (block))
DELETE(delete_array, "_ZdaPv", (void *block), (block))
DELETE(delete_one_sized, "_ZdlPvm", (void *block, size_t size), (block, size))
DELETE(delete_array_sized, "_ZdaPvm", (void *block, size_t size), (block, size))
DELETE(delete_one_nothrow, "_ZdlPvRKSt9nothrow_t", (void *block, nothrow_type tag), (block, tag))
DELETE(delete_array_nothrow, "_ZdaPvRKSt9nothrow_t", (void *block, nothrow_type tag), (block, tag))
DELETE(delete_one_aligned, "_ZdlPvSt11align_val_t", (void *block, size_t align), (block, align))
DELETE(delete_array_aligned, "_ZdaPvSt11align_val_t", (void *block, size_t align), (block, align))
DELETE(delete_one_sized_aligned, "_ZdlPvmSt11align_val_t", (void *block, size_t size, size_t align),
       (block, size, align))
DELETE(delete_array_sized_aligned, "_ZdaPvmSt11align_val_t",
       (void *block, size_t size, size_t align), (block, size, align))
DELETE(delete_one_aligned_nothrow, "_ZdlPvSt11align_val_tRKSt9nothrow_t",
       (void *block, size_t align, nothrow_type tag), (block, align, tag))
DELETE(delete_array_aligned_nothrow, "_ZdaPvSt11align_val_tRKSt9nothrow_t",
       (void *block, size_t align, nothrow_type tag), (block, align, tag))
/* clang-format on */
