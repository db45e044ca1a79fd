#include "base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define KIB UINT64_C(1024)
#define SECOND UINT64_C(1000000000)
#define WHOLE (UINT64_C(1) << 32)

struct good {
    enum fb_unit_kind kind;
    const char *text;
    uint64_t value;
};

static const struct good good[] = {
    {FB_UNIT_COUNT, "0", 0},
    {FB_UNIT_COUNT, "2.0", 2},
    {FB_UNIT_COUNT, "18446744073709551615", UINT64_MAX},
    {FB_UNIT_BYTES, "64", 64},
    {FB_UNIT_BYTES, "64B", 64},
    {FB_UNIT_BYTES, "1.5GiB", 3 * KIB *KIB *KIB / 2},
    {FB_UNIT_BYTES, "16 KiB", 16 * KIB},
    {FB_UNIT_BYTES, "0.1GB", 100000000},
    {FB_UNIT_BYTES, "1kB", 1000},
    {FB_UNIT_BYTES, "1KB", 1000},
    {FB_UNIT_BYTES, "1.50000000000000000000000000000KiB", 1536},
    {FB_UNIT_BYTES, "15EiB", UINT64_C(15) << 60},
    {FB_UNIT_TIME, "0", 0},
    {FB_UNIT_TIME, "600ms", 600000000},
    {FB_UNIT_TIME, "1.5us", 1500},
    {FB_UNIT_TIME, "2min", 120 * SECOND},
    {FB_UNIT_TIME, "2m", 120 * SECOND},
    {FB_UNIT_TIME, "0.5h", 1800 * SECOND},
    {FB_UNIT_SHARE, "0", 0},
    {FB_UNIT_SHARE, "50%", WHOLE / 2},
    {FB_UNIT_SHARE, "0.25", WHOLE / 4},
    {FB_UNIT_SHARE, "1", WHOLE},
    {FB_UNIT_SHARE, "100%", WHOLE},
};

static void numbers_with_units_become_base_units(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct fb_error err = {0};
        uint64_t value = 12345;
        if (fb_units_parse(good[i].kind, good[i].text, &value, &err) != 0)
            fail_msg("%s: %s", good[i].text, err.text);
        if (value != good[i].value)
            fail_msg("%s gave %llu", good[i].text, (unsigned long long)value);
    }
}

struct bad {
    enum fb_unit_kind kind;
    enum fb_units_fault fault;
    const char *text;
};

static const struct bad bad[] = {
    {FB_UNIT_COUNT, FB_UNITS_BAD_NUMBER, ""},
    {FB_UNIT_COUNT, FB_UNITS_BAD_NUMBER, "x"},
    {FB_UNIT_COUNT, FB_UNITS_NOT_WHOLE, "1.5"},
    {FB_UNIT_COUNT, FB_UNITS_WRONG_UNIT, "12ms"},
    {FB_UNIT_COUNT, FB_UNITS_BAD_NUMBER, "1.2.3"},
    {FB_UNIT_COUNT, FB_UNITS_BAD_NUMBER, "1e6"},
    {FB_UNIT_COUNT, FB_UNITS_NEGATIVE, "-3"},
    {FB_UNIT_COUNT, FB_UNITS_BAD_NUMBER, "18446744073709551616"},
    {FB_UNIT_BYTES, FB_UNITS_WRONG_UNIT, "16ms"},
    {FB_UNIT_BYTES, FB_UNITS_WRONG_UNIT, "16kib"},
    {FB_UNIT_BYTES, FB_UNITS_NOT_WHOLE, "0.3B"},
    {FB_UNIT_BYTES, FB_UNITS_NOT_WHOLE, "0.1KiB"},
    {FB_UNIT_BYTES, FB_UNITS_RANGE, "16EiB"},
    {FB_UNIT_BYTES, FB_UNITS_NEGATIVE, "-1KiB"},
    {FB_UNIT_TIME, FB_UNITS_WRONG_UNIT, "5"},
    {FB_UNIT_TIME, FB_UNITS_WRONG_UNIT, "5KiB"},
    {FB_UNIT_SHARE, FB_UNITS_RANGE, "101%"},
    {FB_UNIT_SHARE, FB_UNITS_RANGE, "50"},
    {FB_UNIT_SHARE, FB_UNITS_NEGATIVE, "-0.1"},
};

static void faults_are_named_and_leave_the_value_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fb_error err = {0};
        uint64_t value = 12345;
        enum fb_units_fault fault = fb_units_read(bad[i].kind, bad[i].text, &value, &err);
        if (fault != bad[i].fault)
            fail_msg("\"%s\": fault %d, %s", bad[i].text, (int)fault, err.text);
        assert_int_equal(value, 12345);
        assert_int_equal(err.kind, FB_ERROR_INPUT);
    }
}

static void messages_say_which_units_are_accepted(void **state)
{
    (void)state;
    struct fb_error err = {0};
    uint64_t value = 0;
    assert_int_equal(fb_units_parse(FB_UNIT_BYTES, "16ms", &value, &err), -1);
    assert_string_equal(err.text, "\"16ms\" has the wrong unit; a size takes B, KiB, MiB, GiB, "
                                  "TiB, kB, MB, GB or TB, such as 16KiB");
    assert_int_equal(fb_units_parse(FB_UNIT_TIME, "5", &value, NULL), -1);
}

static void real_numbers_keep_their_fraction(void **state)
{
    (void)state;
    double value = 0;
    assert_int_equal(fb_units_read_real(FB_UNIT_COUNT, "1.5", &value, NULL), FB_UNITS_OK);
    assert_true(value == 1.5);
    assert_int_equal(fb_units_read_real(FB_UNIT_BYTES, "0.3KiB", &value, NULL), FB_UNITS_OK);
    assert_true(value > 307.19 && value < 307.21);
    assert_int_equal(fb_units_read_real(FB_UNIT_SHARE, "25%", &value, NULL), FB_UNITS_OK);
    assert_true(value == 0.25);
    assert_int_equal(fb_units_read_real(FB_UNIT_TIME, "1", &value, NULL), FB_UNITS_WRONG_UNIT);
}

struct shown {
    uint64_t value;
    const char *text;
};

static void bytes_are_shown_with_four_digits_at_most(void **state)
{
    (void)state;
    static const struct shown shown[] = {
        {0, "0 B"},
        {12, "12 B"},
        {1023, "1023 B"},
        {1024, "1 KiB"},
        {1536, "1.5 KiB"},
        {640 * KIB, "640 KiB"},
        {KIB * KIB - 1, "1 MiB"},
        {KIB * KIB - 600, "1023 KiB"},
        {KIB * KIB * KIB - 1, "1 GiB"},
        {3 * KIB * KIB * KIB / 2, "1.5 GiB"},
        {UINT64_C(1234567890), "1.15 GiB"},
        {UINT64_MAX, "16 EiB"},
    };
    char buffer[32];
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        assert_string_equal(fb_units_bytes(shown[i].value, buffer, sizeof buffer), shown[i].text);
}

static void times_are_shown_for_people(void **state)
{
    (void)state;
    static const struct shown shown[] = {
        {0, "0 ns"},
        {85, "85 ns"},
        {999, "999 ns"},
        {999960, "1 ms"},
        {600000000, "600 ms"},
        {1250000000, "1.25 s"},
        {60 * SECOND - 1, "1 min"},
        {725 * SECOND, "12 min 5 s"},
        {3600 * SECOND - 1, "1 h"},
        {7500 * SECOND, "2 h 5 min"},
    };
    char buffer[48];
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        assert_string_equal(fb_units_time(shown[i].value, buffer, sizeof buffer), shown[i].text);
}

static void counts_are_grouped_by_thousands(void **state)
{
    (void)state;
    static const struct shown shown[] = {
        {0, "0"},
        {999, "999"},
        {1000, "1,000"},
        {12345678, "12,345,678"},
        {UINT64_MAX, "18,446,744,073,709,551,615"},
    };
    char buffer[32];
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        assert_string_equal(fb_units_count(shown[i].value, buffer, sizeof buffer), shown[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_with_units_become_base_units),
        cmocka_unit_test(faults_are_named_and_leave_the_value_alone),
        cmocka_unit_test(messages_say_which_units_are_accepted),
        cmocka_unit_test(real_numbers_keep_their_fraction),
        cmocka_unit_test(bytes_are_shown_with_four_digits_at_most),
        cmocka_unit_test(times_are_shown_for_people),
        cmocka_unit_test(counts_are_grouped_by_thousands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
