/* From how a program ended to a status: one row a case. */
#include "harness/exec/fate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define EXITED(code) ((code) << 8)
#define KILLED(number) (number)

static const struct row {
    const char *name;
    struct fb_fate fate;
    enum fb_status status;
    const char *parts[3];
} rows[] = {
    {"a clean end", {.name = "p", .stage = FB_FATE_WORKING, .ended = true}, FB_STATUS_OK, {NULL}},
    {"an exit code",
     {.name = "p",
      .stage = FB_FATE_WORKING,
      .ended = true,
      .wait_status = EXITED(3),
      .text = "a\nb\nc\nd\n"},
     FB_STATUS_CRASHED,
     {"exit code 3", "at work", "b|c|d"}},
    {"a signal",
     {.name = "p", .stage = FB_FATE_WORKING, .ended = true, .wait_status = KILLED(SIGSEGV)},
     FB_STATUS_CRASHED,
     {"SIGSEGV", "at work"}},
    {"exit 0 before it was ready",
     {.name = "p", .stage = FB_FATE_STARTING, .ended = true, .waits_for_ready = true},
     FB_STATUS_CRASHED,
     {"before it was ready", "exit code 0"}},
    {"SIGTERM as asked",
     {.name = "p", .stage = FB_FATE_STOPPING, .ended = true, .wait_status = KILLED(SIGTERM)},
     FB_STATUS_OK,
     {NULL}},
    {"a code of its choice as asked",
     {.name = "p", .stage = FB_FATE_STOPPING, .ended = true, .wait_status = EXITED(143)},
     FB_STATUS_OK,
     {NULL}},
    {"a crash when asked to end",
     {.name = "p", .stage = FB_FATE_STOPPING, .ended = true, .wait_status = KILLED(SIGABRT)},
     FB_STATUS_CRASHED,
     {"SIGABRT", "when asked to end"}},
    {"SIGTERM from elsewhere",
     {.name = "p", .stage = FB_FATE_WORKING, .ended = true, .wait_status = KILLED(SIGTERM)},
     FB_STATUS_CRASHED,
     {"SIGTERM"}},
    {"killed by us after the grace",
     {.name = "p", .stage = FB_FATE_STOPPING, .ended = false, .wait_status = KILLED(SIGKILL)},
     FB_STATUS_OK,
     {NULL}},
    {"the kernel's OOM killer",
     {.name = "p",
      .stage = FB_FATE_WORKING,
      .ended = true,
      .wait_status = KILLED(SIGKILL),
      .oom_known = true,
      .oom_moved = true},
     FB_STATUS_OOM_KILLED,
     {"OOM"}},
    {"somebody's kill -9",
     {.name = "p",
      .stage = FB_FATE_WORKING,
      .ended = true,
      .wait_status = KILLED(SIGKILL),
      .oom_known = true},
     FB_STATUS_CRASHED,
     {"from outside"}},
    {"the driver's failure",
     {.name = "p",
      .stage = FB_FATE_STOPPING,
      .ended = true,
      .driver_ended = true,
      .driver_status = EXITED(4),
      .driver_text = "no server\n"},
     FB_STATUS_CRASHED,
     {"the driver", "exit code 4", "no server"}},
    {"another allocator",
     {.name = "p", .stage = FB_FATE_WORKING, .ended = true, .not_asked = "in p libc answers"},
     FB_STATUS_NOT_PRELOADED,
     {"libc answers"}},
    {"ld.so could not take the library",
     {.name = "p",
      .stage = FB_FATE_WORKING,
      .ended = true,
      .library = "/l/a.so",
      .head = "ERROR: ld.so: object '/l/a.so' from LD_PRELOAD cannot be preloaded (cannot open): "
              "ignored.\n"},
     FB_STATUS_NOT_PRELOADED,
     {"cannot be preloaded"}},
    {"ld.so complains in a helper, the program was seen on it",
     {.name = "p",
      .stage = FB_FATE_WORKING,
      .ended = true,
      .library = "/l/a.so",
      .proven = true,
      .head = "ERROR: ld.so: object '/l/a.so' from LD_PRELOAD cannot be preloaded: ignored.\n"},
     FB_STATUS_OK,
     {NULL}},
    {"a library of the program's own is missing",
     {.name = "p",
      .stage = FB_FATE_WORKING,
      .ended = true,
      .wait_status = EXITED(127),
      .library = "/l/a.so",
      .head = "p: error while loading shared libraries: libown.so\n",
      .text = "p: error while loading shared libraries: libown.so\n"},
     FB_STATUS_CRASHED,
     {"exit code 127", "libown.so"}},
    {"jemalloc refuses a tunable",
     {.name = "p",
      .stage = FB_FATE_WORKING,
      .ended = true,
      .tunables = true,
      .head = "<jemalloc>: Invalid conf pair: dirty_decay:0\n"},
     FB_STATUS_BAD_TUNABLE,
     {"Invalid conf"}},
};

static void every_ending_has_its_status_and_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *detail = NULL;
        enum fb_status status = fb_fate_judge(&rows[i].fate, &detail);
        if (status != rows[i].status)
            fail_msg("%s: status %s", rows[i].name, fb_status_name(status));
        assert_true((detail == NULL) == (status == FB_STATUS_OK));
        for (size_t j = 0; j < 3 && rows[i].parts[j] != NULL; j++)
            if (detail == NULL || strstr(detail, rows[i].parts[j]) == NULL)
                fail_msg("%s: \"%s\" lacks \"%s\"", rows[i].name, detail, rows[i].parts[j]);
        free(detail);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_ending_has_its_status_and_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
