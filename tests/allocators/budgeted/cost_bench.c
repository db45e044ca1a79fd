/* What a mix of allocations costs, for cost_bench.sh to compare under two allocators.
 *
 *     cost_bench THREADS written|empty    prints ns per allocation and free, of all threads
 * together
 *
 * written: each block is written to from end to end, as programs do, in sizes of an inference
 * service's small and middle objects. empty: one byte a block, 16 to 512 bytes: the allocator's
 * calls and little else.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOTS 2048
#define MOST_THREADS 16
#define STEPS_WRITTEN 1000000
#define STEPS_EMPTY 10000000

struct worker {
    pthread_t thread;
    uint64_t dice;
    bool written;
};

static size_t size_of(uint64_t dice, bool written)
{
    if (!written)
        return 16 + dice % 497;
    size_t most = dice % 64 == 0 ? 256 * 1024 : dice % 8 == 0 ? 16 * 1024 : 1024;
    return 16 + (dice >> 8) % most;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    unsigned char **blocks = calloc(SLOTS, sizeof *blocks);
    long steps = worker->written ? STEPS_WRITTEN : STEPS_EMPTY;
    if (blocks == NULL)
        abort();
    for (long i = 0; i < steps; i++) {
        worker->dice = worker->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t slot = (worker->dice >> 20) % SLOTS,
               size = size_of(worker->dice >> 33, worker->written);
        free(blocks[slot]);
        blocks[slot] = malloc(size);
        if (blocks[slot] == NULL)
            abort();
        memset(blocks[slot], (int)i, worker->written ? size : 1);
    }
    for (size_t i = 0; i < SLOTS; i++)
        free(blocks[i]);
    free(blocks);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker workers[MOST_THREADS];
    long threads = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    if (threads < 1 || threads > MOST_THREADS)
        return 2;
    struct timespec start, end;
    bool written = strcmp(argv[2], "written") == 0;
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    for (long i = 0; i < threads; i++) {
        workers[i] = (struct worker){.dice = (uint64_t)i + 1, .written = written};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 1;
    }
    for (long i = 0; i < threads; i++)
        (void)pthread_join(workers[i].thread, NULL);
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    double ns = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
    printf("%.2f\n", ns / (double)(written ? STEPS_WRITTEN : STEPS_EMPTY) / (double)threads);
    return 0;
}
