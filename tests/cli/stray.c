/* A library that calls another malloc when it is loaded with RTLD_DEEPBIND, and has an allocator of
 * its own under a name that Rust's jemalloc has. Made for exec.bats. */
#include <stdlib.h>

void *stray(size_t size);
void *_rjem_malloc(size_t size);

void *_rjem_malloc(size_t size)
{
    static char heap[64];
    return size < sizeof heap ? heap : NULL;
}

void *stray(size_t size)
{
    return malloc(size);
}
