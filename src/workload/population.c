#include "workload/population.h"

#include "base/alloc.h"

#include <stdlib.h>

#define FIRST_CAPACITY 256U

void fb_population_init(struct fb_population *population, size_t class_count)
{
    *population = (struct fb_population){
        .manual = fb_alloc(class_count, sizeof *population->manual),
        .class_count = class_count,
        .eldest_growing = FB_OBJECT_NONE,
        .youngest_growing = FB_OBJECT_NONE,
    };
}

void fb_population_deinit(struct fb_population *population)
{
    for (size_t i = 0; i < population->class_count; i++)
        fb_ids_deinit(&population->manual[i]);
    for (size_t i = 0; i < FB_QUEUE_COUNT; i++)
        fb_queue_deinit(&population->queues[i]);
    fb_ids_deinit(&population->phase);
    fb_ids_deinit(&population->iteration);
    fb_ids_deinit(&population->free_slots);
    fb_ids_deinit(&population->spare);
    free(population->manual);
    free(population->objects);
}

int fb_population_take_slot(struct fb_population *population, uint32_t *slot, struct fb_error *err)
{
    if (population->free_slots.count > 0) {
        *slot = fb_ids_pop(&population->free_slots);
        return 0;
    }
    if (population->slot_count == UINT32_MAX)
        return fb_fail(err, FB_ERROR_INPUT,
                       "more than 4,294,967,295 objects would be alive at once; lower the counts "
                       "or shorten the lifetimes");
    *slot = (uint32_t)population->slot_count++;
    return 0;
}

void fb_population_give_slot(struct fb_population *population, uint32_t slot)
{
    fb_ids_push(&population->free_slots, slot);
}

/* There are never more records than slots, so the number fits. */
static uint32_t take_record(struct fb_population *population)
{
    if (population->spare.count > 0)
        return fb_ids_pop(&population->spare);
    if (population->object_count == population->object_capacity) {
        size_t capacity = population->object_capacity;
        population->object_capacity = capacity == 0 ? FIRST_CAPACITY : capacity * 2;
        population->objects = fb_realloc(population->objects, population->object_capacity,
                                         sizeof *population->objects);
    }
    return (uint32_t)population->object_count++;
}

uint32_t fb_population_add(struct fb_population *population, uint16_t class_index, uint32_t slot,
                           uint64_t size_bytes)
{
    uint32_t object = take_record(population);
    population->objects[object] = (struct fb_live){
        .size_bytes = size_bytes,
        .birth = population->births++,
        .slot = slot,
        .elder = FB_OBJECT_NONE,
        .younger = FB_OBJECT_NONE,
        .class_index = class_index,
    };
    return object;
}

void fb_population_remove(struct fb_population *population, uint32_t object)
{
    fb_population_stop_growing(population, object);
    fb_population_give_slot(population, population->objects[object].slot);
    population->objects[object].birth = UINT64_MAX;
    fb_ids_push(&population->spare, object);
}

void fb_population_start_growing(struct fb_population *population, uint32_t object)
{
    struct fb_live *live = &population->objects[object];
    live->growing = true;
    live->elder = population->youngest_growing;
    live->younger = FB_OBJECT_NONE;
    if (live->elder != FB_OBJECT_NONE)
        population->objects[live->elder].younger = object;
    else
        population->eldest_growing = object;
    population->youngest_growing = object;
}

void fb_population_stop_growing(struct fb_population *population, uint32_t object)
{
    struct fb_live *live = &population->objects[object];
    if (!live->growing)
        return;
    live->growing = false;
    if (live->elder != FB_OBJECT_NONE)
        population->objects[live->elder].younger = live->younger;
    else
        population->eldest_growing = live->younger;
    if (live->younger != FB_OBJECT_NONE)
        population->objects[live->younger].elder = live->elder;
    else
        population->youngest_growing = live->elder;
}

static int by_birth(const void *left, const void *right, void *objects)
{
    const struct fb_live *lives = objects;
    uint64_t a = lives[*(const uint32_t *)left].birth;
    uint64_t b = lives[*(const uint32_t *)right].birth;
    return (a > b) - (a < b);
}

void fb_population_sort(const struct fb_population *population, struct fb_ids *ids)
{
    for (size_t i = 1; i < ids->count; i++) {
        if (by_birth(&ids->at[i - 1], &ids->at[i], population->objects) > 0) {
            qsort_r(ids->at, ids->count, sizeof *ids->at, by_birth, population->objects);
            return;
        }
    }
}
