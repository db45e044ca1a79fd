#include "report/palette.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* WCAG 2: relative luminance, and contrast with white. */
static double contrast_on_white(unsigned colour)
{
    static const double weights[] = {0.0722, 0.7152, 0.2126};
    double luminance = 0;
    for (unsigned i = 0; i < 3; i++) {
        double part = (colour >> (8 * i) & 0xffU) / 255.0;
        luminance +=
            weights[i] * (part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4));
    }
    return 1.05 / (luminance + 0.05);
}

static struct fb_cell named(char *name, char *backend)
{
    struct fb_cell cell = {0};
    cell.allocator.name = name;
    cell.allocator.backend = backend;
    return cell;
}

static void every_colour_stands_out_on_white(void **state)
{
    (void)state;
    for (size_t i = 0; fb_palette[i].name != NULL; i++)
        assert_true(contrast_on_white(fb_palette[i].stroke.colour) >= 3);
    char name[] = "a";
    for (unsigned i = 0; i < 26; i++) { /* libraries that no table knows */
        name[0] = (char)('a' + i);
        struct fb_cell cell = named(name, "");
        struct fb_stroke stroke;
        fb_palette_assign(&cell, 1, &stroke);
        assert_true(contrast_on_white(stroke.colour) >= 3);
    }
}

static void no_two_rows_look_alike(void **state)
{
    (void)state;
    for (size_t i = 0; fb_palette[i].name != NULL; i++)
        for (size_t k = i + 1; fb_palette[k].name != NULL; k++)
            assert_int_not_equal(fb_palette[i].stroke.colour, fb_palette[k].stroke.colour);
}

static void a_known_contender_keeps_its_look_in_any_company(void **state)
{
    (void)state;
    const struct fb_cell alone = named("jemalloc", "jemalloc");
    const struct fb_cell crowd[] = {named("mine", ""),
                                    named("jemalloc:dirty_decay_ms=0", "jemalloc"), alone};
    struct fb_stroke first, others[3];
    fb_palette_assign(&alone, 1, &first);
    fb_palette_assign(crowd, 3, others);
    assert_int_equal(first.colour, 0x0072b2);
    assert_memory_equal(&first, &others[2], sizeof first);
}

static void tunables_keep_the_colour_and_change_the_dash(void **state)
{
    (void)state;
    const struct fb_cell cells[] = {
        named("jemalloc", "jemalloc"), named("jemalloc:dirty_decay_ms=0", "jemalloc"),
        named("jemalloc:dirty_decay_ms=1000", "jemalloc"), named("jemalloc:narenas=1", "jemalloc")};
    struct fb_stroke strokes[4];
    fb_palette_assign(cells, 4, strokes);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(strokes[i].colour, strokes[0].colour);
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(strokes[i].dash, strokes[k].dash, FB_DASH_PARTS);
    }
}

static void a_library_by_path_looks_the_same_everywhere(void **state)
{
    (void)state;
    const struct fb_cell one = named("build-a", ""), two[] = {named("ptmalloc2", "ptmalloc2"), one};
    struct fb_stroke alone, beside[2];
    fb_palette_assign(&one, 1, &alone);
    fb_palette_assign(two, 2, beside);
    assert_memory_equal(&alone, &beside[1], sizeof alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_colour_stands_out_on_white),
        cmocka_unit_test(no_two_rows_look_alike),
        cmocka_unit_test(a_known_contender_keeps_its_look_in_any_company),
        cmocka_unit_test(tunables_keep_the_colour_and_change_the_dash),
        cmocka_unit_test(a_library_by_path_looks_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
