/* Structs ↔ JSON by tables: one row a member serves writing and reading, so the two cannot drift
 * apart. The tables of the result record are in fields.c.
 *
 * Encoding cannot fail: text that is not UTF-8 has its bytes above 0x7f replaced. Decoding expects
 * a zeroed record, is strict about types, ignores unknown keys (a later minor version adds some),
 * and names the place of a fault ("cells[2].repetitions[0].ops"). What a failed decode has filled
 * in is the caller's to free.
 */
#ifndef FB_RESULT_CODEC_H
#define FB_RESULT_CODEC_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Where a decoder stands: a chain on the stack, for messages only. */
struct fb_place {
    const struct fb_place *parent;
    const char *name; /* NULL: the index counts */
    size_t index;
    const char *file;
    struct fb_error *err;
};

enum fb_field_kind {
    FB_FIELD_TEXT = 0, /* char *; NULL ↔ null */
    FB_FIELD_CHARS,    /* char[size] */
    FB_FIELD_U64, /* above 2^63 − 1 as a string of digits: JSON readers lose them otherwise */
    FB_FIELD_UNSIGNED,
    FB_FIELD_BOOL,
    FB_FIELD_NUMBER,   /* double; NaN ↔ null */
    FB_FIELD_STATUS,   /* enum fb_status ↔ its name */
    FB_FIELD_TEXTS,    /* char **, count ↔ array of strings */
    FB_FIELD_PAIRS,    /* struct fb_name_value *, count ↔ object of strings */
    FB_FIELD_COUNTERS, /* struct fb_counter *, count ↔ object of numbers */
    FB_FIELD_OBJECT,   /* members of the same record under a name of their own */
    FB_FIELD_ARRAY,    /* pointer, count ↔ array of objects */
    FB_FIELD_CUSTOM,
};

struct fb_field {
    const char *name;
    enum fb_field_kind kind;
    size_t offset;       /* in the record */
    size_t count_offset; /* TEXTS, PAIRS, COUNTERS, ARRAY: of a size_t */
    size_t size;         /* CHARS: of the array; ARRAY: of an item */
    bool optional;       /* a file without it is of an earlier release; the member stays zeroed */
    const struct fb_field *fields;         /* OBJECT, ARRAY: ends with a NULL name */
    json_t *(*encode)(const void *record); /* CUSTOM */
    int (*decode)(const json_t *value, void *record, const struct fb_place *place); /* CUSTOM */
};

json_t *fb_codec_encode(const struct fb_field *fields, const void *record);
int fb_codec_decode(const struct fb_field *fields, const json_t *object, void *record,
                    const struct fb_place *place) FB_MUST_USE;

/* For custom rows. */
json_t *fb_codec_text(const char *text); /* NULL → null */
json_t *fb_codec_number(double value);   /* whole numbers as integers; 15 digits; NaN → null */
/* Sets a key of an object, taking the value. */
void fb_codec_put(json_t *object, const char *key, json_t *value);
/* number or null (NaN) */
int fb_codec_read_number(const json_t *value, double *out,
                         const struct fb_place *place) FB_MUST_USE;
/* INPUT error "FILE: cells[2].ops: text"; always -1. */
int fb_codec_fail(const struct fb_place *place, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
