#include "result/codec.h"

#include "base/alloc.h"
#include "result/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_INTEGER_MAX 9007199254740992.0 /* 2^53 */

/* jansson takes UTF-8 only, but a path or a worker's stderr (cut in the middle of a character at
 * 4 KiB) may be anything. Losing the foreign letters of such a text beats losing the file. */
static char *clean_text(const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */
    char *clean = fb_alloc(strlen(text) * 3 + 1, 1);
    char *to = clean;
    for (; *text != '\0'; text++) {
        bool ascii = (unsigned char)*text < 0x80;
        size_t size = ascii ? 1 : 3;
        memcpy(to, ascii ? text : replacement, size);
        to += size;
    }
    return clean;
}

json_t *fb_codec_text(const char *text)
{
    if (text == NULL)
        return json_null();
    json_t *value = json_string(text);
    if (value != NULL)
        return value;
    char *clean = clean_text(text);
    value = json_string(clean);
    free(clean);
    return value;
}

void fb_codec_put(json_t *object, const char *key, json_t *value)
{
    json_incref(value);
    if (json_object_set(object, key, value) != 0) {
        char *clean = clean_text(key);
        (void)json_object_set(object, clean, value);
        free(clean);
    }
    json_decref(value);
    json_decref(value);
}

json_t *fb_codec_number(double value)
{
    if (!isfinite(value))
        return json_null();
    if (fabs(value) <= EXACT_INTEGER_MAX && value == floor(value))
        return json_integer((json_int_t)value);
    /* Rounded before the choice of the type, so that writing what was read gives the same bytes. */
    char text[40];
    (void)snprintf(text, sizeof text, "%.15g", value);
    double rounded = strtod(text, NULL);
    if (fabs(rounded) <= EXACT_INTEGER_MAX && rounded == floor(rounded))
        return json_integer((json_int_t)rounded);
    return json_real(rounded);
}

static const void *at(const struct fb_field *field, const void *record)
{
    return (const char *)record + field->offset;
}

static size_t count_of(const struct fb_field *field, const void *record)
{
    return *(const size_t *)(const void *)((const char *)record + field->count_offset);
}

static json_t *encode_text(const struct fb_field *field, const void *record)
{
    return fb_codec_text(*(char *const *)at(field, record));
}

static json_t *encode_chars(const struct fb_field *field, const void *record)
{
    return fb_codec_text(at(field, record));
}

static json_t *count_json(uint64_t value)
{
    if (value <= INT64_MAX)
        return json_integer((json_int_t)value);
    return json_sprintf("%llu", (unsigned long long)value);
}

static json_t *encode_u64(const struct fb_field *field, const void *record)
{
    return count_json(*(const uint64_t *)at(field, record));
}

static json_t *encode_unsigned(const struct fb_field *field, const void *record)
{
    return json_integer(*(const unsigned *)at(field, record));
}

static json_t *encode_bool(const struct fb_field *field, const void *record)
{
    return json_boolean(*(const bool *)at(field, record));
}

static json_t *encode_number(const struct fb_field *field, const void *record)
{
    return fb_codec_number(*(const double *)at(field, record));
}

static json_t *encode_status(const struct fb_field *field, const void *record)
{
    return json_string(fb_status_name(*(const enum fb_status *)at(field, record)));
}

static json_t *encode_texts(const struct fb_field *field, const void *record)
{
    char *const *texts = *(char *const *const *)at(field, record);
    json_t *array = json_array();
    for (size_t i = 0; i < count_of(field, record); i++)
        (void)json_array_append_new(array, fb_codec_text(texts[i]));
    return array;
}

static json_t *encode_pairs(const struct fb_field *field, const void *record)
{
    const struct fb_name_value *pairs = *(struct fb_name_value *const *)at(field, record);
    json_t *object = json_object();
    for (size_t i = 0; i < count_of(field, record); i++)
        fb_codec_put(object, pairs[i].name, fb_codec_text(pairs[i].value));
    return object;
}

static json_t *encode_counters(const struct fb_field *field, const void *record)
{
    const struct fb_counter *counters = *(struct fb_counter *const *)at(field, record);
    json_t *object = json_object();
    for (size_t i = 0; i < count_of(field, record); i++)
        fb_codec_put(object, counters[i].name, count_json(counters[i].value));
    return object;
}

static json_t *encode_object(const struct fb_field *field, const void *record)
{
    return fb_codec_encode(field->fields, record);
}

static json_t *encode_array(const struct fb_field *field, const void *record)
{
    const char *items = *(char *const *)at(field, record);
    json_t *array = json_array();
    for (size_t i = 0; i < count_of(field, record); i++)
        (void)json_array_append_new(array, fb_codec_encode(field->fields, items + i * field->size));
    return array;
}

static json_t *encode_custom(const struct fb_field *field, const void *record)
{
    return field->encode(record);
}

typedef json_t *encode_fn(const struct fb_field *field, const void *record);

static encode_fn *const encoders[] = {
    [FB_FIELD_TEXT] = encode_text,     [FB_FIELD_CHARS] = encode_chars,
    [FB_FIELD_U64] = encode_u64,       [FB_FIELD_UNSIGNED] = encode_unsigned,
    [FB_FIELD_BOOL] = encode_bool,     [FB_FIELD_NUMBER] = encode_number,
    [FB_FIELD_STATUS] = encode_status, [FB_FIELD_TEXTS] = encode_texts,
    [FB_FIELD_PAIRS] = encode_pairs,   [FB_FIELD_COUNTERS] = encode_counters,
    [FB_FIELD_OBJECT] = encode_object, [FB_FIELD_ARRAY] = encode_array,
    [FB_FIELD_CUSTOM] = encode_custom,
};

json_t *fb_codec_encode(const struct fb_field *fields, const void *record)
{
    json_t *object = json_object();
    for (; fields->name != NULL; fields++)
        fb_codec_put(object, fields->name, encoders[fields->kind](fields, record));
    return object;
}
