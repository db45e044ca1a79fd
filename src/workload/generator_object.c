/* Births, growth and deaths of single objects. */
#include "workload/generator.h"

#include <math.h>

static const struct fb_object_class *class_of(const struct fb_generator *generator, uint32_t object)
{
    return &generator->workload->classes[generator->population.objects[object].class_index];
}

static bool is_scoped(const struct fb_object_class *class)
{
    return class->lifetime == FB_LIFETIME_SCOPE || class->lifetime == FB_LIFETIME_INNER_SCOPE;
}

/* An op on the object by whoever has the turn, without its size. */
static struct fb_op op_on(const struct fb_generator *generator, const struct fb_live *live)
{
    bool foreign = live->stream != generator->ledger->stream;
    bool scoped = is_scoped(&generator->workload->classes[live->class_index]);
    return (struct fb_op){
        .flags = (uint8_t)((foreign ? FB_OP_FLAG_FOREIGN : 0U) | (scoped ? FB_OP_FLAG_SCOPE : 0U)),
        .class_index = live->class_index,
        .slot = live->slot,
    };
}

/* Where an object waits for its death; length: the drawn length of its life. */
static void await_death(struct fb_generator *generator, uint32_t object,
                        const struct fb_object_class *class, uint64_t length)
{
    struct fb_population *population = &generator->population;
    const struct fb_live *live = &population->objects[object];
    struct fb_lane *lane = &generator->lanes[live->home];
    struct fb_death death = {.object = object};
    switch (class->lifetime) {
    case FB_LIFETIME_RUN:
        return;
    case FB_LIFETIME_PHASE:
        fb_ids_push(&lane->phase, object);
        return;
    case FB_LIFETIME_ITERATION:
        fb_ids_push(&lane->iteration, object);
        return;
    case FB_LIFETIME_SCOPE:
        fb_ids_push(&lane->scope, object);
        return;
    case FB_LIFETIME_INNER_SCOPE:
        fb_ids_push(&lane->inner, object);
        return;
    case FB_LIFETIME_MANUAL:
        fb_ids_push(&population->manual[live->class_index], object);
        return;
    case FB_LIFETIME_ITERATIONS:
        death.due = lane->wave + length - 1;
        fb_queue_push(&lane->queues[FB_QUEUE_ITERATIONS], death);
        return;
    case FB_LIFETIME_TIME:
        death.due = generator->ledger->now_ns + length;
        fb_queue_push(&lane->queues[FB_QUEUE_TIME], death);
        return;
    case FB_LIFETIME_OPS:
        death.due = lane->allocations + length;
        fb_queue_push(&lane->queues[FB_QUEUE_OPS], death);
        return;
    }
}

static bool has_length(enum fb_lifetime lifetime)
{
    return lifetime == FB_LIFETIME_ITERATIONS || lifetime == FB_LIFETIME_TIME ||
           lifetime == FB_LIFETIME_OPS;
}

/* The ALLOC of a record, whose size and slot it fills in. */
static int allocate(struct fb_generator *generator, uint32_t lane, uint64_t size,
                    struct fb_live *record, struct fb_error *err)
{
    struct fb_lane *here = &generator->lanes[lane];
    bool shared = generator->ledger->classes[record->class_index].shared != 0;
    if (fb_population_take_slot(&generator->population, &here->slots, shared, &record->slot, err) !=
        0)
        return -1;
    record->stream = generator->ledger->stream;
    record->size_bytes = size;
    struct fb_op op = op_on(generator, record);
    op.arg = size;
    here->allocations++;
    return fb_ledger_alloc(generator->ledger, op, err);
}

int fb_object_allocate(struct fb_generator *generator, uint32_t lane, uint32_t entry,
                       struct fb_error *err)
{
    struct fb_generator_draws *draws = &generator->draws[entry];
    struct fb_live record = {
        .class_index = (uint16_t)generator->phase->allocate[entry].class_index,
        .home = lane,
        .elder = FB_OBJECT_NONE,
        .younger = FB_OBJECT_NONE,
    };
    const struct fb_object_class *class = &generator->workload->classes[record.class_index];
    uint64_t size = fb_distribution_draw(&class->size, &draws->size, &draws->size_cursor, 1);
    if (allocate(generator, lane, size, &record, err) != 0)
        return -1;
    uint32_t object = fb_population_add(&generator->population, record);
    uint64_t length = 0;
    if (has_length(class->lifetime))
        length = fb_distribution_draw(&class->life, &draws->life, &draws->life_cursor, 1);
    await_death(generator, object, class, length);
    if (class->grow != FB_GROW_NONE && size < class->grow_to_bytes)
        fb_lane_start_growing(&generator->lanes[lane], &generator->population, object);
    return 0;
}

/* size < grow_to ≤ 2^46, so neither the sum nor the product leaves what a double holds exactly. */
static uint64_t next_size(const struct fb_object_class *class, uint64_t size)
{
    uint64_t next = 0;
    if (class->grow_by_bytes > 0) {
        if (__builtin_add_overflow(size, class->grow_by_bytes, &next))
            return class->grow_to_bytes;
    } else {
        double grown = ceil((double)size * class->grow_factor);
        next = grown < (double)class->grow_to_bytes ? (uint64_t)grown : class->grow_to_bytes;
    }
    if (next <= size)
        next = size + 1;
    return next < class->grow_to_bytes ? next : class->grow_to_bytes;
}

/* The FREE of a record, and its slot given back. */
static int release(struct fb_generator *generator, uint32_t lane, const struct fb_live *record,
                   struct fb_error *err)
{
    bool shared = generator->ledger->classes[record->class_index].shared != 0;
    fb_population_give_slot(&generator->population, &generator->lanes[lane].slots, shared,
                            record->slot);
    return fb_ledger_free(generator->ledger, op_on(generator, record), record->size_bytes, err);
}

/* Allocate new, free old: both are alive in between. */
static int grow_by_copy(struct fb_generator *generator, uint32_t lane, struct fb_live *live,
                        uint64_t size, struct fb_error *err)
{
    struct fb_live old = *live;
    if (allocate(generator, lane, size, live, err) != 0)
        return -1;
    return release(generator, lane, &old, err);
}

static int grow_in_place(struct fb_generator *generator, struct fb_live *live, uint64_t size,
                         struct fb_error *err)
{
    struct fb_op op = op_on(generator, live);
    uint64_t old_size = live->size_bytes;
    op.arg = size;
    live->size_bytes = size;
    live->stream = generator->ledger->stream;
    return fb_ledger_realloc(generator->ledger, op, old_size, err);
}

int fb_object_grow(struct fb_generator *generator, uint32_t lane, uint32_t object,
                   struct fb_error *err)
{
    struct fb_live *live = &generator->population.objects[object];
    const struct fb_object_class *class = class_of(generator, object);
    uint64_t size = next_size(class, live->size_bytes);
    if (size >= class->grow_to_bytes)
        fb_lane_stop_growing(&generator->lanes[live->home], &generator->population, object);
    return class->grow == FB_GROW_COPY ? grow_by_copy(generator, lane, live, size, err)
                                       : grow_in_place(generator, live, size, err);
}

int fb_object_free(struct fb_generator *generator, uint32_t lane, uint32_t object,
                   struct fb_error *err)
{
    struct fb_live record = generator->population.objects[object];
    fb_lane_stop_growing(&generator->lanes[record.home], &generator->population, object);
    fb_population_remove(&generator->population, object);
    return release(generator, lane, &record, err);
}
