#include "worker_run.h"

#include "trace/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUIRE(condition)      \
    do {                        \
        if (!(condition)) {     \
            perror(#condition); \
            abort();            \
        }                       \
    } while (0)

static uint32_t threads_of(const struct worker_run *run)
{
    return run->thread_peak > 0 ? run->thread_peak : run->stream_count;
}

static int write_trace(const struct worker_run *run, uint64_t *samples)
{
    struct fb_trace_header header = {.magic = FB_TRACE_MAGIC,
                                     .version = FB_TRACE_VERSION,
                                     .class_count = run->class_count,
                                     .phase_count = 1,
                                     .stream_count = run->stream_count,
                                     .thread_peak = threads_of(run),
                                     .slot_count = run->slot_count,
                                     .cost_op_ns = 100,
                                     .cost_bytes_per_us = 8000};
    struct fb_trace_stream streams[32] = {0};
    for (uint32_t s = 0; s < run->stream_count; s++) {
        streams[s].op_count = run->streams[s].count;
        header.op_count += run->streams[s].count;
        for (size_t i = 0; i < run->streams[s].count; i++)
            *samples += run->streams[s].ops[i].kind == FB_OP_SAMPLE ||
                        run->streams[s].ops[i].kind == FB_OP_CHECKPOINT;
    }
    header.sample_count = *samples;
    struct fb_trace_phase phase = {.name = "work",
                                   .fail_on_refusal = (uint8_t)(run->fail_on_refusal != 0)};
    int fd = memfd_create("trace", 0);
    REQUIRE(fd >= 0);
    struct fb_trace_writer *writer = NULL;
    struct fb_error err = {0};
    REQUIRE(fb_trace_writer_open(&writer, fd, &header, run->classes, &phase, streams, &err) == 0);
    for (uint32_t s = 0; s < run->stream_count; s++)
        for (size_t i = 0; i < run->streams[s].count; i++)
            fb_trace_writer_op(writer, s, run->streams[s].ops[i]);
    REQUIRE(fb_trace_writer_close(writer, &err) == 0);
    return fd;
}

static struct fb_shared *make_shared(const struct worker_run *run, uint64_t samples, int *fd)
{
    uint64_t at = (sizeof(struct fb_shared) + 4095) & ~UINT64_C(4095);
    uint64_t sample_offset = at;
    at += (samples * sizeof(struct fb_sample) + 4095) & ~UINT64_C(4095);
    uint64_t object_offset = at;
    at += (run->slot_count * sizeof(struct fb_object) + 4095) & ~UINT64_C(4095);
    uint64_t latency_offset = at;
    at += 2 * FB_LATENCY_BUCKETS * sizeof(uint64_t);
    uint64_t counters_offset = at;
    at += (threads_of(run) * sizeof(struct fb_counters) + 4095) & ~UINT64_C(4095);
    *fd = memfd_create("shared", 0);
    REQUIRE(*fd >= 0 && ftruncate(*fd, (off_t)at) == 0);
    struct fb_shared *shared = mmap(NULL, at, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    REQUIRE(shared != MAP_FAILED);
    shared->magic = FB_SHARED_MAGIC;
    shared->version = FB_SHARED_VERSION;
    shared->ready = 1;
    shared->clock_mode = run->clock_mode;
    shared->mode = run->mode;
    shared->flags = run->flags;
    shared->brk_shift_bytes = run->brk_shift_bytes;
    shared->sample_offset = sample_offset;
    shared->sample_capacity = samples;
    shared->object_offset = object_offset;
    shared->object_count = run->slot_count;
    shared->latency_offset = latency_offset;
    shared->counters_offset = counters_offset;
    shared->counters_count = threads_of(run);
    shared->order = run->order;
    shared->pin_cpu = -1;
    shared->total_bytes = at;
    if (run->readback_keys != NULL)
        snprintf(shared->readback_keys, sizeof shared->readback_keys, "%s", run->readback_keys);
    return shared;
}

static void become_worker(const struct worker_run *run, int shared_fd, int trace_fd, int bell_fd)
{
    char preload[1024];
    int from[] = {fcntl(shared_fd, F_DUPFD, 100), fcntl(trace_fd, F_DUPFD, 100),
                  fcntl(bell_fd, F_DUPFD, 100)};
    dup2(from[0], FB_FD_SHARED);
    dup2(from[1], FB_FD_TRACE);
    dup2(from[2], FB_FD_DOORBELL);
    closefrom(FB_FD_DOORBELL + 1);
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s/libfragbench-clock.so%s%s", FB_BIN_DIR,
             run->allocator != NULL ? ":" : "", run->allocator != NULL ? run->allocator : "");
    char *environment[] = {preload, (char *)(uintptr_t)run->environment, NULL};
    char *arguments[] = {(char *)(uintptr_t) "fragbench-worker", NULL};
    execve(FB_BIN_DIR "/fragbench-worker", arguments, environment);
    _exit(127);
}

static void answer(struct worker_run *run, int fd)
{
    struct fb_bell bell;
    while (recv(fd, &bell, sizeof bell, 0) == (ssize_t)sizeof bell) {
        if (run->bell_count < sizeof run->bells / sizeof *run->bells)
            run->bells[run->bell_count++] = bell;
        if (bell.kind != FB_BELL_END)
            REQUIRE(send(fd, "g", 1, MSG_NOSIGNAL) == 1);
    }
}

static void *copy(const void *from, size_t size)
{
    void *to = aligned_alloc(64, (size + 64) & ~(size_t)63);
    REQUIRE(to != NULL);
    return memcpy(to, from, size);
}

void worker_run_deinit(struct worker_run *run)
{
    free(run->shared);
    free(run->samples);
    free(run->latency);
}

void worker_run(struct worker_run *run)
{
    uint64_t samples = 0;
    int trace_fd = write_trace(run, &samples), shared_fd = -1, bells[2];
    struct fb_shared *shared = make_shared(run, samples, &shared_fd);
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, bells) == 0);
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0)
        become_worker(run, shared_fd, trace_fd, bells[1]);
    close(bells[1]);
    answer(run, bells[0]);
    close(bells[0]);
    REQUIRE(waitpid(pid, &run->wait_status, 0) == pid);
    const char *base = (const char *)shared;
    run->shared = copy(base, sizeof *run->shared);
    run->samples = copy(base + shared->sample_offset, samples * sizeof *run->samples);
    run->latency = copy(base + shared->latency_offset, 2 * FB_LATENCY_BUCKETS * sizeof(uint64_t));
    munmap(shared, shared->total_bytes);
    close(shared_fd);
    close(trace_fd);
}
