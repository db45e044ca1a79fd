#include "workload/population.h"

#include "base/alloc.h"

#include <stdlib.h>

#define FIRST_CAPACITY 256U

void fb_population_init(struct fb_population *population, size_t class_count)
{
    *population = (struct fb_population){
        .manual = fb_alloc(class_count, sizeof *population->manual),
        .class_count = class_count,
    };
}

void fb_population_deinit(struct fb_population *population)
{
    for (size_t i = 0; i < population->class_count; i++)
        fb_ids_deinit(&population->manual[i]);
    fb_ids_deinit(&population->resting);
    fb_ids_deinit(&population->common);
    fb_ids_deinit(&population->spare);
    free(population->manual);
    free(population->objects);
}

int fb_population_take_slot(struct fb_population *population, struct fb_ids *own, bool shared,
                            uint32_t *slot, struct fb_error *err)
{
    if (own->count > 0 && !shared) {
        *slot = fb_ids_pop(own);
    } else if (population->common.count > 0) {
        *slot = fb_ids_pop(&population->common);
    } else if (population->slot_count < UINT32_MAX) {
        *slot = (uint32_t)population->slot_count++;
    } else {
        return fb_fail(err, FB_ERROR_INPUT,
                       "more than 4,294,967,295 objects would be alive at once; lower the counts "
                       "or shorten the lifetimes");
    }
    population->slots_used++;
    if (population->slots_used > population->slots_used_max)
        population->slots_used_max = population->slots_used;
    return 0;
}

void fb_population_give_slot(struct fb_population *population, struct fb_ids *own, bool shared,
                             uint32_t slot)
{
    population->slots_used--;
    fb_ids_push(shared ? &population->resting : own, slot);
}

void fb_population_share_slots(struct fb_population *population, struct fb_ids *own)
{
    fb_ids_move(own, &population->common);
    fb_ids_move(&population->resting, &population->common);
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

uint32_t fb_population_add(struct fb_population *population, struct fb_live record)
{
    uint32_t object = take_record(population);
    record.birth = population->births++;
    population->objects[object] = record;
    return object;
}

void fb_population_remove(struct fb_population *population, uint32_t object)
{
    population->objects[object].birth = UINT64_MAX;
    fb_ids_push(&population->spare, object);
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
