/* Phases, and whether their plans are possible. */
#include "base/alloc.h"
#include "workload/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const struct fb_word mix_words[] = {
    {"interleaved", FB_MIX_INTERLEAVED},
    {"sequential", FB_MIX_SEQUENTIAL},
};

static const struct fb_word order_words[] = {
    {"fifo", FB_FREE_FIFO},
    {"lifo", FB_FREE_LIFO},
    {"random", FB_FREE_RANDOM},
};

static const struct fb_word refusal_words[] = {{"degrade", 0}, {"fail", 1}};

/* Index of the class; false (a fault) when there is none. */
static bool find_class(struct fb_reader *reader, const struct fb_pair *pair, const char *what,
                       size_t *out)
{
    const struct fb_workload *workload = reader->workload;
    for (size_t i = 0; i < workload->class_count; i++) {
        if (strcmp(workload->classes[i].name, pair->name) == 0) {
            *out = i;
            return true;
        }
    }
    char advice[FB_TITLE_MAX];
    const char **names = fb_alloc(workload->class_count, sizeof *names);
    for (size_t i = 0; i < workload->class_count; i++)
        names[i] = workload->classes[i].name;
    fb_node_fault(pair->key, "unknown-object", "%s names the unknown object \"%.40s\"%s", what,
                  pair->name,
                  workload->class_count == 0
                      ? "; declare it in objects"
                      : fb_advise(pair->name, names, workload->class_count, advice, sizeof advice));
    free(names);
    return false;
}

/* A lifetime that ends with iterations, where there are none. */
static void check_lifetime(const struct fb_reader *reader, const struct fb_phase *phase,
                           struct fb_node key, size_t index)
{
    const struct fb_object_class *class = &reader->workload->classes[index];
    bool by_iteration =
        class->lifetime == FB_LIFETIME_ITERATION || class->lifetime == FB_LIFETIME_ITERATIONS;
    if (by_iteration && reader->notes[index].lifetime_known && !phase->has_iterations)
        fb_node_fault(
            key, "impossible-lifetime",
            "object \"%s\" lives by iterations, but phase \"%s\" has none; give the phase "
            "\"iterations\" or the object \"lifetime: phase\"",
            class->name, phase->name);
}

/* One entry of allocate or free with its value ready to read. */
typedef void read_entry(struct fb_reader *reader, struct fb_phase *phase,
                        const struct fb_pair *pair, const struct fb_value *value, size_t index);

static void read_allocate(struct fb_reader *reader, struct fb_phase *phase,
                          const struct fb_pair *pair, const struct fb_value *value, size_t index)
{
    struct fb_phase_allocate entry = {.class_index = index};
    reader->notes[index].allocated = true;
    check_lifetime(reader, phase, pair->key, index);
    fb_threads_check_object(reader, phase, pair->key, index);
    if (fb_value_distribution(reader, value, FB_UNIT_COUNT, 0, &entry.count))
        phase->allocate[phase->allocate_count++] = entry;
}

static void check_free(const struct fb_reader *reader, const struct fb_phase *phase,
                       struct fb_node key, size_t index)
{
    const struct fb_object_class *class = &reader->workload->classes[index];
    if (reader->notes[index].lifetime_known && class->lifetime != FB_LIFETIME_MANUAL)
        fb_node_fault(key, "free-not-manual",
                      "phase \"%s\" frees \"%s\", whose lifetime is not manual; give it "
                      "\"lifetime: manual\"",
                      phase->name, class->name);
    else if (!reader->notes[index].allocated)
        fb_node_fault(key, "nothing-to-free",
                      "phase \"%s\" frees \"%s\", which nothing up to here allocates; allocate it "
                      "first",
                      phase->name, class->name);
}

static void read_free(struct fb_reader *reader, struct fb_phase *phase, const struct fb_pair *pair,
                      const struct fb_value *value, size_t index)
{
    struct fb_phase_free entry = {.class_index = index, .share = UINT64_C(1) << 32};
    check_free(reader, phase, pair->key, index);
    const char *text = fb_value_text(value);
    bool all = text != NULL && strcmp(text, "all") == 0;
    if (text != NULL &&
        (all || fb_value_whole(value, FB_UNIT_SHARE, 0, UINT64_C(1) << 32, &entry.share)))
        phase->free[phase->free_count++] = entry;
}

static void read_entries(struct fb_reader *reader, struct fb_phase *phase,
                         const struct fb_value *mapping, const struct fb_pairs *pairs,
                         const char *values, read_entry *read)
{
    for (size_t i = 0; i < pairs->count; i++) {
        struct fb_value value = {.values = values};
        size_t index = 0;
        if (!find_class(reader, &pairs->items[i], mapping->what, &index))
            continue;
        (void)snprintf(value.what, sizeof value.what, "\"%.40s\" in %.*s", pairs->items[i].name,
                       FB_TITLE_MAX - 50, mapping->what);
        if (fb_value_inner(reader, &value, pairs->items[i].value, &value))
            read(reader, phase, &pairs->items[i], &value, index);
        else
            reader->notes[index].allocated = true; /* no second fault about the same entry */
    }
}

/* The pairs of allocate or free; false when there are none to read. */
static bool get_pairs(struct fb_reader *reader, const struct fb_fields *fields, const char *key,
                      struct fb_value *mapping, struct fb_pairs *pairs)
{
    if (!fb_fields_get(reader, fields, key, mapping))
        return false;
    if (!fb_node_is_mapping(mapping->node)) {
        fb_value_wrong_type(mapping);
        return false;
    }
    fb_pairs_init(pairs, mapping->node, mapping->what);
    return true;
}

static void read_plan(struct fb_reader *reader, const struct fb_fields *fields,
                      struct fb_phase *phase)
{
    struct fb_value mapping;
    struct fb_pairs pairs;
    if (get_pairs(reader, fields, "allocate", &mapping, &pairs)) {
        phase->allocate = fb_alloc(pairs.count, sizeof *phase->allocate);
        read_entries(reader, phase, &mapping, &pairs, "a count or a distribution of counts",
                     read_allocate);
        fb_pairs_deinit(&pairs);
    }
    if (get_pairs(reader, fields, "free", &mapping, &pairs)) {
        phase->free = fb_alloc(pairs.count, sizeof *phase->free);
        read_entries(reader, phase, &mapping, &pairs, "all or a share such as 50%", read_free);
        fb_pairs_deinit(&pairs);
    }
}

static void read_times(struct fb_reader *reader, const struct fb_fields *fields,
                       struct fb_phase *phase)
{
    struct fb_value value;
    phase->has_iterations = fb_fields_has(fields, "iterations");
    if (fb_fields_get(reader, fields, "iterations", &value))
        (void)fb_value_whole(&value, FB_UNIT_COUNT, 1, FB_ITERATIONS_MAX, &phase->iterations);
    if (fb_fields_get(reader, fields, "every", &value))
        (void)fb_value_whole(&value, FB_UNIT_TIME, 0, FB_DISTRIBUTION_MAX, &phase->every_ns);
    if (fb_fields_get(reader, fields, "for", &value))
        (void)fb_value_whole(&value, FB_UNIT_TIME, 0, FB_DISTRIBUTION_MAX, &phase->for_ns);
    if (fb_fields_get(reader, fields, "hold", &value))
        (void)fb_value_whole(&value, FB_UNIT_TIME, 0, FB_DISTRIBUTION_MAX, &phase->hold_ns);
    if (fb_fields_has(fields, "every") && !phase->has_iterations)
        fb_node_fault(fb_fields_key(fields, "every"), "missing-key",
                      "every in %s paces iterations, but it has none; add \"iterations: 100\" or "
                      "use \"for\"",
                      fields->title);
}

static void read_ways(struct fb_reader *reader, const struct fb_fields *fields,
                      struct fb_phase *phase)
{
    struct fb_value value;
    int word = 0;
    if (fb_fields_get(reader, fields, "mix", &value) &&
        fb_value_word(&value, mix_words, COUNT(mix_words), &word))
        phase->mix = (enum fb_mix)word;
    if (fb_fields_get(reader, fields, "free_order", &value) &&
        fb_value_word(&value, order_words, COUNT(order_words), &word))
        phase->free_order = (enum fb_free_order)word;
    if (fb_fields_get(reader, fields, "on_refusal", &value) &&
        fb_value_word(&value, refusal_words, COUNT(refusal_words), &word))
        phase->fail_on_refusal = word != 0;
}

static void read_name(struct fb_reader *reader, const struct fb_fields *fields,
                      struct fb_phase *phase)
{
    const struct fb_workload *workload = reader->workload;
    struct fb_value value;
    if (!fb_fields_need(reader, fields, "name", &value))
        return;
    const char *name = fb_value_text(&value);
    if (name == NULL || !fb_name_check(value.node, name, "phase"))
        return;
    for (const struct fb_phase *other = workload->phases; other < phase; other++)
        if (strcmp(other->name, name) == 0)
            fb_node_fault(value.node, "duplicate-name",
                          "a phase before this is named \"%s\" too; give it another name", name);
    (void)snprintf(phase->name, sizeof phase->name, "%s", name);
}

/* "phase \"serve\"", or by its place in the list when it has no name. */
static void title_phase(struct fb_reader *reader, struct fb_value *value, size_t index)
{
    struct fb_node name = {0};
    (void)snprintf(value->what, sizeof value->what, "phase %zu", index + 1);
    for (size_t i = 0; i < fb_node_pair_count(value->node); i++) {
        const char *key = fb_node_text(fb_node_pair_key(value->node, i));
        if (key != NULL && strcmp(key, "name") == 0)
            name = fb_node_pair_value(value->node, i);
    }
    if (name.raw != NULL && fb_params_resolve(&reader->params, name, &name) &&
        fb_node_text(name) != NULL && !fb_node_is_null(name))
        (void)snprintf(value->what, sizeof value->what, "phase \"%.40s\"", fb_node_text(name));
}

static void read_phase(struct fb_reader *reader, const struct fb_value *list, size_t index)
{
    struct fb_phase *phase = &reader->workload->phases[index];
    struct fb_value value = {.values = "a mapping {name, allocate, ...}"};
    struct fb_fields fields;
    (void)snprintf(value.what, sizeof value.what, "phase %zu", index + 1);
    if (!fb_value_inner(reader, &value, fb_node_item(list->node, index), &value))
        return;
    title_phase(reader, &value, index);
    if (!fb_fields_read(&value, "phase", value.node, &fields))
        return;
    read_name(reader, &fields, phase);
    read_times(reader, &fields, phase);
    fb_read_threads(reader, &fields, phase);
    read_plan(reader, &fields, phase);
    read_ways(reader, &fields, phase);
}

static void check_unused(const struct fb_reader *reader)
{
    for (size_t i = 0; i < reader->workload->class_count; i++)
        if (!reader->notes[i].allocated)
            fb_node_fault(reader->notes[i].key, "unused-object",
                          "no phase allocates object \"%s\"; allocate it or remove it",
                          reader->workload->classes[i].name);
}

static size_t fault_count(const struct fb_reader *reader)
{
    return reader->diagnostics->count + reader->diagnostics->dropped;
}

void fb_read_phases(struct fb_reader *reader, const struct fb_value *phases)
{
    size_t count = fb_node_count(phases->node), before = fault_count(reader);
    if (!fb_node_is_list(phases->node)) {
        fb_value_wrong_type(phases);
        return;
    }
    if (count == 0 || count > FB_ITEMS_MAX) {
        fb_node_fault(phases->node, count == 0 ? "missing-key" : "too-large", "%s",
                      count == 0 ? "there is no phase; add one, such as \"- {name: load, allocate: "
                                   "{weights: 1}}\""
                                 : "there are more than 1,000 phases; use iterations");
        return;
    }
    reader->workload->phases = fb_alloc(count, sizeof *reader->workload->phases);
    reader->workload->phase_count = count;
    for (size_t i = 0; i < count; i++)
        read_phase(reader, phases, i);
    /* After a fault in a phase an object may only look unused: its name was misspelt there. */
    bool well = fault_count(reader) == before;
    if (well && before == 0)
        fb_pools_check_unused(reader);
    if (well)
        check_unused(reader);
}
