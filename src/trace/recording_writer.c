/* The writing half of trace/recording.h. */
#include "trace/recording.h"

#include "base/alloc.h"
#include "trace/recording_sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

/* A block is packed when its columns have so much: more hardly packs better, and less is lost when
 * fragbench is killed. */
#define BLOCK_BYTES ((size_t)256 << 10)
#define EVENT_BYTES_MAX 64U
#define ZSTD_LEVEL 3

struct column {
    unsigned char *bytes;
    size_t length;
};

struct fb_recording_writer {
    int fd;
    int failed_errno; /* the first write that failed */
    uint64_t offset;
    uint32_t blocks;
    uint32_t events_pending;
    struct column columns[FB_RECORDING_COLUMNS];
    unsigned char *packed;
    ZSTD_CCtx *context;
    uint32_t thread, written_thread;
    uint32_t site, written_site;
    uint64_t time_us, written_time_us;
    struct fb_recording_totals totals;
};

/* All or nothing: what a failed write left is cut off again. */
static void append(struct fb_recording_writer *writer, const void *data, size_t size)
{
    const char *bytes = data;
    size_t done = 0;
    while (done < size && writer->failed_errno == 0) {
        ssize_t written =
            pwrite(writer->fd, bytes + done, size - done, (off_t)(writer->offset + done));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            writer->failed_errno = written < 0 ? errno : ENOSPC;
        else
            done += (size_t)written;
    }
    if (writer->failed_errno == 0)
        writer->offset += size;
}

static void cut(const struct fb_recording_writer *writer, uint64_t offset)
{
    if (ftruncate(writer->fd, (off_t)offset) != 0)
        return; /* a torn block at the end is what a reader expects of a file that was cut off */
}

static void write_header(struct fb_recording_writer *writer)
{
    struct fb_recording_header header = {.magic = FB_RECORDING_MAGIC,
                                         .version = FB_RECORDING_VERSION};
    header.checksum =
        fb_recording_checksum(&header, offsetof(struct fb_recording_header, checksum));
    append(writer, &header, sizeof header);
}

static size_t columns_bytes(void)
{
    return FB_RECORDING_COLUMNS * (BLOCK_BYTES + EVENT_BYTES_MAX);
}

static void writer_free(struct fb_recording_writer *writer)
{
    for (size_t i = 0; i < FB_RECORDING_COLUMNS; i++)
        free(writer->columns[i].bytes);
    free(writer->packed);
    (void)ZSTD_freeCCtx(writer->context);
    free(writer);
}

int fb_recording_writer_open(struct fb_recording_writer **out, int fd, struct fb_error *err)
{
    struct fb_recording_writer *writer = fb_alloc(1, sizeof *writer);
    writer->fd = fd;
    writer->context = ZSTD_createCCtx();
    for (size_t i = 0; i < FB_RECORDING_COLUMNS; i++)
        writer->columns[i].bytes = fb_alloc(BLOCK_BYTES + EVENT_BYTES_MAX, 1);
    writer->packed = fb_alloc(ZSTD_compressBound(columns_bytes()), 1);
    if (writer->context == NULL)
        writer->failed_errno = ENOMEM;
    write_header(writer);
    if (writer->failed_errno != 0) {
        errno = writer->failed_errno;
        writer_free(writer);
        return fb_fail_errno(err, "cannot write the recording");
    }
    *out = writer;
    return 0;
}

static void put_byte(struct fb_recording_writer *writer, enum fb_recording_column column,
                     unsigned value)
{
    struct column *into = &writer->columns[column];
    into->bytes[into->length++] = (unsigned char)value;
}

static void put_number(struct fb_recording_writer *writer, enum fb_recording_column column,
                       uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(writer, column, (unsigned)(value & 0x7f) | 0x80U);
    put_byte(writer, column, (unsigned)value);
}

static void write_block(struct fb_recording_writer *writer, struct fb_recording_block *block,
                        const void *payload)
{
    uint64_t begin = writer->offset;
    block->magic = FB_RECORDING_BLOCK_MAGIC;
    block->sequence = writer->blocks;
    block->packed_checksum = fb_recording_checksum(payload, block->packed_bytes);
    block->checksum = fb_recording_checksum(block, offsetof(struct fb_recording_block, checksum));
    append(writer, block, sizeof *block);
    append(writer, payload, block->packed_bytes);
    if (writer->failed_errno != 0)
        cut(writer, begin);
    else
        writer->blocks++;
}

/* The columns behind one another, as the reader gets them back. */
static size_t join_columns(struct fb_recording_writer *writer, struct fb_recording_block *block,
                           unsigned char *joined)
{
    size_t length = 0;
    for (size_t i = 0; i < FB_RECORDING_COLUMNS; i++) {
        struct column *column = &writer->columns[i];
        memcpy(joined + length, column->bytes, column->length);
        length += column->length;
        block->column_bytes[i] = (uint32_t)column->length;
        column->length = 0;
    }
    return length;
}

/* What comes after a failure is lost, and must not pile up. */
static void drop_pending(struct fb_recording_writer *writer)
{
    for (size_t i = 0; i < FB_RECORDING_COLUMNS; i++)
        writer->columns[i].length = 0;
    writer->events_pending = 0;
}

/* One Zstandard frame of it, and a block around that. */
static void write_packed(struct fb_recording_writer *writer, struct fb_recording_block *block,
                         const unsigned char *content, size_t length)
{
    size_t packed =
        ZSTD_compressCCtx(writer->context, writer->packed, ZSTD_compressBound(columns_bytes()),
                          content, length, ZSTD_LEVEL);
    if (ZSTD_isError(packed))
        writer->failed_errno = ENOMEM; /* the only thing that can be wrong with enough room */
    block->packed_bytes = (uint32_t)packed;
    if (writer->failed_errno == 0)
        write_block(writer, block, writer->packed);
}

static void pack(struct fb_recording_writer *writer)
{
    if (writer->failed_errno != 0)
        drop_pending(writer);
    if (writer->columns[FB_RECORDING_OPCODES].length == 0)
        return;
    struct fb_recording_block block = {.kind = FB_RECORDING_EVENTS,
                                       .event_count = writer->events_pending};
    unsigned char *joined = fb_alloc(columns_bytes(), 1);
    size_t length = join_columns(writer, &block, joined);
    write_packed(writer, &block, joined, length);
    writer->events_pending = 0;
    free(joined);
}

int fb_recording_writer_flush(struct fb_recording_writer *writer, struct fb_error *err)
{
    pack(writer);
    if (writer->failed_errno == 0)
        return 0;
    errno = writer->failed_errno;
    return fb_fail_errno(err, "cannot write the recording");
}

void fb_recording_writer_at(struct fb_recording_writer *writer, uint32_t thread, uint64_t time_ns)
{
    writer->thread = thread;
    if (thread >= writer->totals.threads)
        writer->totals.threads = (uint64_t)thread + 1;
    uint64_t limited = time_ns < FB_RECORDING_TIME_MAX_NS ? time_ns : FB_RECORDING_TIME_MAX_NS;
    if (limited / 1000U > writer->time_us)
        writer->time_us = limited / 1000U;
}

static void put_opcode(struct fb_recording_writer *writer, unsigned opcode)
{
    put_byte(writer, FB_RECORDING_OPCODES, opcode);
    writer->events_pending++;
}

static void make_room(struct fb_recording_writer *writer)
{
    for (size_t i = 0; i < FB_RECORDING_COLUMNS; i++)
        if (writer->columns[i].length >= BLOCK_BYTES)
            pack(writer);
}

/* Where and when, as far as that is news, then the event's opcode. */
static void begin_event(struct fb_recording_writer *writer, enum fb_recording_kind kind)
{
    make_room(writer);
    if (writer->thread != writer->written_thread) {
        put_opcode(writer, FB_RECORDING_THREAD);
        put_number(writer, FB_RECORDING_OTHERS, writer->thread);
        writer->written_thread = writer->thread;
    }
    if (writer->time_us != writer->written_time_us) {
        put_opcode(writer, FB_RECORDING_TIME);
        put_number(writer, FB_RECORDING_OTHERS, writer->time_us - writer->written_time_us);
        writer->written_time_us = writer->time_us;
    }
    put_opcode(writer, kind);
    writer->totals.events++;
    writer->totals.duration_ns = writer->time_us * 1000U;
}

static void put_reference(struct fb_recording_writer *writer, uint64_t object)
{
    put_number(writer, FB_RECORDING_REFERENCES, writer->totals.objects - object);
}

void fb_recording_writer_site(struct fb_recording_writer *writer, uint32_t site)
{
    writer->site = site < FB_RECORDING_SITES_MAX ? site : 0;
}

uint64_t fb_recording_writer_birth(struct fb_recording_writer *writer, enum fb_recording_kind kind,
                                   uint64_t size, unsigned align_log2)
{
    if (writer->site != writer->written_site) {
        make_room(writer);
        put_opcode(writer, FB_RECORDING_SITE);
        put_number(writer, FB_RECORDING_OTHERS, writer->site);
        writer->written_site = writer->site;
    }
    begin_event(writer, kind);
    put_number(writer, FB_RECORDING_SIZES, size);
    if (kind == FB_RECORDING_ALIGNED)
        put_number(writer, FB_RECORDING_OTHERS, align_log2);
    return writer->totals.objects++;
}

void fb_recording_writer_realloc(struct fb_recording_writer *writer, uint64_t object, uint64_t size)
{
    begin_event(writer, FB_RECORDING_REALLOC);
    put_reference(writer, object);
    put_number(writer, FB_RECORDING_SIZES, size);
}

void fb_recording_writer_free(struct fb_recording_writer *writer, uint64_t object)
{
    begin_event(writer, FB_RECORDING_FREE);
    put_reference(writer, object);
}

void fb_recording_writer_share(struct fb_recording_writer *writer, uint64_t object, unsigned share)
{
    begin_event(writer, FB_RECORDING_SHARE);
    put_reference(writer, object);
    put_number(writer, FB_RECORDING_OTHERS, share);
}

void fb_recording_writer_memory(struct fb_recording_writer *writer,
                                const struct fb_recording_memory *memory)
{
    make_room(writer);
    put_opcode(writer, FB_RECORDING_MEMORY);
    put_number(writer, FB_RECORDING_OTHERS, memory->anonymous_bytes / 1024U);
    put_number(writer, FB_RECORDING_OTHERS, memory->library_bytes / 1024U);
    put_number(writer, FB_RECORDING_OTHERS, memory->stack_bytes / 1024U);
    put_number(writer, FB_RECORDING_OTHERS, memory->mapped_bytes / 1024U);
}

void fb_recording_writer_sites(struct fb_recording_writer *writer, const char *const *frames,
                               uint32_t count)
{
    unsigned char *content = NULL;
    size_t length = 0, capacity = 0;
    uint32_t pending = 0;
    pack(writer);
    for (uint32_t i = 0; i < count && writer->failed_errno == 0; i++) {
        fb_recording_sites_put(frames[i], &content, &length, &capacity);
        pending++;
        if (length < BLOCK_BYTES && i + 1 < count)
            continue;
        struct fb_recording_block block = {
            .kind = FB_RECORDING_SITES, .event_count = pending, .column_bytes = {(uint32_t)length}};
        write_packed(writer, &block, content, length);
        length = 0;
        pending = 0;
    }
    free(content);
}

void fb_recording_writer_exit(struct fb_recording_writer *writer)
{
    begin_event(writer, FB_RECORDING_EXIT);
}

uint64_t fb_recording_writer_bytes(const struct fb_recording_writer *writer)
{
    return writer->offset;
}

bool fb_recording_writer_failed(const struct fb_recording_writer *writer)
{
    return writer->failed_errno != 0;
}

uint64_t fb_recording_writer_events(const struct fb_recording_writer *writer)
{
    return writer->totals.events;
}

int fb_recording_writer_close(struct fb_recording_writer *writer,
                              const struct fb_recording_totals *totals, struct fb_error *err)
{
    pack(writer);
    writer->totals.foreign_frees = totals->foreign_frees;
    writer->totals.missed_frees = totals->missed_frees;
    writer->totals.reason = totals->reason;
    struct fb_recording_block block = {.kind = FB_RECORDING_END,
                                       .packed_bytes = sizeof writer->totals};
    if (writer->failed_errno == 0)
        write_block(writer, &block, &writer->totals);
    int failed_errno = writer->failed_errno;
    writer_free(writer);
    if (failed_errno == 0)
        return 0;
    errno = failed_errno;
    return fb_fail_errno(err, "cannot write the recording");
}
