/* /proc readers: parsers on fixed text, readers on this very process. */
#include "harness/probe.h"
#include "harness/proc.h"
#include "harness/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char rollup_text[] = "555555554000-7ffffffff000 ---p 00000000 00:00 0    [rollup]\n"
                                  "Rss:               10240 kB\n"
                                  "Pss:                9000 kB\n"
                                  "Pss_Anon:           8192 kB\n"
                                  "Pss_Shmem:            12 kB\n"
                                  "Anonymous:          8192 kB\n"
                                  "LazyFree:            128 kB\n"
                                  "AnonHugePages:      2048 kB\n"
                                  "Swap:                 64 kB\n"
                                  "SwapPss:              64 kB\n";

static void rollup_fields_are_read_in_bytes(void **state)
{
    (void)state;
    struct fb_rollup rollup;
    assert_int_equal(fb_proc_rollup_parse(rollup_text, &rollup), 0);
    assert_int_equal(rollup.rss_bytes, 10240 * 1024);
    assert_int_equal(rollup.anonymous_bytes, 8192 * 1024);
    assert_int_equal(rollup.lazyfree_bytes, 128 * 1024);
    assert_int_equal(rollup.huge_bytes, 2048 * 1024);
    assert_int_equal(rollup.swap_bytes, 64 * 1024);
    assert_int_equal(rollup.shmem_bytes, 12 * 1024);
}

static void a_missing_rollup_field_is_no_zero(void **state)
{
    (void)state;
    struct fb_rollup rollup = {.rss_bytes = 7};
    assert_int_equal(fb_proc_rollup_parse("Rss: 1 kB\nAnonymous: 1 kB\n", &rollup), -1);
    assert_int_equal(rollup.rss_bytes, 7);
}

static void statm_is_pages(void **state)
{
    (void)state;
    struct fb_statm statm;
    assert_int_equal(fb_proc_statm_parse("9000 500 200 10 0 300 0\n", 4096, &statm), 0);
    assert_int_equal(statm.resident_bytes, 500 * 4096);
    assert_int_equal(statm.shared_bytes, 200 * 4096);
    assert_int_equal(fb_proc_statm_parse("", 4096, &statm), -1);
}

static void fields_match_whole_line_heads_only(void **state)
{
    (void)state;
    uint64_t bytes;
    assert_int_equal(fb_proc_field_parse("SwapPss: 5 kB\nSwap: 7 kB\n", "Swap:", &bytes), 0);
    assert_int_equal(bytes, 7 * 1024);
    assert_int_equal(fb_proc_field_parse("oom_kill 3\n", "oom_kill ", &bytes), 0);
    assert_int_equal(bytes, 3);
    assert_int_equal(fb_proc_field_parse("NotSwap: 7 kB\n", "Swap:", &bytes), -1);
    assert_int_equal(fb_proc_field_parse("Swap: none\n", "Swap:", &bytes), -1);
}

enum { PAGES = 700 };

static void touched_pages_arrive_in_every_reader(void **state)
{
    (void)state;
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page_bytes;
    struct fb_rollup before, after;
    uint64_t held_before, held_after;
    assert_int_equal(fb_proc_rollup(getpid(), &before, NULL), 0);
    assert_int_equal(fb_proc_held(getpid(), &held_before, NULL), 0);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    for (size_t i = 0; i < size; i += page_bytes)
        ((volatile char *)memory)[i] = 1;
    assert_int_equal(fb_proc_rollup(getpid(), &after, NULL), 0);
    assert_int_equal(fb_proc_held(getpid(), &held_after, NULL), 0);
    (void)munmap(memory, size);
    /* Some slack: the readers' own stack and stdio pages. */
    assert_in_range(after.anonymous_bytes - before.anonymous_bytes, size, size + 32 * page_bytes);
    assert_in_range(held_after - held_before, size - 256 * 1024, size + 256 * 1024);
}

static void shared_mappings_are_the_harnesss(void **state)
{
    (void)state;
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    struct fb_maps before, after;
    uint64_t count;
    assert_int_equal(fb_proc_maps(getpid(), &before, NULL), 0);
    char *memory =
        mmap(NULL, 64 * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    for (size_t i = 0; i < 5; i++)
        ((volatile char *)memory)[i * 7 * page_bytes] = 1;
    assert_int_equal(fb_proc_maps(getpid(), &after, NULL), 0);
    assert_int_equal(fb_proc_mappings(getpid(), &count, NULL), 0);
    (void)munmap(memory, 64 * page_bytes);
    assert_int_equal(after.harness_bytes - before.harness_bytes, 5 * page_bytes);
    assert_int_equal(count, after.count);
    assert_true(after.count > before.count || after.count > 10);
}

static void a_process_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct fb_error err = {0};
    struct fb_statm statm;
    assert_int_equal(fb_proc_statm(0x7ffffff0, &statm, &err), -1);
    assert_int_equal(err.kind, FB_ERROR_IO);
    assert_non_null(strstr(err.text, "/proc/2147483632/statm"));
}

static void meminfo_knows_its_keys(void **state)
{
    (void)state;
    uint64_t bytes = 0;
    assert_int_equal(fb_proc_meminfo("MemTotal:", &bytes, NULL), 0);
    assert_true(bytes > 64 * 1024 * 1024);
    assert_int_equal(fb_proc_meminfo("MemNonsense:", &bytes, NULL), -1);
}

static void huge_page_plans_follow_the_system(void **state)
{
    (void)state;
    assert_int_equal(fb_thp_plan_of("advised", "always"), FB_THP_EXCEPT_ADVISED);
    assert_int_equal(fb_thp_plan_of(NULL, "madvise"), FB_THP_LEAVE);
    assert_int_equal(fb_thp_plan_of("always", "always"), FB_THP_LEAVE);
    assert_int_equal(fb_thp_plan_of("never", "madvise"), FB_THP_OFF);
    assert_string_equal(fb_thp_used(FB_THP_EXCEPT_ADVISED, false, "always"), "advised");
    assert_string_equal(fb_thp_used(FB_THP_EXCEPT_ADVISED, true, "always"),
                        "off (no except-advised)");
    assert_string_equal(fb_thp_used(FB_THP_LEAVE, false, "madvise"), "advised");
    assert_string_equal(fb_thp_used(FB_THP_LEAVE, false, "always"), "always");
    assert_string_equal(fb_thp_used(FB_THP_OFF, false, "madvise"), "never");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rollup_fields_are_read_in_bytes),
        cmocka_unit_test(a_missing_rollup_field_is_no_zero),
        cmocka_unit_test(statm_is_pages),
        cmocka_unit_test(fields_match_whole_line_heads_only),
        cmocka_unit_test(touched_pages_arrive_in_every_reader),
        cmocka_unit_test(shared_mappings_are_the_harnesss),
        cmocka_unit_test(a_process_that_is_not_there_is_an_error),
        cmocka_unit_test(meminfo_knows_its_keys),
        cmocka_unit_test(huge_page_plans_follow_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
