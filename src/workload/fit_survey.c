#include "workload/fit_model.h"

#include "base/alloc.h"

#include <stdlib.h>

/* An object that is alive, by handle. */
struct alive {
    struct fb_recording_event birth;
    uint64_t size;   /* the largest it had */
    uint64_t births; /* of all threads, up to its own */
    uint64_t events; /* at its birth */
    uint32_t phase;
    uint32_t iteration; /* in which it was born */
    bool there;
};

struct survey {
    struct fb_replica *replica;
    const struct fb_fit_options *options;
    struct fb_fit_model *model;
    struct alive *alive;
    uint64_t births;       /* of all threads */
    uint32_t *thread_seen; /* by thread: the phase it was last counted in, + 1 */
    uint32_t phase;
    uint64_t number; /* of the event */
};

uint64_t fb_fit_range_bytes(unsigned range)
{
    return range <= 5 ? UINT64_C(64) << 2 * range : FB_FIT_BIG_BYTES << (range - 5);
}

static unsigned range_of(uint64_t size)
{
    unsigned range = 0;
    while (range < 35 && size > fb_fit_range_bytes(range))
        range++;
    return range;
}

/* A cut right before the event. */
static struct fb_fit_phase cut_before(uint64_t number, const struct fb_recording_event *event)
{
    return (struct fb_fit_phase){.first_event = number, .begin_ns = event->time_ns};
}

static void add_cut(struct fb_fit_model *model, uint64_t number,
                    const struct fb_recording_event *event)
{
    model->phases[model->phase_count++] = cut_before(number, event);
}

static uint64_t magnitude(uint64_t change)
{
    return (int64_t)change < 0 ? -change : change;
}

/* Bytes that came and went, over all events, and the largest live bytes. */
int fb_fit_measure(struct fb_replica *replica, struct fb_fit_options *options, struct fb_error *err)
{
    struct fb_recording_event event;
    uint64_t live = 0, peak = 0, volume = 0;
    int more = 0;
    fb_recording_rewind(replica->recording);
    while ((more = fb_recording_next(replica->recording, &event, err)) > 0) {
        volume += magnitude(fb_recording_change(&event));
        live += fb_recording_change(&event);
        peak = live > peak ? live : peak;
    }
    options->volume_bytes = volume;
    options->peak_bytes = peak;
    return more;
}

/* The live curve's turning points: where it has come from its last low or high by at least `least`
 * and then goes back by as much. What it gains and loses between two of them is less. */
struct zigzag {
    uint64_t least;
    bool falling; /* since the last turning point */
    uint64_t extreme_bytes;
    struct fb_fit_phase extreme; /* the cut behind it */
    struct fb_fit_phase turns[FB_FIT_TURNS_MAX];
    unsigned count; /* FB_FIT_TURNS_MAX + 1: more than there is room for */
};

static void zigzag_step(struct zigzag *zigzag, uint64_t live, const struct fb_fit_phase *behind)
{
    bool further = zigzag->falling ? live < zigzag->extreme_bytes : live > zigzag->extreme_bytes;
    uint64_t back = zigzag->falling ? live - zigzag->extreme_bytes : zigzag->extreme_bytes - live;
    if (further) {
        zigzag->extreme_bytes = live;
        zigzag->extreme = *behind;
    } else if (back >= zigzag->least) {
        if (zigzag->count < FB_FIT_TURNS_MAX)
            zigzag->turns[zigzag->count] = zigzag->extreme;
        zigzag->count += zigzag->count <= FB_FIT_TURNS_MAX;
        zigzag->falling = !zigzag->falling;
        zigzag->extreme_bytes = live;
        zigzag->extreme = *behind;
    }
}

/* Thresholds of 4, 8, 16, 32 and 64 % of the peak, in one pass. */
#define ZIGZAGS 5U

static void init_zigzags(struct zigzag *zigzags, uint64_t peak_bytes)
{
    for (unsigned i = 0; i < ZIGZAGS; i++)
        zigzags[i] = (struct zigzag){.least = peak_bytes / 100 * (UINT64_C(4) << i) + 1};
}

/* The finest that has no more turns than asked for. */
static void add_turns(struct fb_fit_model *model, const struct zigzag *zigzags, unsigned most)
{
    unsigned i = 0;
    while (i + 1 < ZIGZAGS && zigzags[i].count > most)
        i++;
    for (unsigned k = 0; k < zigzags[i].count && k < most; k++)
        model->phases[model->phase_count++] = zigzags[i].turns[k];
}

/* Where time and bytes are cut, where the live curve turns, and where its peak is. */
static int find_cuts(struct survey *survey, struct fb_error *err)
{
    struct fb_fit_model *model = survey->model;
    struct fb_recording_event event;
    struct zigzag zigzags[ZIGZAGS];
    unsigned wanted = survey->options->phases, next = 1, next_part = 1;
    uint64_t volume = survey->options->volume_bytes;
    uint64_t live = 0, moved = 0, duration_ns = survey->replica->duration_ns + 1;
    bool met = false;
    int more = 0;
    init_zigzags(zigzags, model->peak_bytes);
    model->phase_count = 1; /* the first is the recording's begin */
    fb_recording_rewind(survey->replica->recording);
    for (uint64_t number = 0;
         (more = fb_recording_next(survey->replica->recording, &event, err)) > 0; number++) {
        while (next < wanted && event.time_ns >= duration_ns / wanted * next) {
            add_cut(model, number, &event);
            next++;
        }
        while (next_part < wanted && moved >= volume / wanted * next_part) {
            add_cut(model, number, &event);
            next_part++;
        }
        live += fb_recording_change(&event);
        moved += magnitude(fb_recording_change(&event));
        const struct fb_fit_phase behind = cut_before(number + 1, &event);
        for (unsigned i = 0; i < ZIGZAGS; i++)
            zigzag_step(&zigzags[i], live, &behind);
        if (live == model->peak_bytes && !met)
            add_cut(model, number + 1, &event);
        met = met || live == model->peak_bytes;
    }
    add_turns(model, zigzags, wanted);
    model->duration_ns = survey->replica->duration_ns;
    return more;
}

static int by_event(const void *left, const void *right)
{
    const struct fb_fit_phase *a = left, *b = right;
    return (a->first_event > b->first_event) - (a->first_event < b->first_event);
}

static struct fb_fit_class *class_for(struct fb_fit_model *model, const struct fb_fit_class *like)
{
    uint64_t index = 0;
    uint64_t key = (uint64_t)like->fate | (uint64_t)like->range << 8 |
                   (uint64_t)like->handed << 16 | (uint64_t)like->born << 24 |
                   (uint64_t)like->dies << 40;
    if (fb_map_get(&model->class_of, key, &index))
        return &model->classes[index];
    if (model->class_count == model->class_capacity) {
        model->class_capacity = model->class_capacity * 2 + 32;
        model->classes = fb_realloc(model->classes, model->class_capacity, sizeof *model->classes);
    }
    model->classes[model->class_count] = *like;
    fb_map_put(&model->class_of, key, model->class_count);
    return &model->classes[model->class_count++];
}

static void add_size(struct fb_fit_class *class, const struct alive *object, uint64_t life)
{
    uint64_t size = object->size;
    uint64_t count = 0;
    uint64_t least = class->range > 0 ? fb_fit_range_bytes(class->range - 1) : 0;
    uint64_t width = (fb_fit_range_bytes(class->range) - least) / FB_FIT_PARTS;
    uint64_t part = (size - least - 1) / width;
    class->parts[part < FB_FIT_PARTS ? part : FB_FIT_PARTS - 1]++;
    if (class->count < FB_FIT_CYCLE_MAX) {
        class->order[class->count][0] = object->births;
        class->order[class->count][1] = size;
        class->order[class->count][2] = life;
    }
    if (fb_map_get(&class->sizes, size, &count) || class->sizes.count < FB_FIT_SIZES_KNOWN)
        fb_map_put(&class->sizes, size, count + 1);
}

static unsigned life_bucket(uint64_t births)
{
    unsigned bucket = 0;
    while (bucket + 1 < FB_FIT_LIVES && births >= UINT64_C(1) << (bucket + 1))
        bucket++;
    return bucket;
}

static void add_object(struct survey *survey, const struct alive *object,
                       const struct fb_fit_class *like, uint64_t life)
{
    struct fb_fit_class *class = class_for(survey->model, like);
    add_size(class, object, life);
    class->count++;
    class->bytes += object->size;
    class->lives[life_bucket(life)]++;
    class->births[object->phase][object->iteration]++;
    if (like->fate == FB_FIT_KEPT)
        class->deaths[survey->phase]++;
    class->touched += (double)object->size *
                      (survey->replica->objects[object->birth.object] & FB_REPLICA_SHARE_MASK) /
                      FB_RECORDING_SHARES;
    class->calloced += object->birth.kind == FB_RECORDING_CALLOC;
    if (object->birth.kind == FB_RECORDING_ALIGNED && object->birth.align_log2 > 4) {
        class->aligned++;
        class->align_log2 = object->birth.align_log2;
    }
}

static bool dies_soon(const struct survey *survey, const struct alive *object)
{
    if (object->phase == survey->phase)
        return true;
    double events = (double)survey->replica->event_count / survey->model->phase_count;
    return (double)(survey->number - object->events) < events * survey->options->soon_part;
}

static void note_death(struct survey *survey, const struct fb_recording_event *event)
{
    struct alive *object = &survey->alive[event->handle];
    struct fb_fit_class like = {.fate = dies_soon(survey, object) ? FB_FIT_TEMP : FB_FIT_KEPT,
                                .range = range_of(object->size),
                                .handed = event->thread != object->birth.thread};
    if (like.fate == FB_FIT_KEPT) {
        like.born = fb_fit_is_big(like.range) ? object->phase : 0;
        like.dies = survey->phase;
    }
    add_object(survey, object, &like, survey->births - object->births + 1);
    object->there = false;
}

/* Which part of its phase the present event is in. */
static uint32_t iteration_now(const struct survey *survey)
{
    const struct fb_fit_model *model = survey->model;
    uint64_t first = model->phases[survey->phase].first_event;
    uint64_t end = survey->phase + 1 < model->phase_count
                       ? model->phases[survey->phase + 1].first_event
                       : survey->replica->event_count;
    return (uint32_t)((survey->number - first) * FB_FIT_ITERATIONS / (end - first));
}

static void note_birth(struct survey *survey, const struct fb_recording_event *event)
{
    struct fb_fit_phase *phase = &survey->model->phases[survey->phase];
    survey->alive[event->handle] = (struct alive){
        .birth = *event,
        .size = event->size > 0 ? event->size : 1,
        .births = ++survey->births,
        .events = survey->number,
        .phase = survey->phase,
        .iteration = iteration_now(survey),
        .there = true,
    };
    phase->births++;
    if (event->thread == 0)
        return;
    phase->births_elsewhere++;
    phase->threads += survey->thread_seen[event->thread] != survey->phase + 1;
    survey->thread_seen[event->thread] = survey->phase + 1;
}

/* A block that moves leaves a hole of its old size: it is as if it died and another one was born.
 * One that hardly changes mostly stays where it is. */
static void note_realloc(struct survey *survey, const struct fb_recording_event *event)
{
    struct alive *object = &survey->alive[event->handle];
    if (event->size <= object->size / 8 * 9 && event->size >= object->size / 2) {
        object->size = event->size > object->size ? event->size : object->size;
        return;
    }
    struct fb_recording_event birth = *event;
    birth.kind = FB_RECORDING_MALLOC;
    note_death(survey, event);
    note_birth(survey, &birth);
}

static int read_objects(struct survey *survey, struct fb_error *err)
{
    struct fb_fit_model *model = survey->model;
    struct fb_recording_event event;
    uint64_t live = 0;
    int more = 0;
    fb_recording_rewind(survey->replica->recording);
    for (; (more = fb_recording_next(survey->replica->recording, &event, err)) > 0;
         survey->number++) {
        while (survey->phase + 1 < model->phase_count &&
               survey->number >= model->phases[survey->phase + 1].first_event)
            model->phases[++survey->phase].end_live_bytes = live;
        live += fb_recording_change(&event);
        model->phases[survey->phase].end_live_bytes = live;
        if (event.kind < FB_RECORDING_REALLOC)
            note_birth(survey, &event);
        else if (event.kind == FB_RECORDING_FREE)
            note_death(survey, &event);
        else if (event.kind == FB_RECORDING_REALLOC)
            note_realloc(survey, &event);
    }
    return more;
}

static void note_survivors(struct survey *survey)
{
    for (uint32_t i = 0; i < survey->replica->handle_count; i++) {
        const struct alive *object = &survey->alive[i];
        if (!object->there)
            continue;
        const struct fb_fit_class like = {.fate = FB_FIT_STAYS, .range = range_of(object->size)};
        add_object(survey, object, &like, 1);
    }
}

static void count_workers(struct fb_fit_model *model)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < model->phase_count; i++)
        if (model->phases[i].births_elsewhere * 2 > model->phases[i].births &&
            model->phases[i].threads > most)
            most = model->phases[i].threads;
    model->workers = most < FB_FIT_WORKERS_MAX ? most : FB_FIT_WORKERS_MAX;
}

int fb_fit_survey(struct fb_replica *replica, const struct fb_fit_options *options,
                  struct fb_fit_model *model, struct fb_error *err)
{
    struct survey survey = {.replica = replica, .options = options, .model = model};
    *model = (struct fb_fit_model){
        .life_scale = 1, .timed_pools = options->timed_pools, .peak_bytes = options->peak_bytes};
    survey.alive = fb_alloc(replica->handle_count, sizeof *survey.alive);
    survey.thread_seen = fb_alloc(replica->thread_count, sizeof *survey.thread_seen);
    int status = find_cuts(&survey, err);
    if (status == 0) {
        qsort(model->phases, model->phase_count, sizeof *model->phases, by_event);
        status = read_objects(&survey, err);
    }
    if (status == 0) {
        note_survivors(&survey);
        count_workers(model);
    }
    free(survey.thread_seen);
    free(survey.alive);
    return status;
}

void fb_fit_deinit(struct fb_fit_model *model)
{
    for (size_t i = 0; i < model->class_count; i++)
        fb_map_deinit(&model->classes[i].sizes);
    free(model->classes);
    fb_map_deinit(&model->class_of);
    *model = (struct fb_fit_model){0};
}
