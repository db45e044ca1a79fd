/* Runs that fail: each ends in its status, and no process is left. */
#include "bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FIXTURE(name) "x=" FB_FIXTURES "/libfixture_" name ".so"
#define SECOND UINT64_C(1000000000)

static const struct bench_shape shape = {.objects = 3000, .size_bytes = 1000, .rounds = 2};

static struct fb_run_outcome run(const char *spec, const struct bench_shape *what,
                                 void (*adapt)(struct fb_run_request *))
{
    struct bench_trace trace;
    struct fb_contenders contenders = bench_contender(spec);
    struct fb_run_outcome outcome;
    bench_trace_open(&trace, what);
    struct fb_run_request request = bench_request(&trace, &contenders.items[0]);
    if (adapt != NULL)
        adapt(&request);
    bench_run(&request, 1, 1, &outcome);
    bench_trace_close(&trace);
    fb_contenders_deinit(&contenders);
    /* ECHILD: nothing of the runner's is left, not even a zombie. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    return outcome;
}

static void expect(struct fb_run_outcome *outcome, enum fb_status status, const char *part)
{
    const struct fb_repetition *repetition = &outcome->repetition;
    if (repetition->status != status)
        fail_msg("%s (%s), not %s", fb_status_name(repetition->status),
                 repetition->status_detail != NULL ? repetition->status_detail : "",
                 fb_status_name(status));
    if (repetition->status_detail == NULL || strstr(repetition->status_detail, part) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", repetition->status_detail, part);
}

static void a_library_without_malloc_is_not_preloaded(void **state)
{
    (void)state;
    struct fb_run_outcome outcome = run(FIXTURE("nothing"), &shape, NULL);
    expect(&outcome, FB_STATUS_NOT_PRELOADED, "libc.so.6, not by " FB_FIXTURES);
    assert_int_equal(outcome.repetition.series.count, 0);
    bench_outcome_deinit(&outcome);
}

static void a_library_without_free_is_not_preloaded(void **state)
{
    (void)state;
    struct fb_run_outcome outcome = run(FIXTURE("half"), &shape, NULL);
    expect(&outcome, FB_STATUS_NOT_PRELOADED, "but free by");
    bench_outcome_deinit(&outcome);
}

static void a_crash_names_signal_phase_and_op(void **state)
{
    (void)state;
    struct fb_run_outcome outcome = run(FIXTURE("crash"), &shape, NULL);
    expect(&outcome, FB_STATUS_CRASHED, "SIGSEGV in phase serve at op 1,0");
    /* What was seen before is kept; the phase that did not end has no figures. */
    assert_int_equal(outcome.repetition.checkpoint_count, 1);
    assert_int_equal(outcome.repetition.phase_count, 0);
    bench_outcome_deinit(&outcome);
}

static void a_sigkill_from_elsewhere_is_no_crash_of_ours(void **state)
{
    (void)state;
    struct fb_run_outcome outcome = run(FIXTURE("kill"), &shape, NULL);
    assert_true(outcome.repetition.status == FB_STATUS_OOM_KILLED ||
                outcome.repetition.status == FB_STATUS_CRASHED);
    assert_non_null(strstr(outcome.repetition.status_detail, "SIGKILL"));
    bench_outcome_deinit(&outcome);
}

static void refused_allocations_are_counted(void **state)
{
    (void)state;
    struct fb_run_outcome outcome = run(FIXTURE("refuse"), &shape, NULL);
    expect(&outcome, FB_STATUS_REFUSED, "were refused: equal work was not done");
    assert_true(outcome.repetition.refused_calls > 0);
    assert_true(outcome.repetition.degraded_iterations > 0);
    bench_outcome_deinit(&outcome);
}

static void a_phase_may_insist_on_its_allocations(void **state)
{
    (void)state;
    struct bench_shape strict = shape;
    strict.fail_on_refusal = true;
    struct fb_run_outcome outcome = run(FIXTURE("refuse"), &strict, NULL);
    expect(&outcome, FB_STATUS_REFUSED, "on_refusal: fail in phase serve");
    bench_outcome_deinit(&outcome);
}

static void short_timeout(struct fb_run_request *request)
{
    request->timeout_ns = SECOND / 2;
}

static void a_hanging_allocator_ends_at_the_timeout(void **state)
{
    (void)state;
    struct fb_run_outcome outcome = run(FIXTURE("hang"), &shape, short_timeout);
    expect(&outcome, FB_STATUS_TIMEOUT, "not done after 500 ms");
    assert_true(outcome.repetition.wall_s >= 0.5 && outcome.repetition.wall_s < 10);
    bench_outcome_deinit(&outcome);
}

static void low_limit(struct fb_run_request *request)
{
    request->memory_limit_bytes = UINT64_C(30) << 20;
    request->clock = FB_CLOCK_REAL;
}

static void too_much_memory_ends_the_run(void **state)
{
    (void)state;
    /* 60 MB live for half a second, so that a tick must see it. */
    const struct bench_shape large = {
        .objects = 60, .size_bytes = 1000000, .rounds = 200, .pause_ns = 1};
    struct fb_run_outcome outcome = run("ptmalloc2", &large, low_limit);
    expect(&outcome, FB_STATUS_OVER_MEMORY_LIMIT, "over the limit of 30 MiB");
    bench_outcome_deinit(&outcome);
}

static void contenders_that_cannot_run_are_told_without_a_process(void **state)
{
    (void)state;
    struct fb_run_outcome outcome = run("x=/no/such.so", &shape, NULL);
    expect(&outcome, FB_STATUS_UNSUPPORTED, "/no/such.so: no such file");
    bench_outcome_deinit(&outcome);
    outcome = run("ptmalloc2:arena_macks=1", &shape, NULL);
    expect(&outcome, FB_STATUS_BAD_TUNABLE, "did you mean \"arena_max\"?");
    bench_outcome_deinit(&outcome);
}

static void a_background_thread_is_refused_under_the_virtual_clock(void **state)
{
    (void)state;
    struct fb_run_outcome outcome = run("jemalloc:background_thread=true", &shape, NULL);
    if (outcome.repetition.status != FB_STATUS_NOT_INSTALLED)
        expect(&outcome, FB_STATUS_BAD_TUNABLE, "--clock real");
    bench_outcome_deinit(&outcome);
}

/* The table does not know the values of words: the allocator's own complaint counts. */
static void what_jemalloc_complains_about_fails_the_cell(void **state)
{
    (void)state;
    struct fb_run_outcome outcome = run("jemalloc:thp=sometimes", &shape, NULL);
    if (outcome.repetition.status != FB_STATUS_NOT_INSTALLED) {
        expect(&outcome, FB_STATUS_BAD_TUNABLE, "Invalid conf value: thp:sometimes");
        assert_non_null(strstr(outcome.repetition.stderr_text, "Invalid conf"));
    }
    bench_outcome_deinit(&outcome);
}

/* tcmalloc says nothing and clamps: the value read back tells. */
static void a_value_that_was_changed_in_silence_fails_the_cell(void **state)
{
    (void)state;
    struct fb_run_outcome outcome = run("tcmalloc:max_total_thread_cache_bytes=1", &shape, NULL);
    if (outcome.repetition.status != FB_STATUS_NOT_INSTALLED)
        expect(&outcome, FB_STATUS_BAD_TUNABLE, "max_total_thread_cache_bytes=1 did not take");
    bench_outcome_deinit(&outcome);
}

static void a_missing_worker_is_the_harnesss_own_trouble(void **state)
{
    (void)state;
    struct fb_error err = {0};
    struct fb_run_request request = {0};
    struct fb_runner_hooks hooks = {0};
    assert_int_equal(setenv("FRAGBENCH_LIBEXEC", "/nowhere", 1), 0);
    assert_int_equal(fb_runner_run(&request, 1, 1, &hooks, NULL, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_IO);
    assert_non_null(strstr(err.text, "/nowhere (FRAGBENCH_LIBEXEC)"));
}

static volatile int stop;
static size_t seen;

static void stop_at_first_progress(void *user, const struct fb_run_progress *running, size_t count,
                                   size_t done, size_t total)
{
    (void)user;
    (void)done;
    assert_int_equal(count, 2);
    assert_int_equal(total, 3);
    assert_true(running[0].ops_total > 0);
    assert_true(running[0].elapsed_s >= 0);
    stop = 1;
}

static int expect_interrupted(void *user, const struct fb_run_request *request,
                              struct fb_run_outcome *outcome, struct fb_error *err)
{
    (void)user;
    (void)request;
    (void)err;
    expect(outcome, FB_STATUS_INTERRUPTED, "stopped");
    bench_outcome_deinit(outcome);
    seen++;
    return 0;
}

static void an_interrupt_ends_what_runs_and_starts_no_more(void **state)
{
    (void)state;
    struct bench_trace trace;
    struct fb_contenders contenders = bench_contender(FIXTURE("hang"));
    struct fb_runner_hooks hooks = {.finished = expect_interrupted,
                                    .progress = stop_at_first_progress};
    struct fb_error err = {0};
    bench_trace_open(&trace, &shape);
    struct fb_run_request requests[3];
    for (size_t i = 0; i < 3; i++)
        requests[i] = bench_request(&trace, &contenders.items[0]);
    stop = 0;
    seen = 0;
    assert_int_equal(fb_runner_run(requests, 3, 2, &hooks, &stop, &err), 0);
    assert_int_equal(seen, 2);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    bench_trace_close(&trace);
    fb_contenders_deinit(&contenders);
}

static int refuse_outcome(void *user, const struct fb_run_request *request,
                          struct fb_run_outcome *outcome, struct fb_error *err)
{
    (void)user;
    (void)request;
    bench_outcome_deinit(outcome);
    return fb_fail(err, FB_ERROR_IO, "the disk is full");
}

static void a_failing_callback_stops_everything(void **state)
{
    (void)state;
    struct bench_trace trace;
    struct fb_contenders good = bench_contender("ptmalloc2");
    struct fb_contenders bad = bench_contender(FIXTURE("hang"));
    struct fb_runner_hooks hooks = {.finished = refuse_outcome};
    struct fb_error err = {0};
    bench_trace_open(&trace, &shape);
    struct fb_run_request requests[] = {bench_request(&trace, &bad.items[0]),
                                        bench_request(&trace, &good.items[0])};
    assert_int_equal(fb_runner_run(requests, 2, 2, &hooks, NULL, &err), -1);
    assert_string_equal(err.text, "the disk is full");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    bench_trace_close(&trace);
    fb_contenders_deinit(&good);
    fb_contenders_deinit(&bad);
}

/* The only process in its own session that this test started: found by its name and parent. */
static pid_t child_of(pid_t parent)
{
    DIR *folder = opendir("/proc");
    pid_t found = 0;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char path[300], text[512] = "";
        (void)snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *file = fopen(path, "re");
        if (file == NULL)
            continue;
        size_t got = fread(text, 1, sizeof text - 1, file);
        (void)fclose(file);
        text[got] = '\0';
        const char *after = strrchr(text, ')');
        if (after != NULL && strstr(text, "(fragbench-work") != NULL &&
            strtol(after + 4, NULL, 10) == parent)
            found = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    if (folder != NULL)
        (void)closedir(folder);
    return found;
}

static void nap(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void a_killed_harness_leaves_no_worker(void **state)
{
    (void)state;
    pid_t worker = 0, harness = fork();
    if (harness == 0) {
        struct fb_run_outcome outcome = run(FIXTURE("hang"), &shape, NULL);
        _exit(outcome.repetition.status == FB_STATUS_OK);
    }
    for (int i = 0; i < 500 && worker == 0; i++) {
        nap();
        worker = child_of(harness);
    }
    assert_int_not_equal(worker, 0);
    assert_int_equal(kill(harness, SIGKILL), 0);
    assert_int_equal(waitpid(harness, NULL, 0), harness);
    /* Reparented to someone else, who may take a while to reap it: a zombie counts as gone. */
    bool alive = true;
    for (int i = 0; i < 500 && alive; i++) {
        nap();
        char path[64], text[256] = "";
        (void)snprintf(path, sizeof path, "/proc/%d/stat", worker);
        FILE *file = fopen(path, "re");
        alive =
            file != NULL && fgets(text, sizeof text, file) != NULL && strstr(text, ") Z ") == NULL;
        if (file != NULL)
            (void)fclose(file);
    }
    assert_false(alive);
}

#define TEST(name) cmocka_unit_test_setup(name, bench_setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_library_without_malloc_is_not_preloaded),
        TEST(a_library_without_free_is_not_preloaded),
        TEST(a_crash_names_signal_phase_and_op),
        TEST(a_sigkill_from_elsewhere_is_no_crash_of_ours),
        TEST(refused_allocations_are_counted),
        TEST(a_phase_may_insist_on_its_allocations),
        TEST(a_hanging_allocator_ends_at_the_timeout),
        TEST(too_much_memory_ends_the_run),
        TEST(contenders_that_cannot_run_are_told_without_a_process),
        TEST(a_background_thread_is_refused_under_the_virtual_clock),
        TEST(what_jemalloc_complains_about_fails_the_cell),
        TEST(a_value_that_was_changed_in_silence_fails_the_cell),
        TEST(a_missing_worker_is_the_harnesss_own_trouble),
        TEST(an_interrupt_ends_what_runs_and_starts_no_more),
        TEST(a_failing_callback_stops_everything),
        TEST(a_killed_harness_leaves_no_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
