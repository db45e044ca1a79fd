/* The reading half of trace/recording.h. */
#include "trace/recording.h"

#include "base/alloc.h"
#include "base/map.h"
#include "trace/recording_blocks.h"
#include "trace/recording_sites.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define ALIGN_LOG2_MAX 46U

struct column {
    const unsigned char *at, *end;
};

struct fb_recording {
    struct fb_recording_file file;
    bool mapped; /* the file's data is ours to unmap */
    bool complete;
    struct fb_recording_totals totals;
    struct fb_recording_memories memories;
    struct fb_recording_sites sites;

    size_t next_block; /* offset */
    size_t block;      /* offset of the present one */
    uint32_t sequence;
    uint32_t event_count, events_left;
    unsigned char *unpacked;
    size_t unpacked_capacity;
    struct column columns[FB_RECORDING_COLUMNS];
    ZSTD_DCtx *context;

    uint32_t thread;
    uint32_t site; /* of births, until another is said */
    uint64_t time_us;
    uint64_t births;
    uint64_t events;
    uint64_t threads;       /* the highest number seen + 1 */
    struct fb_map handles;  /* object → handle */
    uint64_t *sizes;        /* by handle */
    size_t handle_capacity; /* of sizes and spare */
    uint32_t handle_count;
    uint32_t *spare; /* handles that are free again */
    size_t spare_count;
};

int fb_recording_fail(const struct fb_recording *recording, struct fb_error *err, const char *what)
{
    return fb_fail(err, FB_ERROR_INPUT, "%s: byte %zu, event %u of this block: %s",
                   recording->file.path, recording->block,
                   recording->event_count - recording->events_left, what);
}

static int check_end(struct fb_recording *recording, size_t offset,
                     const struct fb_recording_block *block, struct fb_error *err)
{
    size_t payload = offset + sizeof *block;
    if (block->packed_bytes != sizeof recording->totals)
        return fb_recording_damaged(&recording->file, offset, err, "an end of another size");
    if (recording->file.size != payload + block->packed_bytes)
        return fb_recording_damaged(&recording->file, payload + block->packed_bytes, err,
                                    "bytes after the end");
    memcpy(&recording->totals, recording->file.data + payload, sizeof recording->totals);
    if (recording->totals.reason >= FB_RECORDING_REASON_COUNT)
        return fb_recording_damaged(&recording->file, payload, err, "an unknown reason to end");
    recording->complete = true;
    return 0;
}

static int unpack(struct fb_recording *recording, const struct fb_recording_block *block,
                  struct fb_error *err);

/* Call sites are few: they are kept from the opening on. */
static int take_sites(struct fb_recording *recording, size_t offset,
                      const struct fb_recording_block *block, struct fb_error *err)
{
    recording->block = offset;
    if (unpack(recording, block, err) != 0)
        return -1;
    const struct column *all = &recording->columns[FB_RECORDING_COLUMNS - 1];
    const char *wrong =
        fb_recording_sites_add(&recording->sites, recording->unpacked,
                               (size_t)(all->end - recording->unpacked), block->event_count);
    return wrong != NULL ? fb_recording_damaged(&recording->file, offset, err, wrong) : 0;
}

/* Walks all blocks: every checksum is looked at before the first event is given. */
static int check_blocks(struct fb_recording *recording, struct fb_error *err)
{
    size_t offset = sizeof(struct fb_recording_header);
    bool sites = false;
    for (uint32_t sequence = 0; offset < recording->file.size; sequence++) {
        struct fb_recording_block block;
        int there = fb_recording_block_at(&recording->file, offset, sequence, &block, err);
        if (there <= 0)
            return there; /* cut off: good up to here */
        if (block.kind == FB_RECORDING_END)
            return check_end(recording, offset, &block, err);
        if (sites && block.kind == FB_RECORDING_EVENTS)
            return fb_recording_damaged(&recording->file, offset, err,
                                        "events after the call sites");
        sites = block.kind == FB_RECORDING_SITES;
        if (sites && take_sites(recording, offset, &block, err) != 0)
            return -1;
        offset += sizeof block + block.packed_bytes;
    }
    return 0;
}

int fb_recording_open_memory(struct fb_recording **out, const char *path, const void *data,
                             size_t size, struct fb_error *err)
{
    struct fb_recording *recording = fb_alloc(1, sizeof *recording);
    recording->file = (struct fb_recording_file){fb_strdup(path), data, size, 0};
    if (fb_recording_file_check(&recording->file, err) != 0 || check_blocks(recording, err) != 0) {
        fb_recording_close(recording);
        return -1;
    }
    fb_recording_rewind(recording);
    *out = recording;
    return 0;
}

int fb_recording_open(struct fb_recording **out, const char *path, struct fb_error *err)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fb_fail_errno(err, "cannot read %s", path);
    void *data = MAP_FAILED;
    if (fstat(fd, &status) == 0 && status.st_size > 0)
        data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    (void)close(fd);
    if (data == MAP_FAILED)
        return fb_fail(err, FB_ERROR_INPUT, "%s: empty, or no regular file", path);
    if (fb_recording_open_memory(out, path, data, (size_t)status.st_size, err) != 0) {
        (void)munmap(data, (size_t)status.st_size);
        return -1;
    }
    (*out)->mapped = true;
    return 0;
}

void fb_recording_close(struct fb_recording *recording)
{
    if (recording == NULL)
        return;
    if (recording->mapped)
        (void)munmap((void *)(uintptr_t)recording->file.data, recording->file.size);
    (void)ZSTD_freeDCtx(recording->context);
    fb_map_deinit(&recording->handles);
    fb_recording_sites_deinit(&recording->sites);
    free(recording->unpacked);
    free(recording->sizes);
    free(recording->spare);
    free(recording->file.path);
    free(recording);
}

bool fb_recording_complete(const struct fb_recording *recording, struct fb_recording_totals *totals)
{
    *totals = recording->totals;
    return recording->complete;
}

void fb_recording_memories(const struct fb_recording *recording, struct fb_recording_memories *out)
{
    *out = recording->memories;
}

uint32_t fb_recording_site_count(const struct fb_recording *recording)
{
    return recording->sites.count;
}

const char *fb_recording_site(const struct fb_recording *recording, uint32_t site)
{
    return fb_recording_sites_get(&recording->sites, site);
}

void fb_recording_rewind(struct fb_recording *recording)
{
    recording->next_block = sizeof(struct fb_recording_header);
    recording->block = recording->next_block;
    recording->sequence = 0;
    recording->events_left = 0;
    recording->event_count = 0;
    recording->thread = 0;
    recording->site = 0;
    recording->threads = 1;
    recording->time_us = 0;
    recording->births = 0;
    recording->events = 0;
    recording->memories = (struct fb_recording_memories){0};
    fb_map_deinit(&recording->handles);
    recording->handle_count = 0;
    recording->spare_count = 0;
}

static int unpack(struct fb_recording *recording, const struct fb_recording_block *block,
                  struct fb_error *err)
{
    uint64_t total = 0;
    for (size_t i = 0; i < FB_RECORDING_COLUMNS; i++)
        total += block->column_bytes[i];
    if (total > FB_RECORDING_BLOCK_BYTES_MAX)
        return fb_recording_damaged(&recording->file, recording->block, err,
                                    "a block larger than any");
    if (total >= recording->unpacked_capacity) { /* there is one even for an empty block */
        recording->unpacked_capacity = total + 1;
        recording->unpacked = fb_realloc(recording->unpacked, recording->unpacked_capacity, 1);
    }
    if (recording->context == NULL)
        recording->context = ZSTD_createDCtx();
    if (recording->context == NULL)
        return fb_fail(err, FB_ERROR_IO, "no memory to unpack %s", recording->file.path);
    size_t got = ZSTD_decompressDCtx(recording->context, recording->unpacked, total,
                                     recording->file.data + recording->block + sizeof *block,
                                     block->packed_bytes);
    if (ZSTD_isError(got) || got != total)
        return fb_recording_damaged(&recording->file, recording->block, err,
                                    "a block that cannot be unpacked");
    const unsigned char *at = recording->unpacked;
    for (size_t i = 0; i < FB_RECORDING_COLUMNS; i++) {
        recording->columns[i] = (struct column){at, at + block->column_bytes[i]};
        at += block->column_bytes[i];
    }
    return 0;
}

/* 1 with the next block's events, 0 at the end. */
static int next_block(struct fb_recording *recording, struct fb_error *err)
{
    struct fb_recording_block block;
    recording->block = recording->next_block;
    int there = fb_recording_block_at(&recording->file, recording->next_block, recording->sequence,
                                      &block, err);
    if (there <= 0 || block.kind != FB_RECORDING_EVENTS)
        return there < 0 ? -1 : 0;
    if (unpack(recording, &block, err) != 0)
        return -1;
    recording->sequence++;
    recording->next_block += sizeof block + block.packed_bytes;
    recording->event_count = recording->events_left = block.event_count;
    return 1;
}

static int get_byte(struct fb_recording *recording, enum fb_recording_column column,
                    unsigned *value, struct fb_error *err)
{
    struct column *from = &recording->columns[column];
    if (from->at == from->end)
        return fb_recording_fail(recording, err, "a column ends too early");
    *value = *from->at++;
    return 0;
}

static int get_number(struct fb_recording *recording, enum fb_recording_column column, uint64_t max,
                      uint64_t *value, struct fb_error *err)
{
    uint64_t number = 0;
    unsigned byte = 0x80;
    for (unsigned shift = 0; (byte & 0x80U) != 0; shift += 7) {
        if (get_byte(recording, column, &byte, err) != 0)
            return -1;
        if (shift > 56)
            return fb_recording_fail(recording, err, "a number of more than 63 bits");
        number |= (uint64_t)(byte & 0x7fU) << shift;
    }
    if (number > max)
        return fb_recording_fail(recording, err, "a number beyond its range");
    *value = number;
    return 0;
}

static void add_handle(struct fb_recording *recording)
{
    if (recording->handle_count == recording->handle_capacity) {
        recording->handle_capacity = recording->handle_capacity * 2 + 1024;
        recording->sizes =
            fb_realloc(recording->sizes, recording->handle_capacity, sizeof *recording->sizes);
        recording->spare =
            fb_realloc(recording->spare, recording->handle_capacity, sizeof *recording->spare);
    }
    recording->spare[recording->spare_count++] = recording->handle_count++;
}

static int read_birth(struct fb_recording *recording, struct fb_recording_event *event,
                      struct fb_error *err)
{
    uint64_t align = 0;
    if (get_number(recording, FB_RECORDING_SIZES, FB_RECORDING_SIZE_MAX, &event->size, err) != 0)
        return -1;
    if (event->kind == FB_RECORDING_ALIGNED &&
        get_number(recording, FB_RECORDING_OTHERS, ALIGN_LOG2_MAX, &align, err) != 0)
        return -1;
    event->align_log2 = (uint8_t)align;
    event->site = recording->site;
    event->object = recording->births++;
    if (recording->spare_count == 0)
        add_handle(recording);
    event->handle = recording->spare[--recording->spare_count];
    recording->sizes[event->handle] = event->size;
    fb_map_put(&recording->handles, event->object, event->handle);
    return 0;
}

static int read_reference(struct fb_recording *recording, struct fb_recording_event *event,
                          struct fb_error *err)
{
    uint64_t ago = 0, handle = 0;
    if (get_number(recording, FB_RECORDING_REFERENCES, recording->births, &ago, err) != 0)
        return -1;
    event->object = recording->births - ago;
    bool found = event->kind == FB_RECORDING_FREE
                     ? fb_map_take(&recording->handles, event->object, &handle)
                     : fb_map_get(&recording->handles, event->object, &handle);
    if (ago == 0 || !found)
        return fb_recording_fail(recording, err, "an object that is not alive");
    event->handle = (uint32_t)handle;
    event->size = event->old_size = recording->sizes[handle];
    if (event->kind == FB_RECORDING_FREE)
        recording->spare[recording->spare_count++] = event->handle;
    return 0;
}

static int read_operands(struct fb_recording *recording, struct fb_recording_event *event,
                         struct fb_error *err)
{
    uint64_t share = 0;
    if (event->kind == FB_RECORDING_EXIT)
        return 0;
    if (event->kind < FB_RECORDING_REALLOC)
        return read_birth(recording, event, err);
    if (read_reference(recording, event, err) != 0)
        return -1;
    if (event->kind == FB_RECORDING_REALLOC) {
        if (get_number(recording, FB_RECORDING_SIZES, FB_RECORDING_SIZE_MAX, &event->size, err) !=
            0)
            return -1;
        recording->sizes[event->handle] = event->size;
    }
    if (event->kind == FB_RECORDING_SHARE &&
        get_number(recording, FB_RECORDING_OTHERS, FB_RECORDING_SHARES, &share, err) != 0)
        return -1;
    event->share = (uint8_t)share;
    return 0;
}

static int read_memory(struct fb_recording *recording, struct fb_error *err)
{
    struct fb_recording_memory memory = {0};
    struct fb_recording_memories *memories = &recording->memories;
    uint64_t *const members[] = {&memory.anonymous_bytes, &memory.library_bytes,
                                 &memory.stack_bytes, &memory.mapped_bytes};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (get_number(recording, FB_RECORDING_OTHERS, FB_RECORDING_SIZE_MAX / 1024U, members[i],
                       err) != 0)
            return -1;
        *members[i] *= 1024U;
    }
    uint64_t beside_bytes = fb_recording_beside_bytes(&memory);
    if (beside_bytes > memory.anonymous_bytes)
        return fb_recording_fail(recording, err, "parts of memory that are more than all of it");
    if (memories->count++ == 0 || memory.anonymous_bytes > memories->peak.anonymous_bytes)
        memories->peak = memory;
    return 0;
}

/* THREAD, TIME, MEMORY and SITE: the reader's own state. */
static int read_state(struct fb_recording *recording, unsigned opcode, struct fb_error *err)
{
    uint64_t number = 0;
    if (opcode == FB_RECORDING_MEMORY)
        return read_memory(recording, err);
    uint64_t max = opcode == FB_RECORDING_THREAD ? UINT32_MAX - 1
                   : opcode == FB_RECORDING_SITE
                       ? FB_RECORDING_SITES_MAX - 1
                       : FB_RECORDING_TIME_MAX_NS / 1000U - recording->time_us;
    if (get_number(recording, FB_RECORDING_OTHERS, max, &number, err) != 0)
        return -1;
    if (opcode == FB_RECORDING_TIME)
        recording->time_us += number;
    else if (opcode == FB_RECORDING_SITE)
        recording->site = (uint32_t)number;
    else
        recording->thread = (uint32_t)number;
    if (recording->thread >= recording->threads)
        recording->threads = (uint64_t)recording->thread + 1;
    return 0;
}

/* All of the end's totals were counted: a writer that lost something would be noticed. */
static int check_totals(const struct fb_recording *recording, struct fb_error *err)
{
    const struct fb_recording_totals *totals = &recording->totals;
    if (!recording->complete ||
        (totals->events == recording->events && totals->objects == recording->births))
        return 0;
    return fb_recording_damaged(&recording->file, recording->block, err,
                                "the totals are not those of the events");
}

/* Each version added one. */
static unsigned opcodes_of(uint32_t version)
{
    return version >= FB_RECORDING_VERSION_SITES    ? FB_RECORDING_OPCODE_COUNT
           : version >= FB_RECORDING_VERSION_MEMORY ? FB_RECORDING_SITE
                                                    : FB_RECORDING_MEMORY;
}

int fb_recording_next(struct fb_recording *recording, struct fb_recording_event *event,
                      struct fb_error *err)
{
    for (;;) {
        unsigned opcode = 0;
        while (recording->events_left == 0) {
            int there = next_block(recording, err);
            if (there <= 0)
                return there < 0 ? -1 : check_totals(recording, err);
        }
        recording->events_left--;
        if (get_byte(recording, FB_RECORDING_OPCODES, &opcode, err) != 0)
            return -1;
        if (opcode >= opcodes_of(recording->file.version))
            return fb_recording_fail(recording, err, "an unknown event");
        if (opcode >= FB_RECORDING_KIND_COUNT) {
            if (read_state(recording, opcode, err) != 0)
                return -1;
            continue;
        }
        *event = (struct fb_recording_event){.kind = (enum fb_recording_kind)opcode,
                                             .thread = recording->thread,
                                             .time_ns = recording->time_us * 1000U};
        recording->events++;
        return read_operands(recording, event, err) != 0 ? -1 : 1;
    }
}
