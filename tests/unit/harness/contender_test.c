/* Contenders on this machine: what is installed, what is not, and what a library must be. */
#include "harness/contender.h"
#include "harness/library.h"
#include "harness/tunables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fb_contenders resolve(const char *value)
{
    struct fb_contenders contenders = {0};
    struct fb_error err = {0};
    if (fb_contenders_resolve(&value, 1, &contenders, &err) != 0)
        fail_msg("%s: %s", value, err.text);
    return contenders;
}

static void ptmalloc_needs_no_library(void **state)
{
    (void)state;
    struct fb_contenders contenders = resolve("glibc");
    const struct fb_contender *contender = &contenders.items[0];
    assert_int_equal(contenders.count, 1);
    assert_true(contender->available);
    assert_null(contender->path);
    assert_string_equal(contender->label, "ptmalloc2");
    assert_string_equal(contender->spec, "glibc");
    assert_string_equal(contender->sha256, "");
    assert_true(strncmp(contender->version, "2.", 2) == 0);
    fb_contenders_deinit(&contenders);
}

static void an_installed_library_is_named_hashed_and_versioned(void **state)
{
    (void)state;
    struct fb_contenders contenders = resolve("jemalloc");
    const struct fb_contender *contender = &contenders.items[0];
    if (!contender->available) {
        fb_contenders_deinit(&contenders);
        skip();
    }
    assert_int_equal(contender->path[0], '/');
    assert_int_equal(strlen(contender->sha256), 64);
    assert_true(fb_version_compare(contender->version, "4") > 0);
    assert_null(fb_library_fault(contender->path));
    fb_contenders_deinit(&contenders);
}

static void our_own_libraries_tell_their_version(void **state)
{
    (void)state;
    char *version = fb_library_version(FB_BUDGETED);
    assert_string_equal(version, FRAGBENCH_VERSION);
    free(version);
}

/* A value of the tunable's type. */
static const char *value_for(const struct fb_tunable *tunable)
{
    return tunable->type == FB_TUNABLE_WORD ? "never" : "1";
}

static bool is_in_range(const struct fb_tunable *tunable, const char *version)
{
    return fb_version_compare(version, tunable->since) >= 0 &&
           (tunable->until[0] == '\0' || fb_version_compare(version, tunable->until) <= 0);
}

/* The table against the installed libraries: a key of their version is found in the file. */
static void every_key_of_the_table_is_known_to_its_library(void **state)
{
    (void)state;
    for (size_t i = 0; i < fb_backend_count; i++)
        for (size_t j = 0; j < fb_backends[i].tunable_count; j++) {
            const struct fb_tunable *tunable = &fb_backends[i].tunables[j];
            char value[128];
            (void)snprintf(value, sizeof value, "%s:%s=%s", fb_backends[i].name, tunable->key,
                           value_for(tunable));
            struct fb_contenders contenders = resolve(value);
            const struct fb_contender *contender = &contenders.items[0];
            bool expected = is_in_range(tunable, contender->version) &&
                            strcmp(tunable->key, "sample_parameter") != 0;
            if (contender->available && expected != (contender->rejected == NULL))
                fail_msg("%s: %s", value,
                         contender->rejected != NULL ? contender->rejected : "accepted");
            fb_contenders_deinit(&contenders);
        }
}

static void a_key_that_the_build_lacks_is_rejected(void **state)
{
    (void)state;
    struct fb_contenders contenders = resolve("tcmalloc:sample_parameter=1MiB");
    struct fb_contender *contender = &contenders.items[0];
    if (contender->available && strstr(contender->path, "minimal") != NULL) {
        assert_non_null(contender->rejected);
        assert_non_null(strstr(contender->rejected, "does not know \"sample_parameter\""));
    }
    fb_contenders_deinit(&contenders);
}

static void glibc_tunables_are_read_back_through_the_linker(void **state)
{
    (void)state;
    struct fb_contenders contenders = resolve("ptmalloc2:mmap_threshold=1MiB,arena_max=2");
    const struct fb_contender *contender = &contenders.items[0];
    assert_null(contender->rejected);
    assert_int_equal(contender->effective_count, 2);
    assert_string_equal(contender->effective[0].key, "mmap_threshold");
    assert_string_equal(contender->effective[0].value, "0x100000");
    assert_string_equal(contender->effective[1].value, "0x2");
    fb_contenders_deinit(&contenders);
}

static void a_value_that_glibc_drops_is_rejected(void **state)
{
    (void)state;
    struct fb_contenders contenders = resolve("ptmalloc2:perturb=4000");
    assert_non_null(contenders.items[0].rejected);
    assert_non_null(strstr(contenders.items[0].rejected, "perturb=4000 did not take"));
    fb_contenders_deinit(&contenders);
}

static void expect_fault(const char *path, const char *part)
{
    char value[512];
    (void)snprintf(value, sizeof value, "x=%s", path);
    struct fb_contenders contenders = resolve(value);
    const struct fb_contender *contender = &contenders.items[0];
    assert_false(contender->available);
    if (strstr(contender->unavailable, part) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", contender->unavailable, part);
    fb_contenders_deinit(&contenders);
}

/* A copy of the fixture's first bytes with one of them changed. */
static void write_patched(const char *path, size_t offset, int byte)
{
    unsigned char head[4096];
    FILE *in = fopen(FB_FIXTURES "/libfixture_nothing.so", "rb");
    assert_non_null(in);
    assert_int_equal(fread(head, 1, sizeof head, in), sizeof head);
    (void)fclose(in);
    head[offset] = (unsigned char)byte;
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(head, 1, sizeof head, out), sizeof head);
    assert_int_equal(fclose(out), 0);
}

static void libraries_that_cannot_be_loaded_say_why(void **state)
{
    (void)state;
    static const char patched[] = FB_FIXTURES "/patched.so";
    expect_fault("/no/such/file.so", "/no/such/file.so: no such file");
    expect_fault("/etc/passwd", "not an ELF shared object");
    expect_fault("/tmp", "not a regular file");
    write_patched(patched, 4, 1);
    expect_fault(patched, "wrong ELF class (32-bit)");
    write_patched(patched, 18, 243);
    expect_fault(patched, "built for another machine (ELF machine 243");
    write_patched(patched, 16, 1);
    expect_fault(patched, "no shared object");
    (void)unlink(patched);
}

static void a_library_by_path_is_resolved_and_has_no_backend(void **state)
{
    (void)state;
    struct fb_contenders contenders =
        resolve("mine=" FB_FIXTURES "/../harness/libfixture_nothing.so");
    const struct fb_contender *contender = &contenders.items[0];
    assert_true(contender->available);
    assert_null(contender->backend);
    assert_string_equal(contender->label, "mine");
    assert_null(strstr(contender->path, ".."));
    assert_string_equal(contender->version, "");
    assert_int_equal(strlen(contender->sha256), 64);
    fb_contenders_deinit(&contenders);
}

static void the_allocator_path_comes_first(void **state)
{
    (void)state;
    static const char copy[] = FB_FIXTURES "/own/libjemalloc.so.2";
    assert_int_equal(system("mkdir -p " FB_FIXTURES "/own && cp " FB_FIXTURES
                            "/libfixture_nothing.so " FB_FIXTURES "/own/libjemalloc.so.2"),
                     0);
    assert_int_equal(setenv("FRAGBENCH_ALLOCATOR_PATH", "/nowhere:" FB_FIXTURES "/own", 1), 0);
    char *path = fb_backend_locate(fb_backend_find("jemalloc"));
    (void)unsetenv("FRAGBENCH_ALLOCATOR_PATH");
    assert_non_null(path);
    char *resolved = realpath(copy, NULL);
    assert_string_equal(path, resolved);
    free(resolved);
    free(path);
    (void)unlink(copy);
}

static void without_names_the_defaults_are_looked_up(void **state)
{
    (void)state;
    struct fb_contenders contenders;
    struct fb_error err = {0};
    assert_int_equal(fb_contenders_resolve(NULL, 0, &contenders, &err), 0);
    assert_int_equal(contenders.count, 4);
    for (size_t i = 0; i < contenders.count; i++)
        assert_true(contenders.items[i].available || contenders.items[i].unavailable != NULL);
    fb_contenders_deinit(&contenders);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ptmalloc_needs_no_library),
        cmocka_unit_test(an_installed_library_is_named_hashed_and_versioned),
        cmocka_unit_test(our_own_libraries_tell_their_version),
        cmocka_unit_test(every_key_of_the_table_is_known_to_its_library),
        cmocka_unit_test(a_key_that_the_build_lacks_is_rejected),
        cmocka_unit_test(glibc_tunables_are_read_back_through_the_linker),
        cmocka_unit_test(a_value_that_glibc_drops_is_rejected),
        cmocka_unit_test(libraries_that_cannot_be_loaded_say_why),
        cmocka_unit_test(a_library_by_path_is_resolved_and_has_no_backend),
        cmocka_unit_test(the_allocator_path_comes_first),
        cmocka_unit_test(without_names_the_defaults_are_looked_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
