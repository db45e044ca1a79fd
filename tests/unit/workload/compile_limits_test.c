/* What the compiler refuses, and how it fails. */
#include "compiled.h"
#include "scenarios.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct fb_object_class classes[] = {
    {.name = "small", .size = CONSTANT(64), .lifetime = FB_LIFETIME_ITERATION}};

/* Iterations × objects of 64 bytes. */
static struct fb_error refusal(struct fb_distribution count, uint64_t iterations,
                               const struct fb_compile_options *options)
{
    struct fb_phase_allocate allocate[] = {{0, count}};
    struct fb_phase phases[] = {{.name = "serve",
                                 .has_iterations = true,
                                 .iterations = iterations,
                                 .allocate = allocate,
                                 .allocate_count = 1}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    struct fb_totals totals = {.trace_bytes = 77};
    struct fb_error err = {0};
    assert_int_equal(fb_compile_totals(&workload, options, &totals, &err), -1);
    assert_int_equal(totals.trace_bytes, 77); /* untouched on failure */
    assert_int_equal(err.kind, FB_ERROR_INPUT);
    return err;
}

/* At once, from the estimate: generating them would take hours. */
static void far_too_many_objects_are_refused_at_once(void **state)
{
    (void)state;
    struct fb_compile_options options = {.seed = 1, .scale = 1, .max_bytes = UINT64_C(4) << 30};
    struct fb_distribution million = CONSTANT(1e6);
    clock_t begin = clock();
    struct fb_error err = refusal(million, 1000000, &options);
    assert_true(clock() - begin < CLOCKS_PER_SEC / 10);
    assert_non_null(strstr(err.text, "about 1,000,000,000,000 objects"));
    assert_non_null(strstr(err.text, "29.1 TiB; 4 GiB allowed"));
    assert_non_null(strstr(err.text, "--scale"));
}

/* Their median is small, their draws are not: only the exact count sees it. */
static void what_the_estimate_cannot_see_is_stopped_exactly(void **state)
{
    (void)state;
    struct fb_compile_options options = {.seed = 1, .scale = 1, .max_bytes = 1 << 20};
    struct fb_distribution heavy = {.kind = FB_DISTRIBUTION_PARETO, .a = 1, .b = 0.5};
    struct fb_error err = refusal(heavy, 5000, &options);
    assert_non_null(strstr(err.text, "more than "));
    assert_non_null(strstr(err.text, "1 MiB allowed"));
    struct fb_distribution spread = {.kind = FB_DISTRIBUTION_PARETO, .a = 5, .b = 1};
    err = refusal(spread, 3000, &options);
    assert_non_null(strstr(err.text, "more than "));
    assert_non_null(strstr(err.text, "1 MiB allowed"));
}

/* The exact size passes; a byte less does not. */
static void the_limit_is_exact(void **state)
{
    (void)state;
    struct fb_phase_allocate allocate[] = {{0, CONSTANT(100)}};
    struct fb_phase phases[] = {{.name = "fill", .allocate = allocate, .allocate_count = 1}};
    struct fb_object_class kept[] = {
        {.name = "kept", .size = CONSTANT(64), .lifetime = FB_LIFETIME_ITERATION}};
    struct fb_workload workload = WORKLOAD(kept, phases);
    struct fb_compile_options options = {.seed = 1, .scale = 1};
    struct fb_totals totals;
    struct fb_error err = {0};
    assert_int_equal(fb_compile_totals(&workload, &options, &totals, &err), 0);
    options.max_bytes = totals.trace_bytes;
    fb_totals_deinit(&totals);
    assert_int_equal(fb_compile_totals(&workload, &options, &totals, &err), 0);
    fb_totals_deinit(&totals);
    options.max_bytes--;
    assert_int_equal(fb_compile_totals(&workload, &options, &totals, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_INPUT);
}

/* The tables of streams count, too. */
static void the_limit_is_exact_with_threads(void **state)
{
    (void)state;
    struct fb_compile_options options = {.seed = 42, .scale = 1};
    struct fb_totals totals;
    struct fb_error err = {0};
    assert_int_equal(fb_compile_totals(&crowd, &options, &totals, &err), 0);
    options.max_bytes = totals.trace_bytes;
    fb_totals_deinit(&totals);
    assert_int_equal(fb_compile_totals(&crowd, &options, &totals, &err), 0);
    fb_totals_deinit(&totals);
    options.max_bytes--;
    assert_int_equal(fb_compile_totals(&crowd, &options, &totals, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_INPUT);
}

static struct fb_workload churning(struct fb_phase *phase, uint64_t iterations, uint64_t life)
{
    static struct fb_phase_allocate one[] = {{0, CONSTANT(1)}};
    *phase = (struct fb_phase){.name = "churn",
                               .has_iterations = true,
                               .iterations = iterations,
                               .allocate = one,
                               .allocate_count = 1,
                               .threads = 8,
                               .thread_life = life};
    return (struct fb_workload){
        .classes = classes, .class_count = COUNT(classes), .phases = phase, .phase_count = 1};
}

static void more_threads_than_a_trace_holds_are_refused_at_once(void **state)
{
    (void)state;
    struct fb_compile_options options = {.seed = 1, .scale = 1};
    struct fb_phase phase;
    struct fb_workload workload = churning(&phase, UINT64_C(1) << 40, 1);
    struct fb_totals totals;
    struct fb_error err = {0};
    assert_int_equal(fb_compile_totals(&workload, &options, &totals, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_INPUT);
    assert_non_null(
        strstr(err.text, "1,099,511,627,777 threads in all, main included; 65,535 are"));
    assert_non_null(strstr(err.text, "thread_life"));
    workload = churning(&phase, 65535, 1);
    err = (struct fb_error){0};
    assert_int_equal(fb_compile_totals(&workload, &options, &totals, &err), -1);
    assert_non_null(strstr(err.text, "65,536 threads"));
}

/* As many as there may be: each with its own few ops in the file. */
static void as_many_threads_as_a_trace_holds_are_written(void **state)
{
    (void)state;
    struct fb_phase phase;
    struct fb_workload workload = churning(&phase, 65534, 1);
    struct compiled compiled = compile(&workload, 1);
    assert_int_equal(compiled.trace.header->stream_count, 65535);
    assert_int_equal(compiled.trace.header->thread_peak, 9);
    compiled_free(&compiled);
    /* Ten iterations of each of the eight lanes, twice; five more by five lanes. */
    workload = churning(&phase, 165, 10);
    compiled = compile(&workload, 1);
    assert_int_equal(compiled.trace.header->stream_count, 1 + 8 + 8 + 5);
    compiled_free(&compiled);
}

static void more_objects_than_slots_are_refused(void **state)
{
    (void)state;
    struct fb_compile_options options = {.seed = 1, .scale = 1};
    struct fb_object_class forever[] = {
        {.name = "kept", .size = CONSTANT(64), .lifetime = FB_LIFETIME_RUN}};
    struct fb_phase_allocate allocate[] = {{0, CONSTANT(100000)}};
    struct fb_phase phases[] = {{.name = "serve",
                                 .has_iterations = true,
                                 .iterations = 50000,
                                 .allocate = allocate,
                                 .allocate_count = 1}};
    struct fb_workload workload = WORKLOAD(forever, phases);
    struct fb_totals totals;
    struct fb_error err = {0};
    assert_int_equal(fb_compile_totals(&workload, &options, &totals, &err), -1);
    assert_non_null(strstr(err.text, "about 5,000,000,000 objects alive at once"));
}

static void growth_steps_count_in_the_estimate(void **state)
{
    (void)state;
    struct fb_compile_options options = {.seed = 1, .scale = 1, .max_bytes = UINT64_C(1) << 30};
    struct fb_object_class vector[] = {{.name = "vector",
                                        .size = CONSTANT(1),
                                        .lifetime = FB_LIFETIME_PHASE,
                                        .grow = FB_GROW_REALLOC,
                                        .grow_by_bytes = 1,
                                        .grow_to_bytes = 1000000000}};
    struct fb_phase_allocate allocate[] = {{0, CONSTANT(1)}};
    struct fb_phase phases[] = {{.name = "serve",
                                 .has_iterations = true,
                                 .iterations = 1000000,
                                 .allocate = allocate,
                                 .allocate_count = 1}};
    struct fb_workload workload = WORKLOAD(vector, phases);
    struct fb_totals totals;
    struct fb_error err = {0};
    assert_int_equal(fb_compile_totals(&workload, &options, &totals, &err), -1);
    assert_non_null(strstr(err.text, "about 500,001,000,000 objects"));
}

static void times_beyond_the_calendar_are_refused(void **state)
{
    (void)state;
    struct fb_compile_options options = {.seed = 1, .scale = 1};
    struct fb_phase phases[] = {{.name = "idle", .for_ns = UINT64_C(9000000000000000000)},
                                {.name = "longer", .for_ns = UINT64_C(9000000000000000000)}};
    struct fb_workload workload = WORKLOAD(classes, phases);
    struct fb_totals totals;
    struct fb_error err = {0};
    assert_int_equal(fb_compile_totals(&workload, &options, &totals, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_INPUT);
    assert_non_null(strstr(err.text, "292 years"));
    phases[0] = (struct fb_phase){.name = "serve",
                                  .has_iterations = true,
                                  .iterations = 5,
                                  .every_ns = UINT64_C(9000000000000000000)};
    err = (struct fb_error){0};
    assert_int_equal(fb_compile_totals(&workload, &options, &totals, &err), -1);
    assert_non_null(strstr(err.text, "292 years"));
}

/* 2^46 bytes, 2^18 times, are 2^64 in all. */
static void volumes_beyond_64_bits_are_refused(void **state)
{
    (void)state;
    struct fb_compile_options options = {.seed = 1, .scale = 1};
    struct fb_object_class huge[] = {
        {.name = "huge", .size = CONSTANT(1e30), .lifetime = FB_LIFETIME_ITERATION}};
    huge[0].touch = FB_TOUCH_NONE;
    struct fb_phase_allocate allocate[] = {{0, CONSTANT(1)}};
    struct fb_phase phases[] = {{.name = "serve",
                                 .has_iterations = true,
                                 .iterations = 1 << 18,
                                 .allocate = allocate,
                                 .allocate_count = 1}};
    struct fb_workload workload = WORKLOAD(huge, phases);
    struct fb_totals totals;
    struct fb_error err = {0};
    assert_int_equal(fb_compile_totals(&workload, &options, &totals, &err), -1);
    assert_non_null(strstr(err.text, "16 EiB"));
}

static void a_scale_of_nought_is_refused(void **state)
{
    (void)state;
    struct fb_compile_options options = {.seed = 1, .scale = 0};
    struct fb_distribution one = CONSTANT(1);
    assert_non_null(strstr(refusal(one, 1, &options).text, "--scale"));
    options.scale = -1;
    assert_non_null(strstr(refusal(one, 1, &options).text, "--scale"));
    options.scale = __builtin_nan("");
    assert_non_null(strstr(refusal(one, 1, &options).text, "--scale"));
}

/* The file may not grow beyond `allowed` bytes: as on a full disk. */
static struct fb_error write_within(rlim_t allowed)
{
    struct fb_compile_options options = {.seed = 42, .scale = 1};
    struct fb_totals totals;
    struct fb_error err = {0};
    assert_int_equal(fb_compile_totals(&everything, &options, &totals, &err), 0);
    char path[] = "/tmp/fragbench-trace-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit low = {.rlim_cur = allowed, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    int result = fb_compile_trace(&everything, &options, &totals, fd, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(result, -1);
    assert_int_equal(close(fd), 0);
    fb_totals_deinit(&totals);
    return err;
}

static void a_full_disk_is_an_io_error(void **state)
{
    (void)state;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    assert_int_equal(sigaction(SIGXFSZ, &ignore, &before), 0);
    struct fb_error err = write_within(65536);
    assert_int_equal(err.kind, FB_ERROR_IO);
    assert_non_null(strstr(err.text, "cannot write the trace"));
    assert_int_equal(sigaction(SIGXFSZ, &before, NULL), 0);
}

static void a_bad_descriptor_is_an_io_error(void **state)
{
    (void)state;
    struct fb_compile_options options = {.seed = 42, .scale = 1};
    struct fb_totals totals;
    struct fb_error err = {0};
    assert_int_equal(fb_compile_totals(&everything, &options, &totals, &err), 0);
    assert_int_equal(fb_compile_trace(&everything, &options, &totals, -1, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_IO);
    fb_totals_deinit(&totals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_too_many_objects_are_refused_at_once),
        cmocka_unit_test(what_the_estimate_cannot_see_is_stopped_exactly),
        cmocka_unit_test(the_limit_is_exact),
        cmocka_unit_test(the_limit_is_exact_with_threads),
        cmocka_unit_test(more_threads_than_a_trace_holds_are_refused_at_once),
        cmocka_unit_test(as_many_threads_as_a_trace_holds_are_written),
        cmocka_unit_test(more_objects_than_slots_are_refused),
        cmocka_unit_test(growth_steps_count_in_the_estimate),
        cmocka_unit_test(times_beyond_the_calendar_are_refused),
        cmocka_unit_test(volumes_beyond_64_bits_are_refused),
        cmocka_unit_test(a_scale_of_nought_is_refused),
        cmocka_unit_test(a_full_disk_is_an_io_error),
        cmocka_unit_test(a_bad_descriptor_is_an_io_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
