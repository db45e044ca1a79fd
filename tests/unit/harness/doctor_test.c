/* Facts of the machine and the experiments of `doctor`. */
#include "harness/contender.h"
#include "harness/host.h"
#include "harness/probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void host_facts_are_all_there(void **state)
{
    (void)state;
    struct fb_host host;
    fb_host_read(&host);
    assert_memory_equal(host.kernel, "Linux ", 6);
    assert_memory_equal(host.libc, "glibc 2.", 8);
    assert_true(strlen(host.cpu) > 0);
    assert_true(strlen(host.machine) > 0);
    assert_in_range(host.cpus_allowed, 1, host.cpus_online);
    assert_true(host.memory_bytes > UINT64_C(64) << 20);
    assert_true(host.page_bytes >= 4096);
    assert_true(strlen(host.overcommit) == 1);
    assert_true(strcmp(host.thp, "always") == 0 || strcmp(host.thp, "madvise") == 0 ||
                strcmp(host.thp, "never") == 0);
    fb_host_deinit(&host);
    assert_null(host.kernel);
}

static void statm_is_never_off_by_more_than_its_batches(void **state)
{
    (void)state;
    uint64_t worst = UINT64_MAX;
    bool exact = fb_probe_statm(&worst);
    assert_true(exact == (worst == 0));
    assert_true(worst <= 4096);
}

static const struct fb_doctor_finding *finding_of(const struct fb_doctor_findings *findings,
                                                  const char *topic)
{
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->items[i].topic, topic) == 0)
            return &findings->items[i];
    fail_msg("no finding about %s", topic);
    return NULL;
}

static void doctor_proves_each_installed_allocator(void **state)
{
    (void)state;
    static const char *const all[] = {"all"};
    struct fb_doctor_findings findings;
    struct fb_contenders contenders;
    assert_int_equal(setenv("FRAGBENCH_LIBEXEC", FB_BIN_DIR, 1), 0);
    assert_int_equal(fb_contenders_resolve(all, 1, &contenders, NULL), 0);
    fb_doctor(&findings);
    for (size_t i = 0; i < contenders.count; i++) {
        const struct fb_doctor_finding *finding = finding_of(&findings, contenders.items[i].label);
        if (!contenders.items[i].available)
            assert_int_equal(finding->level, FB_FINDING_NOTE);
        else if (finding->level != FB_FINDING_OK)
            fail_msg("%s: %s", finding->topic, finding->text);
        else
            assert_non_null(strstr(finding->text, " answers, clock read "));
    }
    (void)finding_of(&findings, "statm");
    (void)finding_of(&findings, "layout");
    (void)finding_of(&findings, "swap");
    fb_contenders_deinit(&contenders);
    fb_doctor_findings_deinit(&findings);
}

static void doctor_says_when_the_worker_is_missing(void **state)
{
    (void)state;
    struct fb_doctor_findings findings;
    assert_int_equal(setenv("FRAGBENCH_LIBEXEC", "/nowhere", 1), 0);
    fb_doctor(&findings);
    const struct fb_doctor_finding *finding = finding_of(&findings, "worker");
    assert_int_equal(finding->level, FB_FINDING_PROBLEM);
    fb_doctor_findings_deinit(&findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_facts_are_all_there),
        cmocka_unit_test(statm_is_never_off_by_more_than_its_batches),
        cmocka_unit_test(doctor_proves_each_installed_allocator),
        cmocka_unit_test(doctor_says_when_the_worker_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
