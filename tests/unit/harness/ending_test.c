/* How a worker ended → status and detail: a table. */
#include "harness/complaint.h"
#include "harness/ending.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_STATUS(code) ((code) << 8)

static const struct {
    struct fb_ending ending;
    enum fb_status status;
    const char *detail; /* NULL: none; else the whole text */
} rows[] = {
    {{.ready = true, .end = FB_WORKER_DONE}, FB_STATUS_OK, NULL},
    {{.ready = true, .end = FB_WORKER_DONE, .refused_calls = 1200, .refused_bytes = 2048},
     FB_STATUS_REFUSED,
     "1,200 allocations of 2 KiB in total were refused: equal work was not done"},
    {{.wait_status = SIGSEGV, .ready = true, .phase_name = "serve", .op_index = 12345},
     FB_STATUS_CRASHED,
     "SIGSEGV in phase serve at op 12,345"},
    {{.wait_status = SIGSEGV}, FB_STATUS_CRASHED, "SIGSEGV before the first op"},
    {{.wait_status = SIGABRT, .ready = true, .phase_name = "a", .text = "one\nfree(): invalid\n"},
     FB_STATUS_CRASHED,
     "SIGABRT in phase a at op 0: free(): invalid"},
    {{.wait_status = SIGABRT, .text = "<jemalloc>: Unsupported system page size\n"},
     FB_STATUS_UNSUPPORTED,
     "the library was built for another page size than this machine's"},
    {{.wait_status = SIGKILL,
      .ready = true,
      .phase_name = "a",
      .oom_known = true,
      .oom_moved = true},
     FB_STATUS_OOM_KILLED,
     "ended by the kernel's OOM killer in phase a at op 0"},
    {{.wait_status = SIGKILL, .ready = true, .phase_name = "a"},
     FB_STATUS_OOM_KILLED,
     "killed by SIGKILL in phase a at op 0, not by fragbench: most likely the kernel's OOM killer"},
    {{.wait_status = SIGKILL, .ready = true, .phase_name = "a", .oom_known = true},
     FB_STATUS_CRASHED,
     "killed from outside by SIGKILL in phase a at op 0; the kernel's OOM killer has not been at "
     "work"},
    {{.ready = true,
      .end = FB_WORKER_CORRUPTED,
      .phase_name = "a",
      .fault_op = 9,
      .fault_text = "stamp"},
     FB_STATUS_CORRUPTED,
     "memory was overwritten in phase a at op 9: stamp"},
    {{.ready = true, .end = FB_WORKER_REFUSED, .phase_name = "a", .fault_text = "no"},
     FB_STATUS_REFUSED,
     "refused where the phase says on_refusal: fail in phase a at op 0: no"},
    {{.ready = true,
      .end = FB_WORKER_OS_ERROR,
      .phase_name = "a",
      .fault_errno = EMFILE,
      .fault_text = "open"},
     FB_STATUS_CRASHED,
     "the system refused in phase a at op 0: open: Too many open files"},
    {{.wait_status = EXIT_STATUS(127),
      .text = "x: symbol lookup error: y.so: undefined symbol: z\n"},
     FB_STATUS_NOT_PRELOADED,
     "x: symbol lookup error: y.so: undefined symbol: z"},
    {{.wait_status = EXIT_STATUS(70), .text = "fragbench-worker: no\n"},
     FB_STATUS_CRASHED,
     "the process ended with exit code 70 before the first op: fragbench-worker: no"},
    /* Exit code 0 alone proves nothing: an allocator may call exit() itself. */
    {{.ready = true, .end = FB_WORKER_RUNNING, .phase_name = "a", .op_index = 3},
     FB_STATUS_CRASHED,
     "the process ended with exit code 0 in phase a at op 3"},
};

static void every_ending_has_its_status_and_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *detail = NULL;
        enum fb_status status = fb_ending_judge(&rows[i].ending, &detail);
        if (status != rows[i].status)
            fail_msg("row %zu: %s, not %s", i, fb_status_name(status),
                     fb_status_name(rows[i].status));
        if (rows[i].detail == NULL)
            assert_null(detail);
        else
            assert_string_equal(detail, rows[i].detail);
        free(detail);
    }
}

static void the_loaders_complaints_are_told_apart(void **state)
{
    (void)state;
    static const char tls[] =
        "ERROR: ld.so: object '/x.so' from LD_PRELOAD cannot be preloaded (cannot allocate memory "
        "in static TLS block): ignored.\n";
    static const char class[] =
        "ERROR: ld.so: object '/x.so' from LD_PRELOAD cannot be preloaded (wrong ELF class: "
        "ELFCLASS32): ignored.\n";
    static const char other[] =
        "ERROR: ld.so: object '/x.so' from LD_PRELOAD cannot be preloaded (failed to map): "
        "ignored.\n";
    assert_non_null(strstr(fb_complaint_of_preload(tls), "static thread-local storage"));
    assert_non_null(strstr(fb_complaint_of_preload(class), "wrong ELF class"));
    assert_non_null(strstr(fb_complaint_of_preload(other), "failed to map"));
    assert_null(fb_complaint_of_preload("all is well\n"));
}

static void refused_settings_are_seen_in_what_was_printed(void **state)
{
    (void)state;
    assert_string_equal(
        fb_complaint_of_tunable("hello\n<jemalloc>: Invalid conf pair: foo:1\nbye\n"),
        "<jemalloc>: Invalid conf pair: foo:1");
    assert_null(fb_complaint_of_tunable("<jemalloc>: something else\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_ending_has_its_status_and_words),
        cmocka_unit_test(the_loaders_complaints_are_told_apart),
        cmocka_unit_test(refused_settings_are_seen_in_what_was_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
