/* Tunables to environment: exact strings; what is refused; the worker's whole environment. */
#include "harness/environment.h"
#include "harness/library.h"
#include "harness/tunables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* A contender of the backend at a version, without a file (so nothing is looked up in one). */
static struct fb_contender contender_of(const char *backend, char *version,
                                        struct fb_setting *settings, size_t count)
{
    return (struct fb_contender){.backend = fb_backend_find(backend),
                                 .version = version,
                                 .tunables = settings,
                                 .tunable_count = count};
}

static void drop(struct fb_contender *contender)
{
    for (size_t i = 0; i < contender->env_count; i++) {
        free(contender->env[i].key);
        free(contender->env[i].value);
    }
    free(contender->env);
    free(contender->rejected);
}

static void settings_become_each_allocators_own_variables(void **state)
{
    (void)state;
    static char any[] = "5.3.0-1", mi[] = "2.0.9+ds-2", glibc[] = "2.36-9";
    struct fb_setting jemalloc[] = {{"dirty_decay_ms", "-1"}, {"tcache", "no"}, {"thp", "never"}};
    struct fb_setting tcmalloc[] = {{"release_rate", "2.5"},
                                    {"max_total_thread_cache_bytes", "1MiB"}};
    struct fb_setting mimalloc[] = {{"decommit_delay", "0"}, {"allow_decommit", "true"}};
    struct fb_setting ptmalloc[] = {{"mmap_threshold", "128KiB"}, {"arena_max", "1"}};
    struct fb_setting scudo[] = {{"release_to_os_interval_ms", "0"}, {"may_return_null", "1"}};
    const struct {
        const char *backend;
        char *version;
        struct fb_setting *settings;
        const char *key, *value;
    } rows[] = {
        {"jemalloc", any, jemalloc, "MALLOC_CONF", "dirty_decay_ms:-1,tcache:false"},
        {"jemalloc", any, jemalloc + 1, "MALLOC_CONF", "tcache:false,thp:never"},
        {"tcmalloc", any, tcmalloc, "TCMALLOC_RELEASE_RATE", "2.5"},
        {"mimalloc", mi, mimalloc, "MIMALLOC_DECOMMIT_DELAY", "0"},
        {"ptmalloc2", glibc, ptmalloc, "GLIBC_TUNABLES",
         "glibc.malloc.mmap_threshold=131072:glibc.malloc.arena_max=1"},
        {"scudo", any, scudo, "SCUDO_OPTIONS", "release_to_os_interval_ms=0:may_return_null=true"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fb_contender contender =
            contender_of(rows[i].backend, rows[i].version, rows[i].settings, 2);
        fb_tunables_prepare(&contender);
        if (contender.rejected != NULL)
            fail_msg("%s: %s", rows[i].backend, contender.rejected);
        assert_string_equal(contender.env[0].key, rows[i].key);
        assert_string_equal(contender.env[0].value, rows[i].value);
        drop(&contender);
    }
}

static void each_variable_style_makes_one_variable_a_key(void **state)
{
    (void)state;
    static char version[] = "2.10-1";
    struct fb_setting settings[] = {{"release_rate", "2.5"},
                                    {"max_total_thread_cache_bytes", "1MiB"},
                                    {"aggressive_decommit", "on"}};
    struct fb_contender contender = contender_of("tcmalloc", version, settings, 3);
    fb_tunables_prepare(&contender);
    assert_int_equal(contender.env_count, 3);
    assert_string_equal(contender.env[1].key, "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES");
    assert_string_equal(contender.env[1].value, "1048576");
    assert_string_equal(contender.env[2].value, "1");
    drop(&contender);
}

static void known_faults_are_rejected_with_a_reason(void **state)
{
    (void)state;
    static char je[] = "5.3.0-1", old_je[] = "5.1.0", mi[] = "2.0.9+ds-2", new_mi[] = "2.1.7";
    const struct {
        const char *backend;
        char *version;
        struct fb_setting setting;
        const char *part;
    } rows[] = {
        {"jemalloc", je, {"dirty_decay", "0"}, "did you mean \"dirty_decay_ms\"?"},
        {"jemalloc", je, {"sausage", "0"}, "fragbench list allocators jemalloc"},
        {"jemalloc", je, {"narenas", "many"}, "\"many\" is no whole number"},
        {"jemalloc", je, {"tcache", "maybe"}, "neither true nor false"},
        {"jemalloc", je, {"oversize_threshold", "8 parsecs"}, "parsecs"},
        {"jemalloc", je, {"thp", "never:narenas"}, "holds a separator"},
        {"jemalloc", old_je, {"tcache_max", "1KiB"}, "it came with 5.3"},
        {"mimalloc", mi, {"purge_delay", "0"}, "it came with 2.1.0"},
        {"mimalloc", new_mi, {"reset_delay", "0"}, "was the last"},
        {"tcmalloc", je, {"release_rate", "fast"}, "is no number"},
        {"ptmalloc2", je, {"arena_max", "0x"}, "is no whole number"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fb_setting setting = rows[i].setting;
        struct fb_contender contender = contender_of(rows[i].backend, rows[i].version, &setting, 1);
        fb_tunables_prepare(&contender);
        if (contender.rejected == NULL || strstr(contender.rejected, rows[i].part) == NULL)
            fail_msg("%s %s: %s", setting.key, setting.value,
                     contender.rejected != NULL ? contender.rejected : "accepted");
        assert_int_equal(contender.env_count, 0);
        drop(&contender);
    }
}

static void a_library_number_is_no_release_to_compare(void **state)
{
    (void)state;
    static char version[] = "so-2.0";
    struct fb_setting setting = {"purge_delay", "0"};
    struct fb_contender contender = contender_of("mimalloc", version, &setting, 1);
    fb_tunables_prepare(&contender);
    assert_null(contender.rejected);
    drop(&contender);
}

static void a_background_thread_needs_the_real_clock(void **state)
{
    (void)state;
    static char version[] = "5.3.0-1";
    struct fb_setting on = {"background_thread", "true"}, off = {"background_thread", "false"};
    struct fb_contender contender = contender_of("jemalloc", version, &on, 1);
    fb_tunables_prepare(&contender);
    assert_true(contender.needs_real_clock);
    drop(&contender);
    contender = contender_of("jemalloc", version, &off, 1);
    fb_tunables_prepare(&contender);
    assert_false(contender.needs_real_clock);
    drop(&contender);
}

static void values_agree_whatever_their_notation(void **state)
{
    (void)state;
    const struct fb_tunable number = {.type = FB_TUNABLE_NUMBER};
    const struct fb_tunable flag = {.type = FB_TUNABLE_BOOL};
    const struct fb_tunable word = {.type = FB_TUNABLE_WORD};
    const struct fb_tunable real = {.type = FB_TUNABLE_REAL};
    assert_true(fb_tunable_agrees(&number, "1024", "0x400"));
    assert_false(fb_tunable_agrees(&number, "1024", "0x401"));
    assert_true(fb_tunable_agrees(&flag, "1", "true"));
    assert_true(fb_tunable_agrees(&flag, "false", "0"));
    assert_false(fb_tunable_agrees(&flag, "1", "false"));
    assert_false(fb_tunable_agrees(&word, "always", "auto"));
    assert_true(fb_tunable_agrees(&real, "2.50", "2.5"));
    assert_false(fb_tunable_agrees(&real, "2.5", "2.6"));
}

static void versions_compare_by_their_numbers(void **state)
{
    (void)state;
    assert_int_equal(fb_version_compare("2.0.9+ds-2", "2.0.9"), 0);
    assert_int_equal(fb_version_compare("2.0.9", "2.0.10"), -1);
    assert_int_equal(fb_version_compare("2.36-9+deb12u13", "2.35"), 1);
    assert_int_equal(fb_version_compare("1:14.0.6-12", "14"), 1);
    assert_int_equal(fb_version_compare("5.3", "5.3.0"), 0);
}

static size_t bytes_of(char **environment)
{
    size_t bytes = 0;
    for (size_t i = 0; environment[i] != NULL; i++)
        bytes += strlen(environment[i]) + 1;
    return bytes;
}

static void the_environment_is_built_from_nothing(void **state)
{
    (void)state;
    static char path[] = "/opt/liba.so", key[] = "MALLOC_CONF", value[] = "narenas:1";
    struct fb_setting env = {key, value};
    struct fb_contender contender = {.path = path, .env = &env, .env_count = 1};
    assert_int_equal(setenv("MALLOC_ARENA_MAX", "1", 1), 0);
    char **environment = fb_environment_new(&contender, "/lib/clock.so");
    assert_string_equal(environment[0], "LD_PRELOAD=/lib/clock.so:/opt/liba.so");
    assert_string_equal(environment[1], "LC_ALL=C");
    assert_string_equal(environment[2], "PATH=/usr/local/bin:/usr/bin:/bin");
    assert_string_equal(environment[3], "MALLOC_CONF=narenas:1");
    assert_memory_equal(environment[4], "LD_LIBRARY_PATH=/", 17);
    assert_memory_equal(environment[5], "FRAGBENCH_PAD=xxx", 17);
    assert_null(environment[6]);
    assert_int_equal(bytes_of(environment), FB_ENVIRONMENT_BYTES);
    fb_environment_free(environment);
}

/* So that ld.so maps no cache, whose length would move every address; but a library that brings its
 * own folders keeps them. */
static void libraries_are_found_without_a_cache_but_for_a_runpath(void **state)
{
    (void)state;
    static char with[] = FB_FIXTURES "/libfixture_runpath.so";
    static char without[] = FB_FIXTURES "/libfixture_nothing.so";
    assert_true(fb_library_has_runpath(with));
    assert_false(fb_library_has_runpath(without));
    assert_false(fb_library_has_runpath("/nowhere.so"));
    assert_false(fb_library_has_runpath("/etc/hostname"));
    struct fb_contender contender = {.path = with};
    char **environment = fb_environment_new(&contender, "/c.so");
    assert_memory_equal(environment[3], "FRAGBENCH_PAD=", 14);
    fb_environment_free(environment);
    contender.path = without;
    environment = fb_environment_new(&contender, "/c.so");
    char *folder = fb_library_libc_folder();
    assert_non_null(folder);
    assert_memory_equal(environment[3] + strlen("LD_LIBRARY_PATH="), folder, strlen(folder));
    free(folder);
    fb_environment_free(environment);
}

static void every_environment_has_the_same_size(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 2, 3, 100, 2000, 3900, 4090};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        char path[4200] = {0};
        memset(path, 'p', lengths[i]);
        struct fb_contender contender = {.path = i > 0 ? path : NULL};
        char **environment = fb_environment_new(&contender, "/c.so");
        assert_int_equal(bytes_of(environment), (lengths[i] < 4000 ? 1 : 2) * FB_ENVIRONMENT_BYTES);
        fb_environment_free(environment);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_become_each_allocators_own_variables),
        cmocka_unit_test(each_variable_style_makes_one_variable_a_key),
        cmocka_unit_test(known_faults_are_rejected_with_a_reason),
        cmocka_unit_test(a_library_number_is_no_release_to_compare),
        cmocka_unit_test(a_background_thread_needs_the_real_clock),
        cmocka_unit_test(values_agree_whatever_their_notation),
        cmocka_unit_test(versions_compare_by_their_numbers),
        cmocka_unit_test(the_environment_is_built_from_nothing),
        cmocka_unit_test(libraries_are_found_without_a_cache_but_for_a_runpath),
        cmocka_unit_test(every_environment_has_the_same_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
