/* What replaying costs: ns an op under null, and the replay under an allocator against a bare
 * malloc/free loop over the same sizes and slots. Five rounds side by side, medians. */
#include "worker_run.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { OPS = 10 * 1000 * 1000, SLOTS = 4096, ROUNDS = 5 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static struct fb_op alloc_op(uint64_t random, uint32_t slot)
{
    return (struct fb_op){.kind = FB_OP_ALLOC, .slot = slot, .arg = 16 + (random >> 32) % 240};
}

/* Requests: 64 small objects come, then go, as a workload's iterations make them. */
static size_t fill_requests(struct fb_op *ops, size_t count)
{
    uint64_t state = 42;
    while (count < OPS + 1) {
        uint32_t first_slot = (uint32_t)(count / 128 % 32 * 64);
        for (uint32_t i = 0; i < 64; i++, count++)
            ops[count] = alloc_op(next_random(&state), first_slot + i);
        for (uint32_t i = 0; i < 64; i++, count++)
            ops[count] = (struct fb_op){.kind = FB_OP_FREE, .slot = ops[count - 64].slot};
    }
    return count;
}

/* The worst case for branch prediction: at each step a random one of 4,096 slots is filled or
 * emptied. */
static size_t fill_random(struct fb_op *ops, size_t count)
{
    static unsigned char used[SLOTS];
    uint64_t state = 42;
    while (count < OPS + 1) {
        uint64_t random = next_random(&state);
        uint32_t slot = (uint32_t)(random % SLOTS);
        ops[count++] =
            used[slot] ? (struct fb_op){.kind = FB_OP_FREE, .slot = slot} : alloc_op(random, slot);
        used[slot] = !used[slot];
    }
    return count;
}

static double bare_loop_ns(const struct fb_op *ops, size_t count)
{
    static void *blocks[SLOTS];
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (size_t i = 0; i < count; i++) {
        const struct fb_op *op = &ops[i];
        if (op->kind == FB_OP_ALLOC) {
            char *block = malloc(op->arg);
            *(volatile char *)block = 1;
            blocks[op->slot] = block;
        } else if (op->kind == FB_OP_FREE) {
            free(blocks[op->slot]);
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    for (size_t i = 0; i < SLOTS; i++)
        blocks[i] = NULL; /* what is left leaks: the process ends soon */
    return (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
}

static double replay_ns(const struct fb_op *ops, size_t count, uint32_t flags)
{
    static const struct fb_trace_class class = {.name = "metadata", .touch = FB_TOUCH_PAGES};
    struct worker_run run = {.streams = {{ops, count}},
                             .stream_count = 1,
                             .classes = &class,
                             .class_count = 1,
                             .slot_count = SLOTS,
                             .clock_mode = FB_CLOCK_REAL,
                             .mode = FB_MODE_TIMING,
                             .flags = flags};
    worker_run(&run);
    double ns = (double)run.shared->wall_ns;
    if (run.shared->end != FB_WORKER_DONE)
        abort();
    worker_run_deinit(&run);
    return ns;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double values[ROUNDS])
{
    qsort(values, ROUNDS, sizeof *values, by_value);
    return values[ROUNDS / 2];
}

static void measure(const char *name, size_t (*fill)(struct fb_op *ops, size_t count),
                    struct fb_op *ops)
{
    ops[0] = (struct fb_op){.kind = FB_OP_PHASE_BEGIN};
    size_t count = fill(ops, 1);
    ops[count++] = (struct fb_op){.kind = FB_OP_PHASE_END};
    ops[count++] = (struct fb_op){.kind = FB_OP_END};
    double null[ROUNDS], replay[ROUNDS], bare[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        null[round] = replay_ns(ops, count, FB_RUN_NULL) / OPS;
        replay[round] = replay_ns(ops, count, 0) / OPS;
        bare[round] = bare_loop_ns(ops, count) / OPS;
    }
    double null_ns = median(null), replay_median = median(replay), bare_ns = median(bare);
    printf("%s, %d small ops, %d rounds side by side, medians\n", name, OPS, ROUNDS);
    printf("  null:              %6.2f ns/op (goal: at most 6)\n", null_ns);
    printf("  bare malloc/free:  %6.2f ns/op\n", bare_ns);
    printf("  replay, ptmalloc2: %6.2f ns/op, %.2f of bare\n", replay_median,
           replay_median / bare_ns);
    printf("  replay − null:     %6.2f ns/op, %.2f of bare (what ns_per_op reports)\n",
           replay_median - null_ns, (replay_median - null_ns) / bare_ns);
}

int main(void)
{
    struct fb_op *ops = calloc(OPS + 256, sizeof *ops);
    if (ops == NULL)
        return 1;
    measure("requests", fill_requests, ops);
    measure("random", fill_random, ops);
    free(ops);
    return 0;
}
