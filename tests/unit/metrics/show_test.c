#include "metrics/show.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void shows(char *text, const char *expected)
{
    assert_string_equal(text, expected);
    free(text);
}

static void values_carry_their_units(void **state)
{
    (void)state;
    shows(fb_metric_show(FB_METRIC_RATIO_PEAK, 1.3149), "1.315");
    shows(fb_metric_show(FB_METRIC_KEPT_BYTES, 419430400), "400 MiB");
    shows(fb_metric_show(FB_METRIC_KEPT_BYTES, -4096), "-4 KiB");
    shows(fb_metric_show(FB_METRIC_NS_PER_OP, 44.04), "44.0 ns");
    shows(fb_metric_show(FB_METRIC_LATENCY_MAX_NS, 2500), "2.5 us");
    shows(fb_metric_show(FB_METRIC_USER_S, 1.5), "1.5 s");
    shows(fb_metric_show(FB_METRIC_MAPPINGS_MAX, 65530), "65,530");
    shows(fb_metric_show(FB_METRIC_WASTE_BYTE_SECONDS, 2147483648.0), "2 GiB·s");
    shows(fb_metric_show(FB_METRIC_KEPT_BYTES, NAN), "n/a");
}

static void exact_values_tell_neighbours_apart(void **state)
{
    (void)state;
    shows(fb_metric_show_exact(FB_METRIC_KEPT_BYTES, 419430401), "419,430,401 B");
    shows(fb_metric_show_exact(FB_METRIC_KEPT_BYTES, -4097), "-4,097 B");
    shows(fb_metric_show_exact(FB_METRIC_RATIO_PEAK, 1.20004), "1.20004");
    shows(fb_metric_show_exact(FB_METRIC_NS_PER_OP, NAN), "n/a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_carry_their_units),
        cmocka_unit_test(exact_values_tell_neighbours_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
