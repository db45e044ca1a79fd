/* The child's set-up, seen from inside by spawn_probe. */
#include "harness/spawn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static char told[16384];

static int start(const char *program, unsigned layout, struct fb_spawned *spawned, int output,
                 struct fb_error *err)
{
    static char variable[] = "ONLY=this";
    char *environment[] = {variable, NULL};
    int shared = memfd_create("shared", MFD_CLOEXEC), trace = memfd_create("trace", MFD_CLOEXEC);
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    struct fb_spawn spawn = {.program = program,
                             .environment = environment,
                             .shared_fd = shared,
                             .trace_fd = trace,
                             .doorbell_fd = pair[1],
                             .output_fd = output,
                             .layout = layout};
    int result = fb_spawn(&spawn, spawned, err);
    const int all[] = {shared, trace, pair[0], pair[1]};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        (void)close(all[i]);
    return result;
}

/* Fills told with what the probe prints; a descriptor without close-on-exec is open meanwhile. */
static struct fb_spawned probe(unsigned layout)
{
    struct fb_spawned spawned;
    struct fb_error err = {0};
    int ends[2], status = 0, leak = open("/dev/null", O_RDONLY);
    size_t used = 0;
    ssize_t got;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    if (start(FB_SPAWN_PROBE, layout, &spawned, ends[1], &err) != 0)
        fail_msg("%s", err.text);
    (void)close(ends[1]);
    (void)close(leak);
    while ((got = read(ends[0], told + used, sizeof told - 1 - used)) > 0)
        used += (size_t)got;
    told[used] = '\0';
    (void)close(ends[0]);
    assert_int_equal(waitpid(spawned.pid, &status, 0), spawned.pid);
    assert_int_equal(status, 0);
    return spawned;
}

static void expect_line(const char *line)
{
    size_t length = strlen(line);
    for (const char *at = told; (at = strstr(at, line)) != NULL; at += length)
        if ((at == told || at[-1] == '\n') && at[length] == '\n')
            return;
    fail_msg("no line \"%s\" in:\n%s", line, told);
}

static size_t lines_that_begin(const char *head)
{
    size_t count = 0, length = strlen(head);
    for (const char *at = told; (at = strstr(at, head)) != NULL; at += length)
        count += at == told || at[-1] == '\n';
    return count;
}

static void the_worker_has_its_descriptors_and_no_others(void **state)
{
    (void)state;
    (void)probe(0);
    static const char *const expected[] = {"fd 0", "fd 1", "fd 2", "fd 3", "fd 4", "fd 5"};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        expect_line(expected[i]);
    assert_int_equal(lines_that_begin("fd "), 6);
}

static void the_worker_stands_alone_and_dies_with_us(void **state)
{
    (void)state;
    (void)probe(0);
    expect_line("argv0 fragbench-worker");
    expect_line("argc 1");
    expect_line("leader 1");
    expect_line("deathsig 9");
    expect_line("oom_score_adj 1000");
    expect_line("core 0");
}

static void the_environment_is_exactly_what_was_given(void **state)
{
    (void)state;
    assert_int_equal(setenv("MALLOC_CONF", "narenas:1", 1), 0);
    (void)probe(0);
    (void)unsetenv("MALLOC_CONF");
    expect_line("env ONLY=this");
    assert_int_equal(lines_that_begin("env "), 1);
}

static void layouts_move_the_stack_limit_by_fixed_steps(void **state)
{
    (void)state;
    char line[64];
    unsigned long long page_bytes = (unsigned long long)sysconf(_SC_PAGESIZE);
    static const unsigned layouts[] = {0, 1, 4};
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        struct fb_spawned spawned = probe(layouts[i]);
        (void)snprintf(line, sizeof line, "stack %llu",
                       (128ULL << 20) + page_bytes + layouts[i] * 1237 * page_bytes);
        expect_line(line);
        expect_line(spawned.layout_fixed ? "fixed 1" : "fixed 0");
    }
}

static void signals_are_as_in_a_fresh_process(void **state)
{
    (void)state;
    sigset_t interrupt, before;
    (void)sigemptyset(&interrupt);
    (void)sigaddset(&interrupt, SIGINT);
    void (*handler)(int) = signal(SIGINT, SIG_IGN);
    assert_int_equal(sigprocmask(SIG_BLOCK, &interrupt, &before), 0);
    (void)probe(0);
    sigset_t now;
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, &now), 0);
    (void)signal(SIGINT, handler);
    expect_line("int_blocked 0");
    expect_line("int_ignored 0");
    /* And ours is as it was. */
    assert_true(sigismember(&now, SIGINT));
    assert_false(sigismember(&now, SIGTERM));
}

static void a_program_that_cannot_start_is_an_error_with_its_step(void **state)
{
    (void)state;
    struct fb_spawned spawned;
    struct fb_error err = {0};
    assert_int_equal(start("/no/such/worker", 0, &spawned, STDERR_FILENO, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_IO);
    assert_string_equal(err.text, "cannot start /no/such/worker: No such file or directory");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worker_has_its_descriptors_and_no_others),
        cmocka_unit_test(the_worker_stands_alone_and_dies_with_us),
        cmocka_unit_test(the_environment_is_exactly_what_was_given),
        cmocka_unit_test(layouts_move_the_stack_limit_by_fixed_steps),
        cmocka_unit_test(signals_are_as_in_a_fresh_process),
        cmocka_unit_test(a_program_that_cannot_start_is_an_error_with_its_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
