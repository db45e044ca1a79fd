/* Scalars: numbers, words, names. */
#include "base/suggest.h"
#include "workload/reader.h"

#include <stdio.h>
#include <string.h>

static const char *const fault_ids[] = {
    [FB_UNITS_BAD_NUMBER] = "bad-number", [FB_UNITS_NEGATIVE] = "negative",
    [FB_UNITS_WRONG_UNIT] = "wrong-unit", [FB_UNITS_NOT_WHOLE] = "bad-number",
    [FB_UNITS_RANGE] = "out-of-range",
};

bool fb_value_inner(struct fb_reader *reader, const struct fb_value *outer, struct fb_node node,
                    struct fb_value *out)
{
    struct fb_value inner = *outer;
    if (!fb_params_resolve(&reader->params, node, &inner.node))
        return false;
    if (fb_node_is_null(inner.node)) {
        fb_node_fault(inner.node, "wrong-type", "%s has no value; it takes %s", inner.what,
                      inner.values);
        return false;
    }
    *out = inner;
    return true;
}

void fb_value_wrong_type(const struct fb_value *value)
{
    char given[48];
    fb_node_fault(value->node, "wrong-type", "%s is %s; it takes %s", value->what,
                  fb_node_describe(value->node, given, sizeof given), value->values);
}

const char *fb_value_text(const struct fb_value *value)
{
    const char *text = fb_node_text(value->node);
    if (text == NULL)
        fb_value_wrong_type(value);
    return text;
}

static bool units_fault(const struct fb_value *value, enum fb_units_fault fault,
                        const struct fb_error *err)
{
    if (fault == FB_UNITS_OK)
        return false;
    fb_node_fault(value->node, fault_ids[fault], "%s: %s", value->what, err->text);
    return true;
}

static const char *show(enum fb_unit_kind kind, uint64_t number, char *buffer, size_t size)
{
    if (kind == FB_UNIT_BYTES)
        return fb_units_bytes(number, buffer, size);
    if (kind == FB_UNIT_TIME)
        return fb_units_time(number, buffer, size);
    return fb_units_count(number, buffer, size);
}

static void report_range(const struct fb_value *value, const char *low, const char *high)
{
    bool one = strcmp(low, high) == 0;
    fb_node_fault(value->node, "out-of-range", "%s: \"%.40s\" is out of range; it takes %s%s%s",
                  value->what, fb_node_text(value->node), low, one ? "" : " to ", one ? "" : high);
}

bool fb_value_whole(const struct fb_value *value, enum fb_unit_kind kind, uint64_t low,
                    uint64_t high, uint64_t *out)
{
    struct fb_error err = {0};
    uint64_t number = 0;
    char low_text[48], high_text[48];
    const char *text = fb_value_text(value);
    if (text == NULL || units_fault(value, fb_units_read(kind, text, &number, &err), &err))
        return false;
    if (number < low || number > high) {
        report_range(value, show(kind, low, low_text, sizeof low_text),
                     show(kind, high, high_text, sizeof high_text));
        return false;
    }
    *out = number;
    return true;
}

static void report_real_range(const struct fb_value *value, enum fb_unit_kind kind, double low,
                              double high)
{
    char low_text[48], high_text[48];
    if (kind == FB_UNIT_COUNT)
        (void)snprintf(low_text, sizeof low_text, "%g", low); /* may be 0.1 */
    else
        (void)show(kind, (uint64_t)low, low_text, sizeof low_text);
    report_range(value, low_text, show(kind, (uint64_t)high, high_text, sizeof high_text));
}

bool fb_value_real(const struct fb_value *value, enum fb_unit_kind kind, double low, double high,
                   double *out)
{
    struct fb_error err = {0};
    double number = 0;
    const char *text = fb_value_text(value);
    if (text == NULL || units_fault(value, fb_units_read_real(kind, text, &number, &err), &err))
        return false;
    if (number < low || number > high) {
        report_real_range(value, kind, low, high);
        return false;
    }
    *out = number;
    return true;
}

const char *fb_advise(const char *word, const char *const *known, size_t count, char *buffer,
                      size_t size)
{
    const char *near = fb_suggest(word, known, count);
    if (near != NULL) {
        (void)snprintf(buffer, size, "; did you mean \"%.64s\"?", near);
        return buffer;
    }
    size_t used = (size_t)snprintf(buffer, size, "; known are");
    for (size_t i = 0; i < count; i++) {
        bool last = i + 1 == count;
        size_t needed = strlen(known[i]) + sizeof ", ...";
        if (used + needed + 2 >= size) {
            (void)snprintf(buffer + used, size - used, " ...");
            break;
        }
        used += (size_t)snprintf(buffer + used, size - used, " %s%s", known[i], last ? "" : ",");
    }
    return buffer;
}

bool fb_value_word(const struct fb_value *value, const struct fb_word *words, size_t count,
                   int *out)
{
    enum { WORDS_MAX = 8 };
    const char *known[WORDS_MAX];
    char advice[FB_TITLE_MAX];
    const char *text = fb_value_text(value);
    if (text == NULL)
        return false;
    for (size_t i = 0; i < count && i < WORDS_MAX; i++) {
        known[i] = words[i].word;
        if (strcmp(text, words[i].word) == 0) {
            *out = words[i].value;
            return true;
        }
    }
    fb_node_fault(
        value->node, "unknown-word", "%s is \"%.40s\"%s", value->what, text,
        fb_advise(text, known, count < WORDS_MAX ? count : WORDS_MAX, advice, sizeof advice));
    return false;
}

bool fb_name_check(struct fb_node node, const char *name, const char *what)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    size_t length = strlen(name);
    if (length > 0 && length < FB_NAME_MAX && strspn(name, letters) == length)
        return true;
    fb_node_fault(node, "bad-name",
                  "%s name \"%.40s\" is %s; use letters, digits, \"_\", \".\" and \"-\"", what,
                  name,
                  length == 0             ? "empty"
                  : length >= FB_NAME_MAX ? "longer than 63 characters"
                                          : "no name");
    return false;
}
