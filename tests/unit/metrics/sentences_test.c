/* Each rule where it is right, and its silence where it is not. */
#include "metrics/sentences.h"

#include "base/alloc.h"
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fb_attribution *parts(uint64_t live, uint64_t rounding, uint64_t holes,
                                    uint64_t cached, uint64_t stuck)
{
    struct fb_attribution *out = fb_alloc(1, sizeof *out);
    out->is_split = true;
    out->parts[FB_PART_LIVE] = live * MIB;
    out->parts[FB_PART_ROUNDING] = rounding * MIB;
    out->parts[FB_PART_HOLES] = holes * MIB;
    out->parts[FB_PART_CACHED] = cached * MIB;
    out->parts[FB_PART_STUCK] = stuck * MIB;
    out->free_bytes = (cached + stuck) * MIB;
    out->footprint_bytes = (live + rounding + holes + cached + stuck) * MIB;
    out->hostages = fb_alloc(1, sizeof *out->hostages);
    out->hostage_count = 1;
    out->hostages[0] = (struct fb_hostage){.class_name = "session",
                                           .live_bytes = live * MIB,
                                           .held_bytes = (live + holes) * MIB,
                                           .held_live_bytes = live * MIB,
                                           .pages = 1234};
    return out;
}

/* A cell with two phases, of which the second one's end is explained. Takes the attribution. */
static void cell_init(struct fb_cell *cell, const char *backend, const char *version,
                      struct fb_attribution *attribution)
{
    static const uint64_t iterations[] = {1, 1};
    *cell = (struct fb_cell){.id = fb_format("kv/%s/steps=3", backend)};
    cell->workload.file = fb_strdup("my work.yaml");
    cell->workload.scale = 1;
    cell->workload.params = fb_alloc(2, sizeof *cell->workload.params);
    cell->workload.param_count = 2;
    cell->workload.params[0] = (struct fb_name_value){fb_strdup("steps"), fb_strdup("3")};
    cell->workload.params[1] = (struct fb_name_value){fb_strdup("size"), fb_strdup("1KiB")};
    cell->allocator.backend = fb_strdup(backend);
    cell->allocator.spec = fb_strdup(backend);
    cell->allocator.version = fb_strdup(version);
    cell->repetitions = fb_alloc(1, sizeof *cell->repetitions);
    cell->repetition_count = 1;
    fixture_init(&cell->repetitions[0], 2, iterations);
    fixture_checkpoint(&cell->repetitions[0], "phase_end", 1, 1, 1, 1)->attribution = attribution;
}

static void assert_sentence(struct fb_attribution *attribution, const char *backend,
                            const char *version, const char *text, const char *command)
{
    struct fb_cell cell;
    struct fb_sentences sentences;
    cell_init(&cell, backend, version, attribution);
    fb_sentences_init(&sentences, &cell);
    assert_int_equal(sentences.count, 1);
    if (strncmp(sentences.items[0].text, text, strlen(text)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", sentences.items[0].text, text);
    assert_string_equal(sentences.items[0].command, command);
    fb_sentences_deinit(&sentences);
    fb_cell_deinit(&cell);
}

static void cached_pages_name_the_setting_that_returns_them(void **state)
{
    (void)state;
    static const struct {
        const char *backend, *version, *specs;
    } rows[] = {
        {"jemalloc", "5.3.0-1", "-a jemalloc -a jemalloc:dirty_decay_ms=0,muzzy_decay_ms=0"},
        {"ptmalloc2", "2.36",
         "-a ptmalloc2 -a ptmalloc2:mmap_threshold=65536,trim_threshold=131072"},
        {"tcmalloc", "2.10", "-a tcmalloc -a tcmalloc:aggressive_decommit=true"},
        {"mimalloc", "2.0.9+ds-2", "-a mimalloc -a mimalloc:decommit_delay=0"},
        {"mimalloc", "2.1.2", "-a mimalloc -a mimalloc:purge_delay=0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *command =
            fb_format("fragbench run 'my work.yaml' -L steps=3 %s --explain", rows[i].specs);
        assert_sentence(parts(33, 0, 0, 67, 0), rows[i].backend, rows[i].version,
                        "67 % (67 MiB of 100 MiB) are free pages that it keeps for later", command);
        free(command);
    }
}

static void a_setting_that_is_there_already_is_not_named_again(void **state)
{
    (void)state;
    struct fb_cell cell;
    struct fb_sentences sentences;
    cell_init(&cell, "jemalloc", "5.3.0", parts(33, 0, 0, 67, 0));
    cell.allocator.tunables = fb_alloc(1, sizeof *cell.allocator.tunables);
    cell.allocator.tunable_count = 1;
    cell.allocator.tunables[0] =
        (struct fb_name_value){fb_strdup("dirty_decay_ms"), fb_strdup("100")};
    fb_sentences_init(&sentences, &cell);
    assert_int_equal(sentences.count, 1);
    assert_string_equal(sentences.items[0].command,
                        "fragbench run 'my work.yaml' -L steps=3 --explain");
    fb_sentences_deinit(&sentences);
    fb_cell_deinit(&cell);
}

static void other_parts_have_their_own_sentence(void **state)
{
    (void)state;
    static const char compare[] = "fragbench run 'my work.yaml' -L steps=3 --explain";
    assert_sentence(parts(50, 0, 0, 10, 40), "tcmalloc", "2.10",
                    "40 % (40 MiB of 100 MiB) are pages without any live byte", compare);
    assert_sentence(parts(40, 0, 60, 0, 0), "tcmalloc", "2.10",
                    "60 % (60 MiB of 100 MiB) are holes on pages that something live keeps: true "
                    "fragmentation, which no purge can undo. session alone: 40 MiB live holds 100 "
                    "MiB in 1,234 pages.",
                    compare);
    assert_sentence(parts(80, 20, 0, 0, 0), "jemalloc", "5.3.0",
                    "20 % (20 MiB of 100 MiB) are rounding", compare);
    assert_sentence(parts(95, 5, 0, 0, 0), "jemalloc", "5.3.0",
                    "95 % (95 MiB of 100 MiB) are live data: no allocator and no setting makes "
                    "this small. Look at what the program keeps, first at session (95 MiB).",
                    "fragbench check 'my work.yaml' -L steps=3");
}

static void little_and_evenly_spread_memory_is_no_matter(void **state)
{
    (void)state;
    struct fb_attribution *quiet[] = {
        parts(0, 0, 0, 3, 0),     /* all cached, but 3 MiB */
        parts(70, 10, 10, 10, 0), /* nothing stands out */
        NULL,                     /* nothing is known */
    };
    for (size_t i = 0; i < sizeof quiet / sizeof quiet[0]; i++) {
        struct fb_cell cell;
        struct fb_sentences sentences;
        cell_init(&cell, "jemalloc", "5.3.0", quiet[i]);
        fb_sentences_init(&sentences, &cell);
        assert_int_equal(sentences.count, 0);
        assert_int_equal(sentences.checkpoint != NULL, quiet[i] != NULL);
        fb_sentences_deinit(&sentences);
        fb_cell_deinit(&cell);
    }
}

static void it_is_about_the_phase_that_kept_most(void **state)
{
    (void)state;
    struct fb_cell cell;
    struct fb_sentences sentences;
    cell_init(&cell, "jemalloc", "5.3.0", parts(90, 0, 0, 0, 0));
    struct fb_repetition *repetition = &cell.repetitions[0];
    fixture_checkpoint(repetition, "phase_end", 0, 0, 1, 1)->attribution = parts(1, 0, 0, 99, 0);
    (void)strcpy(repetition->kept_phase, "phase-a");
    fb_sentences_init(&sentences, &cell);
    assert_int_equal(sentences.checkpoint->phase, 0);
    assert_int_equal(fb_explained_end(&cell)->phase, 1);
    assert_null(fb_explained_peak(&cell));
    fb_sentences_deinit(&sentences);
    fb_cell_deinit(&cell);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cached_pages_name_the_setting_that_returns_them),
        cmocka_unit_test(a_setting_that_is_there_already_is_not_named_again),
        cmocka_unit_test(other_parts_have_their_own_sentence),
        cmocka_unit_test(little_and_evenly_spread_memory_is_no_matter),
        cmocka_unit_test(it_is_about_the_phase_that_kept_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
