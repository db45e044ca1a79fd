/* Eight threads in a budget that is too small for them; the sum of what they hold is checked
 * against it at every step.
 *
 * `held` is counted up after a block was handed out and down before it is freed, so at any instant
 * it is no more than the bytes handed out: held > budget proves that the budget was exceeded.
 */
#include "allocators/budgeted/fake_inner.h"
#include "fragbench/budgeted.h"
#include "preload/contract.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define THREADS 8
#define SLOTS 64
#define STEPS 8000
#define ROUNDS 6
#define BUDGET (6 * MIB)

static struct {
    _Atomic size_t held;
    _Atomic size_t most_held;
    _Atomic size_t refused;
    _Atomic size_t broken; /* steps at which the budget was exceeded or content was lost */
    _Atomic size_t budget;
} shared;

struct worker {
    pthread_t thread;
    uint64_t dice;
    unsigned char *blocks[SLOTS];
    size_t sizes[SLOTS];
};

static size_t roll(struct worker *worker, size_t sides)
{
    worker->dice = worker->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(worker->dice >> 33) % sides;
}

static void hold(const void *block)
{
    size_t usable = fba_usable(block);
    size_t held = atomic_fetch_add(&shared.held, usable) + usable;
    size_t most = atomic_load(&shared.most_held);
    if (held > atomic_load(&shared.budget))
        atomic_fetch_add(&shared.broken, 1);
    while (held > most && !atomic_compare_exchange_weak(&shared.most_held, &most, held)) {
    }
}

static void let_go(const void *block)
{
    atomic_fetch_sub(&shared.held, fba_usable(block));
}

static void keep(struct worker *worker, size_t slot, unsigned char *block, size_t size)
{
    worker->blocks[slot] = block;
    if (block == NULL) {
        atomic_fetch_add(&shared.refused, 1);
        return;
    }
    hold(block);
    worker->sizes[slot] = size;
    block[0] = block[size - 1] = (unsigned char)slot;
}

static void drop(struct worker *worker, size_t slot)
{
    unsigned char *block = worker->blocks[slot];
    if (block[worker->sizes[slot] - 1] != (unsigned char)slot)
        atomic_fetch_add(&shared.broken, 1);
    let_go(block);
    fba_release(block);
    worker->blocks[slot] = NULL;
}

static void resize(struct worker *worker, size_t slot, size_t size)
{
    unsigned char *block = worker->blocks[slot];
    let_go(block);
    unsigned char *resized = fba_resize(block, size);
    if (resized == NULL) {
        atomic_fetch_add(&shared.refused, 1);
        hold(block);
        return;
    }
    if (resized[0] != (unsigned char)slot)
        atomic_fetch_add(&shared.broken, 1);
    keep(worker, slot, resized, size);
}

static void step(struct worker *worker)
{
    size_t slot = roll(worker, SLOTS);
    size_t size = 2 + roll(worker, roll(worker, 8) == 0 ? 100000 : 3000);
    if (worker->blocks[slot] == NULL && roll(worker, 4) == 0)
        keep(worker, slot, fba_allocate_zeroed(size), size);
    else if (worker->blocks[slot] == NULL)
        keep(worker, slot, fba_allocate(size, (size_t)16 << roll(worker, 4)), size);
    else if (roll(worker, 3) == 0)
        resize(worker, slot, size);
    else if (roll(worker, 3) != 0)
        drop(worker, slot);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    for (int i = 0; i < STEPS; i++)
        step(worker);
    return NULL;
}

static void run_round(struct worker workers[THREADS])
{
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    assert_int_equal(atomic_load(&shared.broken), 0);
    assert_int_equal(fragbench_budgeted_used(), atomic_load(&shared.held));
}

static void drop_all(struct worker workers[THREADS])
{
    for (size_t i = 0; i < THREADS; i++) {
        for (size_t slot = 0; slot < SLOTS; slot++) {
            if (workers[i].blocks[slot] != NULL)
                drop(&workers[i], slot);
        }
    }
    assert_int_equal(fragbench_budgeted_used(), 0);
    assert_int_equal(fake_inner_blocks(), 0);
}

/* The threads live on in their blocks only: each round has new ones, pockets and all. */
static void run(size_t budget, struct worker workers[THREADS])
{
    memset(workers, 0, THREADS * sizeof *workers);
    atomic_store(&shared.budget, budget);
    atomic_store(&shared.most_held, 0);
    atomic_store(&shared.refused, 0);
    fragbench_budgeted_set(budget);
    for (size_t i = 0; i < THREADS; i++)
        workers[i].dice = 12345 + i;
    for (int round = 0; round < ROUNDS; round++)
        run_round(workers);
}

static void eight_threads_never_exceed_a_tight_budget(void **state)
{
    static struct worker workers[THREADS];
    (void)state;
    fba_open();
    run(BUDGET / 2, workers);
    assert_true(atomic_load(&shared.refused) > THREADS);
    assert_true(atomic_load(&shared.most_held) > BUDGET / 2 - BUDGET / 20);
    assert_true(fragbench_budgeted_peak() <= BUDGET / 2);
    drop_all(workers);
}

/* Around the border between credit and exactness, where pockets are shut and opened all the time.
 */
static void eight_threads_never_exceed_a_budget_they_hardly_reach(void **state)
{
    static struct worker workers[THREADS];
    (void)state;
    run(BUDGET, workers);
    assert_true(atomic_load(&shared.most_held) > BUDGET / 2);
    assert_true(fragbench_budgeted_peak() <= BUDGET);
    drop_all(workers);
}

static void failing_inner_calls_lose_no_byte(void **state)
{
    static struct worker workers[1];
    (void)state;
    fragbench_budgeted_set(BUDGET);
    atomic_store(&shared.budget, BUDGET);
    workers[0].dice = 99;
    for (size_t nth = 1; nth <= 40; nth++) {
        fake_inner_fail_at(nth);
        for (int i = 0; i < 200; i++)
            step(&workers[0]);
        assert_int_equal(fragbench_budgeted_used(), atomic_load(&shared.held));
    }
    fake_inner_fail_at(0);
    assert_int_equal(atomic_load(&shared.broken), 0);
    for (size_t slot = 0; slot < SLOTS; slot++) {
        if (workers[0].blocks[slot] != NULL)
            drop(&workers[0], slot);
    }
    assert_int_equal(fragbench_budgeted_used(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_threads_never_exceed_a_tight_budget),
        cmocka_unit_test(eight_threads_never_exceed_a_budget_they_hardly_reach),
        cmocka_unit_test(failing_inner_calls_lose_no_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
