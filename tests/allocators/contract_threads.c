/* The part of the battery that needs threads and processes. */
#include "contract_battery.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A mix of sizes, each block marked at both ends with its own number. */
struct churn {
    unsigned char *blocks[256];
    size_t sizes[256];
    uint64_t dice;
    bool broken;
};

static uint64_t roll(struct churn *churn)
{
    churn->dice = churn->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return churn->dice >> 33;
}

static void mark(struct churn *churn, size_t slot)
{
    churn->blocks[slot][0] = (unsigned char)slot;
    churn->blocks[slot][churn->sizes[slot] - 1] = (unsigned char)slot;
}

static bool is_marked(const struct churn *churn, size_t slot)
{
    return churn->blocks[slot][0] == (unsigned char)slot;
}

static void step(struct churn *churn)
{
    size_t slot = roll(churn) % COUNT(churn->blocks);
    size_t size = 2 + roll(churn) % (roll(churn) % 64 == 0 ? 400000 : 1500);
    unsigned char **block = &churn->blocks[slot];
    if (*block != NULL)
        churn->broken |=
            !is_marked(churn, slot) || (*block)[churn->sizes[slot] - 1] != (unsigned char)slot;
    switch (*block == NULL ? 0 : roll(churn) % 3) {
    case 0:
        free(*block);
        *block = roll(churn) % 4 == 0 ? calloc(1, size) : malloc(size);
        break;
    case 1:
        *block = realloc(*block, size);
        churn->broken |= *block == NULL || !is_marked(churn, slot);
        break;
    default:
        free(*block);
        *block = aligned_alloc((size_t)16 << roll(churn) % 6, size);
        break;
    }
    churn->sizes[slot] = size;
    churn->broken |= *block == NULL;
    if (*block != NULL)
        mark(churn, slot);
}

static void *churn_thread(void *argument)
{
    struct churn *churn = argument;
    for (int i = 0; i < 20000 && !churn->broken; i++)
        step(churn);
    return NULL;
}

static void drop(struct churn *churn)
{
    for (size_t i = 0; i < COUNT(churn->blocks); i++)
        free(churn->blocks[i]);
}

bool threads_do_not_disturb_each_other(void)
{
    static struct churn churns[8];
    pthread_t threads[COUNT(churns)];
    bool broken = false;
    for (size_t i = 0; i < COUNT(churns); i++) {
        churns[i] = (struct churn){.dice = i + 1};
        REQUIRE(pthread_create(&threads[i], NULL, churn_thread, &churns[i]) == 0);
    }
    for (size_t i = 0; i < COUNT(churns); i++) {
        REQUIRE(pthread_join(threads[i], NULL) == 0);
        broken |= churns[i].broken;
        drop(&churns[i]); /* by another thread than the one that made them */
    }
    REQUIRE(!broken);
    return true;
}

static pthread_key_t late_key;

static void allocate_late(void *value)
{
    free(value);
    void *block = malloc(3000); /* after the allocator's own clean-up, perhaps */
    if (block != NULL)
        memset(block, 1, 3000);
    free(block);
}

static void *short_thread(void *argument)
{
    (void)pthread_setspecific(late_key, malloc(100));
    unsigned char *left_behind = malloc(500);
    if (left_behind != NULL)
        memset(left_behind, 0x33, 500);
    (void)argument;
    return left_behind;
}

bool blocks_outlive_their_thread(void)
{
    REQUIRE(pthread_key_create(&late_key, allocate_late) == 0);
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        void *block = NULL;
        REQUIRE(pthread_create(&thread, NULL, short_thread, NULL) == 0);
        REQUIRE(pthread_join(thread, &block) == 0);
        REQUIRE(block != NULL && is_filled(block, 0x33, 500));
        free(block);
    }
    return true;
}

static volatile bool forking_is_over;

static void *churn_until_forked(void *argument)
{
    struct churn *churn = argument;
    while (!forking_is_over)
        step(churn);
    return NULL;
}

/* In the child: the parent's block is its own, and everything works. A deadlock ends by the alarm.
 */
static int child(unsigned char *inherited)
{
    alarm(20);
    struct churn *churn = calloc(1, sizeof *churn);
    if (churn == NULL || !is_filled(inherited, 0x64, 10000))
        return 1;
    free(inherited);
    for (int i = 0; i < 2000; i++)
        step(churn);
    pthread_t thread;
    if (pthread_create(&thread, NULL, short_thread, NULL) != 0)
        return 1;
    void *block = NULL;
    if (pthread_join(thread, &block) != 0 || block == NULL)
        return 1;
    free(block);
    return churn->broken ? 1 : 0;
}

static bool fork_once(void)
{
    unsigned char *inherited = malloc(10000);
    REQUIRE(inherited != NULL);
    memset(inherited, 0x64, 10000);
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0)
        _exit(child(inherited));
    int status = 0;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    REQUIRE(is_filled(inherited, 0x64, 10000));
    free(inherited);
    return true;
}

bool fork_works_while_threads_allocate(void)
{
    static struct churn churns[3];
    pthread_t threads[COUNT(churns)];
    bool kept = true;
    for (size_t i = 0; i < COUNT(churns); i++) {
        churns[i] = (struct churn){.dice = i + 99};
        REQUIRE(pthread_create(&threads[i], NULL, churn_until_forked, &churns[i]) == 0);
    }
    for (int i = 0; i < 30 && kept; i++)
        kept = fork_once();
    forking_is_over = true;
    for (size_t i = 0; i < COUNT(churns); i++) {
        REQUIRE(pthread_join(threads[i], NULL) == 0);
        kept = kept && !churns[i].broken;
        drop(&churns[i]);
    }
    return kept;
}
