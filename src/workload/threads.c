/* A phase's threads and scopes, and whether they fit together. */
#include "workload/reader.h"

#include <string.h>

enum { THREADS_MAX = 256, INNER_SCOPES_MAX = 1000 };

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const struct fb_word thread_words[] = {{"main", 0}, {"own", 1}};
static const struct fb_word life_words[] = {{"phase", 0}, {"iteration", 1}};
static const struct fb_word turn_words[] = {{"false", 0}, {"true", 1}};
static const struct fb_word scope_words[] = {{"request", 1}};

/* Keys that say the same thing in two ways. */
static const struct conflict {
    const char *first, *second, *advice;
} conflicts[] = {
    {"threads", "pool", "its threads are its own or the pool's: remove one"},
    {"threads", "thread", "\"threads: 1\" is \"thread: own\": remove one"},
    {"pool", "thread", "it runs on the pool's threads: remove one"},
    {"pool", "thread_life", "a pool's threads live to the end: remove one"},
};

static void check_conflicts(const struct fb_fields *fields)
{
    for (size_t i = 0; i < COUNT(conflicts); i++)
        if (fb_fields_has(fields, conflicts[i].first) && fb_fields_has(fields, conflicts[i].second))
            fb_node_fault(fb_fields_key(fields, conflicts[i].second), "conflicting-keys",
                          "%s has both %s and %s; %s", fields->title, conflicts[i].first,
                          conflicts[i].second, conflicts[i].advice);
}

/* What is faulty counts as two threads, so that nothing more is said about it. */
static void read_who(struct fb_reader *reader, const struct fb_fields *fields,
                     struct fb_phase *phase)
{
    struct fb_value value;
    uint64_t threads = 2;
    int word = 0;
    if (fb_fields_get(reader, fields, "thread", &value) &&
        fb_value_word(&value, thread_words, COUNT(thread_words), &word))
        phase->threads = (uint32_t)word;
    if (fb_fields_has(fields, "threads")) {
        if (fb_fields_get(reader, fields, "threads", &value))
            (void)fb_value_whole(&value, FB_UNIT_COUNT, 1, THREADS_MAX, &threads);
        phase->threads = (uint32_t)threads;
    }
    if (!fb_fields_has(fields, "pool"))
        return;
    if (fb_fields_get(reader, fields, "pool", &value))
        phase->pool = fb_pool_find(reader, &value, NULL, 0);
    if (phase->pool == NULL)
        phase->threads = 2;
}

/* {iterations: n}. */
static bool read_measured_life(struct fb_reader *reader, const struct fb_value *value,
                               struct fb_phase *phase)
{
    struct fb_fields fields;
    struct fb_value length;
    return fb_fields_read(value, "thread_life", value->node, &fields) && !fields.unknown &&
           fb_fields_need(reader, &fields, "iterations", &length) &&
           fb_value_whole(&length, FB_UNIT_COUNT, 1, FB_ITERATIONS_MAX, &phase->thread_life);
}

static void read_life(struct fb_reader *reader, const struct fb_fields *fields,
                      struct fb_phase *phase)
{
    struct fb_value value;
    int word = 0;
    if (!fb_fields_get(reader, fields, "thread_life", &value))
        return;
    if (fb_node_is_mapping(value.node)) {
        if (!read_measured_life(reader, &value, phase))
            return;
    } else {
        if (!fb_value_word(&value, life_words, COUNT(life_words), &word))
            return;
        phase->thread_life = (uint64_t)word;
    }
    struct fb_node key = fb_fields_key(fields, "thread_life");
    if (phase->threads == 0 && phase->pool == NULL)
        fb_node_fault(key, "life-needs-threads",
                      "thread_life in %s is about own threads, but it runs on main; add "
                      "\"threads: 4\"",
                      fields->title);
    else if (phase->thread_life > 0 && !phase->has_iterations)
        fb_node_fault(key, "missing-key",
                      "thread_life in %s counts iterations, but it has none; add \"iterations: "
                      "100\" or remove it",
                      fields->title);
}

static void read_turns(struct fb_reader *reader, const struct fb_fields *fields,
                       struct fb_phase *phase)
{
    struct fb_value value;
    int word = 0;
    if (!fb_fields_get(reader, fields, "take_turns", &value) ||
        !fb_value_word(&value, turn_words, COUNT(turn_words), &word))
        return;
    phase->take_turns = word != 0;
    if (phase->take_turns && phase->threads == 0 && phase->pool == NULL)
        fb_node_fault(fb_fields_key(fields, "take_turns"), "turns-need-threads",
                      "take_turns in %s is about several threads, but it runs on main; add "
                      "\"threads: 4\"",
                      fields->title);
}

/* A faulty value counts as a scope: nothing more is said about it. */
static void read_scopes(struct fb_reader *reader, const struct fb_fields *fields,
                        struct fb_phase *phase)
{
    struct fb_value value;
    uint64_t inner = 1;
    int word = 0;
    phase->scope = fb_fields_has(fields, "scope");
    if (fb_fields_get(reader, fields, "scope", &value))
        (void)fb_value_word(&value, scope_words, COUNT(scope_words), &word);
    if (!fb_fields_has(fields, "inner_scopes"))
        return;
    if (fb_fields_get(reader, fields, "inner_scopes", &value))
        (void)fb_value_whole(&value, FB_UNIT_COUNT, 1, INNER_SCOPES_MAX, &inner);
    phase->inner_scopes = (uint32_t)inner;
    if (!phase->scope)
        fb_node_fault(fb_fields_key(fields, "inner_scopes"), "missing-key",
                      "inner_scopes in %s are within a scope, but it has none; add \"scope: "
                      "request\"",
                      fields->title);
}

void fb_read_threads(struct fb_reader *reader, const struct fb_fields *fields,
                     struct fb_phase *phase)
{
    check_conflicts(fields);
    read_who(reader, fields, phase);
    read_life(reader, fields, phase);
    read_turns(reader, fields, phase);
    read_scopes(reader, fields, phase);
}

/* A lifetime that ends with a scope, where there is none. */
static void check_scope(const struct fb_object_class *class, const struct fb_phase *phase,
                        struct fb_node key)
{
    bool inner = class->lifetime == FB_LIFETIME_INNER_SCOPE;
    if (inner ? phase->inner_scopes > 0 : class->lifetime != FB_LIFETIME_SCOPE || phase->scope)
        return;
    fb_node_fault(key, "impossible-lifetime",
                  "object \"%s\" lives in %s, but phase \"%s\" has none; give the phase \"%s\" or "
                  "the object another lifetime",
                  class->name, inner ? "an inner scope" : "a scope", phase->name,
                  inner ? "inner_scopes: 4" : "scope: request");
}

void fb_threads_check_object(const struct fb_reader *reader, const struct fb_phase *phase,
                             struct fb_node key, size_t class_index)
{
    const struct fb_object_class *class = &reader->workload->classes[class_index];
    uint32_t threads = phase->pool != NULL ? phase->pool->threads : phase->threads;
    if (reader->notes[class_index].lifetime_known)
        check_scope(class, phase, key);
    if (class->freed_by == FB_FREED_BY_OTHER && threads < 2)
        fb_node_fault(key, "other-needs-threads",
                      "object \"%s\" is freed by the thread beside the one that allocates it, but "
                      "phase \"%s\" runs on one; give it \"threads: 2\" or more",
                      class->name, phase->name);
}
