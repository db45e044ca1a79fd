#include "result/codec.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "result/record.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_place(struct fb_buf *buf, const struct fb_place *place)
{
    if (place->parent != NULL)
        add_place(buf, place->parent);
    if (place->name == NULL)
        fb_buf_addf(buf, "[%zu]", place->index);
    else if (place->name[0] != '\0')
        fb_buf_addf(buf, "%s%s", buf->length > 0 ? "." : "", place->name);
}

int fb_codec_fail(const struct fb_place *place, const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    struct fb_buf where;
    fb_buf_init(&where, 512);
    add_place(&where, place);
    const char *path = where.length > 0 ? where.text : "document";
    (void)fb_fail(place->err, FB_ERROR_INPUT, "%s: %s: %s", place->file, path, text);
    fb_buf_deinit(&where);
    return -1;
}

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a number",  [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };
    return value == NULL ? "nothing" : names[json_typeof(value)];
}

static int expected(const struct fb_place *place, const char *what, const json_t *value)
{
    return fb_codec_fail(place, "expected %s, found %s", what, type_name(value));
}

static void *at(const struct fb_field *field, void *record)
{
    return (char *)record + field->offset;
}

static size_t *count_at(const struct fb_field *field, void *record)
{
    return (size_t *)(void *)((char *)record + field->count_offset);
}

static int decode_text(const struct fb_field *field, const json_t *value, void *record,
                       const struct fb_place *place)
{
    if (!json_is_string(value) && !json_is_null(value))
        return expected(place, "a string or null", value);
    if (json_is_string(value))
        *(char **)at(field, record) = fb_strdup(json_string_value(value));
    return 0;
}

static int decode_chars(const struct fb_field *field, const json_t *value, void *record,
                        const struct fb_place *place)
{
    if (!json_is_string(value))
        return expected(place, "a string", value);
    if (json_string_length(value) >= field->size)
        return fb_codec_fail(place, "longer than %zu characters", field->size - 1);
    memcpy(at(field, record), json_string_value(value), json_string_length(value) + 1);
    return 0;
}

static int read_u64(const json_t *value, uint64_t *out, const struct fb_place *place)
{
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *out = (uint64_t)json_integer_value(value);
        return 0;
    }
    const char *text = json_string_value(value);
    if (text != NULL && text[0] >= '0' && text[0] <= '9') {
        char *end = NULL;
        errno = 0;
        unsigned long long number = strtoull(text, &end, 10);
        if (*end == '\0' && errno == 0) {
            *out = number;
            return 0;
        }
    }
    return fb_codec_fail(place, "expected a whole number from 0 to 2^64-1");
}

static int decode_u64(const struct fb_field *field, const json_t *value, void *record,
                      const struct fb_place *place)
{
    return read_u64(value, at(field, record), place);
}

static int decode_unsigned(const struct fb_field *field, const json_t *value, void *record,
                           const struct fb_place *place)
{
    uint64_t number = 0;
    if (read_u64(value, &number, place) != 0)
        return -1;
    if (number > UINT_MAX)
        return fb_codec_fail(place, "out of range: at most %u", UINT_MAX);
    *(unsigned *)at(field, record) = (unsigned)number;
    return 0;
}

static int decode_bool(const struct fb_field *field, const json_t *value, void *record,
                       const struct fb_place *place)
{
    if (!json_is_boolean(value))
        return expected(place, "true or false", value);
    *(bool *)at(field, record) = json_is_true(value);
    return 0;
}

int fb_codec_read_number(const json_t *value, double *out, const struct fb_place *place)
{
    if (!json_is_number(value) && !json_is_null(value))
        return expected(place, "a number or null", value);
    *out = json_is_null(value) ? NAN : json_number_value(value);
    return 0;
}

static int decode_number(const struct fb_field *field, const json_t *value, void *record,
                         const struct fb_place *place)
{
    return fb_codec_read_number(value, at(field, record), place);
}

static int decode_status(const struct fb_field *field, const json_t *value, void *record,
                         const struct fb_place *place)
{
    if (!json_is_string(value))
        return expected(place, "a status", value);
    enum fb_status status = fb_status_find(json_string_value(value));
    if (status == FB_STATUS_COUNT)
        return fb_codec_fail(place, "unknown status \"%s\"", json_string_value(value));
    *(enum fb_status *)at(field, record) = status;
    return 0;
}

static int decode_texts(const struct fb_field *field, const json_t *value, void *record,
                        const struct fb_place *place)
{
    if (!json_is_array(value))
        return expected(place, "an array", value);
    size_t count = json_array_size(value);
    char **texts = fb_alloc(count, sizeof *texts);
    *(char ***)at(field, record) = texts;
    *count_at(field, record) = count;
    for (size_t i = 0; i < count; i++) {
        const struct fb_place here = {place, NULL, i, place->file, place->err};
        const char *text = json_string_value(json_array_get(value, i));
        if (text == NULL)
            return expected(&here, "a string", json_array_get(value, i));
        texts[i] = fb_strdup(text);
    }
    return 0;
}

static int decode_pairs(const struct fb_field *field, const json_t *value, void *record,
                        const struct fb_place *place)
{
    if (!json_is_object(value))
        return expected(place, "an object", value);
    struct fb_name_value *pairs = fb_alloc(json_object_size(value), sizeof *pairs);
    size_t *count = count_at(field, record);
    *(struct fb_name_value **)at(field, record) = pairs;
    const char *key = NULL;
    json_t *item = NULL;
    json_object_foreach((json_t *)value, key, item)
    {
        const struct fb_place here = {place, key, 0, place->file, place->err};
        if (!json_is_string(item))
            return expected(&here, "a string", item);
        pairs[*count].name = fb_strdup(key);
        pairs[*count].value = fb_strdup(json_string_value(item));
        (*count)++;
    }
    return 0;
}

static int decode_counters(const struct fb_field *field, const json_t *value, void *record,
                           const struct fb_place *place)
{
    if (!json_is_object(value))
        return expected(place, "an object", value);
    struct fb_counter *counters = fb_alloc(json_object_size(value), sizeof *counters);
    size_t *count = count_at(field, record);
    *(struct fb_counter **)at(field, record) = counters;
    const char *key = NULL;
    json_t *item = NULL;
    json_object_foreach((json_t *)value, key, item)
    {
        const struct fb_place here = {place, key, 0, place->file, place->err};
        if (read_u64(item, &counters[*count].value, &here) != 0)
            return -1;
        (void)snprintf(counters[*count].name, sizeof counters[*count].name, "%s", key);
        (*count)++;
    }
    return 0;
}

static int decode_object(const struct fb_field *field, const json_t *value, void *record,
                         const struct fb_place *place)
{
    return fb_codec_decode(field->fields, value, record, place);
}

static int decode_array(const struct fb_field *field, const json_t *value, void *record,
                        const struct fb_place *place)
{
    if (!json_is_array(value))
        return expected(place, "an array", value);
    size_t count = json_array_size(value);
    char *items = fb_alloc(count, field->size);
    *(void **)at(field, record) = items;
    *count_at(field, record) = count;
    for (size_t i = 0; i < count; i++) {
        const struct fb_place here = {place, NULL, i, place->file, place->err};
        if (fb_codec_decode(field->fields, json_array_get(value, i), items + i * field->size,
                            &here) != 0)
            return -1;
    }
    return 0;
}

static int decode_custom(const struct fb_field *field, const json_t *value, void *record,
                         const struct fb_place *place)
{
    return field->decode(value, record, place);
}

typedef int decode_fn(const struct fb_field *field, const json_t *value, void *record,
                      const struct fb_place *place);

static decode_fn *const decoders[] = {
    [FB_FIELD_TEXT] = decode_text,     [FB_FIELD_CHARS] = decode_chars,
    [FB_FIELD_U64] = decode_u64,       [FB_FIELD_UNSIGNED] = decode_unsigned,
    [FB_FIELD_BOOL] = decode_bool,     [FB_FIELD_NUMBER] = decode_number,
    [FB_FIELD_STATUS] = decode_status, [FB_FIELD_TEXTS] = decode_texts,
    [FB_FIELD_PAIRS] = decode_pairs,   [FB_FIELD_COUNTERS] = decode_counters,
    [FB_FIELD_OBJECT] = decode_object, [FB_FIELD_ARRAY] = decode_array,
    [FB_FIELD_CUSTOM] = decode_custom,
};

int fb_codec_decode(const struct fb_field *fields, const json_t *object, void *record,
                    const struct fb_place *place)
{
    if (!json_is_object(object))
        return expected(place, "an object", object);
    for (; fields->name != NULL; fields++) {
        const struct fb_place here = {place, fields->name, 0, place->file, place->err};
        const json_t *value = json_object_get(object, fields->name);
        if (value == NULL && fields->optional)
            continue;
        if (value == NULL)
            return fb_codec_fail(&here, "missing");
        if (decoders[fields->kind](fields, value, record, &here) != 0)
            return -1;
    }
    return 0;
}
