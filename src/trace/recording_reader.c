/* The reading half of trace/recording.h. */
#include "trace/recording.h"

#include "base/alloc.h"
#include "base/map.h"

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
    char *path;
    const unsigned char *data;
    size_t size;
    bool mapped; /* data is ours to unmap */
    bool complete;
    uint32_t version;
    struct fb_recording_totals totals;
    struct fb_recording_memories memories;

    size_t next_block; /* offset */
    size_t block;      /* offset of the present one */
    uint32_t sequence;
    uint32_t event_count, events_left;
    unsigned char *unpacked;
    size_t unpacked_capacity;
    struct column columns[FB_RECORDING_COLUMNS];
    ZSTD_DCtx *context;

    uint32_t thread;
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

bool fb_recording_is(const void *data, size_t size)
{
    uint64_t magic = 0;
    if (size < sizeof magic)
        return false;
    memcpy(&magic, data, sizeof magic);
    return magic == FB_RECORDING_MAGIC;
}

static int damaged(const struct fb_recording *recording, size_t offset, struct fb_error *err,
                   const char *what)
{
    return fb_fail(err, FB_ERROR_INPUT,
                   "%s: byte %zu: %s; the file is damaged: copy it again, or record anew",
                   recording->path, offset, what);
}

int fb_recording_fail(const struct fb_recording *recording, struct fb_error *err, const char *what)
{
    return fb_fail(err, FB_ERROR_INPUT, "%s: byte %zu, event %u of this block: %s", recording->path,
                   recording->block, recording->event_count - recording->events_left, what);
}

static int check_header(struct fb_recording *recording, struct fb_error *err)
{
    struct fb_recording_header header;
    if (!fb_recording_is(recording->data, recording->size))
        return fb_fail(err, FB_ERROR_INPUT,
                       "%s: not a recording; `fragbench record -o FILE -- COMMAND` makes one",
                       recording->path);
    if (recording->size < sizeof header)
        return damaged(recording, recording->size, err, "it ends within the header");
    memcpy(&header, recording->data, sizeof header);
    bool known =
        header.version >= FB_RECORDING_VERSION_LEAST && header.version <= FB_RECORDING_VERSION;
    if (!known && header.version < UINT32_C(1) << 16)
        return fb_fail(err, FB_ERROR_INPUT,
                       "%s: byte 8: a recording of version %u, this fragbench reads versions %u to "
                       "%u; record again, or use the fragbench that made it",
                       recording->path, header.version, FB_RECORDING_VERSION_LEAST,
                       FB_RECORDING_VERSION);
    if (header.checksum !=
        fb_recording_checksum(&header, offsetof(struct fb_recording_header, checksum)))
        return damaged(recording, 0, err, "the header does not match its checksum");
    recording->version = header.version;
    return 0;
}

/* The block at offset: 1 there, 0 the file ends before its last byte, -1 damage. */
static int block_at(const struct fb_recording *recording, size_t offset, uint32_t sequence,
                    struct fb_recording_block *block, struct fb_error *err)
{
    if (recording->size - offset < sizeof *block)
        return 0;
    memcpy(block, recording->data + offset, sizeof *block);
    if (block->magic != FB_RECORDING_BLOCK_MAGIC ||
        block->checksum !=
            fb_recording_checksum(block, offsetof(struct fb_recording_block, checksum)))
        return damaged(recording, offset, err, "a block's header does not match its checksum");
    if (block->sequence != sequence)
        return damaged(recording, offset, err, "a block is missing before this one");
    if (block->kind != FB_RECORDING_EVENTS && block->kind != FB_RECORDING_END)
        return damaged(recording, offset, err, "a block of an unknown kind");
    size_t payload = offset + sizeof *block;
    if (recording->size - payload < block->packed_bytes)
        return 0;
    if (block->packed_checksum !=
        fb_recording_checksum(recording->data + payload, block->packed_bytes))
        return damaged(recording, payload, err, "a block does not match its checksum");
    return 1;
}

static int check_end(struct fb_recording *recording, size_t offset,
                     const struct fb_recording_block *block, struct fb_error *err)
{
    size_t payload = offset + sizeof *block;
    if (block->packed_bytes != sizeof recording->totals)
        return damaged(recording, offset, err, "an end of another size");
    if (recording->size != payload + block->packed_bytes)
        return damaged(recording, payload + block->packed_bytes, err, "bytes after the end");
    memcpy(&recording->totals, recording->data + payload, sizeof recording->totals);
    if (recording->totals.reason >= FB_RECORDING_REASON_COUNT)
        return damaged(recording, payload, err, "an unknown reason to end");
    recording->complete = true;
    return 0;
}

/* Walks all blocks: every checksum is looked at before the first event is given. */
static int check_blocks(struct fb_recording *recording, struct fb_error *err)
{
    size_t offset = sizeof(struct fb_recording_header);
    for (uint32_t sequence = 0; offset < recording->size; sequence++) {
        struct fb_recording_block block;
        int there = block_at(recording, offset, sequence, &block, err);
        if (there <= 0)
            return there; /* cut off: good up to here */
        if (block.kind == FB_RECORDING_END)
            return check_end(recording, offset, &block, err);
        offset += sizeof block + block.packed_bytes;
    }
    return 0;
}

int fb_recording_open_memory(struct fb_recording **out, const char *path, const void *data,
                             size_t size, struct fb_error *err)
{
    struct fb_recording *recording = fb_alloc(1, sizeof *recording);
    recording->path = fb_strdup(path);
    recording->data = data;
    recording->size = size;
    if (check_header(recording, err) != 0 || check_blocks(recording, err) != 0) {
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
        (void)munmap((void *)(uintptr_t)recording->data, recording->size);
    (void)ZSTD_freeDCtx(recording->context);
    fb_map_deinit(&recording->handles);
    free(recording->unpacked);
    free(recording->sizes);
    free(recording->spare);
    free(recording->path);
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

void fb_recording_rewind(struct fb_recording *recording)
{
    recording->next_block = sizeof(struct fb_recording_header);
    recording->block = recording->next_block;
    recording->sequence = 0;
    recording->events_left = 0;
    recording->event_count = 0;
    recording->thread = 0;
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
        return damaged(recording, recording->block, err, "a block larger than any");
    if (total >= recording->unpacked_capacity) { /* there is one even for an empty block */
        recording->unpacked_capacity = total + 1;
        recording->unpacked = fb_realloc(recording->unpacked, recording->unpacked_capacity, 1);
    }
    if (recording->context == NULL)
        recording->context = ZSTD_createDCtx();
    if (recording->context == NULL)
        return fb_fail(err, FB_ERROR_IO, "no memory to unpack %s", recording->path);
    size_t got = ZSTD_decompressDCtx(recording->context, recording->unpacked, total,
                                     recording->data + recording->block + sizeof *block,
                                     block->packed_bytes);
    if (ZSTD_isError(got) || got != total)
        return damaged(recording, recording->block, err, "a block that cannot be unpacked");
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
    int there = block_at(recording, recording->next_block, recording->sequence, &block, err);
    if (there <= 0 || block.kind == FB_RECORDING_END)
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

/* THREAD, TIME and MEMORY: the reader's own state. */
static int read_state(struct fb_recording *recording, unsigned opcode, struct fb_error *err)
{
    uint64_t number = 0;
    if (opcode == FB_RECORDING_MEMORY)
        return read_memory(recording, err);
    bool thread = opcode == FB_RECORDING_THREAD;
    uint64_t max = thread ? UINT32_MAX - 1 : FB_RECORDING_TIME_MAX_NS / 1000U - recording->time_us;
    if (get_number(recording, FB_RECORDING_OTHERS, max, &number, err) != 0)
        return -1;
    if (!thread)
        recording->time_us += number;
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
    return damaged(recording, recording->block, err, "the totals are not those of the events");
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
        if (opcode >= FB_RECORDING_OPCODE_COUNT ||
            (opcode == FB_RECORDING_MEMORY && recording->version < 2))
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
