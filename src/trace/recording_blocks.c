#include "trace/recording_blocks.h"

#include <string.h>

bool fb_recording_is(const void *data, size_t size)
{
    uint64_t magic = 0;
    if (size < sizeof magic)
        return false;
    memcpy(&magic, data, sizeof magic);
    return magic == FB_RECORDING_MAGIC;
}

int fb_recording_damaged(const struct fb_recording_file *file, size_t offset, struct fb_error *err,
                         const char *what)
{
    return fb_fail(err, FB_ERROR_INPUT,
                   "%s: byte %zu: %s; the file is damaged: copy it again, or record anew",
                   file->path, offset, what);
}

int fb_recording_file_check(struct fb_recording_file *file, struct fb_error *err)
{
    struct fb_recording_header header;
    if (!fb_recording_is(file->data, file->size))
        return fb_fail(err, FB_ERROR_INPUT,
                       "%s: not a recording; `fragbench record -o FILE -- COMMAND` makes one",
                       file->path);
    if (file->size < sizeof header)
        return fb_recording_damaged(file, file->size, err, "it ends within the header");
    memcpy(&header, file->data, sizeof header);
    bool known =
        header.version >= FB_RECORDING_VERSION_LEAST && header.version <= FB_RECORDING_VERSION;
    if (!known && header.version < UINT32_C(1) << 16)
        return fb_fail(err, FB_ERROR_INPUT,
                       "%s: byte 8: a recording of version %u, this fragbench reads versions %u to "
                       "%u; record again, or use the fragbench that made it",
                       file->path, header.version, FB_RECORDING_VERSION_LEAST,
                       FB_RECORDING_VERSION);
    if (header.checksum !=
        fb_recording_checksum(&header, offsetof(struct fb_recording_header, checksum)))
        return fb_recording_damaged(file, 0, err, "the header does not match its checksum");
    file->version = header.version;
    return 0;
}

int fb_recording_block_at(const struct fb_recording_file *file, size_t offset, uint32_t sequence,
                          struct fb_recording_block *block, struct fb_error *err)
{
    if (file->size - offset < sizeof *block)
        return 0;
    memcpy(block, file->data + offset, sizeof *block);
    if (block->magic != FB_RECORDING_BLOCK_MAGIC ||
        block->checksum !=
            fb_recording_checksum(block, offsetof(struct fb_recording_block, checksum)))
        return fb_recording_damaged(file, offset, err,
                                    "a block's header does not match its checksum");
    if (block->sequence != sequence)
        return fb_recording_damaged(file, offset, err, "a block is missing before this one");
    if (block->kind != FB_RECORDING_EVENTS && block->kind != FB_RECORDING_END &&
        (block->kind != FB_RECORDING_SITES || file->version < FB_RECORDING_VERSION_SITES))
        return fb_recording_damaged(file, offset, err, "a block of an unknown kind");
    size_t payload = offset + sizeof *block;
    if (file->size - payload < block->packed_bytes)
        return 0;
    if (block->packed_checksum != fb_recording_checksum(file->data + payload, block->packed_bytes))
        return fb_recording_damaged(file, payload, err, "a block does not match its checksum");
    return 1;
}
