/* Numbers with units, both ways. One table for all of them (units.c).
 *
 * Sizes: B, KiB, MiB, GiB, TiB, PiB, EiB (powers of 1024) and kB, KB, MB, GB, TB (powers
 * of 1000); a bare number is bytes. Times: ns, us, ms, s, min, m, h; a bare number
 * is refused, except 0. Decimals are allowed ("1.5GiB") when the result is whole.
 * Results are uint64_t; negative or overflowing values are errors.
 */
#ifndef FB_BASE_UNITS_H
#define FB_BASE_UNITS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum fb_unit_kind { FB_UNIT_COUNT, FB_UNIT_BYTES, FB_UNIT_TIME, FB_UNIT_SHARE };

/* Parses text of the kind into base units (bytes, ns; a share "50%" or "0.5" in
 * parts per 2^32: 0..2^32). The error text names the accepted units. */
int fb_units_parse(enum fb_unit_kind kind, const char *text, uint64_t *out,
                   struct fb_error *err) FB_MUST_USE;

/* What is wrong with a number, for callers that name faults. */
enum fb_units_fault {
    FB_UNITS_OK = 0,
    FB_UNITS_BAD_NUMBER, /* no number, or too many digits */
    FB_UNITS_NEGATIVE,
    FB_UNITS_WRONG_UNIT, /* unknown, of another kind, or missing */
    FB_UNITS_NOT_WHOLE,  /* 1.5 of something that has no halves */
    FB_UNITS_RANGE,
};

/* fb_units_parse() that says which fault it was; err as there, *out untouched on a fault. */
enum fb_units_fault fb_units_read(enum fb_unit_kind kind, const char *text, uint64_t *out,
                                  struct fb_error *err);
/* The same without the demand for a whole result, for means and the like: 0 … 2^64 in base
 * units; a share as 0 … 1. */
enum fb_units_fault fb_units_read_real(enum fb_unit_kind kind, const char *text, double *out,
                                       struct fb_error *err);

/* "1.5 GiB", "640 KiB", "12 B": at most 4 significant digits. Returns buffer. */
const char *fb_units_bytes(uint64_t bytes, char *buffer, size_t size);
/* "12 min 5 s", "1.25 s", "600 ms", "85 ns". Returns buffer. */
const char *fb_units_time(uint64_t ns, char *buffer, size_t size);
/* "12,345,678". Returns buffer. */
const char *fb_units_count(uint64_t count, char *buffer, size_t size);

#endif
