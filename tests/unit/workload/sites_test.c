/* What call sites held at a recording's peak, to the byte. */
#include "workload/sites.h"

#include "tape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t birth(struct fb_recording_writer *writer, uint32_t site, uint64_t size)
{
    fb_recording_writer_site(writer, site);
    return fb_recording_writer_birth(writer, FB_RECORDING_MALLOC, size, 0);
}

/* The peak, 7500 bytes, is at 3 ms; what comes after it is 5100 at most. */
static void write_events(struct fb_recording_writer *writer)
{
    fb_recording_writer_at(writer, 0, 1000000);
    uint64_t gone = birth(writer, 1, 6000);
    (void)birth(writer, 2, 100);
    fb_recording_writer_free(writer, gone);
    fb_recording_writer_at(writer, 0, 2000000);
    uint64_t grown = birth(writer, 3, 1000);
    (void)birth(writer, 0, 400);
    fb_recording_writer_at(writer, 1, 3000000);
    fb_recording_writer_realloc(writer, grown, 5000);
    uint64_t passing = birth(writer, 2, 2000);
    fb_recording_writer_exit(writer);
    fb_recording_writer_at(writer, 0, 4000000);
    fb_recording_writer_realloc(writer, grown, 2000);
    fb_recording_writer_free(writer, passing);
    fb_recording_writer_share(writer, grown, 3);
    fb_recording_writer_free(writer, grown);
    (void)birth(writer, 4, 4600);
}

static struct fb_recording *recorded(const char *const *frames, uint32_t count)
{
    struct tape tape = tape_begin();
    write_events(tape.writer);
    if (count > 0)
        fb_recording_writer_sites(tape.writer, frames, count);
    return tape_read(&tape);
}

static void sites_are_ordered_by_what_they_held_at_the_peak(void **state)
{
    (void)state;
    static const char *const frames[] = {"a", "b", "c", "d", "never"};
    static const struct fb_site_use expected[] = {
        {.site = 3, .live_bytes = 5000, .live_blocks = 1, .births = 1, .allocated_bytes = 5000},
        {.site = 2, .live_bytes = 2100, .live_blocks = 2, .births = 2, .allocated_bytes = 2100},
        {.site = 0, .live_bytes = 400, .live_blocks = 1, .births = 1, .allocated_bytes = 400},
        {.site = 1, .births = 1, .allocated_bytes = 6000},
        {.site = 4, .births = 1, .allocated_bytes = 4600},
    };
    struct fb_recording *recording = recorded(frames, 5);
    struct fb_site_uses uses;
    struct fb_error err = {0};
    struct fb_recording_event event;
    assert_int_equal(fb_recording_next(recording, &event, &err), 1); /* it may stand anywhere */
    assert_int_equal(fb_site_uses(recording, &uses, &err), 0);
    assert_int_equal(uses.peak_bytes, 7500);
    assert_int_equal(uses.peak_ns, 3000000);
    assert_int_equal(uses.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(uses.items[i].site, expected[i].site);
        assert_int_equal(uses.items[i].live_bytes, expected[i].live_bytes);
        assert_int_equal(uses.items[i].live_blocks, expected[i].live_blocks);
        assert_int_equal(uses.items[i].births, expected[i].births);
        assert_int_equal(uses.items[i].allocated_bytes, expected[i].allocated_bytes);
    }
    fb_site_uses_deinit(&uses);
    fb_recording_close(recording);
}

static void without_sites_there_are_none(void **state)
{
    (void)state;
    struct fb_recording *recording = recorded(NULL, 0);
    struct fb_site_uses uses;
    struct fb_error err = {0};
    assert_int_equal(fb_site_uses(recording, &uses, &err), 0);
    assert_int_equal(uses.count, 0);
    assert_null(uses.items);
    fb_recording_close(recording);
}

static void the_function_is_the_program_s(void **state)
{
    (void)state;
    static const struct {
        const char *frames, *function;
    } cases[] = {
        {"", ""},
        {"parse, request.c:120\nmain, request.c:7", "parse"},
        {"libservice.so+0x4af0", "libservice.so+0x4af0"},
        {"operator new, libstdc++.so.6\nload, a.cc:3", "load"},
        {"std::vector<int, std::allocator<int> >::reserve, stl_vector.h:1\n__gnu_cxx::f, b.h:2\n"
         "Model::load, model.cc:71\nmain, m.cc:1",
         "Model::load"},
        {"std::call, a.h:1", "std::call"},
        {"operator new, libstdc++.so.6\nstd::call, a.h:1", "operator new"},
        {"map<int, long>::insert, map.h:10", "map<int, long>::insert"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char function[64];
        fb_site_function(cases[i].frames, function, sizeof function);
        assert_string_equal(function, cases[i].function);
    }
    char cut[5];
    fb_site_function("parse, request.c:120", cut, sizeof cut);
    assert_string_equal(cut, "pars");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sites_are_ordered_by_what_they_held_at_the_peak),
        cmocka_unit_test(without_sites_there_are_none),
        cmocka_unit_test(the_function_is_the_program_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
