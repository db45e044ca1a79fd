#include "result/attribution_fields.h"

#include "base/alloc.h"

/* clang-format off */
#define ROW(kind_, type, member, name_) \
    {.name = (name_), .kind = FB_FIELD_##kind_, .offset = offsetof(struct type, member)}
#define CHARS(type, member, name_) \
    {.name = (name_), .kind = FB_FIELD_CHARS, .offset = offsetof(struct type, member), \
     .size = sizeof ((struct type *)0)->member}
#define CUSTOM(encode_, decode_, name_) \
    {.name = (name_), .kind = FB_FIELD_CUSTOM, .encode = (encode_), .decode = (decode_)}
#define END {.name = NULL}
/* clang-format on */

static json_t *count_json(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static int read_count(const json_t *value, uint64_t *out, const struct fb_place *place)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return fb_codec_fail(place, "expected a whole number from 0");
    *out = (uint64_t)json_integer_value(value);
    return 0;
}

static struct fb_place inside(const struct fb_place *place, const char *name)
{
    return (struct fb_place){place, name, 0, place->file, place->err};
}

/* Cached and stuck stand for one another until a purge told them apart. */
static bool is_unknown(const struct fb_attribution *attribution, int part)
{
    return !attribution->is_split && (part == FB_PART_CACHED || part == FB_PART_STUCK);
}

static json_t *encode_parts(const void *record)
{
    const struct fb_attribution *attribution = record;
    json_t *object = json_object();
    for (int part = 0; part < FB_PART_COUNT; part++)
        fb_codec_put(object, fb_part_names[part],
                     is_unknown(attribution, part) ? json_null()
                                                   : count_json(attribution->parts[part]));
    fb_codec_put(object, "free", count_json(attribution->free_bytes));
    return object;
}

static int decode_parts(const json_t *value, void *record, const struct fb_place *place)
{
    struct fb_attribution *attribution = record;
    if (!json_is_object(value))
        return fb_codec_fail(place, "expected an object");
    attribution->is_split = json_is_integer(json_object_get(value, fb_part_names[FB_PART_CACHED]));
    for (int part = 0; part < FB_PART_COUNT; part++) {
        const struct fb_place here = inside(place, fb_part_names[part]);
        const json_t *number = json_object_get(value, fb_part_names[part]);
        if (is_unknown(attribution, part) && json_is_null(number))
            continue;
        if (read_count(number, &attribution->parts[part], &here) != 0)
            return -1;
    }
    const struct fb_place here = inside(place, "free");
    return read_count(json_object_get(value, "free"), &attribution->free_bytes, &here);
}

static json_t *encode_mismatch(const void *record)
{
    return json_integer((json_int_t)((const struct fb_attribution *)record)->mismatch_bytes);
}

static int decode_mismatch(const json_t *value, void *record, const struct fb_place *place)
{
    if (!json_is_integer(value))
        return fb_codec_fail(place, "expected a whole number");
    ((struct fb_attribution *)record)->mismatch_bytes = json_integer_value(value);
    return 0;
}

static json_t *encode_account(const void *record)
{
    const struct fb_attribution *attribution = record;
    if (!attribution->account_known)
        return json_null();
    json_t *object = json_object();
    for (int i = 0; i < FB_ACCOUNT_COUNT; i++)
        fb_codec_put(object, fb_account_names[i],
                     attribution->account[i] == FB_ACCOUNT_NA
                         ? json_null()
                         : count_json(attribution->account[i]));
    return object;
}

static int decode_account(const json_t *value, void *record, const struct fb_place *place)
{
    struct fb_attribution *attribution = record;
    attribution->account_known = json_is_object(value);
    for (int i = 0; i < FB_ACCOUNT_COUNT; i++) {
        const struct fb_place here = inside(place, fb_account_names[i]);
        const json_t *number = json_object_get(value, fb_account_names[i]);
        attribution->account[i] = FB_ACCOUNT_NA;
        if (number != NULL && !json_is_null(number) &&
            read_count(number, &attribution->account[i], &here) != 0)
            return -1;
    }
    return 0;
}

static json_t *encode_histogram(const void *record)
{
    const struct fb_hostage *hostage = record;
    json_t *array = json_array();
    for (size_t i = 0; i < FB_OCCUPANCY_BINS; i++)
        (void)json_array_append_new(array, count_json(hostage->histogram[i]));
    return array;
}

static int decode_histogram(const json_t *value, void *record, const struct fb_place *place)
{
    struct fb_hostage *hostage = record;
    if (json_array_size(value) != FB_OCCUPANCY_BINS)
        return fb_codec_fail(place, "expected %d numbers", FB_OCCUPANCY_BINS);
    for (size_t i = 0; i < FB_OCCUPANCY_BINS; i++) {
        const struct fb_place here = {place, NULL, i, place->file, place->err};
        if (read_count(json_array_get(value, i), &hostage->histogram[i], &here) != 0)
            return -1;
    }
    return 0;
}

static const struct fb_field hostage_fields[] = {
    CHARS(fb_hostage, class_name, "class"),
    ROW(U64, fb_hostage, live_bytes, "live_bytes"),
    ROW(U64, fb_hostage, held_bytes, "held_bytes"),
    ROW(U64, fb_hostage, held_live_bytes, "held_live_bytes"),
    ROW(U64, fb_hostage, pages, "pages"),
    CUSTOM(encode_histogram, decode_histogram, "histogram"),
    END,
};

static const struct fb_field holder_fields[] = {
    CHARS(fb_holder, class_name, "class"),
    ROW(U64, fb_holder, size_bytes, "size_bytes"),
    ROW(U64, fb_holder, held_bytes, "held_bytes"),
    ROW(U64, fb_holder, age_ns, "age_ns"),
    END,
};

/* The holders' array has a fixed room, which the codec's ARRAY has not. */
static json_t *encode_holders(const void *record)
{
    const struct fb_attribution *attribution = record;
    json_t *array = json_array();
    for (size_t i = 0; i < attribution->holder_count; i++)
        (void)json_array_append_new(array,
                                    fb_codec_encode(holder_fields, &attribution->holders[i]));
    return array;
}

static int decode_holders(const json_t *value, void *record, const struct fb_place *place)
{
    struct fb_attribution *attribution = record;
    size_t count = json_array_size(value);
    if (!json_is_array(value) || count > FB_HOLDERS_MAX)
        return fb_codec_fail(place, "expected an array of at most %d", FB_HOLDERS_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct fb_place here = {place, NULL, i, place->file, place->err};
        if (fb_codec_decode(holder_fields, json_array_get(value, i), &attribution->holders[i],
                            &here) != 0)
            return -1;
    }
    attribution->holder_count = count;
    return 0;
}

static const struct fb_field attribution_fields[] = {
    CUSTOM(encode_parts, decode_parts, "parts"),
    ROW(U64, fb_attribution, footprint_bytes, "parts_footprint_bytes"),
    CUSTOM(encode_mismatch, decode_mismatch, "parts_mismatch_bytes"),
    ROW(BOOL, fb_attribution, is_second_run, "parts_of_second_run"),
    ROW(U64, fb_attribution, huge_bytes, "parts_huge_bytes"),
    ROW(U64, fb_attribution, swapped_bytes, "parts_swapped_bytes"),
    ROW(U64, fb_attribution, blocks, "blocks"),
    ROW(U64, fb_attribution, snapshot_ns, "snapshot_ns"),
    {.name = "hostages",
     .kind = FB_FIELD_ARRAY,
     .offset = offsetof(struct fb_attribution, hostages),
     .count_offset = offsetof(struct fb_attribution, hostage_count),
     .size = sizeof(struct fb_hostage),
     .fields = hostage_fields},
    CUSTOM(encode_holders, decode_holders, "holders"),
    CUSTOM(encode_account, decode_account, "counters"),
    ROW(TEXT, fb_attribution, heat_file, "heat"),
    END,
};

void fb_attribution_encode(const struct fb_checkpoint *checkpoint, json_t *object)
{
    if (checkpoint->attribution == NULL) {
        fb_codec_put(object, "parts", json_null());
        return;
    }
    json_t *members = fb_codec_encode(attribution_fields, checkpoint->attribution);
    (void)json_object_update(object, members);
    json_decref(members);
}

int fb_attribution_decode(const json_t *object, struct fb_checkpoint *checkpoint,
                          const struct fb_place *place)
{
    const json_t *parts = json_object_get(object, "parts");
    if (parts == NULL || json_is_null(parts))
        return 0;
    checkpoint->attribution = fb_alloc(1, sizeof *checkpoint->attribution);
    return fb_codec_decode(attribution_fields, object, checkpoint->attribution, place);
}
