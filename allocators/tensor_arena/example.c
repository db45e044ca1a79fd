/* How a service uses tensor-arena: weights by malloc, one scope a forward pass, one a layer inside.
 */
#include <fragbench/tensor_arena.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAYERS = 12, HIDDEN = 768, PASSES = 8 };

/* One layer: what it needs dies with it, what it hands on was there before. NULL-safe: false when a
 * tensor was refused. */
static int layer(float *hidden, size_t length)
{
    fragbench_scope_begin();
    float *scores = fragbench_tensor_alloc(length * length, sizeof *scores);
    float *wide = fragbench_tensor_alloc(length * HIDDEN * 4, sizeof *wide);
    int served = scores != NULL && wide != NULL;
    for (size_t i = 0; served && i < length * HIDDEN; i++) {
        wide[4 * i] = hidden[i] * 2;
        hidden[i] = wide[4 * i] + 1;
    }
    fragbench_scope_end();
    return served;
}

/* A pass over `length` tokens; the answer, or -1 when memory was refused. */
static float forward(const float *weights, size_t length)
{
    fragbench_scope_begin();
    float answer = -1;
    float *hidden = fragbench_tensor_alloc(length * HIDDEN, sizeof *hidden);
    int served = hidden != NULL;
    for (size_t i = 0; served && i < length * HIDDEN; i++)
        hidden[i] = weights[i % HIDDEN];
    for (int i = 0; served && i < LAYERS; i++)
        served = layer(hidden, length);
    if (served)
        answer = hidden[0];
    fragbench_scope_end();
    return answer;
}

static uint64_t counter(size_t index)
{
    struct fragbench_stat rows[32];
    size_t there = fragbench_stats(rows, 32);
    return index < there ? rows[index].value : 0;
}

int main(void)
{
    float *weights = malloc(HIDDEN * sizeof *weights);
    if (weights == NULL)
        return 1;
    for (size_t i = 0; i < HIDDEN; i++)
        weights[i] = 1;
    uint64_t before = counter(0); /* used_bytes is the first */
    int refused = 0;
    for (size_t pass = 0; pass < PASSES; pass++)
        refused += forward(weights, 64 + 32 * pass) < 0;
    refused += forward(weights, SIZE_MAX / HIDDEN) < 0; /* overflows: refused, not wrong */
    printf("%d passes; refused: %d, used afterwards: %s\n", PASSES, refused,
           counter(0) == before ? "as before" : "more than before");
    fragbench_purge();
    free(weights);
    return 0;
}
