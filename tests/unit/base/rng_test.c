#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The authors' own generator from state 1, 2, 3, 4. */
static void xoshiro_matches_its_reference_vector(void **state)
{
    (void)state;
    static const uint64_t expected[] = {
        UINT64_C(11520),
        UINT64_C(0),
        UINT64_C(1509978240),
        UINT64_C(1215971899390074240),
        UINT64_C(1216172134540287360),
        UINT64_C(607988272756665600),
        UINT64_C(16172922978634559625),
        UINT64_C(8476171486693032832),
        UINT64_C(10595114339597558777),
        UINT64_C(2904607092377533576),
    };
    struct fb_rng rng = {{1, 2, 3, 4}};
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_int_equal(fb_rng_next(&rng), expected[i]);
}

/* The first outputs of splitmix64 from 1234567 are the seeded state. */
static void seeding_is_splitmix(void **state)
{
    (void)state;
    static const uint64_t expected[] = {
        UINT64_C(6457827717110365317),
        UINT64_C(3203168211198807973),
        UINT64_C(9817491932198370423),
        UINT64_C(4593380528125082431),
    };
    struct fb_rng rng;
    fb_rng_seed(&rng, 1234567);
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_int_equal(rng.state[i], expected[i]);
}

static void named_streams_differ_and_repeat(void **state)
{
    (void)state;
    struct fb_rng one, same, other_name, other_seed;
    fb_rng_seed_named(&one, 42, "serve/kv/size");
    fb_rng_seed_named(&same, 42, "serve/kv/size");
    fb_rng_seed_named(&other_name, 42, "serve/kv/count");
    fb_rng_seed_named(&other_seed, 43, "serve/kv/size");
    uint64_t first = fb_rng_next(&one);
    assert_int_equal(first, fb_rng_next(&same));
    assert_int_not_equal(first, fb_rng_next(&other_name));
    assert_int_not_equal(first, fb_rng_next(&other_seed));
}

/* A change of a named stream changes every published result: fixed here. */
static void named_stream_is_pinned(void **state)
{
    (void)state;
    struct fb_rng rng;
    fb_rng_seed_named(&rng, 42, "serve/kv/size");
    assert_int_equal(fb_rng_next(&rng), UINT64_C(9814582389062941586));
    assert_int_equal(fb_rng_next(&rng), UINT64_C(1634444274899239439));
}

static void below_is_fair_and_in_range(void **state)
{
    (void)state;
    enum { BOUND = 7, DRAWS = 70000 };
    unsigned counts[BOUND] = {0};
    struct fb_rng rng;
    fb_rng_seed(&rng, 1);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t draw = fb_rng_below(&rng, BOUND);
        assert_true(draw < BOUND);
        counts[draw]++;
    }
    /* 10,000 each, standard deviation 93. */
    for (size_t i = 0; i < BOUND; i++)
        assert_in_range(counts[i], 9600, 10400);
}

/* With a bound of 3 × 2^62 a modulo would give the lowest quarter twice as often as fair. */
static void below_has_no_modulo_bias(void **state)
{
    (void)state;
    enum { DRAWS = 30000 };
    const uint64_t third = UINT64_C(1) << 62;
    unsigned lowest = 0;
    struct fb_rng rng;
    fb_rng_seed(&rng, 2);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t draw = fb_rng_below(&rng, 3 * third);
        assert_true(draw < 3 * third);
        lowest += draw < third;
    }
    assert_in_range(lowest, 9600, 10400); /* a modulo: 15,000 */
}

static void below_one_is_zero(void **state)
{
    (void)state;
    struct fb_rng rng;
    fb_rng_seed(&rng, 3);
    for (int i = 0; i < 10; i++)
        assert_int_equal(fb_rng_below(&rng, 1), 0);
}

static void unit_is_uniform_below_one(void **state)
{
    (void)state;
    enum { DRAWS = 100000 };
    double sum = 0, lowest = 1, highest = 0;
    struct fb_rng rng;
    fb_rng_seed(&rng, 4);
    for (int i = 0; i < DRAWS; i++) {
        double draw = fb_rng_unit(&rng);
        assert_true(draw >= 0 && draw < 1);
        sum += draw;
        lowest = draw < lowest ? draw : lowest;
        highest = draw > highest ? draw : highest;
    }
    assert_true(sum / DRAWS > 0.495 && sum / DRAWS < 0.505);
    assert_true(lowest < 0.001 && highest > 0.999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xoshiro_matches_its_reference_vector),
        cmocka_unit_test(seeding_is_splitmix),
        cmocka_unit_test(named_streams_differ_and_repeat),
        cmocka_unit_test(named_stream_is_pinned),
        cmocka_unit_test(below_is_fair_and_in_range),
        cmocka_unit_test(below_has_no_modulo_bias),
        cmocka_unit_test(below_one_is_zero),
        cmocka_unit_test(unit_is_uniform_below_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
