#include "workload/queue.h"

#include "base/alloc.h"

#include <stdlib.h>

#define FIRST_CAPACITY 64U

static size_t grown(size_t capacity)
{
    return capacity == 0 ? FIRST_CAPACITY : capacity * 2;
}

void fb_ids_push(struct fb_ids *ids, uint32_t id)
{
    if (ids->count == ids->capacity) {
        ids->capacity = grown(ids->capacity);
        ids->at = fb_realloc(ids->at, ids->capacity, sizeof *ids->at);
    }
    ids->at[ids->count++] = id;
}

uint32_t fb_ids_pop(struct fb_ids *ids)
{
    return ids->at[--ids->count];
}

void fb_ids_move(struct fb_ids *from, struct fb_ids *to)
{
    for (size_t i = 0; i < from->count; i++)
        fb_ids_push(to, from->at[i]);
    from->count = 0;
}

void fb_ids_deinit(struct fb_ids *ids)
{
    free(ids->at);
    *ids = (struct fb_ids){0};
}

static void append(struct fb_bucket *bucket, struct fb_death death)
{
    if (bucket->count == bucket->capacity) {
        bucket->capacity = grown(bucket->capacity);
        bucket->at = fb_realloc(bucket->at, bucket->capacity, sizeof *bucket->at);
    }
    if (bucket->count == 0 || death.due < bucket->earliest)
        bucket->earliest = death.due;
    bucket->at[bucket->count++] = death;
}

static struct fb_bucket *bucket_of(struct fb_queue *queue, uint64_t due)
{
    uint64_t difference = due ^ queue->last;
    return &queue->buckets[difference == 0 ? 0 : 64 - __builtin_clzll(difference)];
}

void fb_queue_push(struct fb_queue *queue, struct fb_death death)
{
    if (death.due < queue->last)
        death.due = queue->last;
    append(bucket_of(queue, death.due), death);
}

static struct fb_bucket *lowest_filled(struct fb_queue *queue)
{
    for (size_t i = 0; i < FB_QUEUE_BUCKETS; i++)
        if (queue->buckets[i].count > 0)
            return &queue->buckets[i];
    return NULL;
}

static void empty(struct fb_bucket *bucket)
{
    bucket->first = 0;
    bucket->count = 0;
}

/* Deals a bucket out to those below it, at least one object to bucket 0. In order, so that equal
 * dues stay in the order pushed; and emptied before, since none can come back into it. */
static void deal(struct fb_queue *queue, struct fb_bucket *bucket)
{
    struct fb_bucket dealt = *bucket;
    *bucket = (struct fb_bucket){0};
    queue->last = dealt.earliest;
    for (size_t i = 0; i < dealt.count; i++)
        append(bucket_of(queue, dealt.at[i].due), dealt.at[i]);
    free(dealt.at);
}

bool fb_queue_pop(struct fb_queue *queue, uint64_t limit, uint32_t *object)
{
    struct fb_bucket *bucket = lowest_filled(queue);
    if (bucket == NULL || bucket->earliest > limit)
        return false;
    if (bucket != &queue->buckets[0]) {
        deal(queue, bucket);
        bucket = &queue->buckets[0];
    }
    *object = bucket->at[bucket->first++].object;
    if (bucket->first == bucket->count)
        empty(bucket);
    return true;
}

void fb_queue_drain(struct fb_queue *queue, struct fb_ids *ids)
{
    for (size_t i = 0; i < FB_QUEUE_BUCKETS; i++) {
        struct fb_bucket *bucket = &queue->buckets[i];
        for (size_t k = bucket->first; k < bucket->count; k++)
            fb_ids_push(ids, bucket->at[k].object);
        empty(bucket);
    }
    queue->last = 0;
}

void fb_queue_deinit(struct fb_queue *queue)
{
    for (size_t i = 0; i < FB_QUEUE_BUCKETS; i++)
        free(queue->buckets[i].at);
    *queue = (struct fb_queue){0};
}
