/* A stand-in for a faulty allocator: glibc's malloc, but for one fault after some calls.
 *
 * FIXTURE_NOTHING exports no malloc at all; FIXTURE_HALF has malloc, but leaves free to others. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#if defined(FIXTURE_NOTHING)
int fixture_nothing(void);
int fixture_nothing(void)
{
    return 1;
}
#else
enum { GOOD_CALLS = 1000 };

extern void *__libc_malloc(size_t size);
void *malloc(size_t size);

static void *fault(size_t size)
{
#if defined(FIXTURE_CRASH)
    (void)size;
    static int *volatile nowhere;
    *nowhere = 1;
    return NULL;
#elif defined(FIXTURE_HANG)
    (void)size;
    for (;;)
        (void)pause();
    return NULL;
#elif defined(FIXTURE_REFUSE)
    (void)size;
    errno = ENOMEM;
    return NULL;
#elif defined(FIXTURE_KILL)
    (void)size;
    (void)kill(getpid(), SIGKILL);
    return NULL;
#else
    return __libc_malloc(size);
#endif
}

void *malloc(size_t size)
{
    static unsigned calls;
    return ++calls > GOOD_CALLS ? fault(size) : __libc_malloc(size);
}

#if !defined(FIXTURE_HALF)
extern void __libc_free(void *block);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_calloc(size_t count, size_t size);
void free(void *block);
void *realloc(void *block, size_t size);
void *calloc(size_t count, size_t size);

void free(void *block)
{
    __libc_free(block);
}

void *realloc(void *block, size_t size)
{
    return __libc_realloc(block, size);
}

void *calloc(size_t count, size_t size)
{
    return __libc_calloc(count, size);
}
#endif
#endif
