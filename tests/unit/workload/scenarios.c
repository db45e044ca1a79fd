#include "scenarios.h"

#include "compiled.h"

#define HALF (UINT64_C(1) << 31)

/* everything: ten distributions, seven lifetimes, four calls, four touches, both growths. */

static double recent_values[] = {3, 40, 500};
static double recent_weights[] = {6, 9, 10}; /* cumulative */
static double shapes[] = {100, 5000, 70000};
static double edges[] = {64, 1024, 65536, 400000};
static double bins[] = {50, 80, 85}; /* cumulative */

static struct fb_object_class everything_classes[] = {
    {.name = "weights", .size = CONSTANT(1 << 20), .lifetime = FB_LIFETIME_RUN},
    {.name = "buffer",
     .size = {.kind = FB_DISTRIBUTION_UNIFORM, .a = 1000, .b = 200000},
     .lifetime = FB_LIFETIME_ITERATION,
     .call = FB_CALL_CALLOC,
     .touch = FB_TOUCH_ALL},
    {.name = "metadata",
     .size = {.kind = FB_DISTRIBUTION_LOGNORMAL, .a = 64, .b = 512},
     .lifetime = FB_LIFETIME_ITERATIONS,
     .life = {.kind = FB_DISTRIBUTION_GEOMETRIC, .a = 20}},
    {.name = "kv",
     .size = CONSTANT(16384),
     .lifetime = FB_LIFETIME_ITERATIONS,
     .life = {.kind = FB_DISTRIBUTION_UNIFORM, .a = 5, .b = 30},
     .grow = FB_GROW_COPY,
     .grow_by_bytes = 16384,
     .grow_to_bytes = 131072},
    {.name = "cache",
     .size = {.kind = FB_DISTRIBUTION_PARETO, .a = 100, .b = 1.5},
     .lifetime = FB_LIFETIME_MANUAL,
     .call = FB_CALL_REALLOC},
    {.name = "timed",
     .size = {.kind = FB_DISTRIBUTION_EXPONENTIAL, .a = 3000},
     .lifetime = FB_LIFETIME_TIME,
     .life = {.kind = FB_DISTRIBUTION_EXPONENTIAL, .a = 9000000}},
    {.name = "recent",
     .size = {.kind = FB_DISTRIBUTION_NORMAL, .a = 4096, .b = 1000},
     .lifetime = FB_LIFETIME_OPS,
     .life = {.kind = FB_DISTRIBUTION_CHOICE,
              .values = recent_values,
              .weights = recent_weights,
              .count = COUNT(recent_values)}},
    {.name = "scratch",
     .size = {.kind = FB_DISTRIBUTION_CYCLE, .values = shapes, .count = COUNT(shapes)},
     .lifetime = FB_LIFETIME_PHASE,
     .touch = FB_TOUCH_SHARE,
     .touch_share = HALF},
    {.name = "aligned",
     .size = {.kind = FB_DISTRIBUTION_HISTOGRAM,
              .values = edges,
              .weights = bins,
              .count = COUNT(bins)},
     .lifetime = FB_LIFETIME_ITERATION,
     .call = FB_CALL_ALIGNED,
     .align = 64,
     .touch = FB_TOUCH_NONE},
    {.name = "log",
     .size = {.kind = FB_DISTRIBUTION_GEOMETRIC, .a = 50},
     .lifetime = FB_LIFETIME_RUN,
     .grow = FB_GROW_REALLOC,
     .grow_factor = 1.5,
     .grow_to_bytes = 65536},
};

static struct fb_phase_allocate load_allocate[] = {{0, CONSTANT(2)}, {9, CONSTANT(3)}};
static struct fb_phase_allocate serve_allocate[] = {
    {1, CONSTANT(1)},
    {2, {.kind = FB_DISTRIBUTION_UNIFORM, .a = 0, .b = 30}},
    {3, {.kind = FB_DISTRIBUTION_EXPONENTIAL, .a = 2}},
    {4, {.kind = FB_DISTRIBUTION_GEOMETRIC, .a = 5}},
    {5, {.kind = FB_DISTRIBUTION_NORMAL, .a = 6, .b = 3}},
    {6, CONSTANT(10)},
    {7, {.kind = FB_DISTRIBUTION_CYCLE, .values = recent_values, .count = 2}},
    {8, CONSTANT(2)},
};
static struct fb_phase_allocate refill_allocate[] = {{4, CONSTANT(7)}, {2, CONSTANT(3)}};
static struct fb_phase_free half_of_cache[] = {{4, HALF}};
static struct fb_phase_free most_of_cache[] = {{4, HALF / 5 * 9}};

static struct fb_phase everything_phases[] = {
    {.name = "load",
     .allocate = load_allocate,
     .allocate_count = COUNT(load_allocate),
     .mix = FB_MIX_SEQUENTIAL},
    {.name = "serve",
     .has_iterations = true,
     .iterations = 200,
     .every_ns = 5000000,
     .hold_ns = 1000000,
     .allocate = serve_allocate,
     .allocate_count = COUNT(serve_allocate),
     .free_order = FB_FREE_RANDOM},
    {.name = "refill",
     .has_iterations = true,
     .iterations = 40,
     .allocate = refill_allocate,
     .allocate_count = COUNT(refill_allocate),
     .free = half_of_cache,
     .free_count = COUNT(half_of_cache),
     .mix = FB_MIX_SEQUENTIAL,
     .free_order = FB_FREE_LIFO,
     .fail_on_refusal = true},
    {.name = "idle",
     .for_ns = 15000000000,
     .free = most_of_cache,
     .free_count = COUNT(most_of_cache)},
};

const struct fb_workload everything = WORKLOAD(everything_classes, everything_phases);

/* sawtooth: many local maxima of very different heights, above and below the threshold. */

static double heights[] = {1, 400, 3, 90, 7, 7, 250, 2};
static struct fb_object_class sawtooth_classes[] = {
    {.name = "floor", .size = CONSTANT(3 << 20), .lifetime = FB_LIFETIME_RUN},
    {.name = "tooth",
     .size = {.kind = FB_DISTRIBUTION_LOGNORMAL, .a = 2000, .b = 60000},
     .lifetime = FB_LIFETIME_ITERATION},
    {.name = "noise",
     .size = {.kind = FB_DISTRIBUTION_EXPONENTIAL, .a = 9000},
     .lifetime = FB_LIFETIME_OPS,
     .life = {.kind = FB_DISTRIBUTION_GEOMETRIC, .a = 15}},
};
static struct fb_phase_allocate floor_allocate[] = {{0, CONSTANT(1)}};
static struct fb_phase_allocate teeth_allocate[] = {
    {1, {.kind = FB_DISTRIBUTION_CYCLE, .values = heights, .count = COUNT(heights)}},
    {2, CONSTANT(40)},
};
static struct fb_phase sawtooth_phases[] = {
    {.name = "floor", .allocate = floor_allocate, .allocate_count = 1},
    {.name = "teeth",
     .has_iterations = true,
     .iterations = 300,
     .allocate = teeth_allocate,
     .allocate_count = COUNT(teeth_allocate)},
};
static const struct fb_workload sawtooth = WORKLOAD(sawtooth_classes, sawtooth_phases);

/* churn: more iterations than are sampled, and much more volume than live bytes. */

static struct fb_object_class churn_classes[] = {
    {.name = "request",
     .size = {.kind = FB_DISTRIBUTION_UNIFORM, .a = 20000, .b = 90000},
     .lifetime = FB_LIFETIME_ITERATION},
    {.name = "session",
     .size = CONSTANT(700),
     .lifetime = FB_LIFETIME_ITERATIONS,
     .life = {.kind = FB_DISTRIBUTION_EXPONENTIAL, .a = 300}},
};
static struct fb_phase_allocate churn_allocate[] = {{0, CONSTANT(3)}, {1, CONSTANT(1)}};
static struct fb_phase churn_phases[] = {{.name = "churn",
                                          .has_iterations = true,
                                          .iterations = 12000,
                                          .every_ns = 1000,
                                          .allocate = churn_allocate,
                                          .allocate_count = COUNT(churn_allocate),
                                          .free_order = FB_FREE_LIFO}};
static const struct fb_workload churn = WORKLOAD(churn_classes, churn_phases);

const struct scenario scenarios[] = {
    {&everything, 42, "e17614fb70cac8b18ebd8787dcdd826c686de644ec8f0eeee159600b9fae8fbf"},
    {&sawtooth, 7, "057a8bdc7936edfbb364ff0e8c827907cdb7ac6093de41429cee714a30096c7d"},
    {&churn, 2026, "adce51df74d48ef8182bd93f453d547cc5cecf7e5e1caa250ce4c8202ef818d2"},
    {&crowd, 42, "34a5e0246731ade6268cae2db8f1225f5bf423cfbaac882d8511317e7dc0a0fc"},
};
const size_t scenario_count = COUNT(scenarios);
