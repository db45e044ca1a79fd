/* Many threads: contents, foreign free and realloc, thread exit, fork. Meant for ThreadSanitizer.
 */
#include "arena.h"

#include "allocators/preload/contract.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8
#define REQUESTS 40
#define OBJECTS 600

static unsigned roll(unsigned *dice)
{
    *dice = *dice * 1103515245U + 12345U;
    return *dice >> 8;
}

static size_t size_of(unsigned random)
{
    return random % 197 == 0 ? random % (200 * KIB) : random % 700;
}

struct object {
    char *bytes;
    size_t size;
    unsigned seed;
};

static void make(struct object *object, unsigned *dice)
{
    object->size = size_of(roll(dice));
    object->seed = roll(dice);
    object->bytes = fragbench_scope_alloc(object->size, (size_t)1 << roll(dice) % 8);
    assert_non_null(object->bytes);
    arena_fill(object->bytes, object->size, object->seed);
}

static void check(const struct object *object)
{
    if (!arena_holds(object->bytes, object->size, object->seed))
        abort();
}

/* Resizes one, keeps what it held. */
static void resize(struct object *object, unsigned *dice)
{
    size_t size = size_of(roll(dice)) + 1, kept = size < object->size ? size : object->size;
    char *bytes = fba_resize(object->bytes, size);
    if (bytes == NULL || !arena_holds(bytes, kept, object->seed))
        abort();
    *object = (struct object){bytes, size, roll(dice)};
    arena_fill(bytes, size, object->seed);
}

static void serve(unsigned *dice, unsigned depth)
{
    struct object objects[OBJECTS];
    unsigned count = roll(dice) % OBJECTS;
    fragbench_scope_begin();
    for (unsigned i = 0; i < count; i++) {
        make(&objects[i], dice);
        unsigned lot = roll(dice) % 256;
        if (lot < 24)
            resize(&objects[roll(dice) % (i + 1)], dice);
        if (lot == 24 && depth < 3)
            serve(dice, depth + 1);
    }
    for (unsigned i = 0; i < count; i++) {
        check(&objects[i]);
        if (roll(dice) % 2 == 0)
            fba_release(objects[i].bytes);
    }
    fragbench_scope_end();
}

static void *serve_requests(void *seed)
{
    unsigned dice = (unsigned)(uintptr_t)seed;
    for (int i = 0; i < REQUESTS; i++)
        serve(&dice, 1);
    return NULL;
}

static void run_all(void *(*routine)(void *), unsigned salt)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, routine, (void *)(i + salt)), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void nobody_overwrites_anybody(void **state)
{
    (void)state;
    run_all(serve_requests, 1);
    run_all(serve_requests, 100);
    assert_int_equal(arena_stat("room_threads"), 0);
    assert_int_equal(arena_stat("held_chunks"), 0);
    assert_int_equal(arena_stat("ended_requests"), 2 * THREADS * REQUESTS);
}

/* What one thread hands to another: the owner fills, the helper checks, resizes and frees. */
#define SHARED 64
static struct {
    struct object objects[SHARED];
    pthread_barrier_t handed, done;
} table;

static void *help(void *unused)
{
    unsigned dice = 5;
    for (int round = 0; round < REQUESTS; round++) {
        (void)pthread_barrier_wait(&table.handed);
        for (unsigned i = 0; i < SHARED; i++) {
            check(&table.objects[i]);
            if (i % 3 == 0)
                resize(&table.objects[i], &dice);
            if (i % 3 == 1)
                fba_release(table.objects[i].bytes);
        }
        (void)pthread_barrier_wait(&table.done);
    }
    return unused;
}

static void other_threads_may_free_and_resize(void **state)
{
    (void)state;
    unsigned dice = 77;
    pthread_t helper;
    assert_int_equal(pthread_barrier_init(&table.handed, NULL, 2), 0);
    assert_int_equal(pthread_barrier_init(&table.done, NULL, 2), 0);
    assert_int_equal(pthread_create(&helper, NULL, help, NULL), 0);
    for (int round = 0; round < REQUESTS; round++) {
        fragbench_scope_begin();
        for (unsigned i = 0; i < SHARED; i++)
            make(&table.objects[i], &dice);
        (void)pthread_barrier_wait(&table.handed);
        for (unsigned i = 0; i < SHARED; i++) { /* at the same time: the owner goes on */
            struct object own;
            make(&own, &dice);
            check(&own);
        }
        (void)pthread_barrier_wait(&table.done);
        for (unsigned i = 0; i < SHARED; i++)
            check(&table.objects[i]);
        fragbench_scope_end();
    }
    assert_int_equal(pthread_join(helper, NULL), 0);
    (void)pthread_barrier_destroy(&table.handed);
    (void)pthread_barrier_destroy(&table.done);
}

static void *leave_in_the_middle(void *unused)
{
    for (int depth = 0; depth < 100; depth++) {
        fragbench_scope_begin();
        memset(fragbench_scope_alloc(30 * KIB, 16), 1, 30 * KIB);
        memset(fragbench_scope_alloc(300 * KIB, 16), 1, 300 * KIB);
    }
    return unused;
}

static void a_thread_that_goes_strands_nothing(void **state)
{
    (void)state;
    uint64_t held = arena_stat("held_chunks"), threads = arena_stat("room_threads");
    run_all(leave_in_the_middle, 0);
    assert_int_equal(arena_stat("held_chunks"), held);
    assert_int_equal(arena_stat("room_threads"), threads);
    uint64_t most = arena_stat("most_chunks");
    run_all(leave_in_the_middle, 0);
    assert_true(arena_stat("most_chunks") <= most + (uint64_t)14 * THREADS);
}

static atomic_bool stop;

static void *serve_until_stopped(void *seed)
{
    unsigned dice = (unsigned)(uintptr_t)seed;
    while (!atomic_load(&stop))
        serve(&dice, 2);
    return NULL;
}

/* The child of a fork amid the others' work can go on with scopes and blocks. */
static void a_child_can_go_on(void **state)
{
    (void)state;
    pthread_t threads[2];
    atomic_store(&stop, false);
    for (uintptr_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, serve_until_stopped, (void *)(i + 9)),
                         0);
    for (int i = 0; i < 20; i++) {
        fba_fork_prepare();
        pid_t child = fork();
        if (child == 0) {
            unsigned dice = 3;
            (void)alarm(30);
            fba_fork_child();
            serve(&dice, 1);
            fragbench_request_arena_trim();
            _exit(0);
        }
        fba_fork_parent();
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

int main(void)
{
    arena_set("RANGE", "2GiB"); /* ThreadSanitizer shadows it all */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_overwrites_anybody),
        cmocka_unit_test(other_threads_may_free_and_resize),
        cmocka_unit_test(a_thread_that_goes_strands_nothing),
        cmocka_unit_test(a_child_can_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
