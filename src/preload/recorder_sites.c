#include "preload/recorder_sites.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#define ENTRIES ((size_t)2 * FB_SPOOL_SITES_MAX) /* half empty at least */
#define MODULES_MAX 4096U
#define PATH_BYTES (FB_SPOOL_PATH_WORDS_MAX * sizeof(uint64_t))
#define MODULE_WORDS_MAX (4U + FB_SPOOL_PATH_WORDS_MAX)
#define FRAMES_WORDS_MAX (2U + FB_SPOOL_FRAMES_MAX)
#define MEDIUM_BYTES 1024U
#define OWN_FRAMES_MAX 8U /* of the recorder's, and of what it calls and is called by again */
#define FAST_UNWINDER "libunwind.so.8"

/* A number is there before its hash is. */
struct entry {
    _Atomic uint64_t hash; /* 0: empty */
    uint32_t number;
};

/* Shared memory: it counts with the buffers and not with what the program holds. A forked child
 * makes one of its own, since its recording knows none of these numbers. */
struct table {
    atomic_flag lock; /* of who adds a site */
    _Atomic uint32_t count;
    uint32_t module_count;
    uintptr_t modules[MODULES_MAX]; /* first addresses of those that are written */
    struct entry entries[ENTRIES];
};

struct walk {
    uintptr_t frames[FB_SPOOL_FRAMES_MAX];
    unsigned count;
};

unsigned fb_sites_depth;

static struct table *table;
/* libunwind's, ten times as fast as libgcc's since it remembers what it found at an address. */
static int (*fast_backtrace)(void **frames, int size);

/* Of this library. */
extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));

static unsigned wanted_depth(void)
{
    const char *text = environ != NULL ? getenv(FB_SPOOL_SITES_VARIABLE) : NULL;
    unsigned depth = 0;
    for (; text != NULL && *text >= '0' && *text <= '9' && depth <= FB_SPOOL_FRAMES_MAX; text++)
        depth = depth * 10 + (unsigned)(*text - '0');
    return depth < FB_SPOOL_FRAMES_MAX ? depth : FB_SPOOL_FRAMES_MAX;
}

void fb_sites_open(void)
{
    bool child = table != NULL;
    if (child)
        (void)munmap(table, sizeof *table);
    fast_backtrace = NULL; /* in a child its lock may be held by a thread that is not there */
    unsigned depth = child ? fb_sites_depth : wanted_depth();
    table = NULL;
    fb_sites_depth = 0;
    if (depth == 0)
        return;
    void *memory =
        mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return;
    table = memory;
    fb_sites_depth = depth;
}

void fb_sites_hasten(struct fb_log_thread *thread)
{
    if (fb_sites_depth == 0)
        return;
    thread->walking = true;
    void *library = dlopen(FAST_UNWINDER, RTLD_NOW | RTLD_LOCAL);
    void *function = library != NULL ? dlsym(library, "unw_backtrace") : NULL;
    thread->walking = false;
    memcpy(&fast_backtrace, &function, sizeof function);
}

/* What lies within the recorder's own calls is left out: an operator new in libstdc++ that the
 * recorder's called and that calls the recorder's malloc. */
static bool add_frame(struct walk *walk, uintptr_t address)
{
    if (address >= (uintptr_t)&__ehdr_start && address < (uintptr_t)&_end)
        walk->count = 0;
    else if (walk->count < fb_sites_depth)
        walk->frames[walk->count++] = address;
    return walk->count < fb_sites_depth;
}

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *walk)
{
    uintptr_t address = _Unwind_GetIP(context);
    return address != 0 && add_frame(walk, address) ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void walk_stack(struct walk *walk)
{
    if (fast_backtrace == NULL) {
        (void)_Unwind_Backtrace(step, walk);
        return;
    }
    void *frames[FB_SPOOL_FRAMES_MAX + OWN_FRAMES_MAX];
    int count = fast_backtrace(frames, (int)(fb_sites_depth + OWN_FRAMES_MAX));
    for (int i = 0; i < count && frames[i] != NULL; i++)
        (void)add_frame(walk, (uintptr_t)frames[i]);
}

static uint64_t hash_of(const struct walk *walk)
{
    uint64_t hash = walk->count;
    for (unsigned i = 0; i < walk->count; i++) {
        hash = (hash ^ walk->frames[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash != 0 ? hash : 1;
}

/* Its entry, or the empty one where it belongs. */
static struct entry *find(uint64_t hash)
{
    uint64_t at = hash % ENTRIES;
    for (;; at = (at + 1) % ENTRIES) {
        struct entry *entry = &table->entries[at];
        uint64_t there = atomic_load_explicit(&entry->hash, memory_order_acquire);
        if (there == hash || there == 0)
            return entry;
    }
}

static bool is_written(uintptr_t begin)
{
    for (uint32_t i = 0; i < table->module_count; i++)
        if (table->modules[i] == begin)
            return true;
    return false;
}

/* The executable has no name in the loader's list. "" for a path that is too long. */
static void path_of(const struct link_map *object, char *path)
{
    const char *name = object != NULL && object->l_name != NULL ? object->l_name : "";
    size_t length = strlen(name);
    memset(path, 0, PATH_BYTES);
    if (length == 0) {
        ssize_t got = readlink("/proc/self/exe", path, PATH_BYTES);
        if (got < 0 || (size_t)got >= PATH_BYTES)
            memset(path, 0, PATH_BYTES);
    } else if (length < PATH_BYTES) {
        memcpy(path, name, length + 1);
    }
}

static bool write_module(struct fb_log_thread *thread, const struct dl_find_object *object)
{
    char path[PATH_BYTES];
    path_of(object->dlfo_link_map, path);
    size_t words = strlen(path) / sizeof(uint64_t) + 1;
    if (!fb_log_make_room(thread, MODULE_WORDS_MAX + FB_SPOOL_RESERVE_WORDS))
        return false;
    thread->cursor[1] = (uintptr_t)object->dlfo_map_start;
    thread->cursor[2] = (uintptr_t)object->dlfo_map_end;
    thread->cursor[3] = object->dlfo_link_map != NULL ? object->dlfo_link_map->l_addr : 0;
    memcpy(thread->cursor + 4, path, words * sizeof(uint64_t));
    thread->cursor[0] = FB_SPOOL_HEAD(FB_SPOOL_MODULE, words, fb_log_ticket());
    thread->cursor += 4 + words;
    fb_log_publish(thread);
    return true;
}

static bool write_modules(struct fb_log_thread *thread, const struct walk *walk)
{
    for (unsigned i = 0; i < walk->count; i++) {
        struct dl_find_object object;
        if (_dl_find_object((void *)(walk->frames[i] - 1), &object) != 0 ||
            is_written((uintptr_t)object.dlfo_map_start) || table->module_count == MODULES_MAX)
            continue;
        table->modules[table->module_count++] = (uintptr_t)object.dlfo_map_start;
        if (!write_module(thread, &object))
            return false;
    }
    return true;
}

static bool write_frames(struct fb_log_thread *thread, const struct walk *walk, uint32_t number)
{
    if (!fb_log_make_room(thread, FRAMES_WORDS_MAX + FB_SPOOL_RESERVE_WORDS))
        return false;
    thread->cursor[1] = number;
    for (unsigned i = 0; i < walk->count; i++)
        thread->cursor[2 + i] = walk->frames[i];
    thread->cursor[0] = FB_SPOOL_HEAD(FB_SPOOL_FRAMES, walk->count, fb_log_ticket());
    thread->cursor += 2 + walk->count;
    fb_log_publish(thread);
    return true;
}

/* So many sites there may be for a block of that size to make another one. A program that starts
 * makes a hundred thousand small blocks at as many places; the large ones come later. */
static uint32_t most_sites(size_t size)
{
    const uint32_t most = FB_SPOOL_SITES_MAX - 1;
    return size >= FB_SPOOL_BIG_BYTES ? most : size >= MEDIUM_BYTES ? most / 4 * 3 : most / 2;
}

/* *number 0: there are too many already. */
static bool add(struct fb_log_thread *thread, const struct walk *walk, uint64_t hash, size_t size,
                uint32_t *number)
{
    bool written = true;
    *number = 0;
    if (atomic_load_explicit(&table->count, memory_order_relaxed) >= most_sites(size))
        return true;
    while (atomic_flag_test_and_set(&table->lock))
        (void)sched_yield();
    struct entry *entry = find(hash); /* another thread may have been first */
    if (atomic_load(&entry->hash) == hash) {
        *number = entry->number;
    } else if (atomic_load(&table->count) < most_sites(size)) {
        *number = entry->number = atomic_fetch_add(&table->count, 1) + 1;
        written = write_modules(thread, walk) && write_frames(thread, walk, *number);
        atomic_store_explicit(&entry->hash, hash, memory_order_release);
    }
    atomic_flag_clear(&table->lock);
    return written;
}

bool fb_sites_note(struct fb_log_thread *thread, size_t size)
{
    struct walk walk = {.count = 0};
    uint32_t number = 0;
    if (thread->late) /* the place is not its own, and its stack is about to go */
        return true;
    int saved = errno;
    thread->walking = true;
    walk_stack(&walk);
    thread->walking = false;
    uint64_t hash = hash_of(&walk);
    const struct entry *entry = find(hash);
    bool written = true;
    if (atomic_load_explicit(&entry->hash, memory_order_acquire) == hash)
        number = entry->number;
    else
        written = add(thread, &walk, hash, size, &number);
    errno = saved;
    if (!written || number == thread->site)
        return written;
    thread->site = number;
    thread->cursor[0] = FB_SPOOL_HEAD(FB_SPOOL_SITE, 0, 0);
    thread->cursor[1] = number;
    thread->cursor += 2;
    fb_log_publish(thread);
    return true;
}
