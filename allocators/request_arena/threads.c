/* A thread's room.
 *
 *  1. Rooms are pages of the system's, never given back: as many as threads ever had scopes at one
 *     time. A room whose thread is gone waits for the next thread without one.
 *  2. The end of a thread is seen by the destructor of a key of POSIX's. Scopes that it left open
 *     are ended, its chunk goes to the pool: nothing is stranded. A destructor that runs later and
 * opens a scope makes the thread a room again, and this one runs again.
 *  3. Rooms of threads that a fork left behind stay as they are in the child: whether they were at
 *     rest is not known. That is one room and the chunks it had a thread.
 */
#include "allocators/request_arena/threads.h"

#include "allocators/preload/contract.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    pthread_key_t key;
    bool has_key;
    struct fra_room *all, *idle;
    size_t rooms, idle_rooms;
} threads = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

void fra_threads_lock(void)
{
    (void)pthread_mutex_lock(&threads.lock);
}

void fra_threads_unlock(void)
{
    (void)pthread_mutex_unlock(&threads.lock);
}

static void depart(void *value)
{
    struct fra_room *room = value;
    fra_room_leave(room);
    fra_own.room = NULL;
    fra_threads_lock();
    room->next_idle = threads.idle;
    threads.idle = room;
    threads.idle_rooms++;
    fra_threads_unlock();
}

static void set_up(void)
{
    fra_settings_read();
    fra_spill_open();
    threads.has_key = pthread_key_create(&threads.key, depart) == 0;
    if (!threads.has_key)
        fba_say("no key is left for the ends of threads; what they hold then is not given back");
}

void fra_threads_open(void)
{
    (void)pthread_once(&threads.once, set_up);
}

static struct fra_room *take_idle(void)
{
    fra_threads_lock();
    struct fra_room *room = threads.idle;
    if (room != NULL) {
        threads.idle = room->next_idle;
        threads.idle_rooms--;
    }
    fra_threads_unlock();
    return room;
}

static struct fra_room *make(void)
{
    int saved = errno;
    struct fra_room *room =
        mmap(NULL, sizeof *room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved;
    if (room == MAP_FAILED)
        return NULL;
    fra_threads_lock();
    room->next = threads.all;
    threads.all = room;
    threads.rooms++;
    fra_threads_unlock();
    return room;
}

static __attribute__((noinline, cold)) struct fra_room *move_in(void)
{
    fra_threads_open();
    struct fra_room *room = take_idle();
    if (room == NULL)
        room = make();
    if (room == NULL)
        return NULL;
    fra_own.room = room;
    if (threads.has_key)
        (void)pthread_setspecific(threads.key, room); /* may call malloc: for the 33rd key on */
    return room;
}

struct fra_room *fra_threads_room(void)
{
    struct fra_room *room = fra_own.room;
    return __builtin_expect(room != NULL, 1) ? room : move_in();
}

static void add(_Atomic uint64_t *to, const _Atomic uint64_t *from)
{
    fra_room_count(to, atomic_load_explicit(from, memory_order_relaxed));
}

size_t fra_threads_count(struct fra_counters *sum, struct fra_record *record)
{
    memset(sum, 0, sizeof *sum);
    memset(record, 0, sizeof *record);
    fra_threads_lock();
    for (const struct fra_room *room = threads.all; room != NULL; room = room->next) {
        const struct fra_counters *one = &room->counters;
        add(&sum->scopes, &one->scopes);
        add(&sum->requests, &one->requests);
        add(&sum->large, &one->large);
        add(&sum->spills, &one->spills);
        add(&sum->spilled_bytes, &one->spilled_bytes);
        add(&sum->refused, &one->refused);
        add(&sum->moves, &one->moves);
        fra_record_add(record, &room->record);
    }
    size_t busy = threads.rooms - threads.idle_rooms;
    fra_threads_unlock();
    return busy;
}
