/* CPU time, in ns, of a malloc or free in a loop over random slots: the worst case
 * for whatever counts the calls, since nothing is written to the blocks. For live-cost figures. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SLOTS = 4096, CALLS = 20 * 1000 * 1000 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void *churn(void *calls)
{
    void **slots = calloc(SLOTS, sizeof *slots);
    uint64_t state = 42;
    for (long i = 0; slots != NULL && i < (long)(intptr_t)calls; i++) {
        uint64_t random = next_random(&state);
        size_t slot = random % SLOTS;
        if (slots[slot] == NULL) {
            slots[slot] = malloc(16 + (random >> 32) % 1000);
        } else {
            free(slots[slot]);
            slots[slot] = NULL;
        }
    }
    for (size_t i = 0; slots != NULL && i < SLOTS; i++)
        free(slots[i]);
    free(slots);
    return NULL;
}

int main(void)
{
    uint64_t start = now_ns();
    (void)churn((void *)(intptr_t)CALLS);
    (void)printf("%.2f\n", (double)(now_ns() - start) / CALLS);
    return 0;
}
