/* A number or a distribution. One row a shape; adding one is adding a row here, a row
 * in keys.c and its draw in distribution.c. */
#include "base/alloc.h"
#include "workload/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double largest = (double)FB_DISTRIBUTION_MAX;
static const double weight_max = 9007199254740992.0; /* 2^53: sums of counts stay exact */
/* Below it a draw would leave fb_det_exp()'s range; the tail is absurd long before. */
static const double shape_min = 0.1;

/* What a shape's reader needs; value is what stands behind the shape's name. */
struct context {
    struct fb_reader *reader;
    const struct fb_value *value;
    const char *name; /* the shape's */
    enum fb_unit_kind kind;
    uint64_t minimum;
    struct fb_distribution *out;
};

static bool read_whole(const struct context *context, const struct fb_value *value, double *out)
{
    uint64_t number = 0;
    if (!fb_value_whole(value, context->kind, context->minimum, FB_DISTRIBUTION_MAX, &number))
        return false;
    *out = (double)number; /* exact: at most 2^46 */
    return true;
}

static bool fault(const struct fb_value *value, const char *id, const char *text)
{
    fb_node_fault(value->node, id, "%s: %s", value->what, text);
    return false;
}

/* A smallest value that is above zero: where the formula divides by it or takes its log. */
static double above_zero(const struct context *context)
{
    return context->minimum > 0 ? (double)context->minimum : 1e-6;
}

/* List item `index` as a value of its own. */
static bool item(const struct context *context, const struct fb_value *list, size_t index,
                 struct fb_value *out)
{
    return fb_value_inner(context->reader, list, fb_node_item(list->node, index), out);
}

static bool need_list(const struct fb_value *list, size_t at_least)
{
    if (!fb_node_is_list(list->node)) {
        fb_value_wrong_type(list);
        return false;
    }
    if (fb_node_count(list->node) < at_least)
        return fault(list, "wrong-type",
                     at_least == 1 ? "the list is empty; give a value"
                                   : "the list is too short; give more values");
    return true;
}

static bool read_uniform(const struct context *context)
{
    struct fb_value low, high;
    double a = 0, b = 0;
    if (!need_list(context->value, 2))
        return false;
    if (fb_node_count(context->value->node) > 2)
        return fault(context->value, "wrong-type", "uniform takes two values: [lowest, highest]");
    bool well = item(context, context->value, 0, &low) && read_whole(context, &low, &a);
    if (!item(context, context->value, 1, &high) || !read_whole(context, &high, &b) || !well)
        return false;
    if (a > b)
        return fault(context->value, "out-of-range",
                     "the lowest value is above the highest; swap them");
    context->out->a = a;
    context->out->b = b;
    return true;
}

/* The two keys of a mapping, as numbers in their ranges. */
static bool read_pair(const struct context *context, const char *first, double first_low,
                      const char *second, enum fb_unit_kind second_kind, double second_low)
{
    struct fb_fields fields;
    struct fb_value value;
    double a = 0, b = 0;
    if (!fb_fields_read(context->value, context->name, context->value->node, &fields))
        return false;
    bool well = fb_fields_need(context->reader, &fields, first, &value) &&
                fb_value_real(&value, context->kind, first_low, largest, &a);
    if (!fb_fields_need(context->reader, &fields, second, &value) ||
        !fb_value_real(&value, second_kind, second_low, largest, &b) || !well)
        return false;
    context->out->a = a;
    context->out->b = b;
    return true;
}

static bool read_normal(const struct context *context)
{
    return read_pair(context, "mean", (double)context->minimum, "sd", context->kind, 0.0);
}

static bool read_lognormal(const struct context *context)
{
    double low = above_zero(context);
    if (!read_pair(context, "median", low, "p99", context->kind, low))
        return false;
    if (context->out->b < context->out->a)
        return fault(context->value, "out-of-range",
                     "p99 is below the median; give the larger value to p99");
    return true;
}

static bool read_pareto(const struct context *context)
{
    return read_pair(context, "min", above_zero(context), "shape", FB_UNIT_COUNT, shape_min);
}

static bool read_exponential(const struct context *context)
{
    return fb_value_real(context->value, context->kind, above_zero(context), largest,
                         &context->out->a);
}

static bool read_geometric(const struct context *context)
{
    return fb_value_real(context->value, context->kind, 1.0, largest, &context->out->a);
}

/* One [value, weight]. */
static bool read_choice_item(const struct context *context, const struct fb_value *entry,
                             size_t index)
{
    struct fb_value value, weight;
    if (fb_node_count(entry->node) != 2)
        return fault(entry, "wrong-type", "an entry of choice is a list [value, weight]");
    return item(context, entry, 0, &value) &&
           read_whole(context, &value, &context->out->values[index]) &&
           item(context, entry, 1, &weight) &&
           fb_value_real(&weight, FB_UNIT_COUNT, 0.0, weight_max, &context->out->weights[index]);
}

/* weights become cumulative; false (a fault) when they add up to nothing. */
static bool accumulate(const struct context *context, const struct fb_value *at)
{
    double sum = 0;
    for (size_t i = 0; i < context->out->count; i++) {
        sum += context->out->weights[i];
        context->out->weights[i] = sum;
    }
    return sum > 0 || fault(at, "out-of-range", "the weights add up to 0; give one above 0");
}

static bool read_choice(const struct context *context)
{
    if (!need_list(context->value, 1))
        return false;
    size_t count = fb_node_count(context->value->node);
    context->out->values = fb_alloc(count, sizeof(double));
    context->out->weights = fb_alloc(count, sizeof(double));
    context->out->count = count;
    bool well = true;
    for (size_t i = 0; i < count; i++) {
        struct fb_value entry;
        well = item(context, context->value, i, &entry) && read_choice_item(context, &entry, i) &&
               well;
    }
    return well && accumulate(context, context->value);
}

/* The list's values into a new array. */
static bool read_values(const struct context *context, const struct fb_value *list)
{
    size_t count = fb_node_count(list->node);
    context->out->values = fb_alloc(count, sizeof(double));
    bool well = true;
    for (size_t i = 0; i < count; i++) {
        struct fb_value value;
        well = item(context, list, i, &value) &&
               read_whole(context, &value, &context->out->values[i]) && well;
    }
    return well;
}

static bool read_cycle(const struct context *context)
{
    if (!need_list(context->value, 1))
        return false;
    context->out->count = fb_node_count(context->value->node);
    return read_values(context, context->value);
}

static bool read_edges(const struct context *context, const struct fb_value *edges)
{
    if (!need_list(edges, 2) || !read_values(context, edges))
        return false;
    for (size_t i = 1; i < fb_node_count(edges->node); i++)
        if (context->out->values[i] <= context->out->values[i - 1])
            return fault(edges, "out-of-range", "the edges do not ascend; sort them");
    return true;
}

static bool read_counts(const struct context *context, const struct fb_value *counts)
{
    if (!need_list(counts, 1))
        return false;
    size_t count = fb_node_count(counts->node);
    context->out->weights = fb_alloc(count, sizeof(double));
    context->out->count = count;
    bool well = true;
    for (size_t i = 0; i < count; i++) {
        struct fb_value value;
        well = item(context, counts, i, &value) &&
               fb_value_real(&value, FB_UNIT_COUNT, 0.0, weight_max, &context->out->weights[i]) &&
               well;
    }
    return well;
}

static bool read_histogram(const struct context *context)
{
    struct fb_fields fields;
    struct fb_value edges, counts;
    if (!fb_fields_read(context->value, context->name, context->value->node, &fields))
        return false;
    bool well =
        fb_fields_need(context->reader, &fields, "edges", &edges) && read_edges(context, &edges);
    if (!fb_fields_need(context->reader, &fields, "counts", &counts) ||
        !read_counts(context, &counts) || !well)
        return false;
    if (fb_node_count(edges.node) != context->out->count + 1)
        return fault(&counts, "wrong-type", "there must be one count fewer than edges");
    return accumulate(context, &counts);
}

struct shape {
    const char *name;
    enum fb_distribution_kind kind;
    bool (*read)(const struct context *context);
};

static const struct shape shapes[] = {
    {"uniform", FB_DISTRIBUTION_UNIFORM, read_uniform},
    {"normal", FB_DISTRIBUTION_NORMAL, read_normal},
    {"lognormal", FB_DISTRIBUTION_LOGNORMAL, read_lognormal},
    {"exponential", FB_DISTRIBUTION_EXPONENTIAL, read_exponential},
    {"pareto", FB_DISTRIBUTION_PARETO, read_pareto},
    {"geometric", FB_DISTRIBUTION_GEOMETRIC, read_geometric},
    {"choice", FB_DISTRIBUTION_CHOICE, read_choice},
    {"cycle", FB_DISTRIBUTION_CYCLE, read_cycle},
    {"histogram", FB_DISTRIBUTION_HISTOGRAM, read_histogram},
};

/* The shape that the mapping's only key names. */
static bool read_shape(struct context *context, const struct fb_value *value)
{
    struct fb_fields fields;
    if (!fb_fields_read(value, "distribution", value->node, &fields))
        return false;
    if (fields.count != 1) {
        if (!fields.unknown)
            fault(value, "wrong-type",
                  "a distribution has exactly one key, such as {uniform: [1, 8]}");
        return false;
    }
    const struct shape *shape = shapes;
    while (strcmp(shape->name, fields.items[0].key->name) != 0)
        shape++;
    struct fb_value inner = *value;
    inner.values = fields.items[0].key->values;
    if (!fb_value_inner(context->reader, &inner, fields.items[0].value, &inner))
        return false;
    context->value = &inner; /* cppcheck-suppress autoVariables ; read before this returns */
    context->name = shape->name;
    context->out->kind = shape->kind;
    return shape->read(context);
}

bool fb_value_distribution(struct fb_reader *reader, const struct fb_value *value,
                           enum fb_unit_kind kind, uint64_t minimum, struct fb_distribution *out)
{
    struct fb_distribution read = {.kind = FB_DISTRIBUTION_CONSTANT};
    struct context context = {.reader = reader, .kind = kind, .minimum = minimum, .out = &read};
    bool well = fb_node_is_mapping(value->node) ? read_shape(&context, value)
                                                : read_whole(&context, value, &read.a);
    if (!well) {
        fb_distribution_deinit(&read);
        return false;
    }
    *out = read;
    return true;
}
