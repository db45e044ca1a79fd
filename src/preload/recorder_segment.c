#include "preload/recorder_segment.h"

#include "preload/recorder_log.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Full chunks that fragbench has not read yet: beyond this the program waits for it. */
#define BACKLOG_CHUNKS 96U
#define WAIT_NS 500000L
#define WAITS_A_LOOK 1000U /* waits between two looks whether fragbench lives */
#define PATH_BYTES 4096U

static char folder[PATH_BYTES]; /* kept: a program may clear its environment */
static bool said;
/* Of the parent, where this is a forked child: its list is wiped, its mappings are not. */
static struct fb_spool_segment *mapped[FB_SEGMENTS_MAX];

static pid_t recorded, recorded_parent; /* not wiped either: a child finds its parent's */

static void add_text(char *out, size_t size, const char *text)
{
    size_t length = strlen(out);
    while (*text != '\0' && length + 1 < size)
        out[length++] = *text++;
    out[length] = '\0';
}

static void add_number(char *out, size_t size, uint64_t number)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    add_text(out, size, digits + at);
}

void fb_segments_say(const char *text)
{
    char line[512] = "fragbench: the recorder in process ";
    if (said)
        return;
    said = true;
    add_number(line, sizeof line, (uint64_t)getpid());
    add_text(line, sizeof line, " ");
    add_text(line, sizeof line, text);
    add_text(line, sizeof line, "\n");
    ssize_t written = write(STDERR_FILENO, line, strlen(line));
    (void)written;
}

bool fb_segments_wanted(void)
{
    if (folder[0] == '\0' && environ != NULL) {
        const char *value = getenv(FB_SPOOL_VARIABLE);
        if (value != NULL && strlen(value) < PATH_BYTES - 128)
            add_text(folder, sizeof folder, value);
    }
    return folder[0] == '/';
}

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void segment_path(char *path, uint64_t start_ns, uint32_t number)
{
    path[0] = '\0';
    add_text(path, PATH_BYTES, folder);
    add_text(path, PATH_BYTES, "/");
    add_number(path, PATH_BYTES, (uint64_t)getpid());
    add_text(path, PATH_BYTES, "-");
    add_number(path, PATH_BYTES, start_ns);
    add_text(path, PATH_BYTES, "-");
    add_number(path, PATH_BYTES, number);
}

/* The blocks are reserved, so that a full disk is an error here and not a SIGBUS at a store; where
 * the file system cannot reserve, writing zeroes does the same. */
static int reserve(int fd)
{
    static const char zeroes[65536];
    if (fallocate(fd, 0, 0, (off_t)FB_SPOOL_SEGMENT_BYTES) == 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return -1;
    for (uint64_t at = 0; at < FB_SPOOL_SEGMENT_BYTES;) {
        uint64_t left = FB_SPOOL_SEGMENT_BYTES - at;
        ssize_t written =
            pwrite(fd, zeroes, left < sizeof zeroes ? left : sizeof zeroes, (off_t)at);
        if (written <= 0)
            return -1;
        at += (uint64_t)written;
    }
    return 0;
}

/* A file beyond the program's own limit would bring it a SIGXFSZ. */
static bool size_allowed(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= FB_SPOOL_SEGMENT_BYTES;
}

static struct fb_spool_segment *map_segment(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    void *memory = MAP_FAILED;
    if (fd < 0)
        return NULL;
    if (reserve(fd) == 0)
        memory = mmap(NULL, FB_SPOOL_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int failed = errno;
    (void)close(fd);
    errno = failed;
    if (memory != MAP_FAILED)
        return memory;
    int saved = errno;
    (void)unlink(path);
    errno = saved;
    return NULL;
}

/* "/usr/bin/redis-server" → "redis-server". */
static void add_base_name(char *name, size_t size, const char *path)
{
    const char *slash = strrchr(path, '/');
    add_text(name, size, slash != NULL ? slash + 1 : path);
}

static void add_names(struct fb_spool_segment *segment)
{
    char path[PATH_BYTES];
    Dl_info object;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    add_base_name(segment->program, sizeof segment->program, path);
    if (dladdr((void *)(uintptr_t)fb_next.malloc, &object) != 0 && object.dli_fname != NULL)
        add_base_name(segment->allocator, sizeof segment->allocator, object.dli_fname);
}

/* Where the folder is gone fragbench has finished: nobody asks any more. */
static void say_no_segment(int error)
{
    if (error == EACCES || error == EPERM)
        fb_segments_say("may not write into fragbench's folder, perhaps since it runs as another "
                        "user; this process is not recorded");
    else if (error != ENOENT && error != ENOTDIR)
        fb_segments_say("has no room for its buffers; it records no more, the program goes on. "
                        "Give fragbench record a --spool folder with space");
}

/* NULL, said: no room for it. */
static struct fb_spool_segment *make_segment(struct fb_segments *segments, uint32_t number)
{
    char path[PATH_BYTES];
    if (!size_allowed()) {
        fb_segments_say("may not write files as large as its buffers (ulimit -f); it records no "
                        "more, the program goes on");
        return NULL;
    }
    segment_path(path, segments->start_ns, number);
    struct fb_spool_segment *segment = map_segment(path);
    if (segment == NULL) {
        say_no_segment(errno);
        return NULL;
    }
    segment->version = FB_SPOOL_VERSION;
    segment->pid = getpid();
    segment->start_ns = segments->start_ns;
    segment->parent_pid = recorded_parent;
    add_names(segment);
    mapped[number] = segment;
    atomic_store(&segments->at[number], segment);
    atomic_store(&segments->count, number + 1);
    __atomic_store_n(&segment->magic, FB_SPOOL_MAGIC, __ATOMIC_RELEASE);
    return segment;
}

static void forget_parents(void)
{
    for (size_t i = 0; i < FB_SEGMENTS_MAX; i++)
        if (mapped[i] != NULL)
            (void)munmap(mapped[i], FB_SPOOL_SEGMENT_BYTES);
    memset(mapped, 0, sizeof mapped);
}

bool fb_segments_open(struct fb_segments *segments)
{
    forget_parents();
    recorded_parent = recorded;
    recorded = getpid();
    said = false;
    segments->start_ns = monotonic_ns();
    return make_segment(segments, 0) != NULL;
}

static struct fb_spool_chunk *claim_in(struct fb_spool_segment *segment, uint64_t **words)
{
    for (uint32_t i = 0; i < FB_SPOOL_CHUNKS; i++) {
        uint32_t state = FB_SPOOL_FREE;
        struct fb_spool_chunk *chunk = &segment->chunks[i];
        if (atomic_load_explicit(&chunk->state, memory_order_relaxed) == FB_SPOOL_FREE &&
            atomic_compare_exchange_strong(&chunk->state, &state, FB_SPOOL_CLAIMED)) {
            *words = fb_spool_words(segment, i);
            return chunk;
        }
    }
    return NULL;
}

static struct fb_spool_chunk *claim(struct fb_segments *segments, uint64_t **words)
{
    struct fb_spool_chunk *chunk = NULL;
    uint32_t count = atomic_load(&segments->count);
    for (uint32_t i = 0; i < count && chunk == NULL; i++)
        chunk = claim_in(atomic_load(&segments->at[i]), words);
    return chunk;
}

static uint32_t count_full(const struct fb_segments *segments)
{
    uint32_t full = 0;
    uint32_t count = atomic_load(&segments->count);
    for (uint32_t i = 0; i < count; i++) {
        const struct fb_spool_segment *segment = atomic_load(&segments->at[i]);
        for (uint32_t k = 0; k < FB_SPOOL_CHUNKS; k++)
            full += atomic_load_explicit(&segment->chunks[k].state, memory_order_relaxed) ==
                    FB_SPOOL_FULL;
    }
    return full;
}

/* One more segment, by one thread at a time. -1: there is no room for it; 0: look again. */
static int add_segment(struct fb_segments *segments)
{
    if (atomic_flag_test_and_set(&segments->lock)) {
        (void)sched_yield();
        return 0;
    }
    uint32_t number = atomic_load(&segments->count);
    bool made = number < FB_SEGMENTS_MAX && make_segment(segments, number) != NULL;
    atomic_flag_clear(&segments->lock);
    return made ? 0 : -1;
}

/* fragbench holds a lock on that file as long as it lives. */
static bool reader_lives(void)
{
    char path[PATH_BYTES] = "";
    add_text(path, sizeof path, folder);
    add_text(path, sizeof path, "/" FB_SPOOL_ALIVE);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool lives = flock(fd, LOCK_SH | LOCK_NB) != 0;
    (void)close(fd);
    return lives;
}

static bool stopped(const struct fb_segments *segments)
{
    const struct fb_spool_segment *first = atomic_load(&segments->at[0]);
    return atomic_load(&((struct fb_spool_segment *)(uintptr_t)first)->stop) != 0;
}

static void close_segments(const struct fb_segments *segments)
{
    struct fb_spool_segment *first = atomic_load(&segments->at[0]);
    atomic_store(&first->closed, 1);
}

struct fb_spool_chunk *fb_segments_claim(struct fb_segments *segments, uint32_t thread,
                                         uint64_t sequence, uint64_t **words)
{
    struct fb_spool_chunk *chunk = NULL;
    for (unsigned waits = 0; chunk == NULL; waits++) {
        if (stopped(segments))
            return NULL;
        chunk = claim(segments, words);
        if (chunk != NULL)
            break;
        if (count_full(segments) < BACKLOG_CHUNKS) {
            if (add_segment(segments) != 0) {
                close_segments(segments);
                return NULL;
            }
            continue;
        }
        if (waits % WAITS_A_LOOK == WAITS_A_LOOK - 1 && !reader_lives()) {
            fb_segments_say("lost fragbench; it records no more, the program goes on");
            return NULL;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
    }
    chunk->thread = thread;
    chunk->sequence = sequence;
    atomic_store(&chunk->used_words, 0);
    atomic_store_explicit(&chunk->state, FB_SPOOL_OWNED, memory_order_release);
    return chunk;
}

void fb_segments_release(struct fb_spool_chunk *chunk)
{
    atomic_store_explicit(&chunk->state, FB_SPOOL_FULL, memory_order_release);
}
