#include "workload/lane.h"

#include "base/alloc.h"

#include <stdlib.h>

void fb_lane_init(struct fb_lane *lane)
{
    *lane = (struct fb_lane){
        .eldest_growing = FB_OBJECT_NONE,
        .youngest_growing = FB_OBJECT_NONE,
    };
}

void fb_lane_deinit(struct fb_lane *lane)
{
    for (size_t i = 0; i < FB_QUEUE_COUNT; i++)
        fb_queue_deinit(&lane->queues[i]);
    fb_ids_deinit(&lane->iteration);
    fb_ids_deinit(&lane->phase);
    fb_ids_deinit(&lane->scope);
    fb_ids_deinit(&lane->inner);
    fb_ids_deinit(&lane->pending);
    fb_ids_deinit(&lane->slots);
    fb_ids_deinit(&lane->due);
    free(lane->actions);
}

void fb_lane_add_action(struct fb_lane *lane, struct fb_action action)
{
    if (lane->action_count == lane->action_capacity) {
        lane->action_capacity = lane->action_capacity * 2 + 64;
        lane->actions = fb_realloc(lane->actions, lane->action_capacity, sizeof *lane->actions);
    }
    lane->actions[lane->action_count++] = action;
}

void fb_lane_start_growing(struct fb_lane *lane, struct fb_population *population, uint32_t object)
{
    struct fb_live *live = &population->objects[object];
    live->growing = true;
    live->elder = lane->youngest_growing;
    live->younger = FB_OBJECT_NONE;
    if (live->elder != FB_OBJECT_NONE)
        population->objects[live->elder].younger = object;
    else
        lane->eldest_growing = object;
    lane->youngest_growing = object;
}

void fb_lane_stop_growing(struct fb_lane *lane, struct fb_population *population, uint32_t object)
{
    struct fb_live *live = &population->objects[object];
    if (!live->growing)
        return;
    live->growing = false;
    if (live->elder != FB_OBJECT_NONE)
        population->objects[live->elder].younger = live->younger;
    else
        lane->eldest_growing = live->younger;
    if (live->younger != FB_OBJECT_NONE)
        population->objects[live->younger].elder = live->elder;
    else
        lane->youngest_growing = live->elder;
}

void fb_lane_clear(struct fb_lane *lane, struct fb_ids *ids)
{
    fb_ids_move(&lane->phase, ids);
    for (size_t i = 0; i < FB_QUEUE_COUNT; i++)
        fb_queue_drain(&lane->queues[i], ids);
    lane->allocations = 0;
    lane->wave = 0;
}
