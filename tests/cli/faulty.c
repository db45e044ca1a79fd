/* Allocators that go wrong on purpose, one way a build (FAULT_CRASH, FAULT_HANG, FAULT_HOG,
 * FAULT_REFUSE, FAULT_OVERRUN), at the request of MARK bytes. Until then a bump allocator over
 * anonymous mappings that never reuses anything. Single-threaded use only. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MARK 7777U
#define CHUNK_BYTES ((size_t)1 << 20)
#define HEADER 16U

void *malloc(size_t size);
void free(void *block);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void *memalign(size_t align, size_t size);
void *aligned_alloc(size_t align, size_t size);
int posix_memalign(void **out, size_t align, size_t size);
size_t malloc_usable_size(void *block);

static char *next, *end, *last;

static void *map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void *bump(size_t align, size_t size)
{
    uintptr_t start = ((uintptr_t)next + HEADER + align - 1) & ~(uintptr_t)(align - 1);
    if (next == NULL || start + size > (uintptr_t)end) {
        size_t room = size + align + HEADER;
        size_t chunk = room > CHUNK_BYTES ? room : CHUNK_BYTES;
        next = map(chunk);
        if (next == NULL)
            return NULL;
        end = next + chunk;
        start = ((uintptr_t)next + HEADER + align - 1) & ~(uintptr_t)(align - 1);
    }
    next = (char *)start + size;
    memcpy((char *)start - sizeof size, &size, sizeof size);
    return (void *)start;
}

/* What happens at the marked request. false: the request fails. */
static _Bool misbehave(void)
{
#if defined(FAULT_CRASH)
    (void)raise(SIGSEGV);
#elif defined(FAULT_HANG)
    for (;;)
        (void)pause();
#elif defined(FAULT_HOG)
    for (;;) {
        char *block = map(CHUNK_BYTES);
        if (block != NULL)
            memset(block, 1, CHUNK_BYTES);
        (void)usleep(1000);
    }
#elif defined(FAULT_REFUSE)
    return 0;
#elif defined(FAULT_OVERRUN)
    if (last != NULL)
        memset(last, 0x5a, 64);
#endif
    return 1;
}

void *malloc(size_t size)
{
    if (size == MARK && !misbehave()) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = bump(16, size);
    last = block;
    return block;
}

void free(void *block)
{
    (void)block;
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size);
}

size_t malloc_usable_size(void *block)
{
    size_t size = 0;
    if (block != NULL)
        memcpy(&size, (char *)block - sizeof size, sizeof size);
    return size;
}

void *realloc(void *old, size_t size)
{
    void *block = malloc(size);
    size_t had = malloc_usable_size(old);
    if (block != NULL && old != NULL)
        memcpy(block, old, had < size ? had : size);
    return block;
}

void *memalign(size_t align, size_t size)
{
    return bump(align < 16 ? 16 : align, size);
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
