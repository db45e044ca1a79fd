#include "workload/generator.h"

#include <math.h>

/* Where an object waits for its death; end = the drawn length of its life. */
static void await_death(struct fb_generator *generator, uint32_t object,
                        const struct fb_object_class *class, uint64_t length)
{
    struct fb_population *population = &generator->population;
    const struct fb_live *live = &population->objects[object];
    struct fb_death death = {.object = object};
    switch (class->lifetime) {
    case FB_LIFETIME_RUN:
        return;
    case FB_LIFETIME_PHASE:
        fb_ids_push(&population->phase, object);
        return;
    case FB_LIFETIME_ITERATION:
        fb_ids_push(&population->iteration, object);
        return;
    case FB_LIFETIME_MANUAL:
        fb_ids_push(&population->manual[live->class_index], object);
        return;
    case FB_LIFETIME_ITERATIONS:
        death.due = generator->iteration + length - 1;
        fb_queue_push(&population->queues[FB_QUEUE_ITERATIONS], death);
        return;
    case FB_LIFETIME_TIME:
        death.due = generator->ledger->now_ns + length;
        fb_queue_push(&population->queues[FB_QUEUE_TIME], death);
        return;
    case FB_LIFETIME_OPS:
        death.due = generator->ledger->header.alloc_calls + length;
        fb_queue_push(&population->queues[FB_QUEUE_OPS], death);
        return;
    }
}

static bool has_length(enum fb_lifetime lifetime)
{
    return lifetime == FB_LIFETIME_ITERATIONS || lifetime == FB_LIFETIME_TIME ||
           lifetime == FB_LIFETIME_OPS;
}

int fb_generator_allocate(struct fb_generator *generator, uint32_t entry, struct fb_error *err)
{
    struct fb_population *population = &generator->population;
    struct fb_generator_streams *streams = &generator->streams[entry];
    uint16_t class_index = (uint16_t)generator->phase->allocate[entry].class_index;
    const struct fb_object_class *class = &generator->workload->classes[class_index];
    uint64_t size = fb_distribution_draw(&class->size, &streams->size, &streams->size_cursor, 1);
    uint32_t slot = 0;
    if (fb_population_take_slot(population, &slot, err) != 0 ||
        fb_ledger_alloc(generator->ledger, class_index, slot, size, err) != 0)
        return -1;
    uint32_t object = fb_population_add(population, class_index, slot, size);
    uint64_t length = 0;
    if (has_length(class->lifetime))
        length = fb_distribution_draw(&class->life, &streams->life, &streams->life_cursor, 1);
    await_death(generator, object, class, length);
    if (class->grow != FB_GROW_NONE && size < class->grow_to_bytes)
        fb_population_start_growing(population, object);
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

/* Allocate new, free old: both are alive in between. */
static int grow_by_copy(struct fb_generator *generator, uint32_t object, uint64_t size,
                        struct fb_error *err)
{
    struct fb_population *population = &generator->population;
    struct fb_live *live = &population->objects[object];
    uint32_t slot = 0;
    if (fb_population_take_slot(population, &slot, err) != 0 ||
        fb_ledger_alloc(generator->ledger, live->class_index, slot, size, err) != 0 ||
        fb_ledger_free(generator->ledger, live->class_index, live->slot, live->size_bytes, err) !=
            0)
        return -1;
    fb_population_give_slot(population, live->slot);
    live->slot = slot;
    return 0;
}

int fb_generator_grow(struct fb_generator *generator, uint32_t object, struct fb_error *err)
{
    struct fb_live *live = &generator->population.objects[object];
    const struct fb_object_class *class = &generator->workload->classes[live->class_index];
    uint64_t size = next_size(class, live->size_bytes);
    int result = class->grow == FB_GROW_COPY
                     ? grow_by_copy(generator, object, size, err)
                     : fb_ledger_realloc(generator->ledger, live->class_index, live->slot,
                                         live->size_bytes, size, err);
    if (result != 0)
        return -1;
    live->size_bytes = size;
    if (size >= class->grow_to_bytes)
        fb_population_stop_growing(&generator->population, object);
    return 0;
}

static int free_object(struct fb_generator *generator, uint32_t object, struct fb_error *err)
{
    struct fb_live live = generator->population.objects[object];
    fb_population_remove(&generator->population, object);
    return fb_ledger_free(generator->ledger, live.class_index, live.slot, live.size_bytes, err);
}

int fb_generator_free_due(struct fb_generator *generator, enum fb_queue_kind kind, uint64_t limit,
                          struct fb_error *err)
{
    uint32_t object = 0;
    while (fb_queue_pop(&generator->population.queues[kind], limit, &object))
        if (free_object(generator, object, err) != 0)
            return -1;
    return 0;
}

static void swap(uint32_t *left, uint32_t *right)
{
    uint32_t kept = *left;
    *left = *right;
    *right = kept;
}

static void reverse(struct fb_ids *ids)
{
    for (size_t i = 0; i < ids->count / 2; i++)
        swap(&ids->at[i], &ids->at[ids->count - 1 - i]);
}

static void shuffle(struct fb_ids *ids, struct fb_rng *rng)
{
    for (size_t i = ids->count; i > 1; i--)
        swap(&ids->at[i - 1], &ids->at[fb_rng_below(rng, i)]);
}

/* Sorted by birth first, whatever the order: how the batch was gathered must not show. */
int fb_generator_free_batch(struct fb_generator *generator, enum fb_free_order order,
                            struct fb_error *err)
{
    struct fb_ids *batch = &generator->batch;
    fb_population_sort(&generator->population, batch);
    if (order == FB_FREE_LIFO)
        reverse(batch);
    if (order == FB_FREE_RANDOM)
        shuffle(batch, &generator->free_order);
    for (size_t i = 0; i < batch->count; i++)
        if (free_object(generator, batch->at[i], err) != 0)
            return -1;
    batch->count = 0;
    return 0;
}
