/* Debug mode: each misuse ends the process with a line that names it. */
#include "arena.h"

#include "allocators/preload/contract.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void deed(void);

/* Runs what in a child; its wait status, and what it wrote to descriptor 2. */
static int run(deed *what, char *said, size_t room)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGSEGV, SIG_DFL); /* a sanitizer would report and exit */
        (void)signal(SIGABRT, SIG_DFL);
        (void)dup2(ends[1], STDERR_FILENO);
        what();
        _exit(0);
    }
    (void)close(ends[1]);
    size_t used = 0;
    for (ssize_t got; used + 1 < room && (got = read(ends[0], said + used, room - 1 - used)) > 0;)
        used += (size_t)got;
    said[used] = '\0';
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void expect_panic(deed *what, const char *line)
{
    char said[512];
    int status = run(what, said, sizeof said);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(said, line));
}

static void *leave_behind(size_t size)
{
    fragbench_scope_begin();
    void *block = fragbench_scope_alloc(size, 16);
    fragbench_scope_end();
    return block;
}

static void free_after_the_end(void)
{
    fba_release(leave_behind(100));
}

static void free_after_many_more(void)
{
    void *block = leave_behind(100);
    for (int i = 0; i < 900; i++)
        (void)leave_behind(1000);
    fba_release(block);
}

static void free_of_an_inner_scopes(void)
{
    fragbench_scope_begin();
    (void)fragbench_scope_alloc(100, 16);
    void *block = leave_behind(100);
    (void)fragbench_scope_alloc(100, 16);
    fba_release(block);
}

static void free_of_a_large_one(void)
{
    fba_release(leave_behind(1 * MIB));
}

static void free_twice(void)
{
    fragbench_scope_begin();
    void *block = fragbench_scope_alloc(100, 16);
    fba_release(block);
    fba_release(block);
}

static void free_of_an_inside(void)
{
    fragbench_scope_begin();
    char *block = fragbench_scope_alloc(100, 16);
    memset(block, 0x7f, 100);
    fba_release(block + 16);
}

static void resize_after_the_end(void)
{
    (void)fba_resize(leave_behind(100), 200);
}

static void resize_of_a_large_one(void)
{
    (void)fba_resize(leave_behind(1 * MIB), 2 * MIB);
}

static void resize_after_free(void)
{
    fragbench_scope_begin();
    void *block = fragbench_scope_alloc(100, 16);
    fba_release(block);
    (void)fba_resize(block, 200);
}

static void use_after_moving(void)
{
    fragbench_scope_begin();
    void *block = fragbench_scope_alloc(100, 16);
    (void)fragbench_scope_alloc(100, 16);
    (void)fba_resize(block, 200);
    fba_release(block);
}

static void end_too_often(void)
{
    (void)leave_behind(100);
    fragbench_scope_end();
}

static void odd_alignment(void)
{
    fragbench_scope_begin();
    (void)fragbench_scope_alloc(100, 24);
}

static void each_misuse_is_named(void **state)
{
    (void)state;
    expect_panic(free_after_the_end, "freed after its scope ended");
    expect_panic(free_after_many_more, "freed after its scope ended");
    expect_panic(free_of_an_inner_scopes, "freed after its scope ended");
    expect_panic(free_of_a_large_one, "freed after its scope ended");
    expect_panic(free_twice, "freed twice");
    expect_panic(free_of_an_inside, "no object of its scope");
    expect_panic(resize_after_the_end, "resized after its scope ended");
    expect_panic(resize_of_a_large_one, "resized after its scope ended");
    expect_panic(resize_after_free, "resized after it was freed");
    expect_panic(use_after_moving, "freed twice");
    expect_panic(end_too_often, "not begun");
    expect_panic(odd_alignment, "no power of two");
}

static void write_after_the_end(void)
{
    *(volatile char *)leave_behind(100) = 1;
}

static void a_late_write_hits_no_ones_memory(void **state)
{
    (void)state;
    char said[512];
    int status = run(write_after_the_end, said, sizeof said);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void right_use_goes_through(void)
{
    for (unsigned round = 0; round < 200; round++) {
        fragbench_scope_begin();
        char *first = fragbench_scope_alloc(100, 16);
        arena_fill(first, 100, round);
        fragbench_scope_begin();
        char *grown = fba_resize(fragbench_scope_alloc(1000, 16), 60 * KIB);
        memset(grown, 1, 60 * KIB);
        fba_release(grown);
        fba_release(fragbench_scope_alloc(100 * KIB, 64));
        fragbench_scope_end();
        first = fba_resize(first, 40 * KIB);
        if (!arena_holds(first, 100, round))
            _exit(1);
        fba_release(first);
        fragbench_scope_end();
        void *plain = fba_allocate(100, 16);
        fba_release(plain);
    }
}

static void right_use_is_not_disturbed(void **state)
{
    (void)state;
    char said[512];
    int status = run(right_use_goes_through, said, sizeof said);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_string_equal(said, "");
}

/* A small range is used up and begins anew, with the oldest addresses. */
static void use_the_range_up(void)
{
    void *first = leave_behind(100), *block = NULL;
    for (int i = 0; i < 4096; i++) {
        if ((block = leave_behind(100)) == NULL)
            _exit(1);
        if (block == first)
            _exit(i == 1023 ? 0 : 2); /* 256 MiB are 1024 chunks */
    }
    _exit(3);
}

static void addresses_come_back_only_after_the_range(void **state)
{
    (void)state;
    char said[512];
    int status = run(use_the_range_up, said, sizeof said);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    arena_set("DEBUG", "1");
    arena_set("RANGE", "256MiB");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_misuse_is_named),
        cmocka_unit_test(a_late_write_hits_no_ones_memory),
        cmocka_unit_test(right_use_is_not_disturbed),
        cmocka_unit_test(addresses_come_back_only_after_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
