/* A broken allocator for tests: every block of 5000 bytes is the same one. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

typedef void *malloc_function(size_t);
typedef void free_function(void *);

static char one_block[8192];

void *malloc(size_t size)
{
    static malloc_function *next;
    if (size == 5000)
        return one_block;
    if (next == NULL)
        next = (malloc_function *)dlsym(RTLD_NEXT, "malloc");
    return next(size);
}

void free(void *block)
{
    static free_function *next;
    if ((char *)block >= one_block && (char *)block < one_block + sizeof one_block)
        return;
    if (next == NULL)
        next = (free_function *)dlsym(RTLD_NEXT, "free");
    next(block);
}
