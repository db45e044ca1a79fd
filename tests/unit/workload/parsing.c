#include "parsing.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *rendered(const struct fb_diagnostics *diagnostics)
{
    struct fb_buf buf;
    fb_buf_init(&buf, (size_t)1 << 20);
    fb_diagnostics_render(diagnostics, &buf);
    assert_false(buf.overflow);
    return buf.text; /* taken */
}

struct fb_workload *parse_well(const char *text, const struct fb_override *overrides,
                               size_t override_count)
{
    struct fb_diagnostics diagnostics;
    struct fb_workload *workload = NULL;
    fb_diagnostics_init(&diagnostics);
    if (fb_workload_parse("test.yaml", text, strlen(text), overrides, override_count, &workload,
                          &diagnostics) != 0)
        fail_msg("%s", rendered(&diagnostics));
    assert_int_equal(diagnostics.count, 0);
    fb_diagnostics_deinit(&diagnostics);
    return workload;
}

char *parse_badly(const char *text, const struct fb_override *overrides, size_t override_count)
{
    struct fb_diagnostics diagnostics;
    struct fb_workload *workload = NULL;
    fb_diagnostics_init(&diagnostics);
    assert_int_equal(fb_workload_parse("test.yaml", text, strlen(text), overrides, override_count,
                                       &workload, &diagnostics),
                     -1);
    assert_null(workload);
    assert_true(diagnostics.count > 0);
    char *faults = rendered(&diagnostics);
    fb_diagnostics_deinit(&diagnostics);
    return faults;
}

char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("no %s", path);
    size_t room = (size_t)1 << 21;
    char *text = fb_alloc(room + 1, 1);
    *size = fread(text, 1, room, file);
    assert_int_equal(fclose(file), 0);
    assert_true(*size < room);
    return text;
}
