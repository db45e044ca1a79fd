/* Who frees an object whose time has come, and when. */
#include "workload/generator.h"

/* The next of the lanes that the phase of this one runs on. Only called while its lane has a
 * meaning: what outlives its own thread's phase becomes main's. */
static uint32_t neighbour(const struct fb_generator *generator, uint32_t lane)
{
    uint32_t first = generator->own_lane, count = generator->phase_lanes;
    if (lane == FB_LANE_MAIN)
        return lane;
    for (size_t i = 0; lane < generator->own_lane && i < generator->workload->pool_count; i++) {
        uint32_t begin = generator->pools[i].first_lane;
        if (lane < begin || lane - begin >= generator->workload->pools[i].threads)
            continue;
        first = begin;
        count = generator->workload->pools[i].threads;
    }
    return first + (lane - first + 1) % count;
}

/* Each call deals to the pool's next thread. */
static uint32_t pool_thread(struct fb_generator *generator, const struct fb_pool *pool)
{
    struct fb_generator_pool *dealt = &generator->pools[pool - generator->workload->pools];
    uint32_t thread = dealt->next;
    dealt->next = (dealt->next + 1) % pool->threads;
    return dealt->first_lane + thread;
}

static uint32_t freer_of(struct fb_generator *generator, uint32_t object)
{
    const struct fb_live *live = &generator->population.objects[object];
    const struct fb_object_class *class = &generator->workload->classes[live->class_index];
    uint32_t lane = live->home;
    if (class->freed_by == FB_FREED_BY_OTHER)
        lane = neighbour(generator, live->home);
    else if (class->freed_by == FB_FREED_BY_POOL)
        lane = pool_thread(generator, class->freed_by_pool);
    return generator->lanes[lane].alive ? lane : FB_LANE_MAIN;
}

/* It is as good as gone: whatever its lane does before it is freed, it no longer grows. */
static void leave_to(struct fb_generator *generator, uint32_t lane, uint32_t object)
{
    struct fb_lane *home = &generator->lanes[generator->population.objects[object].home];
    fb_lane_stop_growing(home, &generator->population, object);
    fb_ids_push(&generator->lanes[lane].pending, object);
}

int fb_death_retire_due(struct fb_generator *generator, uint32_t lane, enum fb_queue_kind kind,
                        uint64_t limit, struct fb_error *err)
{
    uint32_t object = 0;
    while (fb_queue_pop(&generator->lanes[lane].queues[kind], limit, &object)) {
        uint32_t freer = freer_of(generator, object);
        if (freer != lane)
            leave_to(generator, freer, object);
        else if (fb_object_free(generator, lane, object, err) != 0)
            return -1;
    }
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
static void put_in_order(struct fb_generator *generator, enum fb_free_order order)
{
    struct fb_ids *batch = &generator->batch;
    fb_population_sort(&generator->population, batch);
    if (order == FB_FREE_LIFO)
        reverse(batch);
    if (order == FB_FREE_RANDOM)
        shuffle(batch, &generator->free_order);
}

void fb_death_deal(struct fb_generator *generator, enum fb_free_order order, uint32_t lane,
                   struct fb_ids *own)
{
    put_in_order(generator, order);
    for (size_t i = 0; i < generator->batch.count; i++) {
        uint32_t object = generator->batch.at[i];
        uint32_t freer = freer_of(generator, object);
        if (freer == lane)
            fb_ids_push(own, object);
        else
            leave_to(generator, freer, object);
    }
    generator->batch.count = 0;
}

int fb_death_free_pending(struct fb_generator *generator, uint32_t lane, struct fb_error *err)
{
    struct fb_ids *pending = &generator->lanes[lane].pending;
    for (size_t i = 0; i < pending->count; i++)
        if (fb_object_free(generator, lane, pending->at[i], err) != 0)
            return -1;
    pending->count = 0;
    return 0;
}
