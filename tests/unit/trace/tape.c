#include "tape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct tape tape_begin(void)
{
    struct tape tape = {.fd = memfd_create("recording", MFD_CLOEXEC)};
    struct fb_error err = {0};
    assert_true(tape.fd >= 0);
    assert_int_equal(fb_recording_writer_open(&tape.writer, tape.fd, &err), 0);
    return tape;
}

void tape_end(struct tape *tape)
{
    const struct fb_recording_totals totals = {.reason = FB_RECORDING_EXITED};
    struct fb_error err = {0};
    assert_int_equal(fb_recording_writer_close(tape->writer, &totals, &err), 0);
    tape->writer = NULL;
}

struct fb_recording *tape_read(struct tape *tape)
{
    struct fb_recording *recording = NULL;
    struct fb_error err = {0};
    char path[64];
    tape_end(tape);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", tape->fd);
    if (fb_recording_open(&recording, path, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(close(tape->fd), 0);
    return recording;
}
