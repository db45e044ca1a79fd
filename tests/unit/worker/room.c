/* An allocator for tests that knows scopes and is strict about them: plain malloc goes to libc's,
 * scope memory comes from one room, and any call that does not fit the contract ends the process.
 */
#include "allocators/include/fragbench/scope.h"

#include <dlfcn.h>
#include <stdlib.h>

typedef void *malloc_function(size_t);
typedef void free_function(void *);

static _Alignas(64) char room[1 << 16];
static size_t used;
static int depth;

void fragbench_scope_begin(void)
{
    depth++;
}

void *fragbench_scope_alloc(size_t size, size_t align)
{
    if (depth == 0 || size == 0)
        abort();
    size_t step = align == 0 ? 16 : align;
    size_t at = (used + step - 1) / step * step;
    if (at + size > sizeof room)
        abort();
    used = at + size;
    return room + at;
}

void fragbench_scope_end(void)
{
    if (depth-- == 0 || used != 9 * 112 + 100) /* ten objects of 100 B, 16-aligned */
        abort();
    used = 0;
}

void *malloc(size_t size)
{
    static malloc_function *next;
    if (next == NULL)
        next = (malloc_function *)dlsym(RTLD_NEXT, "malloc");
    return next(size);
}

void free(void *block)
{
    static free_function *next;
    if ((char *)block >= room && (char *)block < room + sizeof room)
        abort(); /* the worker leaves scope objects to the scope's end */
    if (next == NULL)
        next = (free_function *)dlsym(RTLD_NEXT, "free");
    next(block);
}
