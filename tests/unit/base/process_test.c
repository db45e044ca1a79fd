#include "base/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define NS_PER_S UINT64_C(1000000000)

static struct fb_process_outcome run(const char *script, const char *input, size_t cap)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    const char *const env[] = {"PATH=/usr/bin:/bin", "WORD=given", NULL};
    const struct fb_process_request request = {argv, env, input, strlen(input), 20 * NS_PER_S};
    struct fb_process_outcome outcome = {0};
    struct fb_error err = {0};
    assert_int_equal(fb_process_run(&request, cap, &outcome, &err), 0);
    assert_true(outcome.found);
    return outcome;
}

static void output_errors_and_code_are_kept(void **state)
{
    (void)state;
    struct fb_process_outcome outcome = run("echo out; echo bad >&2; exit 7", "", 1000);
    assert_string_equal(outcome.out.text, "out\n");
    assert_string_equal(outcome.errs.text, "bad\n");
    assert_int_equal(outcome.exit_code, 7);
    assert_false(outcome.timed_out);
    fb_process_outcome_deinit(&outcome);
}

static void input_can_be_opened_twice(void **state)
{
    (void)state;
    struct fb_process_outcome outcome = run("cat /dev/fd/3 /dev/fd/3", "twice ", 1000);
    assert_string_equal(outcome.out.text, "twice twice ");
    fb_process_outcome_deinit(&outcome);
}

static void standard_input_is_empty(void **state)
{
    (void)state;
    struct fb_process_outcome outcome = run("cat; echo end", "data", 1000);
    assert_string_equal(outcome.out.text, "end\n");
    fb_process_outcome_deinit(&outcome);
}

static void only_the_given_environment_is_seen(void **state)
{
    (void)state;
    assert_int_equal(setenv("FB_SECRET", "inherited", 1), 0);
    struct fb_process_outcome outcome = run("echo \"$WORD,$FB_SECRET,\"", "", 1000);
    assert_string_equal(outcome.out.text, "given,,\n");
    fb_process_outcome_deinit(&outcome);
}

static void a_missing_program_is_no_error(void **state)
{
    (void)state;
    const char *const argv[] = {"fragbench-no-such-program", NULL};
    const char *const env[] = {NULL};
    const struct fb_process_request request = {argv, env, "", 0, NS_PER_S};
    struct fb_process_outcome outcome = {0};
    struct fb_error err = {0};
    assert_int_equal(fb_process_run(&request, 100, &outcome, &err), 0);
    assert_false(outcome.found);
    fb_process_outcome_deinit(&outcome);
}

static void a_slow_program_is_stopped(void **state)
{
    (void)state;
    const char *const argv[] = {"sh", "-c", "echo begun; exec sleep 60", NULL};
    const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    const struct fb_process_request request = {argv, env, "", 0, NS_PER_S / 5};
    struct fb_process_outcome outcome = {0};
    struct fb_error err = {0};
    assert_int_equal(fb_process_run(&request, 100, &outcome, &err), 0);
    assert_true(outcome.timed_out);
    assert_int_equal(outcome.exit_code, 128 + 9);
    fb_process_outcome_deinit(&outcome);
}

static void a_program_that_closed_its_output_is_stopped_too(void **state)
{
    (void)state;
    const char *const argv[] = {"sh", "-c", "exec sleep 60 >&- 2>&-", NULL};
    const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    const struct fb_process_request request = {argv, env, "", 0, NS_PER_S / 5};
    struct fb_process_outcome outcome = {0};
    struct fb_error err = {0};
    assert_int_equal(fb_process_run(&request, 100, &outcome, &err), 0);
    assert_true(outcome.timed_out);
    fb_process_outcome_deinit(&outcome);
}

static void too_much_output_stops_it(void **state)
{
    (void)state;
    struct fb_process_outcome outcome = run("while echo line; do :; done", "", 1000);
    assert_true(outcome.out.overflow);
    assert_int_equal(outcome.out.length, 999);
    fb_process_outcome_deinit(&outcome);
}

static void long_complaints_keep_their_beginning(void **state)
{
    (void)state;
    struct fb_process_outcome outcome =
        run("echo first >&2; head -c 100000 /dev/zero | tr '\\0' x >&2; echo done", "", 1000);
    assert_string_equal(outcome.out.text, "done\n");
    assert_memory_equal(outcome.errs.text, "first\nxxx", 9);
    fb_process_outcome_deinit(&outcome);
}

static void a_signal_shows_in_the_code(void **state)
{
    (void)state;
    struct fb_process_outcome outcome = run("kill -TERM $$", "", 1000);
    assert_int_equal(outcome.exit_code, 128 + 15);
    fb_process_outcome_deinit(&outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_errors_and_code_are_kept),
        cmocka_unit_test(input_can_be_opened_twice),
        cmocka_unit_test(standard_input_is_empty),
        cmocka_unit_test(only_the_given_environment_is_seen),
        cmocka_unit_test(a_missing_program_is_no_error),
        cmocka_unit_test(a_slow_program_is_stopped),
        cmocka_unit_test(a_program_that_closed_its_output_is_stopped_too),
        cmocka_unit_test(too_much_output_stops_it),
        cmocka_unit_test(long_complaints_keep_their_beginning),
        cmocka_unit_test(a_signal_shows_in_the_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
