/* Any bytes as a recording: it must end soon, leak nothing, and either be refused with a text or be
 * played into a trace.
 *
 * The checksums would keep a fuzzer out of everything behind them, so the first byte chooses: the
 * bytes as they are; or as the four columns of one block, and a block of call sites behind it,
 * wrapped with the sums that they need, as only a hostile writer would.
 */
#include "workload_fuzz.h"

#include "base/alloc.h"
#include "trace/recording.h"
#include "workload/compile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

enum { EVENTS_MAX = 100000, TRACE_MAX = 1 << 24, SITES_BIT = 0x80 };

static void require(bool well)
{
    if (!well)
        abort();
}

struct file {
    unsigned char *data;
    size_t size;
};

/* Appends a block of that content, packed and with its sums. */
static void append_block(struct file *file, struct fb_recording_block block, const uint8_t *content,
                         size_t size)
{
    size_t bound = ZSTD_compressBound(size);
    file->data = fb_realloc(file->data, file->size + sizeof block + bound, 1);
    unsigned char *packed = file->data + file->size + sizeof block;
    size_t packed_bytes = ZSTD_compress(packed, bound, content, size, 1);
    require(!ZSTD_isError(packed_bytes));
    block.magic = FB_RECORDING_BLOCK_MAGIC;
    block.packed_bytes = (uint32_t)packed_bytes;
    block.packed_checksum = fb_recording_checksum(packed, packed_bytes);
    block.checksum = fb_recording_checksum(&block, offsetof(struct fb_recording_block, checksum));
    memcpy(file->data + file->size, &block, sizeof block);
    file->size += sizeof block + packed_bytes;
}

static struct file header_only(void)
{
    struct fb_recording_header header = {.magic = FB_RECORDING_MAGIC,
                                         .version = FB_RECORDING_VERSION};
    header.checksum =
        fb_recording_checksum(&header, offsetof(struct fb_recording_header, checksum));
    struct file file = {fb_alloc(sizeof header, 1), sizeof header};
    memcpy(file.data, &header, sizeof header);
    return file;
}

/* Three bytes say where the columns end, in parts of 1/256. */
static void append_events(struct file *file, const uint8_t *data, size_t size)
{
    struct fb_recording_block block = {.kind = FB_RECORDING_EVENTS};
    uint8_t cuts[3] = {0};
    size_t head = size < sizeof cuts ? size : sizeof cuts;
    memcpy(cuts, data, head);
    size_t left = size - head;
    for (size_t i = 0, rest = left; i < FB_RECORDING_COLUMNS; i++) {
        size_t part = i + 1 < FB_RECORDING_COLUMNS ? rest * cuts[i] / 256 : rest;
        block.column_bytes[i] = (uint32_t)part;
        rest -= part;
    }
    block.event_count = block.column_bytes[FB_RECORDING_OPCODES];
    append_block(file, block, data + head, left);
}

/* One byte says how many call sites there are, one how much of the rest is their text. */
static struct file wrap(const uint8_t *data, size_t size, bool sites)
{
    struct file file = header_only();
    if (!sites || size < 2) {
        append_events(&file, data, size);
        return file;
    }
    struct fb_recording_block block = {.kind = FB_RECORDING_SITES, .sequence = 1};
    size_t text = (size - 2) * data[1] / 256;
    block.event_count = data[0];
    block.column_bytes[0] = (uint32_t)text;
    append_events(&file, data + 2 + text, size - 2 - text);
    append_block(&file, block, data + 2, text);
    return file;
}

static struct file copy(const uint8_t *data, size_t size)
{
    struct file file = {fb_alloc(size, 1), size};
    if (size > 0)
        memcpy(file.data, data, size);
    return file;
}

static void read_events(const struct file *file)
{
    struct fb_recording *recording = NULL;
    struct fb_recording_event event;
    struct fb_error err = {0};
    if (fb_recording_open_memory(&recording, "fuzz.fbt", file->data, file->size, &err) != 0) {
        require(err.text[0] != '\0');
        return;
    }
    int more = 1;
    for (int i = 0; i < EVENTS_MAX && more > 0; i++) {
        more = fb_recording_next(recording, &event, &err);
        require(more <= 0 || event.size <= FB_RECORDING_SIZE_MAX);
    }
    require(more >= 0 || err.text[0] != '\0');
    fb_recording_close(recording);
}

static void compile(const struct fb_workload *workload)
{
    const struct fb_compile_options options = {.scale = 1, .max_bytes = TRACE_MAX};
    struct fb_totals totals;
    struct fb_error err = {0};
    if (fb_compile_totals(workload, &options, &totals, &err) != 0) {
        require(err.text[0] != '\0');
        return;
    }
    int fd = memfd_create("trace", MFD_CLOEXEC);
    require(fd >= 0);
    require(fb_compile_trace(workload, &options, &totals, fd, &err) == 0);
    (void)close(fd);
    fb_totals_deinit(&totals);
}

static void load(const struct file *file)
{
    struct fb_diagnostics diagnostics;
    struct fb_workload *workload = NULL;
    int fd = memfd_create("recording.fbt", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, file->data, file->size) == (ssize_t)file->size);
    char *path = fb_format("/proc/self/fd/%d", fd);
    fb_diagnostics_init(&diagnostics);
    if (fb_workload_load(path, NULL, 0, &workload, &diagnostics) == 0)
        compile(workload);
    else
        require(diagnostics.count > 0);
    fb_workload_free(workload);
    fb_diagnostics_deinit(&diagnostics);
    free(path);
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct file file = (data[0] & 1U) == 0 ? wrap(data + 1, size - 1, (data[0] & SITES_BIT) != 0)
                                           : copy(data + 1, size - 1);
    read_events(&file);
    if (fb_recording_is(file.data, file.size))
        load(&file);
    free(file.data);
    return 0;
}
