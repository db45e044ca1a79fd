#include "base/units.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define KIB UINT64_C(1024)
#define KILO UINT64_C(1000)
#define SECOND UINT64_C(1000000000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

struct unit {
    enum fb_unit_kind kind;
    bool written; /* used when formatting */
    const char *name;
    uint64_t factor; /* base units in one; of a share: its divisor */
};

/* Ascending by factor within what is written: formatting takes the last that fits. */
static const struct unit units[] = {
    {FB_UNIT_BYTES, true, "B", 1},
    {FB_UNIT_BYTES, true, "KiB", KIB},
    {FB_UNIT_BYTES, true, "MiB", KIB *KIB},
    {FB_UNIT_BYTES, true, "GiB", KIB *KIB *KIB},
    {FB_UNIT_BYTES, true, "TiB", KIB *KIB *KIB *KIB},
    {FB_UNIT_BYTES, true, "PiB", KIB *KIB *KIB *KIB *KIB},
    {FB_UNIT_BYTES, true, "EiB", KIB *KIB *KIB *KIB *KIB *KIB},
    {FB_UNIT_BYTES, false, "kB", KILO},
    {FB_UNIT_BYTES, false, "KB", KILO},
    {FB_UNIT_BYTES, false, "MB", KILO *KILO},
    {FB_UNIT_BYTES, false, "GB", KILO *KILO *KILO},
    {FB_UNIT_BYTES, false, "TB", KILO *KILO *KILO *KILO},
    {FB_UNIT_TIME, true, "ns", 1},
    {FB_UNIT_TIME, true, "us", KILO},
    {FB_UNIT_TIME, true, "ms", KILO *KILO},
    {FB_UNIT_TIME, true, "s", SECOND},
    {FB_UNIT_TIME, false, "min", MINUTE},
    {FB_UNIT_TIME, false, "m", MINUTE},
    {FB_UNIT_TIME, false, "h", HOUR},
    {FB_UNIT_SHARE, false, "%", 100},
};
enum { UNIT_COUNT = sizeof units / sizeof units[0] };

static const char *const kind_help[] = {
    [FB_UNIT_COUNT] = "a count takes a plain number such as 12",
    [FB_UNIT_BYTES] = "a size takes B, KiB, MiB, GiB, TiB, kB, MB, GB or TB, such as 16KiB",
    [FB_UNIT_TIME] = "a time takes ns, us, ms, s, min or h, such as 600ms",
    [FB_UNIT_SHARE] = "a share takes a percentage or a number from 0 to 1, such as 50% or 0.5",
};

/* mantissa / divisor of the unit: "1.50KiB" is 15 / 10 with factor 1024. */
struct number {
    uint64_t mantissa;
    uint64_t divisor;
    uint64_t factor;
};

static enum fb_units_fault fault(struct fb_error *err, enum fb_units_fault what, const char *text,
                                 const char *why, enum fb_unit_kind kind)
{
    (void)fb_fail(err, FB_ERROR_INPUT, "\"%.60s\" %s; %s", text, why, kind_help[kind]);
    return what;
}

/* Reads digits[.digits]; returns the end, or NULL without a digit or beyond 64 bits. Trailing
 * zeros of the fraction are dropped, so 1.500 is as long as 1.5. */
static const char *read_digits(const char *text, struct number *out)
{
    bool any = false, fraction = false;
    uint64_t mantissa = 0, divisor = 1, pending = 1;
    for (; isdigit((unsigned char)*text) || (*text == '.' && !fraction); text++) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        any = true;
        if (fraction && *text == '0') {
            /* More zeros than the type holds are harmless unless a digit follows them. */
            pending = pending > UINT64_MAX / 10 ? UINT64_MAX : pending * 10;
            continue;
        }
        uint64_t step = fraction ? pending : 1;
        if (__builtin_mul_overflow(step, UINT64_C(10), &step) ||
            __builtin_mul_overflow(mantissa, step, &mantissa) ||
            __builtin_add_overflow(mantissa, (uint64_t)(*text - '0'), &mantissa) ||
            (fraction && __builtin_mul_overflow(divisor, step, &divisor)))
            return NULL;
        pending = 1;
    }
    *out = (struct number){.mantissa = mantissa, .divisor = divisor, .factor = 1};
    return any ? text : NULL;
}

static const struct unit *find_unit(enum fb_unit_kind kind, const char *name)
{
    for (size_t i = 0; i < UNIT_COUNT; i++)
        if (units[i].kind == kind && strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

static enum fb_units_fault split(enum fb_unit_kind kind, const char *text, struct number *out,
                                 struct fb_error *err)
{
    if (text[0] == '-' && (isdigit((unsigned char)text[1]) || text[1] == '.'))
        return fault(err, FB_UNITS_NEGATIVE, text, "is negative", kind);
    const char *end = isdigit((unsigned char)text[0]) ? read_digits(text, out) : NULL;
    if (end == NULL)
        return fault(err, FB_UNITS_BAD_NUMBER, text,
                     isdigit((unsigned char)text[0]) ? "has too many digits" : "is no number",
                     kind);
    while (*end == ' ')
        end++;
    if (*end == '\0') {
        if (kind == FB_UNIT_TIME && out->mantissa != 0)
            return fault(err, FB_UNITS_WRONG_UNIT, text, "has no unit", kind);
        return FB_UNITS_OK;
    }
    const struct unit *unit = find_unit(kind, end);
    if (unit == NULL) {
        bool digits = strpbrk(end, "0123456789.,_") != NULL;
        return digits ? fault(err, FB_UNITS_BAD_NUMBER, text, "is no number", kind)
                      : fault(err, FB_UNITS_WRONG_UNIT, text, "has the wrong unit", kind);
    }
    out->factor = unit->factor;
    return FB_UNITS_OK;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static enum fb_units_fault read_share(const char *text, double *out, struct fb_error *err)
{
    struct number number = {.divisor = 1, .factor = 1};
    enum fb_units_fault found = split(FB_UNIT_SHARE, text, &number, err);
    if (found != FB_UNITS_OK)
        return found;
    double share = (double)number.mantissa / (double)number.divisor / (double)number.factor;
    if (share > 1.0)
        return fault(err, FB_UNITS_RANGE, text, "is more than the whole", FB_UNIT_SHARE);
    *out = share;
    return FB_UNITS_OK;
}

enum fb_units_fault fb_units_read_real(enum fb_unit_kind kind, const char *text, double *out,
                                       struct fb_error *err)
{
    if (kind == FB_UNIT_SHARE)
        return read_share(text, out, err);
    struct number number = {.divisor = 1, .factor = 1};
    enum fb_units_fault found = split(kind, text, &number, err);
    if (found == FB_UNITS_OK)
        *out = (double)number.mantissa * (double)number.factor / (double)number.divisor;
    return found;
}

enum fb_units_fault fb_units_read(enum fb_unit_kind kind, const char *text, uint64_t *out,
                                  struct fb_error *err)
{
    struct number number = {.divisor = 1, .factor = 1};
    if (kind == FB_UNIT_SHARE) {
        double share = 0;
        enum fb_units_fault found = read_share(text, &share, err);
        if (found == FB_UNITS_OK)
            *out = (uint64_t)(share * 4294967296.0 + 0.5);
        return found;
    }
    enum fb_units_fault found = split(kind, text, &number, err);
    if (found != FB_UNITS_OK)
        return found;
    /* With the common divisor gone, the result is whole if and only if the rest of the
     * divisor divides the mantissa: exact, where doubles would round 0.1GB. */
    uint64_t common = greatest_common_divisor(number.factor, number.divisor);
    uint64_t factor = number.factor / common, divisor = number.divisor / common;
    uint64_t count = number.mantissa, value = 0;
    if (divisor > 1) {
        if (count % divisor != 0)
            return fault(err, FB_UNITS_NOT_WHOLE, text, "is not whole", kind);
        count /= divisor;
    }
    if (__builtin_mul_overflow(count, factor, &value))
        return fault(err, FB_UNITS_RANGE, text, "is larger than 2^64", kind);
    *out = value;
    return FB_UNITS_OK;
}

int fb_units_parse(enum fb_unit_kind kind, const char *text, uint64_t *out, struct fb_error *err)
{
    return fb_units_read(kind, text, out, err) == FB_UNITS_OK ? 0 : -1;
}

/* value in the largest written unit of kind that leaves at least one, 4 significant digits. */
static const char *scaled(enum fb_unit_kind kind, uint64_t value, char *buffer, size_t size)
{
    const struct unit *best = NULL;
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (units[i].kind != kind || !units[i].written)
            continue;
        /* 1023.6 KiB would print as 1024 KiB, 999.96 us as 1000 us: half of the last digit
         * shown is enough to move up. */
        double slack = best == NULL || best->factor == 1 ? 0.0
                       : kind == FB_UNIT_BYTES           ? 0.5 * (double)best->factor
                                                         : 0.05 * (double)best->factor;
        if (best == NULL || (double)value + slack >= (double)units[i].factor)
            best = &units[i];
    }
    if (best->factor == 1)
        (void)snprintf(buffer, size, "%llu %s", (unsigned long long)value, best->name);
    else
        (void)snprintf(buffer, size, "%.4g %s", (double)value / (double)best->factor, best->name);
    return buffer;
}

const char *fb_units_bytes(uint64_t bytes, char *buffer, size_t size)
{
    return scaled(FB_UNIT_BYTES, bytes, buffer, size);
}

static const char *two_parts(uint64_t whole, const char *whole_name, uint64_t rest,
                             const char *rest_name, char *buffer, size_t size)
{
    if (rest == 0)
        (void)snprintf(buffer, size, "%llu %s", (unsigned long long)whole, whole_name);
    else
        (void)snprintf(buffer, size, "%llu %s %llu %s", (unsigned long long)whole, whole_name,
                       (unsigned long long)rest, rest_name);
    return buffer;
}

const char *fb_units_time(uint64_t ns, char *buffer, size_t size)
{
    uint64_t seconds = ns / SECOND + (ns % SECOND >= SECOND / 2);
    if (ns < MINUTE - SECOND / 200)
        return scaled(FB_UNIT_TIME, ns, buffer, size);
    if (seconds < 3600)
        return two_parts(seconds / 60, "min", seconds % 60, "s", buffer, size);
    uint64_t minutes = (seconds + 30) / 60;
    return two_parts(minutes / 60, "h", minutes % 60, "min", buffer, size);
}

const char *fb_units_count(uint64_t count, char *buffer, size_t size)
{
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    char grouped[32];
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            grouped[used++] = ',';
        grouped[used++] = digits[i];
    }
    grouped[used] = '\0';
    (void)snprintf(buffer, size, "%s", grouped);
    return buffer;
}
