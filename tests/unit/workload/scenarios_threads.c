/* crowd: all ways in which threads live, take turns and free, between them in every phase. */
#include "scenarios.h"

#include "compiled.h"

enum {
    WEIGHTS,
    BUFFER,
    HANDED,
    REAPED,
    VECTOR,
    KV,
    CACHE,
    INDEX,
    TIMED,
    RECENT,
    SCRATCH,
    TOKEN,
    NOTE
};

static struct fb_pool pools[] = {{.name = "workers", .threads = 3},
                                 {.name = "reaper", .threads = 2}};

#define FEW(lowest, highest)                                           \
    {                                                                  \
        .kind = FB_DISTRIBUTION_UNIFORM, .a = (lowest), .b = (highest) \
    }
#define REAPER .freed_by = FB_FREED_BY_POOL, .freed_by_pool = &pools[1]

static struct fb_object_class classes[] = {
    [WEIGHTS] = {.name = "weights", .size = CONSTANT(1 << 20), .lifetime = FB_LIFETIME_RUN},
    [BUFFER] = {.name = "buffer", .size = FEW(1000, 90000), .lifetime = FB_LIFETIME_ITERATION},
    [HANDED] = {.name = "handed",
                .size = FEW(10, 5000),
                .lifetime = FB_LIFETIME_ITERATION,
                .freed_by = FB_FREED_BY_OTHER},
    [REAPED] = {.name = "reaped",
                .size = FEW(10, 50000),
                .lifetime = FB_LIFETIME_ITERATIONS,
                .life = {.kind = FB_DISTRIBUTION_GEOMETRIC, .a = 3},
                REAPER},
    [VECTOR] = {.name = "vector",
                .size = CONSTANT(100),
                .lifetime = FB_LIFETIME_ITERATIONS,
                .life = FEW(2, 9),
                .grow = FB_GROW_REALLOC,
                .grow_factor = 2,
                .grow_to_bytes = 20000},
    [KV] = {.name = "kv",
            .size = CONSTANT(4096),
            .lifetime = FB_LIFETIME_ITERATIONS,
            .life = FEW(2, 6),
            .grow = FB_GROW_COPY,
            .grow_by_bytes = 4096,
            .grow_to_bytes = 65536,
            .freed_by = FB_FREED_BY_OTHER},
    [CACHE] = {.name = "cache", .size = FEW(1, 3000), .lifetime = FB_LIFETIME_MANUAL},
    [INDEX] = {.name = "index",
               .size = CONSTANT(64),
               .lifetime = FB_LIFETIME_MANUAL,
               .grow = FB_GROW_COPY,
               .grow_by_bytes = 64,
               .grow_to_bytes = 1024,
               REAPER},
    [TIMED] = {.name = "timed",
               .size = CONSTANT(333),
               .lifetime = FB_LIFETIME_TIME,
               .life = {.kind = FB_DISTRIBUTION_EXPONENTIAL, .a = 40000},
               .freed_by = FB_FREED_BY_OTHER},
    [RECENT] = {.name = "recent",
                .size = CONSTANT(77),
                .lifetime = FB_LIFETIME_OPS,
                .life = FEW(1, 60)},
    [SCRATCH] = {.name = "scratch", .size = FEW(1, 999), .lifetime = FB_LIFETIME_PHASE, REAPER},
    [TOKEN] = {.name = "token", .size = FEW(8, 500), .lifetime = FB_LIFETIME_SCOPE},
    [NOTE] = {.name = "note", .size = FEW(8, 100), .lifetime = FB_LIFETIME_INNER_SCOPE},
};

static struct fb_phase_allocate load[] = {{WEIGHTS, CONSTANT(2)}, {CACHE, CONSTANT(5)}};
static struct fb_phase_allocate serve[] = {
    {BUFFER, FEW(0, 3)}, {HANDED, FEW(0, 40)}, {REAPED, FEW(0, 20)}, {VECTOR, FEW(0, 2)},
    {KV, FEW(0, 2)},     {CACHE, FEW(0, 2)},   {INDEX, FEW(0, 1)},   {TIMED, FEW(0, 9)},
    {RECENT, FEW(0, 9)}, {SCRATCH, FEW(0, 2)},
};
static struct fb_phase_allocate scoped[] = {
    {TOKEN, FEW(0, 60)}, {NOTE, FEW(0, 30)}, {HANDED, FEW(0, 9)}, {RECENT, FEW(0, 9)}};
static struct fb_phase_allocate burst[] = {
    {SCRATCH, CONSTANT(170)}, {CACHE, CONSTANT(20)}, {TIMED, CONSTANT(60)}, {INDEX, CONSTANT(9)}};
static struct fb_phase_allocate reap[] = {{REAPED, FEW(0, 70)}, {INDEX, CONSTANT(1)}};

#define HALF (UINT64_C(1) << 31)
static struct fb_phase_free halves[] = {{CACHE, HALF}, {INDEX, HALF}};
static struct fb_phase_free wholes[] = {{CACHE, 2 * HALF}, {INDEX, HALF + HALF / 2}};

#define ALLOCATES(table) .allocate = (table), .allocate_count = COUNT(table)
#define FREES(table) .free = (table), .free_count = COUNT(table)
#define TIMES(count) .has_iterations = true, .iterations = (count)

static struct fb_phase phases[] = {
    {.name = "load", ALLOCATES(load)},
    {.name = "serve",
     TIMES(50),
     ALLOCATES(serve),
     .pool = &pools[0],
     .every_ns = 100000,
     .hold_ns = 50000},
    {.name = "churn", TIMES(35), ALLOCATES(serve), .threads = 4, .thread_life = 1},
    {.name = "renew",
     TIMES(40),
     ALLOCATES(serve),
     FREES(halves),
     .threads = 3,
     .thread_life = 2,
     .free_order = FB_FREE_RANDOM},
    {.name = "turns",
     TIMES(20),
     ALLOCATES(serve),
     FREES(halves),
     .pool = &pools[0],
     .take_turns = true},
    {.name = "idle-turns", TIMES(2), ALLOCATES(serve), .pool = &pools[0], .take_turns = true},
    {.name = "own-turns",
     TIMES(9),
     ALLOCATES(serve),
     .threads = 2,
     .thread_life = 2,
     .take_turns = true,
     .hold_ns = 700},
    {.name = "burst",
     ALLOCATES(burst),
     .threads = 5,
     .for_ns = 90000000,
     .free_order = FB_FREE_LIFO},
    {.name = "scopes",
     TIMES(24),
     ALLOCATES(scoped),
     .threads = 2,
     .scope = true,
     .inner_scopes = 3},
    {.name = "reap", TIMES(30), ALLOCATES(reap), .hold_ns = 900},
    {.name = "drop", FREES(wholes), .for_ns = 1000000},
};

const struct fb_workload crowd = {
    .classes = classes,
    .class_count = COUNT(classes),
    .phases = phases,
    .phase_count = COUNT(phases),
    .pools = pools,
    .pool_count = COUNT(pools),
};
