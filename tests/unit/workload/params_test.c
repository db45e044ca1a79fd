#include "parsing.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = "fragbench: 1\n"
                           "name: test\n"
                           "params:\n"
                           "  requests: 100\n"
                           "  size: {uniform: [$low, 4KiB]}\n"
                           "  low: $lowest\n"
                           "  lowest: 64\n"
                           "  call: malloc\n"
                           "objects: {a: {size: $size, lifetime: run, call: $call}}\n"
                           "phases: [{name: load, iterations: $requests, allocate: {a: 1}}]\n";

static struct fb_workload *with(const char *name, const char *value)
{
    struct fb_override override = {name, value};
    return parse_well(text, &override, 1);
}

static void badly(const char *name, const char *value, const char *expected)
{
    struct fb_override override = {name, value};
    char *faults = parse_badly(text, &override, 1);
    assert_string_equal(faults, expected);
    free(faults);
}

static void parameters_refer_to_parameters(void **state)
{
    (void)state;
    struct fb_workload *workload = parse_well(text, NULL, 0);
    assert_int_equal(workload->classes[0].size.kind, FB_DISTRIBUTION_UNIFORM);
    assert_true(workload->classes[0].size.a == 64.0);
    assert_string_equal(workload->params[1].value, "{uniform: [64, 4KiB]}");
    assert_string_equal(workload->params[2].value, "64");
    fb_workload_free(workload);
}

static void overrides_replace_values_before_they_are_used(void **state)
{
    (void)state;
    struct fb_workload *workload = with("requests", "7");
    assert_int_equal(workload->phases[0].iterations, 7);
    assert_string_equal(workload->params[0].value, "7");
    fb_workload_free(workload);
    workload = with("lowest", "1KiB");
    assert_true(workload->classes[0].size.a == 1024.0);
    fb_workload_free(workload);
    workload = with("call", "calloc");
    assert_int_equal(workload->classes[0].call, FB_CALL_CALLOC);
    fb_workload_free(workload);
}

static void an_override_may_be_a_distribution_or_a_reference(void **state)
{
    (void)state;
    struct fb_workload *workload = with("size", "{exponential: $lowest}");
    assert_int_equal(workload->classes[0].size.kind, FB_DISTRIBUTION_EXPONENTIAL);
    assert_true(workload->classes[0].size.a == 64.0);
    assert_string_equal(workload->params[1].value, "{exponential: 64}");
    fb_workload_free(workload);
}

static void the_last_override_of_a_parameter_wins(void **state)
{
    (void)state;
    const struct fb_override overrides[] = {{"requests", "5"}, {"requests", "6"}};
    struct fb_workload *workload = parse_well(text, overrides, 2);
    assert_int_equal(workload->phases[0].iterations, 6);
    fb_workload_free(workload);
}

static void faults_of_overrides_name_the_option(void **state)
{
    (void)state;
    badly("reqests", "5",
          "fragbench: test.yaml: -L reqests: the workload has no such parameter; did you mean "
          "\"requests\"? [unknown-override]\n");
    badly("requests", "5ms",
          "fragbench: test.yaml: -L requests: iterations of phase \"load\": \"5ms\" has the wrong "
          "unit; a count takes a plain number such as 12 [wrong-unit]\n");
    badly("requests", "", "fragbench: test.yaml: -L requests= has no value; give one [empty]\n");
    badly(
        "size", "{uniform: [1, 5",
        "fragbench: test.yaml: -L size: a \",\" or \"]\" is missing: separate the entries or close "
        "the list [syntax]\n");
    badly("size", "[1, 2]",
          "fragbench: test.yaml: -L size: size of object \"a\" is a list; it takes a size or a "
          "distribution of sizes [wrong-type]\n");
}

static void an_override_may_close_a_cycle_and_is_told(void **state)
{
    (void)state;
    badly(
        "lowest", "$low",
        "fragbench: test.yaml:6:3: parameter \"low\" is defined by itself: $low uses $lowest uses "
        "$low; give one of them a value [cyclic-param]\n"
        "   6 |   low: $lowest\n"
        "     |   ^~~\n");
}

static void a_workload_without_parameters_says_so(void **state)
{
    (void)state;
    struct fb_override override = {"x", "1"};
    char *faults = parse_badly("fragbench: 1\n"
                               "name: test\n"
                               "objects: {a: {size: 1, lifetime: run}}\n"
                               "phases: [{name: load, allocate: {a: 1}}]\n",
                               &override, 1);
    assert_string_equal(faults,
                        "fragbench: test.yaml: -L x: the workload has no such parameter; it "
                        "declares none, so drop the option [unknown-override]\n");
    free(faults);
}

/* Each parameter holds the one after it four times: 4^60 values, were they written out. */
static void a_bomb_of_parameters_does_no_harm(void **state)
{
    (void)state;
    struct fb_buf buf;
    fb_buf_init(&buf, (size_t)1 << 20);
    fb_buf_adds(&buf, "fragbench: 1\nname: test\nparams:\n");
    for (int i = 0; i < 60; i++)
        fb_buf_addf(&buf, "  p%d: [$p%d, $p%d, $p%d, $p%d]\n", i, i + 1, i + 1, i + 1, i + 1);
    fb_buf_adds(&buf, "  p60: x\nobjects: {a: {size: 1, lifetime: run}}\n"
                      "phases: [{name: load, allocate: {a: 1}}]\n");
    struct fb_workload *workload = parse_well(buf.text, NULL, 0);
    assert_int_equal(workload->param_count, 61);
    assert_true(strlen(workload->params[0].value) < 4096);
    fb_workload_free(workload);
    fb_buf_deinit(&buf);
}

static void a_long_chain_of_parameters_is_refused(void **state)
{
    (void)state;
    struct fb_buf buf;
    fb_buf_init(&buf, (size_t)1 << 20);
    fb_buf_adds(&buf, "fragbench: 1\nname: test\nparams:\n");
    for (int i = 0; i < 200; i++)
        fb_buf_addf(&buf, "  p%d: $p%d\n", i, i + 1);
    fb_buf_adds(&buf, "  p200: 5\nobjects: {a: {size: $p0, lifetime: run}}\n"
                      "phases: [{name: load, allocate: {a: 1}}]\n");
    char *faults = parse_badly(buf.text, NULL, 0);
    assert_non_null(strstr(faults, "[too-deep]"));
    free(faults);
    fb_buf_deinit(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_refer_to_parameters),
        cmocka_unit_test(overrides_replace_values_before_they_are_used),
        cmocka_unit_test(an_override_may_be_a_distribution_or_a_reference),
        cmocka_unit_test(the_last_override_of_a_parameter_wins),
        cmocka_unit_test(faults_of_overrides_name_the_option),
        cmocka_unit_test(an_override_may_close_a_cycle_and_is_told),
        cmocka_unit_test(a_workload_without_parameters_says_so),
        cmocka_unit_test(a_bomb_of_parameters_does_no_harm),
        cmocka_unit_test(a_long_chain_of_parameters_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
