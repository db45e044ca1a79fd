#include "preload/recorder_log.h"

#include "preload/recorder_big.h"
#include "preload/recorder_segment.h"
#include "preload/recorder_sites.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* The rounds of key destructors that glibc makes; the thread's end is noted in the last, after
 * those of other keys that free. */
#define DESTRUCTOR_ROUNDS 4
#define STATE_BYTES 65536U

/* In the pages that a child finds wiped. The spool's own part is recorder_segment.c's. */
struct wiped {
    struct fb_log_process process;
    _Atomic uint32_t next_thread;
    atomic_flag late_lock;
    struct fb_log_thread late; /* the place of calls after a thread's end */
    struct fb_segments segments;
};
_Static_assert(sizeof(struct wiped) <= STATE_BYTES, "the state fits its mapping");

struct fb_next fb_next;
__thread struct fb_log_thread fb_log_self __attribute__((tls_model("initial-exec")));

/* Before the mapping: nothing matches its generation but a thread without room. */
static struct fb_log_process before;
struct fb_log_process *fb_log_process = &before;

static struct wiped *state;
static atomic_flag setting_up;
static pthread_key_t key;
static bool keyed;

void fb_log_resolve(void)
{
    static const struct {
        const char *name;
        size_t offset;
    } wanted[] = {
        {"calloc", offsetof(struct fb_next, calloc)},
        {"realloc", offsetof(struct fb_next, realloc)},
        {"free", offsetof(struct fb_next, free)},
        {"posix_memalign", offsetof(struct fb_next, posix_memalign)},
        {"aligned_alloc", offsetof(struct fb_next, aligned_alloc)},
        {"memalign", offsetof(struct fb_next, memalign)},
        {"valloc", offsetof(struct fb_next, valloc)},
        {"pvalloc", offsetof(struct fb_next, pvalloc)},
        {"mmap", offsetof(struct fb_next, mmap)},
        {"munmap", offsetof(struct fb_next, munmap)},
        {"mremap", offsetof(struct fb_next, mremap)},
        {"malloc", offsetof(struct fb_next, malloc)}, /* last: it says that all are there */
    };
    if (fb_next.malloc != NULL)
        return;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *found = dlsym(RTLD_NEXT, wanted[i].name);
        __atomic_store_n((void **)(void *)((char *)&fb_next + wanted[i].offset), found,
                         __ATOMIC_RELEASE);
    }
}

/* dl_iterate_phdr's callback: notes the bounds of the object that has the allocator's malloc. */
static int find_allocator(struct dl_phdr_info *object, size_t size, void *malloc_address)
{
    (void)size;
    uintptr_t begin = UINTPTR_MAX, end = 0;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD)
            continue;
        uintptr_t from = object->dlpi_addr + part->p_vaddr;
        begin = from < begin ? from : begin;
        end = from + part->p_memsz > end ? from + part->p_memsz : end;
    }
    if ((uintptr_t)malloc_address < begin || (uintptr_t)malloc_address >= end)
        return 0;
    fb_next.allocator_begin = begin;
    fb_next.allocator_end = end;
    return 1;
}

void fb_log_own(int64_t bytes)
{
    struct fb_spool_segment *first = state != NULL ? atomic_load(&state->segments.at[0]) : NULL;
    if (first != NULL)
        (void)atomic_fetch_add(&first->own_bytes, (uint64_t)bytes);
}

/* The value counts the rounds. It is set again until the last one. */
static void thread_ends(void *value)
{
    uintptr_t round = (uintptr_t)value;
    struct fb_log_thread *thread = &fb_log_self;
    if (round < DESTRUCTOR_ROUNDS) {
        (void)pthread_setspecific(key, (void *)(round + 1));
        return;
    }
    if (!fb_log_enter(thread))
        return;
    thread->cursor[0] = FB_SPOOL_HEAD(FB_SPOOL_EXIT, 0, fb_log_ticket());
    thread->cursor++;
    fb_log_publish(thread);
    fb_segments_release(thread->chunk);
    thread->cursor = thread->end = NULL;
    thread->ended = true;
    thread->inside = false;
}

static bool map_state(void)
{
    if (state != NULL)
        return true;
    void *memory =
        mmap(NULL, STATE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || madvise(memory, STATE_BYTES, MADV_WIPEONFORK) != 0) {
        fb_segments_say("cannot set up its memory; this process is not recorded");
        return false;
    }
    state = memory;
    fb_log_process = &state->process;
    return true;
}

/* This process's first recorded call, or a forked child's. false: not now, or never. */
static bool set_up(void)
{
    if (atomic_flag_test_and_set(&setting_up))
        return false; /* another thread is at it, or dlsym in this one */
    fb_log_resolve();
    if (!fb_segments_wanted() || !map_state()) {
        atomic_flag_clear(&setting_up);
        return false;
    }
    if (state->process.generation == 0) {
        keyed = keyed || pthread_key_create(&key, thread_ends) == 0;
        fb_big_open();
        state->process.off = !fb_segments_open(&state->segments);
        fb_sites_open();
        /* Once: in a child the loader's lock may be held by a thread that is not there. */
        if (fb_next.allocator_end == 0)
            (void)dl_iterate_phdr(find_allocator, (void *)(uintptr_t)fb_next.malloc);
        fb_log_own((int64_t)(sizeof *state + fb_big_bytes()));
        __atomic_store_n(&state->process.generation, (uint64_t)getpid(), __ATOMIC_RELEASE);
    }
    atomic_flag_clear(&setting_up);
    return !state->process.off;
}

/* Numbers are a process's own; the main thread is 0. Whether it is that is not asked by the first
 * call: a child may have forked on another thread. */
static void number(struct fb_log_thread *thread)
{
    if (thread->numbered)
        return;
    bool main_thread = syscall(SYS_gettid) == (long)getpid();
    thread->number = main_thread ? 0 : atomic_fetch_add(&state->next_thread, 1) + 1;
    thread->numbered = true;
    if (!main_thread && keyed)
        (void)pthread_setspecific(key, (void *)1);
}

static bool take_chunk(struct fb_log_thread *thread)
{
    if (thread->chunk != NULL)
        fb_segments_release(thread->chunk);
    thread->chunk =
        fb_segments_claim(&state->segments, thread->number, thread->sequence, &thread->begin);
    if (thread->chunk == NULL) {
        thread->cursor = thread->end = NULL;
        state->process.off = true;
        return false;
    }
    thread->cursor = thread->begin;
    thread->end = thread->begin + FB_SPOOL_WORDS;
    thread->time_ns = 0;
    thread->site = 0;
    /* The control block that pthread_self() points to lies on top of a thread's own stack. */
    if (thread->sequence++ == 0 && thread->number != 0 && thread->number != FB_SPOOL_LATE)
        fb_log_address(thread, FB_SPOOL_STACK, 0, (const void *)(uintptr_t)pthread_self());
    return true;
}

static bool has_room(const struct fb_log_thread *thread)
{
    return thread->end - thread->cursor >= (ptrdiff_t)FB_SPOOL_RESERVE_WORDS;
}

/* A thread whose end is written has no chunk of its own any more; all such share one place, which
 * it has to itself until it leaves. */
static bool borrow_late(struct fb_log_thread *thread)
{
    while (atomic_flag_test_and_set(&state->late_lock))
        (void)sched_yield();
    struct fb_log_thread *late = &state->late;
    late->number = FB_SPOOL_LATE;
    if (!has_room(late) && !take_chunk(late)) {
        atomic_flag_clear(&state->late_lock);
        return false;
    }
    thread->chunk = late->chunk;
    thread->begin = late->begin;
    thread->cursor = late->cursor;
    thread->end = late->end;
    thread->time_ns = late->time_ns;
    thread->late = true;
    return true;
}

bool fb_log_make_room(struct fb_log_thread *thread, size_t words)
{
    return thread->end - thread->cursor >= (ptrdiff_t)words || take_chunk(thread);
}

void fb_log_leave_late(struct fb_log_thread *thread)
{
    state->late.cursor = thread->cursor;
    state->late.time_ns = thread->time_ns;
    thread->chunk = NULL;
    thread->cursor = thread->end = NULL;
    thread->late = false;
    atomic_flag_clear(&state->late_lock);
}

bool fb_log_prepare(struct fb_log_thread *thread)
{
    int saved = errno;
    bool ready = fb_log_process->generation != 0 ? !fb_log_process->off : set_up();
    if (ready && thread->generation != fb_log_process->generation)
        *thread = (struct fb_log_thread){.generation = fb_log_process->generation, .inside = true};
    if (ready && !thread->ended) {
        number(thread);
        ready = has_room(thread) || take_chunk(thread);
    } else if (ready) {
        ready = borrow_late(thread);
    }
    errno = saved;
    return ready;
}

/* Threads that start in the program find everything looked up. */
__attribute__((constructor)) static void begin(void)
{
    if (!fb_log_enter(&fb_log_self))
        return;
    fb_sites_hasten(&fb_log_self);
    fb_log_leave(&fb_log_self);
}

/* What is alive now lives to the end: say how much of it is resident. Calls after this are recorded
 * like any other. */
__attribute__((destructor)) static void end(void)
{
    fb_big_note_all(&fb_log_self);
}
