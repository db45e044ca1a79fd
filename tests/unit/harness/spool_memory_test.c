/* What is kept of walks over a recorded process's memory. */
#include "harness/spool_memory.h"

#include "tape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB(n) ((uint64_t)(n) << 20)
#define PAGES(n) ((uint64_t)(n) * (uint64_t)sysconf(_SC_PAGESIZE))

static void ranges_of_the_program_follow_its_calls(void **state)
{
    (void)state;
    struct fb_spool_memory memory = {0};
    fb_spool_memory_map(&memory, PAGES(10), PAGES(3) + 1); /* whole pages */
    assert_int_equal(fb_ranges_overlap(&memory.mapped, 0, UINT64_MAX), PAGES(4));
    assert_true(fb_spool_memory_unmap(&memory, PAGES(11), PAGES(1)));
    assert_false(fb_spool_memory_unmap(&memory, PAGES(11), PAGES(1)));
    assert_int_equal(fb_ranges_overlap(&memory.mapped, 0, UINT64_MAX), PAGES(3));
    fb_spool_memory_stack(&memory, 3, 1);
    fb_spool_memory_stack(&memory, 4, 2);
    fb_spool_memory_exit(&memory, 3);
    fb_spool_memory_exit(&memory, 9);
    assert_int_equal(memory.stack_count, 1);
    assert_int_equal(memory.stacks[0].thread, 4);
    fb_spool_memory_deinit(&memory);
}

static void a_walk_that_does_not_add_up_is_none(void **state)
{
    (void)state;
    assert_true(fb_spool_memory_fits(100 << 20, 100 << 20, 100 << 20));
    assert_true(fb_spool_memory_fits(100 << 20, 60 << 20, 140 << 20)); /* it grew meanwhile */
    assert_true(fb_spool_memory_fits(100 << 20, 140 << 20, 60 << 20));
    assert_true(fb_spool_memory_fits(103 << 20, 100 << 20, 100 << 20));
    assert_false(fb_spool_memory_fits(106 << 20, 100 << 20, 100 << 20));
    assert_false(fb_spool_memory_fits(182 << 20, 109 << 20, 110 << 20));
    assert_false(fb_spool_memory_fits(90 << 20, 100 << 20, 100 << 20));
    assert_true(fb_spool_memory_fits(900 << 10, 100 << 10, 100 << 10)); /* small ones are coarse */
}

struct walk {
    uint64_t whole_mib, mapped_mib;
    bool grew;
};

/* The peak of a recording of these walks. */
static struct fb_recording_memory peak_of(const struct walk *walks, size_t count)
{
    struct fb_spool_memory memory = {0};
    struct tape tape = tape_begin();
    struct fb_recording_memories memories;
    struct fb_recording_event event;
    struct fb_error err = {0};
    for (size_t i = 0; i < count; i++) {
        const struct fb_recording_memory now = {.anonymous_bytes = MIB(walks[i].whole_mib),
                                                .mapped_bytes = MIB(walks[i].mapped_mib)};
        fb_spool_memory_walked(&memory, &now, walks[i].grew, tape.writer);
    }
    fb_spool_memory_end(&memory, tape.writer);
    struct fb_recording *recording = tape_read(&tape);
    assert_int_equal(fb_recording_next(recording, &event, &err), 0);
    fb_recording_memories(recording, &memories);
    fb_recording_close(recording);
    fb_spool_memory_deinit(&memory);
    return memories.peak;
}

static void a_peaks_parts_are_of_a_walk_at_rest(void **state)
{
    (void)state;
    /* the walk's end saw all of it, but it passed the mappings when they had three quarters */
    struct fb_recording_memory peak =
        peak_of((const struct walk[]){{40, 5, false}, {80, 15, true}, {80, 20, false}}, 3);
    assert_int_equal(peak.anonymous_bytes, MIB(80));
    assert_int_equal(peak.mapped_bytes, MIB(20));
    /* so, too, when a little went before it rested, and the whole stays what it was */
    peak = peak_of((const struct walk[]){{800, 15, true}, {800, 17, true}, {799, 20, false}}, 3);
    assert_int_equal(peak.anonymous_bytes, MIB(800));
    assert_int_equal(peak.mapped_bytes, MIB(20));
}

static void a_peak_without_rest_is_kept_as_it_was_seen(void **state)
{
    (void)state;
    struct fb_recording_memory peak =
        peak_of((const struct walk[]){{80, 15, true}, {60, 20, false}}, 2);
    assert_int_equal(peak.anonymous_bytes, MIB(80));
    assert_int_equal(peak.mapped_bytes, MIB(15));
    peak = peak_of((const struct walk[]){{80, 15, true}}, 1);
    assert_int_equal(peak.anonymous_bytes, MIB(80));
    assert_int_equal(peak.mapped_bytes, MIB(15));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_that_does_not_add_up_is_none),
        cmocka_unit_test(ranges_of_the_program_follow_its_calls),
        cmocka_unit_test(a_peaks_parts_are_of_a_walk_at_rest),
        cmocka_unit_test(a_peak_without_rest_is_kept_as_it_was_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
