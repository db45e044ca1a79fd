/* Many threads: content, frees by others, exits, forks. For ThreadSanitizer as well. */
#include "rig.h"

#include "allocators/preload/contract.h"
#include "allocators/tensor_arena/cache.h"

#include <fragbench/tensor_arena.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, SLOTS = 64, STEPS = 4000 };

struct parcel {
    size_t size;
    unsigned seed;
};

/* Blocks change hands here: a thread puts one in and frees the one it finds. */
static _Atomic(struct parcel *) desk[SLOTS];

static size_t some_size(uint32_t *seed)
{
    static const size_t most[] = {64, 512, 4096, 40000, 300000, 3000000};
    uint32_t kind = rig_random(seed) % 64;
    unsigned row = kind < 40 ? kind % 3 : kind < 60 ? 3 : kind < 63 ? 4 : 5;
    return sizeof(struct parcel) + rig_random(seed) % most[row];
}

static void unpack(struct parcel *parcel)
{
    if (parcel == NULL)
        return;
    assert_true(rig_holds(parcel + 1, parcel->size, parcel->seed));
    fba_release(parcel);
}

static struct parcel *pack(uint32_t *seed)
{
    size_t size = some_size(seed);
    struct parcel *parcel = fba_allocate(sizeof *parcel + size, 16);
    *parcel = (struct parcel){.size = size, .seed = rig_random(seed)};
    rig_fill(parcel + 1, size, parcel->seed);
    return parcel;
}

static struct parcel *regrow(struct parcel *parcel, uint32_t *seed)
{
    size_t size = some_size(seed), kept = size < parcel->size ? size : parcel->size;
    parcel = fba_resize(parcel, sizeof *parcel + size);
    if (kept == parcel->size)
        assert_true(rig_holds(parcel + 1, kept, parcel->seed));
    parcel->size = size;
    rig_fill(parcel + 1, size, parcel->seed);
    return parcel;
}

static void *work(void *number)
{
    uint32_t seed = (uint32_t)(uintptr_t)number;
    for (int step = 0; step < STEPS; step++) {
        struct parcel *parcel = pack(&seed);
        if (step % 8 == 0)
            parcel = regrow(parcel, &seed);
        unpack(atomic_exchange(&desk[rig_random(&seed) % SLOTS], parcel));
        if (step % 100 == 0) {
            fragbench_scope_begin();
            rig_fill(fragbench_scope_alloc(100000, 64), 100000, seed);
            fragbench_scope_end();
        }
    }
    return NULL;
}

static void run_all(void *(*start)(void *))
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, start, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void clear_desk(void)
{
    for (int i = 0; i < SLOTS; i++)
        unpack(atomic_exchange(&desk[i], NULL));
}

/* The trap of glibc's arenas: nothing stays behind in a thread that is no more. */
static void nothing_is_stranded_by_exits(void **state)
{
    (void)state;
    for (int generation = 0; generation < 3; generation++)
        run_all(work);
    clear_desk();
    fragbench_purge();
    assert_int_equal(rig_stat("used_bytes"), 0);
    assert_int_equal(rig_stat("slabs"), 0);
    assert_true(ta_caches_count() <= 1);
}

static pthread_barrier_t all_there;

static void *buffer(void *unused)
{
    fba_release(fba_allocate(8 * MIB, 16));
    (void)pthread_barrier_wait(&all_there);
    for (int i = 0; i < 50; i++) {
        char *block = fba_allocate(8 * MIB, 16);
        assert_non_null(block);
        block[0] = block[8 * MIB - 1] = 1;
        fba_release(block);
    }
    (void)pthread_barrier_wait(&all_there);
    return unused;
}

/* While threads work, what they free stays for them; when all have gone it goes. */
static void the_last_exit_ends_a_burst(void **state)
{
    (void)state;
    void *mine = fba_allocate(100, 16);
    assert_int_equal(pthread_barrier_init(&all_there, NULL, THREADS), 0);
    run_all(buffer);
    (void)pthread_barrier_destroy(&all_there);
    assert_true(rig_stat("cached_bytes") < 64 * KIB);
    fba_release(mine);
}

static pthread_key_t late_key;

/* Runs after tensor-arena's own destructor, or before: both must do. */
static void allocate_late(void *block)
{
    fba_release(block);
    for (size_t size = 16; size < 100000; size *= 3)
        fba_release(fba_allocate(size, 16));
}

static void *die_late(void *unused)
{
    (void)pthread_setspecific(late_key, fba_allocate(100, 16));
    return unused;
}

static void calls_of_a_dying_thread_are_served(void **state)
{
    (void)state;
    assert_int_equal(pthread_key_create(&late_key, allocate_late), 0);
    run_all(die_late);
    fragbench_purge();
    assert_int_equal(rig_stat("used_bytes"), 0);
    (void)pthread_key_delete(late_key);
}

static _Atomic bool stop;

static void *work_until_stopped(void *number)
{
    while (!atomic_load(&stop))
        (void)work(number);
    return NULL;
}

static void live_in_the_child(void)
{
    uint32_t seed = 1;
    for (int i = 0; i < 500; i++)
        unpack(pack(&seed));
    fragbench_scope_begin();
    bool fine = fragbench_scope_alloc(MIB, 0) != NULL;
    fragbench_scope_end();
    _exit(fine ? 0 : 1);
}

/* The locks are the fork's own at the time; the child goes on with one thread. */
static void forks_in_the_middle_of_it(void **state)
{
    (void)state;
    pthread_t thread;
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&thread, NULL, work_until_stopped, (void *)7), 0);
    for (int i = 0; i < 20; i++) {
        fba_fork_prepare();
        pid_t child = fork();
        if (child == 0) {
            fba_fork_child();
            live_in_the_child();
        }
        fba_fork_parent();
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    atomic_store(&stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    clear_desk();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_exit_ends_a_burst),
        cmocka_unit_test(nothing_is_stranded_by_exits),
        cmocka_unit_test(calls_of_a_dying_thread_are_served),
        cmocka_unit_test(forks_in_the_middle_of_it),
    };
    fba_open();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
