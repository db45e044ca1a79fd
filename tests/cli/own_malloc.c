/* A program that brings a malloc of its own: a bump over static memory. Made for exec.bats. */
#include <stddef.h>
#include <string.h>
#include <time.h>

static _Alignas(16) unsigned char heap[1 << 20];
static size_t used;

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void free(void *block);

void *malloc(size_t size)
{
    size_t at = used;
    used += (size + 31) / 16 * 16;
    return used <= sizeof heap ? heap + at : NULL;
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size);
}

void *realloc(void *old, size_t size)
{
    void *block = malloc(size);
    if (block != NULL && old != NULL)
        memmove(block, old, size);
    return block;
}

void free(void *block)
{
    (void)block;
}

int main(void)
{
    const struct timespec moment = {.tv_nsec = 200000000};
    void *block = malloc(1000);
    (void)nanosleep(&moment, NULL);
    return block == NULL;
}
