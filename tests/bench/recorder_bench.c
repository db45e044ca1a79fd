/* What recording costs a program that does nothing but allocate: run it alone and under
 * `fragbench record`; recorder_bench.sh does both side by side.
 *
 *   recorder_bench THREADS CALLS [DEPTH]: each thread keeps 64 blocks and replaces one after the
 * other, so many functions below its first; prints the ns a call takes (a malloc and a free are two
 * calls), and the ns of processor time
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { KEPT = 64, THREADS_MAX = 64 };

static uint64_t calls_each;
static int depth;

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void *replace(void *argument)
{
    void *blocks[KEPT] = {0};
    uint32_t random = (uint32_t)(uintptr_t)argument + 1;
    for (uint64_t i = 0; i < calls_each / 2; i++) {
        random = random * 1664525U + 1013904223U;
        free(blocks[i % KEPT]);
        blocks[i % KEPT] = malloc(16 + (random >> 8) % 500);
        __asm__ volatile("" ::"r"(blocks[i % KEPT]) : "memory");
    }
    for (int i = 0; i < KEPT; i++)
        free(blocks[i]);
    return NULL;
}

__attribute__((noinline)) static void *descend(void *argument, int left)
{
    void *result = left > 0 ? descend(argument, left - 1) : replace(argument);
    __asm__ volatile("" : "+r"(result)::"memory"); /* no tail call */
    return result;
}

static void *work(void *argument)
{
    return descend(argument, depth);
}

int main(int argc, char **argv)
{
    pthread_t ids[THREADS_MAX];
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    calls_each = argc > 2 ? strtoull(argv[2], NULL, 10) : 4000000;
    depth = argc > 3 ? atoi(argv[3]) : 0;
    if (threads < 1 || threads > THREADS_MAX)
        return 2;
    uint64_t begin_ns = now_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, work, (void *)(uintptr_t)i) != 0)
            return 1;
    for (int i = 0; i < threads; i++)
        (void)pthread_join(ids[i], NULL);
    double calls = (double)(calls_each * (uint64_t)threads);
    (void)printf("%.1f %.1f\n", (double)(now_ns(CLOCK_MONOTONIC) - begin_ns) / calls,
                 (double)now_ns(CLOCK_PROCESS_CPUTIME_ID) / calls);
    return 0;
}
