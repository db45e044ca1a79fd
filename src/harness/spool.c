#include "harness/spool.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "harness/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define SHM_FOLDER "/dev/shm"
#define SHM_ROOM_BYTES (UINT64_C(64) << 20)
#define LOOK_NS UINT64_C(200000000)
/* Of the bytes that the largest image allocated. */
#define SMALL_PART 100U
#define FLUSH_NS UINT64_C(1000000000)

static bool shm_has_room(void)
{
    struct statvfs disk;
    return access(SHM_FOLDER, W_OK | X_OK) == 0 && statvfs(SHM_FOLDER, &disk) == 0 &&
           (uint64_t)disk.f_bavail * disk.f_frsize >= SHM_ROOM_BYTES;
}

/* In memory where there is room: buffers that are written to a disk again and again load it. */
static const char *parent_folder(const struct fb_spool_options *options)
{
    const char *temporary = getenv("TMPDIR");
    if (options->folder != NULL)
        return options->folder;
    if (shm_has_room())
        return SHM_FOLDER;
    return temporary != NULL && *temporary != '\0' ? temporary : "/tmp";
}

static int make_folder(struct fb_spool *spool, struct fb_error *err)
{
    const char *parent = parent_folder(&spool->options);
    char *absolute = realpath(parent, NULL);
    if (absolute == NULL)
        return fb_fail_errno(err, "cannot use %s for the recorder's buffers", parent);
    spool->folder = fb_format("%s/fragbench-XXXXXX", absolute);
    free(absolute);
    if (mkdtemp(spool->folder) == NULL)
        return fb_fail_errno(err, "cannot make a folder for the recorder's buffers in %s", parent);
    char *alive = fb_format("%s/" FB_SPOOL_ALIVE, spool->folder);
    spool->alive_fd = open(alive, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    free(alive);
    if (spool->alive_fd < 0 || flock(spool->alive_fd, LOCK_EX) != 0)
        return fb_fail_errno(err, "cannot make a file in %s", spool->folder);
    return 0;
}

int fb_spool_open(const struct fb_spool_options *options, struct fb_spool *out,
                  struct fb_error *err)
{
    struct fb_spool spool = {.options = *options, .alive_fd = -1};
    if (!options->force && access(options->output, F_OK) == 0)
        return fb_fail(err, FB_ERROR_INPUT, "%s is there already; -f replaces it", options->output);
    if (make_folder(&spool, err) != 0) {
        fb_spool_deinit(&spool);
        return -1;
    }
    spool.opened_ns = spool.polled_ns = fb_clock_now_ns();
    *out = spool;
    return 0;
}

char *fb_spool_numbered(const char *path, unsigned number)
{
    size_t length = strlen(path);
    bool ends = length > 4 && strcmp(path + length - 4, ".fbt") == 0;
    return fb_format("%.*s.%u%s", (int)(ends ? length - 4 : length), path, number,
                     ends ? ".fbt" : "");
}

/* Under a name of its own until all have ended: which of them gets which name is known then. */
static int open_output(struct fb_spool *spool, struct fb_spool_image *image, struct fb_error *err)
{
    image->path =
        fb_format("%s.part-%ld-%zu", spool->options.output, (long)getpid(), spool->image_count + 1);
    (void)unlink(image->path);
    image->fd = open(image->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (image->fd < 0)
        return fb_fail_errno(err, "cannot make %s", image->path);
    if (fb_recording_writer_open(&image->writer, image->fd, err) == 0)
        return 0;
    (void)close(image->fd);
    (void)unlink(image->path);
    return -1;
}

static struct fb_spool_image *find_image(const struct fb_spool *spool,
                                         const struct fb_spool_segment *segment)
{
    for (size_t i = 0; i < spool->image_count; i++)
        if (spool->images[i]->pid == segment->pid &&
            spool->images[i]->start_ns == segment->start_ns)
            return spool->images[i];
    return NULL;
}

/* A forked child has what its parent had mapped. */
static void inherit_mappings(const struct fb_spool *spool, struct fb_spool_image *child)
{
    const struct fb_spool_image *parent = NULL;
    for (size_t i = 0; i < spool->image_count && child->parent_pid != 0; i++) {
        const struct fb_spool_image *image = spool->images[i];
        if (image->pid == child->parent_pid && image->start_ns < child->start_ns &&
            (parent == NULL || image->start_ns > parent->start_ns))
            parent = image;
    }
    if (parent != NULL)
        fb_ranges_copy(&parent->memory.mapped, &child->memory.mapped);
}

static int add_image(struct fb_spool *spool, const struct fb_spool_segment *segment,
                     struct fb_spool_image **out, struct fb_error *err)
{
    struct fb_spool_image *image = fb_alloc(1, sizeof *image);
    image->pid = segment->pid;
    image->start_ns = segment->start_ns;
    image->parent_pid = segment->parent_pid;
    (void)snprintf(image->program, sizeof image->program, "%.*s", (int)sizeof segment->program - 1,
                   segment->program);
    (void)snprintf(image->allocator, sizeof image->allocator, "%.*s",
                   (int)sizeof segment->allocator - 1, segment->allocator);
    if (open_output(spool, image, err) != 0) {
        free(image->path);
        free(image);
        return -1;
    }
    spool->images =
        fb_realloc(spool->images, spool->image_count + 1, sizeof(struct fb_spool_image *));
    spool->images[spool->image_count++] = image;
    inherit_mappings(spool, image);
    *out = image;
    return 0;
}

/* NULL: not there, or not whole yet. */
static struct fb_spool_segment *map_file(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    void *memory = MAP_FAILED;
    if (fstat(fd, &status) == 0 && (uint64_t)status.st_size == FB_SPOOL_SEGMENT_BYTES)
        memory = mmap(NULL, FB_SPOOL_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (memory == MAP_FAILED)
        return NULL;
    struct fb_spool_segment *segment = memory;
    if (__atomic_load_n(&segment->magic, __ATOMIC_ACQUIRE) == FB_SPOOL_MAGIC &&
        segment->version == FB_SPOOL_VERSION)
        return segment;
    (void)munmap(memory, FB_SPOOL_SEGMENT_BYTES);
    return NULL;
}

static int take_file(struct fb_spool *spool, const char *name, struct fb_error *err)
{
    char *path = fb_format("%s/%s", spool->folder, name);
    struct fb_spool_segment *segment = map_file(path);
    int status = 0;
    if (segment != NULL) {
        struct fb_spool_image *image = find_image(spool, segment);
        (void)unlink(path);
        if (spool->full || (image != NULL && image->ended)) {
            atomic_store(&segment->stop, 1);
            (void)munmap(segment, FB_SPOOL_SEGMENT_BYTES);
        } else {
            if (image == NULL)
                status = add_image(spool, segment, &image, err);
            if (status == 0)
                fb_spool_image_add(image, segment);
        }
    }
    free(path);
    return status;
}

static int scan(struct fb_spool *spool, struct fb_error *err)
{
    DIR *folder = opendir(spool->folder);
    int status = 0;
    if (folder == NULL)
        return fb_fail_errno(err, "cannot read %s", spool->folder);
    for (struct dirent *entry = readdir(folder); entry != NULL && status == 0;
         entry = readdir(folder))
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
            status = take_file(spool, entry->d_name, err);
    (void)closedir(folder);
    return status;
}

/* A process that has ended but was not waited for yet runs no more either; one whose first thread
 * has ended alone looks the same, but has others (a directory has two links more than entries). */
static bool runs(pid_t pid)
{
    char path[64], text[512];
    struct fb_error gone = {0};
    struct stat tasks;
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    if (fb_proc_read(path, text, sizeof text, &gone) != 0)
        return false;
    const char *state = strrchr(text, ')'); /* the name before it may hold anything */
    if (state == NULL || state[1] == '\0' || (state[2] != 'Z' && state[2] != 'X'))
        return true;
    (void)snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    return stat(path, &tasks) == 0 && tasks.st_nlink > 3;
}

/* Whether the image runs no more: its process has ended, or has become another image. */
static bool is_over(const struct fb_spool *spool, const struct fb_spool_image *image)
{
    for (size_t i = 0; i < spool->image_count; i++)
        if (spool->images[i]->pid == image->pid && spool->images[i]->start_ns > image->start_ns)
            return true;
    return !runs(image->pid);
}

static int close_all(struct fb_spool *spool, enum fb_recording_reason reason, struct fb_error *err)
{
    int status = 0;
    for (size_t i = 0; i < spool->image_count; i++)
        if (fb_spool_image_end(spool->images[i], reason, err) != 0)
            status = -1;
    return status;
}

static void stop_all(struct fb_spool *spool)
{
    for (size_t i = 0; i < spool->image_count; i++)
        fb_spool_image_stop(spool->images[i]);
}

/* Ended processes are read to their last record. Whether one runs is asked before it is read, so
 * that nothing comes between. */
static int close_ended(struct fb_spool *spool, bool *progress, struct fb_error *err)
{
    for (size_t i = 0; i < spool->image_count; i++) {
        struct fb_spool_image *image = spool->images[i];
        if (image->ended || !is_over(spool, image))
            continue;
        if (scan(spool, err) != 0 || fb_spool_image_read(image, true, progress, err) != 0 ||
            fb_spool_image_end(image, FB_RECORDING_EXITED, err) != 0)
            return -1;
    }
    return 0;
}

static int flush_all(struct fb_spool *spool, struct fb_error *err)
{
    for (size_t i = 0; i < spool->image_count; i++)
        if (!spool->images[i]->ended &&
            fb_recording_writer_flush(spool->images[i]->writer, err) != 0)
            return -1;
    return 0;
}

static uint64_t bytes_written(const struct fb_spool *spool)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < spool->image_count; i++)
        bytes += spool->images[i]->ended ? spool->images[i]->bytes
                                         : fb_recording_writer_bytes(spool->images[i]->writer);
    return bytes;
}

/* Whether more was written than the rate allows up to now; then nothing is read, and the time since
 * the last poll counts as held back. */
static bool hold_back(struct fb_spool *spool)
{
    uint64_t now_ns = fb_clock_now_ns();
    double seconds = (double)(now_ns - spool->opened_ns) / 1e9;
    bool ahead = spool->options.rate_bytes > 0 &&
                 (double)bytes_written(spool) > (double)spool->options.rate_bytes * seconds;
    if (ahead)
        spool->held_ns += now_ns - spool->polled_ns;
    spool->polled_ns = now_ns;
    return ahead;
}

static int read_images(struct fb_spool *spool, bool *progress, struct fb_error *err)
{
    if (hold_back(spool))
        return 0;
    for (size_t i = 0; i < spool->image_count; i++)
        if (fb_spool_image_read(spool->images[i], false, progress, err) != 0)
            return -1;
    return 0;
}

static int read_all(struct fb_spool *spool, bool *progress, struct fb_error *err)
{
    if (scan(spool, err) != 0 || read_images(spool, progress, err) != 0)
        return -1;
    for (size_t i = 0; i < spool->image_count; i++)
        fb_spool_image_look(spool->images[i]);
    uint64_t now_ns = fb_clock_now_ns();
    if (now_ns - spool->looked_ns > LOOK_NS) {
        spool->looked_ns = now_ns;
        if (close_ended(spool, progress, err) != 0)
            return -1;
    }
    if (now_ns - spool->flushed_ns > FLUSH_NS) {
        spool->flushed_ns = now_ns;
        return flush_all(spool, err);
    }
    return 0;
}

int fb_spool_poll(struct fb_spool *spool, bool *progress, struct fb_error *err)
{
    if (spool->full)
        return scan(spool, err);
    if (read_all(spool, progress, err) != 0) {
        struct fb_error ignored = {0};
        stop_all(spool);
        if (close_all(spool, FB_RECORDING_STOPPED, &ignored) != 0)
            spool->full = true;
        spool->full = true;
        return -1;
    }
    if (spool->options.limit_bytes == 0 || bytes_written(spool) < spool->options.limit_bytes)
        return 0;
    stop_all(spool);
    spool->full = true;
    return close_all(spool, FB_RECORDING_LIMIT, err);
}

static int by_volume(const void *left, const void *right)
{
    const struct fb_spool_image *const *a = left;
    const struct fb_spool_image *const *b = right;
    if ((*a)->volume_bytes != (*b)->volume_bytes)
        return (*a)->volume_bytes > (*b)->volume_bytes ? -1 : 1;
    return (*a)->start_ns < (*b)->start_ns ? -1 : 1;
}

/* What is small beside the largest is the shell that started it, and the like. */
static void drop_small(struct fb_spool *spool)
{
    uint64_t least = spool->images[0]->volume_bytes / SMALL_PART;
    size_t kept = 1;
    for (size_t i = 1; i < spool->image_count; i++) {
        struct fb_spool_image *image = spool->images[i];
        if (image->volume_bytes > least) {
            spool->images[kept++] = image;
            continue;
        }
        (void)unlink(image->path);
        fb_spool_image_deinit(image);
        free(image);
    }
    spool->dropped = spool->image_count - kept;
    spool->image_count = kept;
}

/* The first name that is free, or may be replaced, from *number on. New string. */
static char *free_name(const struct fb_spool *spool, unsigned *number)
{
    for (;; ++*number) {
        char *name = fb_spool_numbered(spool->options.output, *number);
        if (spool->options.force || access(name, F_OK) != 0)
            return name;
        free(name);
    }
}

/* The output's own name goes to the image that allocated most, numbers to the others. */
static int name_images(struct fb_spool *spool, struct fb_error *err)
{
    unsigned number = 2;
    qsort(spool->images, spool->image_count, sizeof(struct fb_spool_image *), by_volume);
    if (!spool->options.keep_small)
        drop_small(spool);
    for (size_t i = 0; i < spool->image_count; i++) {
        struct fb_spool_image *image = spool->images[i];
        char *name = i == 0 ? fb_strdup(spool->options.output) : free_name(spool, &number);
        if (rename(image->path, name) != 0) {
            (void)fb_fail_errno(err, "cannot rename %s to %s", image->path, name);
            free(name);
            return -1;
        }
        free(image->path);
        image->path = name;
    }
    return 0;
}

int fb_spool_finish(struct fb_spool *spool, bool all_ended, enum fb_recording_reason reason,
                    struct fb_error *err)
{
    int status = 0;
    bool progress = false;
    stop_all(spool);
    if (!spool->full && scan(spool, err) != 0)
        status = -1;
    for (size_t i = 0; i < spool->image_count; i++) {
        struct fb_spool_image *image = spool->images[i];
        bool over = all_ended || is_over(spool, image);
        if (!image->ended && fb_spool_image_read(image, over, &progress, err) != 0)
            status = -1;
        if (fb_spool_image_end(image, over ? FB_RECORDING_EXITED : reason, err) != 0)
            status = -1;
    }
    if (spool->image_count > 0 && name_images(spool, err) != 0)
        status = -1;
    return status;
}

static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        if (entry->d_name[0] != '.')
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    (void)closedir(folder);
    (void)rmdir(path);
}

void fb_spool_deinit(struct fb_spool *spool)
{
    for (size_t i = 0; i < spool->image_count; i++) {
        fb_spool_image_deinit(spool->images[i]);
        free(spool->images[i]);
    }
    free(spool->images);
    if (spool->folder != NULL)
        remove_folder(spool->folder);
    if (spool->alive_fd >= 0)
        (void)close(spool->alive_fd);
    free(spool->folder);
    *spool = (struct fb_spool){.alive_fd = -1};
}
