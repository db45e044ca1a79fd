/* operator new and delete, all standard forms.
 *
 * libstdc++'s call malloc, which records; then these only pass on. Allocators bring their own,
 * which do not call malloc: then the record is made here. Which of the two is next in line is told
 * by whether it lies in the same object as malloc. Looked up at the first call, since libstdc++ may
 * come with a library that is opened later; where it is not in the global scope then, it is asked
 * by name. new throws through these frames: they are compiled with unwind tables and leave the
 * recorder by a cleanup.
 */
#include "preload/recorder_big.h"
#include "preload/recorder_log.h"
#include "preload/recorder_sites.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum form {
    NEW,
    NEW_ARRAY,
    NEW_NOTHROW,
    NEW_ARRAY_NOTHROW,
    NEW_ALIGNED,
    NEW_ARRAY_ALIGNED,
    NEW_ALIGNED_NOTHROW,
    NEW_ARRAY_ALIGNED_NOTHROW,
    DELETE,
    DELETE_ARRAY,
    DELETE_SIZED,
    DELETE_ARRAY_SIZED,
    DELETE_NOTHROW,
    DELETE_ARRAY_NOTHROW,
    DELETE_ALIGNED,
    DELETE_ARRAY_ALIGNED,
    DELETE_SIZED_ALIGNED,
    DELETE_ARRAY_SIZED_ALIGNED,
    DELETE_ALIGNED_NOTHROW,
    DELETE_ARRAY_ALIGNED_NOTHROW,
    FORMS
};

/* The Itanium C++ ABI's names, with size_t as unsigned long. */
static const char *const symbols[FORMS] = {
    [NEW] = "_Znwm",
    [NEW_ARRAY] = "_Znam",
    [NEW_NOTHROW] = "_ZnwmRKSt9nothrow_t",
    [NEW_ARRAY_NOTHROW] = "_ZnamRKSt9nothrow_t",
    [NEW_ALIGNED] = "_ZnwmSt11align_val_t",
    [NEW_ARRAY_ALIGNED] = "_ZnamSt11align_val_t",
    [NEW_ALIGNED_NOTHROW] = "_ZnwmSt11align_val_tRKSt9nothrow_t",
    [NEW_ARRAY_ALIGNED_NOTHROW] = "_ZnamSt11align_val_tRKSt9nothrow_t",
    [DELETE] = "_ZdlPv",
    [DELETE_ARRAY] = "_ZdaPv",
    [DELETE_SIZED] = "_ZdlPvm",
    [DELETE_ARRAY_SIZED] = "_ZdaPvm",
    [DELETE_NOTHROW] = "_ZdlPvRKSt9nothrow_t",
    [DELETE_ARRAY_NOTHROW] = "_ZdaPvRKSt9nothrow_t",
    [DELETE_ALIGNED] = "_ZdlPvSt11align_val_t",
    [DELETE_ARRAY_ALIGNED] = "_ZdaPvSt11align_val_t",
    [DELETE_SIZED_ALIGNED] = "_ZdlPvmSt11align_val_t",
    [DELETE_ARRAY_SIZED_ALIGNED] = "_ZdaPvmSt11align_val_t",
    [DELETE_ALIGNED_NOTHROW] = "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    [DELETE_ARRAY_ALIGNED_NOTHROW] = "_ZdaPvSt11align_val_tRKSt9nothrow_t",
};

typedef void *any_function(uintptr_t, uintptr_t, uintptr_t);

static any_function *_Atomic next_of[FORMS];
static _Atomic bool records[FORMS]; /* the allocator's own: the record is made here */

static bool same_object(const void *left, const void *right)
{
    Dl_info a, b;
    return dladdr(left, &a) != 0 && dladdr(right, &b) != 0 && a.dli_fbase == b.dli_fbase;
}

static void *look_up(const char *symbol)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++.so.1", "libc++abi.so.1"};
    void *found = dlsym(RTLD_NEXT, symbol);
    for (size_t i = 0; found == NULL && i < sizeof libraries / sizeof libraries[0]; i++) {
        void *library = dlopen(libraries[i], RTLD_NOLOAD | RTLD_LAZY);
        if (library != NULL)
            found = dlsym(library, symbol);
        if (library != NULL)
            (void)dlclose(library);
    }
    return found;
}

/* NULL: nobody has that form (a C++ runtime linked into an object, without exporting it). */
static any_function *resolve(enum form form)
{
    any_function *found = atomic_load_explicit(&next_of[form], memory_order_acquire);
    if (__builtin_expect(found != NULL, true))
        return found;
    struct fb_log_thread *thread = &fb_log_self;
    bool inside = thread->inside;
    thread->inside = true; /* what the look-up allocates is no call of the program's */
    fb_log_resolve();
    void *symbol = look_up(symbols[form]);
    if (symbol != NULL && fb_next.malloc != NULL)
        atomic_store(&records[form], same_object(symbol, (void *)(uintptr_t)fb_next.malloc));
    found = (any_function *)(uintptr_t)symbol;
    atomic_store_explicit(&next_of[form], found, memory_order_release);
    thread->inside = inside;
    return found;
}

static void leave(struct fb_log_thread **thread)
{
    if (*thread != NULL)
        fb_log_leave(*thread);
}

/* Without a runtime to throw bad_alloc there is nobody to tell. */
static void *plain_new(size_t size, size_t align, bool throws)
{
    void *block = NULL;
    if (align <= _Alignof(max_align_t))
        block = malloc(size);
    else if (posix_memalign(&block, align, size) != 0)
        block = NULL;
    if (block != NULL || !throws)
        return block;
    static const char text[] = "fragbench: operator new: out of memory, and no C++ runtime found\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    abort();
}

static unsigned log2_of(size_t align)
{
    return align > 1 ? 63U - (unsigned)__builtin_clzll(align) : 0;
}

/* align 0: the form has none. */
static void *allocate(enum form form, size_t size, size_t align, uintptr_t second, uintptr_t third,
                      bool throws)
{
    any_function *next = resolve(form);
    if (next == NULL)
        return plain_new(size, align, throws);
    struct fb_log_thread *self = &fb_log_self;
    if (!atomic_load_explicit(&records[form], memory_order_relaxed) || !fb_sites_enter(self, size))
        return next(size, second, third);
    __attribute__((cleanup(leave))) struct fb_log_thread *thread = self;
    void *block = next(size, second, third);
    if (block == NULL)
        return NULL;
    if (size >= FB_SPOOL_BIG_BYTES)
        fb_big_born(block, size);
    fb_log_birth(thread, align > 0 ? FB_SPOOL_ALIGNED : FB_SPOOL_MALLOC, log2_of(align), block,
                 size);
    return block;
}

static void release(enum form form, void *block, uintptr_t second, uintptr_t third)
{
    if (block == NULL || fb_bootstrap_owns(block))
        return;
    any_function *next = resolve(form);
    if (next == NULL) {
        free(block);
        return;
    }
    struct fb_log_thread *self = &fb_log_self;
    if (!atomic_load_explicit(&records[form], memory_order_relaxed) || !fb_log_enter(self)) {
        (void)next((uintptr_t)block, second, third);
        return;
    }
    unsigned share = fb_big_possible(block) ? fb_big_take(block, true) : 0;
    if (share != FB_BIG_OWN) {
        fb_log_time(self);
        fb_log_address(self, FB_SPOOL_RELEASE, share, block);
    }
    (void)next((uintptr_t)block, second, third);
    fb_log_leave(self);
}

/* With prototypes, as C has no names for these symbols. */
#define NEW_FORM(symbol, form, throws, align, second, third, parameters)                     \
    EXPORT void *symbol parameters;                                                          \
    EXPORT void *symbol parameters                                                           \
    {                                                                                        \
        return allocate(form, size, align, (uintptr_t)(second), (uintptr_t)(third), throws); \
    }
#define DELETE_FORM(symbol, form, second, third, parameters)           \
    EXPORT void symbol parameters;                                     \
    EXPORT void symbol parameters                                      \
    {                                                                  \
        release(form, block, (uintptr_t)(second), (uintptr_t)(third)); \
    }

NEW_FORM(_Znwm, NEW, true, 0, 0, 0, (size_t size))
NEW_FORM(_Znam, NEW_ARRAY, true, 0, 0, 0, (size_t size))
NEW_FORM(_ZnwmRKSt9nothrow_t, NEW_NOTHROW, false, 0, tag, 0, (size_t size, const void *tag))
NEW_FORM(_ZnamRKSt9nothrow_t, NEW_ARRAY_NOTHROW, false, 0, tag, 0, (size_t size, const void *tag))
NEW_FORM(_ZnwmSt11align_val_t, NEW_ALIGNED, true, align, align, 0, (size_t size, size_t align))
NEW_FORM(_ZnamSt11align_val_t, NEW_ARRAY_ALIGNED, true, align, align, 0,
         (size_t size, size_t align))
NEW_FORM(_ZnwmSt11align_val_tRKSt9nothrow_t, NEW_ALIGNED_NOTHROW, false, align, align, tag,
         (size_t size, size_t align, const void *tag))
NEW_FORM(_ZnamSt11align_val_tRKSt9nothrow_t, NEW_ARRAY_ALIGNED_NOTHROW, false, align, align, tag,
         (size_t size, size_t align, const void *tag))

DELETE_FORM(_ZdlPv, DELETE, 0, 0, (void *block))
DELETE_FORM(_ZdaPv, DELETE_ARRAY, 0, 0, (void *block))
DELETE_FORM(_ZdlPvm, DELETE_SIZED, size, 0, (void *block, size_t size))
DELETE_FORM(_ZdaPvm, DELETE_ARRAY_SIZED, size, 0, (void *block, size_t size))
DELETE_FORM(_ZdlPvRKSt9nothrow_t, DELETE_NOTHROW, tag, 0, (void *block, const void *tag))
DELETE_FORM(_ZdaPvRKSt9nothrow_t, DELETE_ARRAY_NOTHROW, tag, 0, (void *block, const void *tag))
DELETE_FORM(_ZdlPvSt11align_val_t, DELETE_ALIGNED, align, 0, (void *block, size_t align))
DELETE_FORM(_ZdaPvSt11align_val_t, DELETE_ARRAY_ALIGNED, align, 0, (void *block, size_t align))
DELETE_FORM(_ZdlPvmSt11align_val_t, DELETE_SIZED_ALIGNED, size, align,
            (void *block, size_t size, size_t align))
DELETE_FORM(_ZdaPvmSt11align_val_t, DELETE_ARRAY_SIZED_ALIGNED, size, align,
            (void *block, size_t size, size_t align))
DELETE_FORM(_ZdlPvSt11align_val_tRKSt9nothrow_t, DELETE_ALIGNED_NOTHROW, align, tag,
            (void *block, size_t align, const void *tag))
DELETE_FORM(_ZdaPvSt11align_val_tRKSt9nothrow_t, DELETE_ARRAY_ALIGNED_NOTHROW, align, tag,
            (void *block, size_t align, const void *tag))
