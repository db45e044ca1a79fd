#include "base/suggest.h"
#include "parsing.h"
#include "workload/keys.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A workload around one line of each place of the table; %s is the example. */
struct frame {
    const char *where;
    const char *around;
};

#define HEAD "fragbench: 1\nname: test\n"
#define CLASSES                                                                        \
    "pools: {workers: 8}\n"                                                            \
    "objects: {metadata: {size: 1, lifetime: run}, buffer: {size: 1, lifetime: run}, " \
    "kept: {size: 1, lifetime: manual, freed_by: workers}, "                           \
    "weights: {size: 1, lifetime: run}}\n"
#define USE "phases: [{name: a, allocate: {metadata: 1, buffer: 1, kept: 1, weights: 1}}, "
#define SIZED(shape) \
    HEAD "objects: {x: {size: " shape ", lifetime: run}}\nphases: [{name: a, allocate: {x: 1}}]\n"
#define OBJECT(keys) \
    HEAD "objects: {x: {" keys "}}\nphases: [{name: a, iterations: 2, allocate: {x: 1}}]\n"

static const struct frame frames[] = {
    {"lifetime", OBJECT("size: 1, lifetime: {%s}")},
    {"distribution", SIZED("{%s}")},
    {"phase", HEAD CLASSES USE "{%s}]\n"},
    {"thread_life", HEAD CLASSES USE "{name: b, iterations: 9, threads: 2, thread_life: {%s}}]\n"},
};

/* What else a phase needs beside a key. */
static const struct {
    const char *name, *needs;
} company[] = {
    {"name", ""},
    {"every", ", name: b, iterations: 2"},
    {"thread_life", ", name: b, iterations: 2, threads: 2"},
    {"take_turns", ", name: b, threads: 2"},
    {"inner_scopes", ", name: b, scope: request"},
};

static const char *frame_of(const char *where)
{
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++)
        if (strcmp(frames[i].where, where) == 0)
            return frames[i].around;
    return NULL;
}

/* What stands beside an example so that the whole is legal. */
static const char *beside(const struct fb_key *key)
{
    if (strcmp(key->where, "phase") != 0)
        return "";
    for (size_t i = 0; i < sizeof company / sizeof company[0]; i++)
        if (strcmp(company[i].name, key->name) == 0)
            return company[i].needs;
    return ", name: b";
}

static void every_example_is_legal_in_its_place(void **state)
{
    (void)state;
    size_t count = 0, tried = 0;
    const struct fb_key *keys = fb_keys(&count);
    for (size_t i = 0; i < count; i++) {
        const char *around = frame_of(keys[i].where);
        if (around == NULL)
            continue;
        char *line = fb_format("%s%s", keys[i].example, beside(&keys[i]));
        const char *hole = strstr(around, "%s");
        char *text = fb_format("%.*s%s%s", (int)(hole - around), around, line, hole + 2);
        fb_workload_free(parse_well(text, NULL, 0));
        free(text);
        free(line);
        tried++;
    }
    assert_true(tried >= 30);
}

/* The examples of a mapping's keys, together, are a legal mapping. */
static char *together(const char *where, const char *except)
{
    size_t count = 0;
    const struct fb_key *keys = fb_keys(&count);
    struct fb_buf buf;
    fb_buf_init(&buf, 4096);
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i].where, where) == 0 && strcmp(keys[i].name, except) != 0)
            fb_buf_addf(&buf, "%s%s", buf.length > 0 ? ", " : "", keys[i].example);
    assert_true(buf.length > 0);
    return buf.text;
}

static void check_together(const char *where, const char *except, const char *before,
                           const char *after)
{
    char *examples = together(where, except);
    char *text = fb_format("%s%s%s", before, examples, after);
    fb_workload_free(parse_well(text, NULL, 0));
    free(text);
    free(examples);
}

#define SIZED_END "}, lifetime: run}}\nphases: [{name: a, allocate: {x: 1}}]\n"
#define SIZED_BEGIN HEAD "objects: {x: {size: {"
#define GROW_END "}}}\nphases: [{name: a, allocate: {x: 1}}]\n"
#define GROW_BEGIN HEAD "objects: {x: {size: 1, lifetime: run, grow: {"

static void the_examples_of_one_mapping_fit_together(void **state)
{
    (void)state;
    check_together("top", "pools", "{", "}\n");
    check_together("normal", "", SIZED_BEGIN "normal: {", "}" SIZED_END);
    check_together("lognormal", "", SIZED_BEGIN "lognormal: {", "}" SIZED_END);
    check_together("pareto", "", SIZED_BEGIN "pareto: {", "}" SIZED_END);
    check_together("histogram", "", SIZED_BEGIN "histogram: {", "}" SIZED_END);
    check_together("grow", "by", GROW_BEGIN, GROW_END);
    check_together("grow", "factor", GROW_BEGIN, GROW_END);
    check_together("object", "call", HEAD "objects: {x: {",
                   "}}\nphases: [{name: a, allocate: {x: 1}}]\n");
    check_together("object", "align", HEAD "objects: {x: {",
                   "}}\nphases: [{name: a, allocate: {x: 1}}]\n");
}

static void rows_are_complete_unique_and_grouped(void **state)
{
    (void)state;
    size_t count = 0;
    const struct fb_key *keys = fb_keys(&count);
    for (size_t i = 0; i < count; i++) {
        char *start = fb_format("%s: ", keys[i].name);
        assert_int_equal(strncmp(keys[i].example, start, strlen(start)), 0);
        assert_true(strlen(keys[i].values) > 0 && strlen(keys[i].help) > 0);
        assert_non_null(keys[i].fallback);
        free(start);
        for (size_t j = 0; j < i; j++) {
            bool same = strcmp(keys[i].where, keys[j].where) == 0;
            assert_false(same && strcmp(keys[i].name, keys[j].name) == 0);
            assert_false(same && strcmp(keys[i - 1].where, keys[i].where) != 0);
        }
    }
}

static void near_words_are_suggested_and_far_ones_not(void **state)
{
    (void)state;
    static const char *const known[] = {"allocate", "free", "free_order", "name", "for"};
    size_t count = sizeof known / sizeof known[0];
    assert_string_equal(fb_suggest("alocate", known, count), "allocate");
    assert_string_equal(fb_suggest("alloacte", known, count), "allocate");
    assert_string_equal(fb_suggest("NAME", known, count), "name");
    assert_string_equal(fb_suggest("freeorder", known, count), "free_order");
    assert_string_equal(fb_suggest("fre", known, count), "free");
    assert_null(fb_suggest("colour", known, count));
    assert_null(fb_suggest("x", known, count));
    assert_null(fb_suggest("", known, count));
    assert_null(fb_suggest("allocate", known, 0));
}

static void a_very_long_word_has_no_suggestion(void **state)
{
    (void)state;
    static const char *const known[] = {"allocate"};
    char word[1000];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_null(fb_suggest(word, known, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_is_legal_in_its_place),
        cmocka_unit_test(the_examples_of_one_mapping_fit_together),
        cmocka_unit_test(rows_are_complete_unique_and_grouped),
        cmocka_unit_test(near_words_are_suggested_and_far_ones_not),
        cmocka_unit_test(a_very_long_word_has_no_suggestion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
