#include "preload/live.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

static const size_t block_bytes =
    sizeof(struct fb_live_block) + FB_LIVE_SLOTS * sizeof(struct fb_live_slot);

LIVE_TLS struct fb_live_slot *fb_live_slot;
static LIVE_TLS bool ending;

static struct {
    _Atomic(struct fb_live_block *) block;
    _Atomic bool tried;                    /* to open it */
    _Atomic(struct fb_live_slot *) shared; /* of threads that are ending */
    pthread_key_t key;
    bool has_key;
} state;

/* Where no slot can be had: written to by many, read by nobody. */
struct fb_live_slot fb_live_nowhere;

/* Slots that this process had before it called exec: what they counted has gone. */
static void settle_former_self(struct fb_live_block *block, pid_t self)
{
    uint32_t used = atomic_load(&block->used);
    for (uint32_t i = 0; i < used && i < FB_LIVE_SLOTS; i++) {
        struct fb_live_slot *slot = &block->slots[i];
        if (atomic_load(&slot->owner) != self)
            continue;
        atomic_store(&slot->freed_bytes, atomic_load(&slot->allocated_bytes));
        atomic_store(&slot->idle, 1);
    }
}

static struct fb_live_block *open_block(void)
{
    const char *path = getenv(FB_LIVE_VARIABLE);
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return NULL;
    void *memory = mmap(NULL, block_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (memory == MAP_FAILED)
        return NULL;
    struct fb_live_block *block = memory;
    if (block->magic == FB_LIVE_MAGIC && block->slot_count == FB_LIVE_SLOTS)
        return block;
    (void)munmap(memory, block_bytes);
    return NULL;
}

/* Before libc has set the environment up nobody knows where the block is: later calls find it. */
static struct fb_live_block *block_of_process(void)
{
    struct fb_live_block *block = atomic_load_explicit(&state.block, memory_order_acquire);
    if (block != NULL || environ == NULL || atomic_exchange(&state.tried, true))
        return block;
    block = open_block();
    if (block != NULL) {
        settle_former_self(block, getpid());
        atomic_store_explicit(&state.block, block, memory_order_release);
    }
    return block;
}

static struct fb_live_slot *find_idle(struct fb_live_block *block, uint32_t used, pid_t self)
{
    for (uint32_t i = 0; i < used; i++) {
        int32_t idle = 1;
        struct fb_live_slot *slot = &block->slots[i];
        if (atomic_load_explicit(&slot->owner, memory_order_relaxed) == self &&
            atomic_compare_exchange_strong(&slot->idle, &idle, 0))
            return slot;
    }
    return NULL;
}

static struct fb_live_slot *find_free(struct fb_live_block *block, uint32_t used, pid_t self)
{
    for (uint32_t i = 0; i < FB_LIVE_SLOTS; i++) {
        int32_t nobody = 0;
        struct fb_live_slot *slot = &block->slots[i];
        if (!atomic_compare_exchange_strong(&slot->owner, &nobody, self))
            continue;
        while (used <= i && !atomic_compare_exchange_weak(&block->used, &used, i + 1)) {
        }
        return slot;
    }
    return NULL;
}

static struct fb_live_slot *take_in(struct fb_live_block *block)
{
    pid_t self = getpid();
    uint32_t used = atomic_load_explicit(&block->used, memory_order_acquire);
    if (used > FB_LIVE_SLOTS)
        used = FB_LIVE_SLOTS;
    struct fb_live_slot *slot = find_idle(block, used, self);
    if (slot == NULL)
        slot = find_free(block, used, self);
    if (slot == NULL)
        atomic_fetch_add(&block->uncounted, 1);
    return slot;
}

struct fb_live_slot *fb_live_slot_take(void)
{
    struct fb_live_block *block = block_of_process();
    if (block == NULL) {
        if (atomic_load_explicit(&state.tried, memory_order_relaxed) && environ != NULL &&
            getenv(FB_LIVE_VARIABLE) == NULL)
            fb_live_slot = &fb_live_nowhere; /* never: ask no more */
        return &fb_live_nowhere;
    }
    struct fb_live_slot *slot = take_in(block);
    fb_live_slot = slot != NULL ? slot : &fb_live_nowhere;
    /* May allocate, which then finds the slot already there. */
    if (slot != NULL && state.has_key)
        (void)pthread_setspecific(state.key, slot);
    return fb_live_slot;
}

bool fb_live_add_late(size_t allocated_bytes, size_t freed_bytes)
{
    struct fb_live_slot *shared = atomic_load_explicit(&state.shared, memory_order_acquire);
    if (!ending)
        return false;
    if (shared == NULL) {
        struct fb_live_block *block = block_of_process();
        struct fb_live_slot *mine = block != NULL ? take_in(block) : NULL;
        if (mine == NULL)
            return true;
        if (atomic_compare_exchange_strong(&state.shared, &shared, mine))
            shared = mine;
        else
            atomic_store(&mine->idle, 1);
    }
    atomic_fetch_add_explicit(&shared->allocated_bytes, allocated_bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&shared->freed_bytes, freed_bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&shared->calls, 1, memory_order_relaxed);
    return true;
}

void fb_live_slots_blind(void)
{
    struct fb_live_block *block = block_of_process();
    if (block != NULL)
        atomic_fetch_add(&block->blind, 1);
}

static void end_thread(void *value)
{
    struct fb_live_slot *slot = value;
    ending = true;
    fb_live_slot = NULL;
    atomic_store_explicit(&slot->idle, 1, memory_order_release);
}

/* The child's memory is a copy: it starts counting at 0, in slots of its own. */
static void begin_child(void)
{
    fb_live_slot = NULL;
    ending = false;
    atomic_store(&state.shared, NULL);
}

__attribute__((constructor)) static void set_up(void)
{
    state.has_key = pthread_key_create(&state.key, end_thread) == 0;
    (void)pthread_atfork(NULL, NULL, begin_child);
    if (fb_live_slot != NULL && fb_live_slot != &fb_live_nowhere && state.has_key)
        (void)pthread_setspecific(state.key, fb_live_slot);
}
