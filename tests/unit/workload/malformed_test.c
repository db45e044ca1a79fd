/* Each tests/data/malformed/NAME.yaml gives the faults of NAME.expected, byte for byte. */
#include "parsing.h"

#include "base/alloc.h"
#include "workload/text.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FOLDER FB_TEST_DATA "/malformed/"

enum { CASES_MIN = 40 };

static char *faults_of(const char *name, const char *text, size_t size)
{
    struct fb_diagnostics diagnostics;
    struct fb_workload *workload = NULL;
    struct fb_buf buf;
    fb_diagnostics_init(&diagnostics);
    fb_buf_init(&buf, (size_t)1 << 20);
    int result = fb_workload_parse(name, text, size, NULL, 0, &workload, &diagnostics);
    fb_diagnostics_render(&diagnostics, &buf);
    assert_int_equal(result, diagnostics.count > 0 ? -1 : 0);
    fb_workload_free(workload);
    fb_diagnostics_deinit(&diagnostics);
    return buf.text;
}

static void check_case(const char *stem)
{
    char *yaml = fb_format("%s.yaml", stem);
    char *input = fb_format(FOLDER "%s.yaml", stem);
    char *golden = fb_format(FOLDER "%s.expected", stem);
    size_t size = 0, expected_size = 0;
    char *text = read_file(input, &size);
    char *expected = read_file(golden, &expected_size);
    char *faults = faults_of(yaml, text, size);
    if (strcmp(faults, expected) != 0)
        fail_msg("%s gives\n%s\ninstead of\n%s", yaml, faults, expected);
    free(faults);
    free(expected);
    free(text);
    free(golden);
    free(input);
    free(yaml);
}

static void every_malformed_file_gives_its_golden_faults(void **state)
{
    (void)state;
    DIR *folder = opendir(FOLDER);
    size_t cases = 0;
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char *dot = strrchr(entry->d_name, '.');
        if (dot == NULL || strcmp(dot, ".expected") != 0)
            continue;
        *dot = '\0';
        check_case(entry->d_name);
        cases++;
    }
    closedir(folder);
    assert_true(cases >= CASES_MIN);
}

/* It is the plan's size that is at fault there, and that is found when it is compiled. */
static void a_trillion_objects_are_well_formed(void **state)
{
    (void)state;
    size_t size = 0;
    char *text = read_file(FOLDER "trillion-objects.yaml", &size);
    char *faults = faults_of("trillion-objects.yaml", text, size);
    assert_string_equal(faults, "");
    free(faults);
    free(text);
}

static void a_file_above_a_mebibyte_is_refused(void **state)
{
    (void)state;
    size_t size = FB_TEXT_MAX_BYTES + 1;
    char *text = fb_alloc(size, 1);
    memset(text, '#', size);
    char *faults = faults_of("long.yaml", text, size);
    assert_non_null(strstr(faults, "larger than 1 MiB"));
    assert_non_null(strstr(faults, "[too-large]"));
    free(faults);
    faults = faults_of("long.yaml", text, size - 1);
    assert_non_null(strstr(faults, "[empty]"));
    free(faults);
    free(text);
}

/* libyaml alone needs minutes for these: its scanner is quadratic in depth, its loader in
 * anchors. */
static void what_is_slow_to_parse_is_refused_at_once(void **state)
{
    (void)state;
    size_t size = FB_TEXT_MAX_BYTES;
    char *text = fb_alloc(size, 1);
    (void)alarm(20);
    memset(text, '[', size);
    char *faults = faults_of("deep.yaml", text, size);
    assert_non_null(strstr(faults, "[too-deep]"));
    free(faults);
    size_t used = 1;
    for (size_t i = 0; used < size - 32; i++)
        used += (size_t)snprintf(text + used, 32, "&a%zu x,", i);
    memset(text + used, ' ', size - used);
    text[size - 1] = ']';
    faults = faults_of("anchors.yaml", text, size);
    assert_non_null(strstr(faults, "more than 1,000 anchors"));
    assert_non_null(strstr(faults, "[too-large]"));
    free(faults);
    (void)alarm(0);
    free(text);
}

static void load_badly(const char *path, const char *expected)
{
    struct fb_diagnostics diagnostics;
    struct fb_workload *workload = NULL;
    struct fb_buf buf;
    fb_diagnostics_init(&diagnostics);
    fb_buf_init(&buf, 4096);
    assert_int_equal(fb_workload_load(path, NULL, 0, &workload, &diagnostics), -1);
    assert_null(workload);
    fb_diagnostics_render(&diagnostics, &buf);
    assert_string_equal(buf.text, expected);
    fb_buf_deinit(&buf);
    fb_diagnostics_deinit(&diagnostics);
}

static void what_cannot_be_read_is_said(void **state)
{
    (void)state;
    load_badly("/", "fragbench: /: cannot read it: it is a directory; name a file in it "
                    "[unreadable]\n");
    load_badly("/no/such.yaml",
               "fragbench: /no/such.yaml: cannot read it: there is no such file; \"fragbench list "
               "workloads\" shows those that come with it [unreadable]\n");
    load_badly("/dev/null", "fragbench: /dev/null: the file holds no workload; begin with "
                            "\"fragbench: 1\" [empty]\n");
}

static void an_endless_file_is_refused(void **state)
{
    (void)state;
    load_badly("/dev/zero", "fragbench: /dev/zero: the file is larger than 1 MiB; put long "
                            "patterns into distributions and iterations [too-large]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_malformed_file_gives_its_golden_faults),
        cmocka_unit_test(a_trillion_objects_are_well_formed),
        cmocka_unit_test(a_file_above_a_mebibyte_is_refused),
        cmocka_unit_test(what_is_slow_to_parse_is_refused_at_once),
        cmocka_unit_test(what_cannot_be_read_is_said),
        cmocka_unit_test(an_endless_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
