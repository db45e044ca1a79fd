/* What the program maps by itself, through libc's mmap, munmap and mremap: memory beside the heap.
 *
 * Only ranges are recorded; how much of them is resident fragbench reads from outside. glibc's
 * malloc, its thread stacks and the loader do not call these symbols. Other allocators do: their
 * calls are told by the recorder being inside one of their functions, or by where the call comes
 * from (threads of their own).
 */
#include "preload/recorder_log.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* libc's headers name these parameters with underscores of their own. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

static bool is_program(const void *caller)
{
    return (uintptr_t)caller < fb_next.allocator_begin ||
           (uintptr_t)caller >= fb_next.allocator_end;
}

/* Whether the call is to be recorded; then the thread is inside. */
static bool enter(struct fb_log_thread *thread, const void *caller)
{
    return is_program(caller) && fb_log_enter(thread);
}

static void note(struct fb_log_thread *thread, enum fb_spool_kind kind, unsigned aux,
                 const void *memory, size_t size)
{
    fb_log_birth(thread, kind, aux, memory, size);
    fb_log_leave(thread);
}

/* Before the real functions are found, and where there are none in line. */
static void *raw_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

static bool is_private(int flags)
{
    return (flags & MAP_ANONYMOUS) != 0 && (flags & MAP_TYPE) == MAP_PRIVATE;
}

/* After the work, as an allocation is: nobody else can have the range before. What takes the place
 * of a range (MAP_FIXED) with another kind of memory ends it. */
static void *map(void *address, size_t size, int protection, int flags, int fd, off_t offset,
                 const void *caller)
{
    struct fb_log_thread *thread = &fb_log_self;
    void *memory = fb_next.mmap != NULL ? fb_next.mmap(address, size, protection, flags, fd, offset)
                                        : raw_mmap(address, size, protection, flags, fd, offset);
    bool matters = is_private(flags) || (flags & MAP_FIXED) != 0;
    if (memory != MAP_FAILED && matters && enter(thread, caller))
        note(thread, is_private(flags) ? FB_SPOOL_MAP : FB_SPOOL_UNMAP, 0, memory, size);
    return memory;
}

EXPORT void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    return map(address, size, protection, flags, fd, offset, __builtin_return_address(0));
}

EXPORT void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset)
{
    return map(address, size, protection, flags, fd, offset, __builtin_return_address(0));
}

/* Before the work, as a free is. */
EXPORT int munmap(void *memory, size_t size)
{
    struct fb_log_thread *thread = &fb_log_self;
    if (enter(thread, __builtin_return_address(0)))
        note(thread, FB_SPOOL_UNMAP, 0, memory, size);
    return fb_next.munmap != NULL ? fb_next.munmap(memory, size)
                                  : (int)syscall(SYS_munmap, memory, size);
}

static void *move(void *memory, size_t old_size, size_t size, int flags, void *target)
{
    return fb_next.mremap != NULL
               ? fb_next.mremap(memory, old_size, size, flags, target)
               : (void *)syscall(SYS_mremap, memory, old_size, size, flags, target);
}

/* The range may be a file's: whether it was one of those that count, fragbench knows. */
EXPORT void *mremap(void *memory, size_t old_size, size_t size, int flags, ...)
{
    struct fb_log_thread *thread = &fb_log_self;
    void *target = NULL;
    if ((flags & MREMAP_FIXED) != 0) {
        va_list more;
        va_start(more, flags);
        /* The analyzer of clang 14 does not see va_start in a function that libc declares. */
        target = va_arg(more, void *); /* NOLINT(clang-analyzer-valist.Uninitialized) */
        va_end(more);
    }
    if (!enter(thread, __builtin_return_address(0)))
        return move(memory, old_size, size, flags, target);
    fb_log_birth(thread, FB_SPOOL_UNMAP, 1, memory, old_size);
    void *moved = move(memory, old_size, size, flags, target);
    int saved = errno;
    if (moved == MAP_FAILED)
        note(thread, FB_SPOOL_MAP, 1, memory, old_size);
    else
        note(thread, FB_SPOOL_MAP, 1, moved, size);
    errno = saved;
    return moved;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
