/* Object classes. */
#include "base/alloc.h"
#include "workload/reader.h"

#include <stdio.h>
#include <string.h>

enum { ALIGN_MIN = 8, ALIGN_MAX = 2 << 20 };

static const struct fb_word lifetime_words[] = {
    {"run", FB_LIFETIME_RUN},
    {"phase", FB_LIFETIME_PHASE},
    {"iteration", FB_LIFETIME_ITERATION},
    {"manual", FB_LIFETIME_MANUAL},
    {"scope", FB_LIFETIME_SCOPE},
    {"inner_scope", FB_LIFETIME_INNER_SCOPE},
};

static const struct fb_word touch_words[] = {
    {"pages", FB_TOUCH_PAGES},
    {"all", FB_TOUCH_ALL},
    {"none", FB_TOUCH_NONE},
};

static const struct fb_word call_words[] = {
    {"malloc", FB_CALL_MALLOC},
    {"calloc", FB_CALL_CALLOC},
    {"realloc", FB_CALL_REALLOC},
    {"aligned", FB_CALL_ALIGNED},
};

static const struct fb_word grow_words[] = {
    {"realloc", FB_GROW_REALLOC},
    {"copy", FB_GROW_COPY},
};

struct measured_lifetime {
    const char *key;
    enum fb_lifetime lifetime;
    enum fb_unit_kind kind;
};

static const struct measured_lifetime measured_lifetimes[] = {
    {"iterations", FB_LIFETIME_ITERATIONS, FB_UNIT_COUNT},
    {"time", FB_LIFETIME_TIME, FB_UNIT_TIME},
    {"ops", FB_LIFETIME_OPS, FB_UNIT_COUNT},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* {iterations: D}, {time: D} or {ops: D}. */
static bool read_measured_lifetime(struct fb_reader *reader, const struct fb_value *value,
                                   struct fb_object_class *class)
{
    struct fb_fields fields;
    struct fb_value length;
    if (!fb_fields_read(value, "lifetime", value->node, &fields))
        return false;
    if (fields.count != 1) {
        if (!fields.unknown)
            fb_node_fault(value->node, "wrong-type",
                          "%s: a mapping has exactly one key, such as {iterations: 20}",
                          value->what);
        return false;
    }
    const struct measured_lifetime *row = measured_lifetimes;
    while (!fb_fields_has(&fields, row->key))
        row++;
    if (!fb_fields_get(reader, &fields, row->key, &length) ||
        !fb_value_distribution(reader, &length, row->kind, 1, &class->life))
        return false;
    class->lifetime = row->lifetime;
    return true;
}

static bool read_lifetime(struct fb_reader *reader, const struct fb_fields *fields,
                          struct fb_object_class *class)
{
    struct fb_value value;
    int word = 0;
    if (!fb_fields_need(reader, fields, "lifetime", &value))
        return false;
    if (fb_node_is_mapping(value.node))
        return read_measured_lifetime(reader, &value, class);
    if (!fb_value_word(&value, lifetime_words, COUNT(lifetime_words), &word))
        return false;
    class->lifetime = (enum fb_lifetime)word;
    return true;
}

/* A word, or a share: what begins with a digit or a sign is meant as a number. */
static void read_touch(struct fb_reader *reader, const struct fb_fields *fields,
                       struct fb_object_class *class)
{
    struct fb_value value;
    int word = FB_TOUCH_PAGES;
    if (!fb_fields_get(reader, fields, "touch", &value))
        return;
    const char *text = fb_value_text(&value);
    if (text == NULL)
        return;
    if (strchr("-+.0123456789", text[0]) != NULL) {
        if (fb_value_whole(&value, FB_UNIT_SHARE, 0, UINT64_C(1) << 32, &class->touch_share))
            class->touch = FB_TOUCH_SHARE;
    } else if (fb_value_word(&value, touch_words, COUNT(touch_words), &word)) {
        class->touch = (enum fb_touch)word;
    }
}

static void read_align(struct fb_reader *reader, const struct fb_fields *fields,
                       struct fb_object_class *class)
{
    struct fb_value value;
    uint64_t align = 0;
    if (!fb_fields_get(reader, fields, "align", &value) ||
        !fb_value_whole(&value, FB_UNIT_BYTES, 0, UINT64_MAX, &align))
        return;
    if (align < ALIGN_MIN || align > ALIGN_MAX || (align & (align - 1)) != 0) {
        fb_node_fault(value.node, "bad-align",
                      "%s: \"%.40s\" is no power of two from 8 to 2MiB; take 64 or 4KiB",
                      value.what, fb_node_text(value.node));
        return;
    }
    class->align = align;
}

static void read_call(struct fb_reader *reader, const struct fb_fields *fields,
                      struct fb_object_class *class)
{
    struct fb_value value;
    int word = FB_CALL_MALLOC;
    bool given = fb_fields_has(fields, "call"), align = fb_fields_has(fields, "align");
    if (given && (!fb_fields_get(reader, fields, "call", &value) ||
                  !fb_value_word(&value, call_words, COUNT(call_words), &word)))
        return;
    class->call = !given && align ? FB_CALL_ALIGNED : (enum fb_call)word;
    if (class->call == FB_CALL_ALIGNED && !align)
        fb_node_fault(value.node, "missing-key", "align is missing in %s; add \"align: 64\"",
                      fields->title);
    if (class->call != FB_CALL_ALIGNED && align)
        fb_node_fault(fb_fields_key(fields, "align"), "bad-align",
                      "align in %s needs \"call: aligned\"; change call or remove align",
                      fields->title);
}

/* By bytes or by a factor: exactly one of them. */
static void read_step(struct fb_reader *reader, const struct fb_fields *fields,
                      struct fb_object_class *class)
{
    struct fb_value value;
    if (fb_fields_has(fields, "by") == fb_fields_has(fields, "factor")) {
        fb_node_fault(fields->at, "missing-key",
                      "%s takes either by or factor; give one, such as \"by: 16KiB\"",
                      fields->title);
        return;
    }
    if (fb_fields_get(reader, fields, "by", &value))
        (void)fb_value_whole(&value, FB_UNIT_BYTES, 1, FB_DISTRIBUTION_MAX, &class->grow_by_bytes);
    if (fb_fields_get(reader, fields, "factor", &value) &&
        fb_value_real(&value, FB_UNIT_COUNT, 1.0, 1000.0, &class->grow_factor) &&
        class->grow_factor <= 1.0)
        fb_node_fault(value.node, "out-of-range", "%s: a factor of 1 never grows; give more",
                      value.what);
}

static void read_grow_mapping(struct fb_reader *reader, const struct fb_fields *fields,
                              struct fb_object_class *class)
{
    struct fb_value value;
    int word = FB_GROW_REALLOC;
    read_step(reader, fields, class);
    if (fb_fields_need(reader, fields, "to", &value) &&
        fb_value_whole(&value, FB_UNIT_BYTES, 1, FB_DISTRIBUTION_MAX, &class->grow_to_bytes) &&
        class->size.kind == FB_DISTRIBUTION_CONSTANT &&
        (double)class->grow_to_bytes <= class->size.a)
        fb_node_fault(value.node, "out-of-range",
                      "%s is not above the object's size; raise it or remove grow", value.what);
    if (fb_fields_get(reader, fields, "how", &value))
        (void)fb_value_word(&value, grow_words, COUNT(grow_words), &word);
    class->grow = (enum fb_grow_how)word;
}

static void read_grow(struct fb_reader *reader, const struct fb_fields *fields,
                      struct fb_object_class *class)
{
    struct fb_value value;
    struct fb_fields inner;
    if (fb_fields_get(reader, fields, "grow", &value) &&
        fb_fields_read(&value, "grow", value.node, &inner))
        read_grow_mapping(reader, &inner, class);
}

/* What two threads do to one object must come in an order: a thread that grows it in place while
 * another may free it has none; nor can a scope end before all its objects are back. */
static void check_freed_by(const struct fb_reader *reader, const struct fb_fields *fields,
                           const struct fb_object_class *class, size_t index)
{
    bool scoped =
        class->lifetime == FB_LIFETIME_SCOPE || class->lifetime == FB_LIFETIME_INNER_SCOPE;
    if (class->freed_by == FB_FREED_BY_SAME)
        return;
    if (scoped && reader->notes[index].lifetime_known)
        fb_node_fault(fb_fields_key(fields, "freed_by"), "conflicting-keys",
                      "%s ends with its scope, on the thread that allocated it; remove freed_by or "
                      "change lifetime",
                      fields->title);
    if (class->grow == FB_GROW_REALLOC)
        fb_node_fault(fb_fields_key(fields, "freed_by"), "conflicting-keys",
                      "%s grows in place, which no other thread may interrupt; remove freed_by or "
                      "grow it with \"how: copy\"",
                      fields->title);
}

static void read_freed_by(struct fb_reader *reader, const struct fb_fields *fields,
                          struct fb_object_class *class, size_t index)
{
    static const char *const words[] = {"same", "other"};
    struct fb_value value;
    if (!fb_fields_get(reader, fields, "freed_by", &value))
        return;
    const char *text = fb_value_text(&value);
    if (text == NULL || strcmp(text, words[0]) == 0)
        return;
    class->freed_by = FB_FREED_BY_OTHER;
    if (strcmp(text, words[1]) != 0) {
        class->freed_by_pool = fb_pool_find(reader, &value, words, COUNT(words));
        class->freed_by = FB_FREED_BY_POOL;
    }
    check_freed_by(reader, fields, class, index);
}

static void read_object(struct fb_reader *reader, const struct fb_pair *pair, size_t index)
{
    struct fb_object_class *class = &reader->workload->classes[index];
    struct fb_value value = {.values = "a mapping {size, lifetime, ...}"};
    struct fb_fields fields;
    (void)snprintf(class->name, sizeof class->name, "%.*s", FB_NAME_MAX - 1, pair->name);
    (void)snprintf(value.what, sizeof value.what, "object \"%.40s\"", pair->name);
    reader->notes[index].key = pair->key;
    (void)fb_name_check(pair->key, pair->name, "object");
    if (!fb_value_inner(reader, &value, pair->value, &value) ||
        !fb_fields_read(&value, "object", pair->key, &fields))
        return;
    if (fb_fields_need(reader, &fields, "size", &value))
        (void)fb_value_distribution(reader, &value, FB_UNIT_BYTES, 1, &class->size);
    reader->notes[index].lifetime_known = read_lifetime(reader, &fields, class);
    read_touch(reader, &fields, class);
    read_align(reader, &fields, class);
    read_call(reader, &fields, class);
    read_grow(reader, &fields, class);
    read_freed_by(reader, &fields, class, index);
}

void fb_read_objects(struct fb_reader *reader, const struct fb_value *objects)
{
    struct fb_pairs pairs;
    if (!fb_node_is_mapping(objects->node)) {
        fb_value_wrong_type(objects);
        return;
    }
    fb_pairs_init(&pairs, objects->node, "objects");
    if (pairs.count == 0 && fb_node_pair_count(objects->node) == 0)
        fb_node_fault(objects->node, "missing-key",
                      "there is no object; add one, such as "
                      "\"buffer: {size: 1MiB, lifetime: run}\"");
    reader->workload->classes = fb_alloc(pairs.count, sizeof *reader->workload->classes);
    reader->notes = fb_alloc(pairs.count, sizeof *reader->notes);
    reader->workload->class_count = pairs.count;
    for (size_t i = 0; i < pairs.count; i++)
        read_object(reader, &pairs.items[i], i);
    fb_pairs_deinit(&pairs);
}
