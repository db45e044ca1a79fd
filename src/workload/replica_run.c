/* A recording played into a ledger. */
#include "workload/replica.h"

#include "base/alloc.h"
#include "workload/generator.h"

#include <stdlib.h>

#define NONE UINT32_MAX

/* An object that is alive. Indices are given again only after the window in which it died. */
struct live {
    uint64_t object;
    uint64_t size;
    uint64_t window;        /* in which it was used last … */
    uint32_t window_thread; /* … and by whom */
    uint32_t stream;        /* that allocated it */
    uint32_t slot;
    uint16_t class_index;
    bool alive;
};

struct entry {
    struct fb_recording_event event;
    uint64_t number; /* of the event */
    uint32_t live;
    uint32_t next; /* of the same thread in this window */
};

struct thread {
    uint32_t stream;
    bool started, joined;
    uint64_t iteration;   /* the last mark, + 1 */
    uint32_t first, last; /* its entries in the window */
    struct fb_ids slots;  /* that it freed */
};

struct player {
    struct fb_replica *replica;
    struct fb_ledger *ledger;
    struct thread *threads;
    struct live *lives;
    uint32_t live_count, live_capacity;
    struct fb_ids spare_lives; /* free again */
    struct fb_ids dead_lives;  /* since the window began */
    uint32_t *live_of_handle;
    struct fb_ids heritage; /* slots of threads that were joined */
    struct fb_ids resting;  /* slots of shared objects that were freed since the last meeting */
    struct fb_ids common;   /* those of before: anybody may use them */
    uint64_t living;        /* threads started and not joined, without main */
    uint64_t slot_count;
    uint64_t alive, alive_most;
    uint64_t iterations_marked;
    struct entry window[FB_REPLICA_WINDOW];
    uint32_t window_count;
    uint64_t window_number;
    struct fb_ids window_threads; /* in order of appearance */
};

static int turn_to(struct player *player, uint32_t number, struct fb_error *err)
{
    struct thread *thread = &player->threads[number];
    if (thread->started)
        return fb_ledger_turn(player->ledger, thread->stream, false, err);
    if (fb_ledger_turn(player->ledger, 0, false, err) != 0 ||
        fb_ledger_start(player->ledger, &thread->stream, err) != 0)
        return -1;
    thread->started = true;
    player->living++;
    fb_ids_move(&player->heritage, &thread->slots);
    return fb_ledger_turn(player->ledger, thread->stream, false, err);
}

/* The thread's last event has been played: it ends, and who starts next may have its slots. */
static int join(struct player *player, uint32_t number, struct fb_error *err)
{
    struct thread *thread = &player->threads[number];
    thread->joined = true;
    player->living--;
    fb_ids_move(&thread->slots, &player->heritage);
    if (fb_ledger_turn(player->ledger, 0, false, err) != 0)
        return -1;
    return fb_ledger_join(player->ledger, thread->stream, err);
}

/* A shared object's slot has not been used since all threads met: who waits for it cannot take it
 * for another. */
static int take_slot(struct player *player, struct thread *thread, bool shared, uint32_t *slot,
                     struct fb_error *err)
{
    struct fb_ids *from = !shared && thread->slots.count > 0 ? &thread->slots : &player->common;
    if (from->count > 0) {
        *slot = fb_ids_pop(from);
        return 0;
    }
    if (player->slot_count >= UINT32_MAX)
        return fb_fail(err, FB_ERROR_INPUT,
                       "more than 4,294,967,295 objects are alive at once; record for a shorter "
                       "time (--for)");
    *slot = (uint32_t)player->slot_count++;
    return 0;
}

static uint64_t traced_size(uint64_t size)
{
    return size > 0 ? size : 1; /* an allocator gives a block for 0 bytes, too */
}

static int allocate(struct player *player, struct thread *thread, struct live *live, uint64_t size,
                    struct fb_error *err)
{
    bool shared = player->replica->classes[live->class_index].shared != 0;
    if (take_slot(player, thread, shared, &live->slot, err) != 0)
        return -1;
    live->size = traced_size(size);
    live->stream = thread->stream;
    live->alive = true;
    if (++player->alive > player->alive_most)
        player->alive_most = player->alive;
    struct fb_op op = {.class_index = live->class_index, .slot = live->slot, .arg = live->size};
    return fb_ledger_alloc(player->ledger, op, err);
}

static int release(struct player *player, struct thread *thread, struct live *live,
                   struct fb_error *err)
{
    bool shared = player->replica->classes[live->class_index].shared != 0;
    bool foreign = live->stream != thread->stream;
    struct fb_op op = {.flags = foreign ? FB_OP_FLAG_FOREIGN : 0U,
                       .class_index = live->class_index,
                       .slot = live->slot};
    live->alive = false;
    player->alive--;
    fb_ids_push(shared ? &player->resting : &thread->slots, live->slot);
    return fb_ledger_free(player->ledger, op, live->size, err);
}

static int reallocate(struct player *player, struct thread *thread, struct live *live,
                      uint64_t size, struct fb_error *err)
{
    if (player->replica->classes[live->class_index].shared != 0) {
        player->replica->split_reallocs++;
        return release(player, thread, live, err) != 0 ? -1
                                                       : allocate(player, thread, live, size, err);
    }
    uint64_t old_size = live->size;
    live->size = traced_size(size);
    struct fb_op op = {.class_index = live->class_index, .slot = live->slot, .arg = live->size};
    return fb_ledger_realloc(player->ledger, op, old_size, err);
}

static int play_entry(struct player *player, struct thread *thread, const struct entry *entry,
                      struct fb_error *err)
{
    const struct fb_recording_event *event = &entry->event;
    if (event->kind == FB_RECORDING_EXIT || event->kind == FB_RECORDING_SHARE)
        return 0;
    struct live *live = &player->lives[entry->live];
    if (event->kind < FB_RECORDING_REALLOC)
        return allocate(player, thread, live, event->size, err);
    if (event->kind == FB_RECORDING_REALLOC)
        return reallocate(player, thread, live, event->size, err);
    fb_ids_push(&player->dead_lives, entry->live);
    return release(player, thread, live, err);
}

static uint64_t slice_ns(const struct fb_replica *replica)
{
    return replica->duration_ns / replica->iterations + 1;
}

/* Slices of equal time. Each thread marks a slice when it first works in it; the first to do so
 * is sampled. */
static int mark_iteration(struct player *player, struct thread *thread, uint64_t time_ns,
                          struct fb_error *err)
{
    uint64_t iteration = time_ns / slice_ns(player->replica);
    if (thread->iteration > iteration)
        return 0;
    thread->iteration = iteration + 1;
    if (player->iterations_marked <= iteration) {
        player->iterations_marked = iteration + 1;
        return fb_ledger_iteration(player->ledger, iteration, err);
    }
    return fb_ledger_mark(player->ledger, (struct fb_op){.kind = FB_OP_ITERATION, .arg = iteration},
                          err);
}

/* What there is when a pause of a slice or more begins is what there is all along: it is sampled
 * then, so that the curve does not keep the last maximum until the pause is over. */
static int pace(struct player *player, uint64_t time_ns, struct fb_error *err)
{
    const struct fb_ledger *ledger = player->ledger;
    uint64_t passed_ns = ledger->now_ns - ledger->phase_begin_ns;
    if (time_ns < passed_ns + FB_REPLICA_PACE_NS)
        return 0;
    if (time_ns - passed_ns >= slice_ns(player->replica) &&
        fb_ledger_sample(player->ledger, FB_SAMPLE_TIME, err) != 0)
        return -1;
    return fb_ledger_pace(player->ledger, time_ns, err);
}

static int play_thread(struct player *player, uint32_t number, struct fb_error *err)
{
    struct thread *thread = &player->threads[number];
    const struct fb_replica_thread *known = &player->replica->threads[number];
    const struct entry *first = &player->window[thread->first];
    if (turn_to(player, number, err) != 0 || pace(player, first->event.time_ns, err) != 0 ||
        mark_iteration(player, thread, first->event.time_ns, err) != 0)
        return -1;
    bool last = false;
    for (uint32_t i = thread->first; i != NONE; i = player->window[i].next) {
        if (play_entry(player, thread, &player->window[i], err) != 0)
            return -1;
        last = player->window[i].number == known->last_event;
    }
    thread->first = NONE;
    return last && known->exited && number != 0 ? join(player, number, err) : 0;
}

static bool lives_on(const struct thread *thread)
{
    return thread->started && !thread->joined;
}

/* One op of that kind about every living thread, by itself (PARK) or by main. */
static int mark_living(struct player *player, enum fb_op_kind kind, struct fb_error *err)
{
    for (uint32_t i = 1; i < player->replica->thread_count; i++) {
        const struct thread *thread = &player->threads[i];
        if (!lives_on(thread))
            continue;
        bool by_itself = kind == FB_OP_PARK;
        struct fb_op op = {.kind = (uint8_t)kind, .arg = by_itself ? 0 : thread->stream};
        if (fb_ledger_turn(player->ledger, by_itself ? thread->stream : 0, false, err) != 0 ||
            fb_ledger_mark(player->ledger, op, err) != 0)
            return -1;
    }
    return fb_ledger_turn(player->ledger, 0, false, err);
}

/* Whoever lives parks, and main waits for that: then in free order, too, all that is in the trace
 * so far has been done. */
static int park_all(struct player *player, struct fb_error *err)
{
    return mark_living(player, FB_OP_PARK, err) != 0 ? -1 : mark_living(player, FB_OP_AWAIT, err);
}

/* All threads meet, when enough slots wait for that to be worth it. */
static int give_slots_back(struct player *player, struct fb_error *err)
{
    uint64_t enough = player->replica->resting_slots;
    if (player->resting.count < enough ||
        player->resting.count < player->living * (enough / FB_REPLICA_RESTING_PART))
        return 0;
    if (park_all(player, err) != 0 || mark_living(player, FB_OP_RESUME, err) != 0)
        return -1;
    fb_ids_move(&player->resting, &player->common);
    return 0;
}

static int play_window(struct player *player, struct fb_error *err)
{
    for (size_t i = 0; i < player->window_threads.count; i++)
        if (play_thread(player, player->window_threads.at[i], err) != 0)
            return -1;
    fb_ids_move(&player->dead_lives, &player->spare_lives);
    player->window_threads.count = 0;
    player->window_count = 0;
    player->window_number++;
    return give_slots_back(player, err);
}

static uint32_t new_live(struct player *player)
{
    if (player->spare_lives.count > 0)
        return player->spare_lives.at[--player->spare_lives.count];
    if (player->live_count == player->live_capacity) {
        player->live_capacity = player->live_capacity * 2 + 1024;
        player->lives = fb_realloc(player->lives, player->live_capacity, sizeof *player->lives);
    }
    return player->live_count++;
}

/* Whether the event must come after all of the window. */
static bool ends_window(const struct player *player, const struct fb_recording_event *event)
{
    if (player->window_count == 0)
        return false;
    if (player->window_count == FB_REPLICA_WINDOW)
        return true;
    const struct fb_recording_event *first = &player->window[0].event;
    const struct fb_recording_event *last = &player->window[player->window_count - 1].event;
    if (event->time_ns >= first->time_ns + FB_REPLICA_PACE_NS)
        return true;
    if (event->size >= FB_REPLICA_BIG_BYTES || last->size >= FB_REPLICA_BIG_BYTES)
        return event->thread != last->thread || player->window_threads.count > 1;
    if (event->kind < FB_RECORDING_REALLOC || event->kind == FB_RECORDING_EXIT)
        return false;
    const struct live *live = &player->lives[player->live_of_handle[event->handle]];
    return live->window == player->window_number && live->window_thread != event->thread;
}

static uint32_t live_of(struct player *player, const struct fb_recording_event *event)
{
    if (event->kind == FB_RECORDING_EXIT)
        return NONE;
    if (event->kind < FB_RECORDING_REALLOC) {
        uint32_t index = new_live(player);
        player->live_of_handle[event->handle] = index;
        player->lives[index] = (struct live){
            .object = event->object, .class_index = fb_replica_class(player->replica, event)};
    }
    uint32_t index = player->live_of_handle[event->handle];
    player->lives[index].window = player->window_number;
    player->lives[index].window_thread = event->thread;
    return index;
}

static void add_entry(struct player *player, const struct fb_recording_event *event,
                      uint64_t number)
{
    struct thread *thread = &player->threads[event->thread];
    uint32_t index = player->window_count++;
    if (thread->first == NONE) {
        thread->first = index;
        fb_ids_push(&player->window_threads, event->thread);
    } else {
        player->window[thread->last].next = index;
    }
    thread->last = index;
    player->window[index] = (struct entry){*event, number, live_of(player, event), NONE};
}

static int play_events(struct player *player, struct fb_error *err)
{
    struct fb_recording_event event;
    int more = 0;
    fb_recording_rewind(player->replica->recording);
    for (uint64_t number = 0;
         (more = fb_recording_next(player->replica->recording, &event, err)) > 0; number++) {
        if (ends_window(player, &event) && play_window(player, err) != 0)
            return -1;
        add_entry(player, &event, number);
    }
    return more < 0 ? -1 : play_window(player, err);
}

static int by_object(const void *left, const void *right)
{
    const struct live *const *a = left;
    const struct live *const *b = right;
    return (*a)->object < (*b)->object ? -1 : 1;
}

/* In the order of birth. */
static int free_all(struct player *player, struct fb_error *err)
{
    size_t count = 0;
    int status = 0;
    struct live **alive = fb_alloc(player->live_count, sizeof(struct live *));
    for (uint32_t i = 0; i < player->live_count; i++)
        if (player->lives[i].alive)
            alive[count++] = &player->lives[i];
    if (count > 0)
        qsort(alive, count, sizeof(struct live *), by_object);
    for (size_t i = 0; i < count && status == 0; i++) {
        struct fb_op op = {.class_index = alive[i]->class_index, .slot = alive[i]->slot};
        status = fb_ledger_free(player->ledger, op, alive[i]->size, err);
    }
    free(alive);
    return status;
}

/* With the main thread. A lane is large, and a recording may have seen a million threads. */
static size_t count_living(const struct player *player)
{
    size_t count = 1;
    for (uint32_t i = 1; i < player->replica->thread_count; i++)
        count += lives_on(&player->threads[i]);
    return count;
}

/* The generator's own tail, over lanes that stand for the threads that live. */
static int play_tail(struct player *player, struct fb_error *err)
{
    static const struct fb_workload nothing;
    struct fb_generator generator = {.workload = &nothing, .ledger = player->ledger};
    uint32_t count = player->replica->thread_count;
    generator.lanes = fb_alloc(count_living(player), sizeof *generator.lanes);
    generator.lane_count = 1;
    generator.lanes[0] = (struct fb_lane){.alive = true};
    for (uint32_t i = 1; i < count; i++)
        if (lives_on(&player->threads[i]))
            generator.lanes[generator.lane_count++] =
                (struct fb_lane){.alive = true, .stream = player->threads[i].stream};
    generator.own_lane = generator.lane_count;
    fb_population_init(&generator.population, 0);
    int status = fb_tail_run(&generator, err);
    fb_population_deinit(&generator.population);
    free(generator.lanes);
    return status;
}

static int play(struct player *player, struct fb_error *err)
{
    struct fb_ledger *ledger = player->ledger;
    if (fb_ledger_checkpoint(ledger, FB_CHECKPOINT_START, err) != 0 ||
        fb_ledger_phase_begin(ledger, 0, err) != 0 || play_events(player, err) != 0 ||
        park_all(player, err) != 0 || pace(player, player->replica->duration_ns, err) != 0 ||
        fb_ledger_phase_end(ledger, err) != 0)
        return -1;
    ledger->teardown = true;
    return free_all(player, err) != 0 ? -1 : play_tail(player, err);
}

static void player_init(struct player *player, struct fb_replica *replica, struct fb_ledger *ledger)
{
    player->replica = replica;
    player->ledger = ledger;
    player->threads = fb_alloc(replica->thread_count, sizeof *player->threads);
    player->live_of_handle = fb_alloc(replica->handle_count, sizeof *player->live_of_handle);
    player->window_number = 1;
    for (uint32_t i = 0; i < replica->thread_count; i++)
        player->threads[i].first = NONE;
    player->threads[0].started = true; /* the worker's main thread */
    replica->split_reallocs = 0;
}

static void player_deinit(struct player *player)
{
    for (uint32_t i = 0; i < player->replica->thread_count; i++)
        fb_ids_deinit(&player->threads[i].slots);
    fb_ids_deinit(&player->spare_lives);
    fb_ids_deinit(&player->dead_lives);
    fb_ids_deinit(&player->heritage);
    fb_ids_deinit(&player->resting);
    fb_ids_deinit(&player->common);
    fb_ids_deinit(&player->window_threads);
    free(player->threads);
    free(player->lives);
    free(player->live_of_handle);
}

int fb_replica_run(const struct fb_workload *workload, struct fb_ledger *ledger,
                   struct fb_error *err)
{
    struct player *player = fb_alloc(1, sizeof *player);
    player_init(player, workload->replica, ledger);
    int status = play(player, err);
    ledger->header.slot_count = player->slot_count;
    ledger->header.peak_objects = player->alive_most;
    player_deinit(player);
    free(player);
    return status;
}
