#include "report/grid.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct fb_grid_column columns[] = {
    {"name", "", "name", true, 0},
    {"size", "MiB", "size", false, 1},
    {"empty", "", "empty", false, 0},
    {"note", "", "note", true, 2},
};

/* Two rows of numbers and one spanned. */
static void init(struct fb_grid *grid)
{
    fb_grid_init(grid, columns, 4, 3);
    fb_grid_set(grid, 0, 0, fb_strdup("a"));
    fb_grid_set(grid, 0, 1, fb_strdup("5.0"));
    fb_grid_set(grid, 0, 3, fb_strdup("x"));
    fb_grid_set(grid, 1, 0, fb_strdup("größer"));
    fb_grid_set(grid, 1, 1, fb_strdup("1234.5"));
    fb_grid_set(grid, 2, 0, fb_strdup("c"));
    fb_grid_span(grid, 2, fb_strdup("crashed: SIGSEGV in phase serve"), FB_GRID_BAD);
}

static void renders(unsigned width, bool color, const char *expected)
{
    struct fb_grid grid;
    struct fb_buf out;
    init(&grid);
    fb_buf_init(&out, 10000);
    fb_grid_render(&grid, width, color, &out);
    assert_string_equal(out.text, expected);
    fb_buf_deinit(&out);
    fb_grid_deinit(&grid);
}

static void columns_line_up_and_empty_ones_vanish(void **state)
{
    (void)state;
    renders(0, false,
            "name      size  note\n"
            "           MiB\n"
            "a          5.0  x\n"
            "größer  1234.5\n"
            "c       crashed: SIGSEGV in phase serve\n");
}

static void narrow_terminal_drops_and_names_columns(void **state)
{
    (void)state;
    renders(19, false,
            "name      size\n"
            "           MiB\n"
            "a          5.0\n"
            "größer  1234.5\n"
            "c       crashed: S…\n"
            "Not shown in 19 columns: note.\n");
    renders(9, false,
            "name\n\n"
            "a\n"
            "größer\n"
            "c       crashed: SIGSEGV in phase serve\n"
            "Not shown in 9 columns: size, note.\n");
}

static void color_wraps_texts_and_nothing_else(void **state)
{
    (void)state;
    renders(14, true,
            "\033[1mname\033[0m      \033[1msize\033[0m\n"
            "           \033[1mMiB\033[0m\n"
            "a          5.0\n"
            "größer  1234.5\n"
            "c       \033[31mcrash\033[0m…\n"
            "Not shown in 14 columns: note.\n");
}

static void terminal_escapes_are_defused(void **state)
{
    (void)state;
    struct fb_grid grid;
    struct fb_buf out;
    fb_grid_init(&grid, columns, 1, 1);
    fb_grid_set(&grid, 0, 0, fb_strdup("a\033[2Jb\nc"));
    fb_buf_init(&out, 10000);
    fb_grid_render(&grid, 0, false, &out);
    assert_string_equal(out.text, "name\n\na [2Jb c\n");
    fb_buf_deinit(&out);
    fb_grid_deinit(&grid);
}

static void markdown_escapes_pipes_and_markup(void **state)
{
    (void)state;
    struct fb_grid grid;
    struct fb_buf out;
    init(&grid);
    fb_grid_set(&grid, 0, 0, fb_strdup("a|<b>`c`"));
    fb_buf_init(&out, 10000);
    fb_grid_markdown(&grid, &out);
    assert_string_equal(out.text, "| name | size, MiB | note |\n"
                                  "| :-- | --: | :-- |\n"
                                  "| a\\|\\<b\\>\\`c\\` | 5.0 | x |\n"
                                  "| größer | 1234.5 |  |\n"
                                  "| c | crashed: SIGSEGV in phase serve |  |\n");
    fb_buf_deinit(&out);
    fb_grid_deinit(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_line_up_and_empty_ones_vanish),
        cmocka_unit_test(narrow_terminal_drops_and_names_columns),
        cmocka_unit_test(color_wraps_texts_and_nothing_else),
        cmocka_unit_test(terminal_escapes_are_defused),
        cmocka_unit_test(markdown_escapes_pipes_and_markup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
