#include "harness/spool_image.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORDS_A_READ 2000000U
#define CURSORS_MAX 65536U /* more threads at once than Linux gives one process by default */
#define NO_OBJECT UINT64_MAX

/* One thread's place. */
struct fb_spool_cursor {
    uint32_t thread;
    uint64_t next_sequence;
    struct fb_spool_piece piece; /* chunk NULL: none at the moment */
    uint32_t at, limit;          /* words */
    uint64_t ticket;             /* of the record at `at`; 0: none there yet */
    uint64_t time_ns;
    uint32_t site;           /* of its births */
    uint64_t moving;         /* the object between REALLOC_BEGIN and its end, or NO_OBJECT */
    uint64_t moving_address; /* where it was */
    bool exited;
    bool moves_mapping; /* between an UNMAP and the MAP of where it moved */
};

void fb_spool_image_add(struct fb_spool_image *image, struct fb_spool_segment *segment)
{
    image->mappings =
        fb_realloc(image->mappings, image->mapping_count + 1, sizeof(struct fb_spool_mapping *));
    struct fb_spool_mapping *mapping = fb_alloc(1, sizeof *mapping);
    mapping->segment = segment;
    image->mappings[image->mapping_count++] = mapping;
}

static void add_waiting(struct fb_spool_image *image, const struct fb_spool_piece *piece)
{
    if (image->waiting_count == image->waiting_capacity) {
        image->waiting_capacity = image->waiting_capacity * 2 + 64;
        image->waiting =
            fb_realloc(image->waiting, image->waiting_capacity, sizeof *image->waiting);
    }
    image->waiting[image->waiting_count++] = *piece;
}

static void discover_in(struct fb_spool_image *image, struct fb_spool_mapping *mapping)
{
    for (uint32_t i = 0; i < FB_SPOOL_CHUNKS; i++) {
        struct fb_spool_chunk *chunk = &mapping->segment->chunks[i];
        uint32_t state = atomic_load_explicit(&chunk->state, memory_order_acquire);
        if (mapping->known[i] || (state != FB_SPOOL_OWNED && state != FB_SPOOL_FULL))
            continue;
        mapping->known[i] = true;
        const struct fb_spool_piece piece = {chunk, fb_spool_words(mapping->segment, i),
                                             &mapping->known[i]};
        add_waiting(image, &piece);
    }
}

static struct fb_spool_cursor *find_cursor(struct fb_spool_image *image, uint32_t thread)
{
    for (size_t i = 0; i < image->cursor_count; i++)
        if (image->cursors[i].thread == thread)
            return &image->cursors[i];
    return NULL;
}

/* Makes a cursor for every thread that has a first piece waiting. */
static void meet_threads(struct fb_spool_image *image)
{
    for (size_t i = 0; i < image->waiting_count; i++) {
        const struct fb_spool_chunk *chunk = image->waiting[i].chunk;
        if (chunk->sequence != 0 || find_cursor(image, chunk->thread) != NULL)
            continue;
        if (image->cursor_count >= CURSORS_MAX) {
            image->damaged = true;
            return;
        }
        if (image->cursor_count == image->cursor_capacity) {
            image->cursor_capacity = image->cursor_capacity * 2 + 16;
            image->cursors =
                fb_realloc(image->cursors, image->cursor_capacity, sizeof *image->cursors);
        }
        image->cursors[image->cursor_count++] =
            (struct fb_spool_cursor){.thread = chunk->thread, .moving = NO_OBJECT};
    }
}

/* The thread's next piece, if it has been found. */
static bool take_piece(struct fb_spool_image *image, struct fb_spool_cursor *cursor)
{
    for (size_t i = 0; i < image->waiting_count; i++) {
        const struct fb_spool_chunk *chunk = image->waiting[i].chunk;
        if (chunk->thread != cursor->thread || chunk->sequence != cursor->next_sequence)
            continue;
        cursor->piece = image->waiting[i];
        cursor->next_sequence++;
        cursor->at = cursor->limit = cursor->site = 0;
        image->waiting[i] = image->waiting[--image->waiting_count];
        return true;
    }
    return false;
}

static void give_back(struct fb_spool_cursor *cursor)
{
    *cursor->piece.known = false;
    atomic_store_explicit(&cursor->piece.chunk->state, FB_SPOOL_FREE, memory_order_release);
    cursor->piece.chunk = NULL;
}

/* Words of the record at the cursor, 0 for what is no record. */
static uint32_t record_words(const struct fb_spool_cursor *cursor)
{
    static const uint8_t words[FB_SPOOL_KIND_COUNT] = {
        [FB_SPOOL_MALLOC] = 2,         [FB_SPOOL_CALLOC] = 2,        [FB_SPOOL_ALIGNED] = 2,
        [FB_SPOOL_REALLOC_NEW] = 2,    [FB_SPOOL_REALLOC_BEGIN] = 2, [FB_SPOOL_REALLOC_END] = 2,
        [FB_SPOOL_REALLOC_FAILED] = 1, [FB_SPOOL_RELEASE] = 2,       [FB_SPOOL_SHARE] = 2,
        [FB_SPOOL_EXIT] = 1,           [FB_SPOOL_TIME] = 2,          [FB_SPOOL_MAP] = 2,
        [FB_SPOOL_UNMAP] = 2,          [FB_SPOOL_STACK] = 2,         [FB_SPOOL_SITE] = 2,
        [FB_SPOOL_FRAMES] = 2,         [FB_SPOOL_MODULE] = 4,
    };
    const uint64_t *record = cursor->piece.words + cursor->at;
    unsigned kind = record[0] & 0xffU;
    if (kind >= FB_SPOOL_KIND_COUNT || words[kind] == 0)
        return 0;
    bool sized = kind <= FB_SPOOL_REALLOC_NEW || kind == FB_SPOOL_REALLOC_END ||
                 kind == FB_SPOOL_MAP || kind == FB_SPOOL_UNMAP;
    bool listed = kind == FB_SPOOL_FRAMES || kind == FB_SPOOL_MODULE;
    uint32_t length = words[kind] + (listed ? (uint32_t)(record[0] >> 8 & 0xffU) : 0);
    if (sized && cursor->at + 1 < cursor->limit && record[1] >> 48 == FB_SPOOL_SIZE_LONG)
        length = 3;
    return cursor->at + length <= cursor->limit ? length : 0;
}

/* Moves to the next record that has a ticket, chunk after chunk. */
static void look_ahead(struct fb_spool_image *image, struct fb_spool_cursor *cursor)
{
    cursor->ticket = 0;
    while (!image->damaged) {
        if (cursor->piece.chunk == NULL && !take_piece(image, cursor))
            return;
        if (cursor->at == cursor->limit) {
            /* The state first: once it says FULL the count is final. */
            struct fb_spool_chunk *chunk = cursor->piece.chunk;
            bool full = atomic_load_explicit(&chunk->state, memory_order_acquire) == FB_SPOOL_FULL;
            uint32_t used = atomic_load_explicit(&chunk->used_words, memory_order_acquire);
            image->damaged = used < cursor->at || used > FB_SPOOL_WORDS;
            if (image->damaged || (used == cursor->at && !full))
                return;
            cursor->limit = used;
            if (used == cursor->at)
                give_back(cursor);
            continue;
        }
        const uint64_t *record = cursor->piece.words + cursor->at;
        uint32_t length = record_words(cursor);
        image->damaged = length == 0;
        unsigned kind = record[0] & 0xffU;
        if (image->damaged || (kind != FB_SPOOL_TIME && kind != FB_SPOOL_SITE)) {
            cursor->ticket = image->damaged ? 0 : record[0] >> 16;
            return;
        }
        if (kind == FB_SPOOL_TIME)
            cursor->time_ns = record[1];
        else
            cursor->site = (uint32_t)record[1];
        cursor->at += length;
    }
}

static void look_ahead_all(struct fb_spool_image *image)
{
    for (size_t i = 0; i < image->mapping_count; i++)
        discover_in(image, image->mappings[i]);
    meet_threads(image);
    for (size_t i = 0; i < image->cursor_count; i++)
        if (image->cursors[i].ticket == 0)
            look_ahead(image, &image->cursors[i]);
}

/* An address that comes while it is still taken: its free was not seen. */
static void put_object(struct fb_spool_image *image, uint64_t address, uint64_t object)
{
    uint64_t before = 0;
    if (fb_map_take(&image->objects, address, &before)) {
        image->totals.missed_frees++;
        fb_recording_writer_free(image->writer, before);
    }
    fb_map_put(&image->objects, address, object);
}

static uint64_t birth(struct fb_spool_image *image, enum fb_recording_kind kind, uint64_t size,
                      unsigned align_log2)
{
    image->volume_bytes += size;
    return fb_recording_writer_birth(image->writer, kind, size, align_log2 & 63U);
}

/* What a record needs at hand. */
struct record {
    unsigned kind, aux;
    uint64_t address, size;
    const uint64_t *words; /* in the spool */
};

static void on_birth(struct fb_spool_image *image, const struct record *record)
{
    static const enum fb_recording_kind kinds[] = {
        [FB_SPOOL_MALLOC] = FB_RECORDING_MALLOC,
        [FB_SPOOL_CALLOC] = FB_RECORDING_CALLOC,
        [FB_SPOOL_ALIGNED] = FB_RECORDING_ALIGNED,
        [FB_SPOOL_REALLOC_NEW] = FB_RECORDING_REALLOC_NEW,
    };
    uint64_t before = 0;
    if (fb_map_take(&image->objects, record->address, &before)) {
        image->totals.missed_frees++;
        fb_recording_writer_free(image->writer, before);
    }
    uint64_t object = birth(image, kinds[record->kind], record->size, record->aux);
    fb_map_put(&image->objects, record->address, object);
}

static void on_share(struct fb_spool_image *image, const struct record *record)
{
    uint64_t object = 0;
    unsigned share = record->aux - 1U;
    if (record->aux > 0 && share < FB_SPOOL_SHARES &&
        fb_map_get(&image->objects, record->address, &object))
        fb_recording_writer_share(image->writer, object, share);
}

static void on_release(struct fb_spool_image *image, const struct record *record)
{
    uint64_t object = 0;
    on_share(image, record);
    if (fb_map_take(&image->objects, record->address, &object))
        fb_recording_writer_free(image->writer, object);
    else
        image->totals.foreign_frees++;
}

static void on_realloc_begin(struct fb_spool_image *image, struct fb_spool_cursor *cursor,
                             const struct record *record)
{
    cursor->moving_address = record->address;
    if (!fb_map_take(&image->objects, record->address, &cursor->moving))
        cursor->moving = NO_OBJECT;
}

/* A block from before the recording is born by its realloc. */
static void on_realloc_end(struct fb_spool_image *image, struct fb_spool_cursor *cursor,
                           const struct record *record)
{
    uint64_t object = cursor->moving;
    cursor->moving = NO_OBJECT;
    if (object == NO_OBJECT) {
        image->totals.foreign_frees++;
        object = birth(image, FB_RECORDING_MALLOC, record->size, 0);
    } else {
        fb_recording_writer_realloc(image->writer, object, record->size);
    }
    put_object(image, record->address, object);
}

static void on_realloc_failed(struct fb_spool_image *image, struct fb_spool_cursor *cursor,
                              const struct record *record)
{
    uint64_t object = cursor->moving;
    cursor->moving = NO_OBJECT;
    if (object == NO_OBJECT)
        return;
    if (record->aux == 1)
        fb_recording_writer_free(image->writer, object);
    else
        put_object(image, cursor->moving_address, object);
}

static void on_map(struct fb_spool_image *image, struct fb_spool_cursor *cursor,
                   const struct record *record)
{
    if (record->kind == FB_SPOOL_UNMAP)
        cursor->moves_mapping =
            fb_spool_memory_unmap(&image->memory, record->address, record->size);
    else if (record->aux == 0 || cursor->moves_mapping)
        fb_spool_memory_map(&image->memory, record->address, record->size);
}

static void act(struct fb_spool_image *image, struct fb_spool_cursor *cursor,
                const struct record *record)
{
    switch ((enum fb_spool_kind)record->kind) {
    case FB_SPOOL_RELEASE:
        on_release(image, record);
        break;
    case FB_SPOOL_SHARE:
        on_share(image, record);
        break;
    case FB_SPOOL_REALLOC_BEGIN:
        on_realloc_begin(image, cursor, record);
        break;
    case FB_SPOOL_REALLOC_END:
        on_realloc_end(image, cursor, record);
        break;
    case FB_SPOOL_REALLOC_FAILED:
        on_realloc_failed(image, cursor, record);
        break;
    case FB_SPOOL_EXIT:
        fb_recording_writer_exit(image->writer);
        fb_spool_memory_exit(&image->memory, cursor->thread);
        cursor->exited = true;
        break;
    case FB_SPOOL_MAP:
    case FB_SPOOL_UNMAP:
        on_map(image, cursor, record);
        break;
    case FB_SPOOL_STACK:
        fb_spool_memory_stack(&image->memory, cursor->thread, record->address);
        break;
    case FB_SPOOL_FRAMES:
        fb_spool_sites_frames(&image->sites, record->words[1], record->words + 2, record->aux);
        break;
    case FB_SPOOL_MODULE:
        fb_spool_sites_module(&image->sites, record->words, record->aux);
        break;
    default:
        fb_recording_writer_site(image->writer, cursor->site);
        on_birth(image, record);
    }
}

static struct record decode(const struct fb_spool_cursor *cursor, uint32_t length)
{
    const uint64_t *words = cursor->piece.words + cursor->at;
    struct record record = {.kind = words[0] & 0xffU, .aux = words[0] >> 8 & 0xffU, .words = words};
    if (length > 1)
        record.address = words[1] & FB_SPOOL_ADDRESS_MASK;
    record.size = length == 3 ? words[2] : length > 1 ? words[1] >> 48 : 0;
    if (record.size > FB_RECORDING_SIZE_MAX)
        record.size = FB_RECORDING_SIZE_MAX;
    return record;
}

static void consume(struct fb_spool_image *image, struct fb_spool_cursor *cursor)
{
    uint32_t length = record_words(cursor);
    const struct record record = decode(cursor, length);
    uint64_t time_ns = cursor->time_ns > image->start_ns ? cursor->time_ns - image->start_ns : 0;
    fb_recording_writer_at(image->writer, cursor->thread == FB_SPOOL_LATE ? 0 : cursor->thread,
                           time_ns);
    image->ticket = cursor->ticket;
    cursor->at += length;
    act(image, cursor, &record);
    look_ahead(image, cursor);
}

/* The cursor with the lowest ticket, or NULL. The one of the last record is looked at first: it
 * mostly goes on. */
static struct fb_spool_cursor *lowest(struct fb_spool_image *image)
{
    struct fb_spool_cursor *found = NULL;
    if (image->last < image->cursor_count &&
        image->cursors[image->last].ticket == image->ticket + 1)
        return &image->cursors[image->last];
    for (size_t i = 0; i < image->cursor_count; i++) {
        struct fb_spool_cursor *cursor = &image->cursors[i];
        if (cursor->ticket != 0 && (found == NULL || cursor->ticket < found->ticket)) {
            found = cursor;
            image->last = i;
        }
    }
    return found;
}

/* Threads that have ended and been read are not looked at any more. */
static void drop_ended(struct fb_spool_image *image)
{
    size_t kept = 0;
    for (size_t i = 0; i < image->cursor_count; i++) {
        const struct fb_spool_cursor *cursor = &image->cursors[i];
        if (!cursor->exited || cursor->piece.chunk != NULL)
            image->cursors[kept++] = *cursor;
    }
    image->cursor_count = kept;
}

int fb_spool_image_read(struct fb_spool_image *image, bool final, bool *progress,
                        struct fb_error *err)
{
    if (image->ended)
        return 0;
    look_ahead_all(image);
    for (uint32_t records = 0; !image->damaged && (final || records < RECORDS_A_READ); records++) {
        struct fb_spool_cursor *cursor = lowest(image);
        if (cursor == NULL || (!final && cursor->ticket != image->ticket + 1)) {
            break;
        }
        consume(image, cursor);
        *progress = true;
        if (final && cursor->ticket == 0)
            look_ahead_all(image);
    }
    drop_ended(image);
    if (fb_recording_writer_failed(image->writer))
        return fb_recording_writer_flush(image->writer, err);
    return 0;
}

static void unmap(struct fb_spool_image *image)
{
    for (size_t i = 0; i < image->mapping_count; i++) {
        (void)munmap(image->mappings[i]->segment, FB_SPOOL_SEGMENT_BYTES);
        free(image->mappings[i]);
    }
    free(image->mappings);
    free(image->waiting);
    free(image->cursors);
    fb_map_deinit(&image->objects);
    image->mappings = NULL;
    image->waiting = NULL;
    image->cursors = NULL;
    image->mapping_count = image->waiting_count = image->cursor_count = 0;
    image->waiting_capacity = image->cursor_capacity = 0;
}

/* The image's first segment is its own file, by whose name the process can be told. */
void fb_spool_image_look(struct fb_spool_image *image)
{
    char mapping[64];
    if (image->ended || image->mapping_count == 0)
        return;
    (void)snprintf(mapping, sizeof mapping, "/%ld-%llu-0", (long)image->pid,
                   (unsigned long long)image->start_ns);
    struct fb_spool_target target = {.pid = image->pid, .mapping = mapping};
    for (size_t i = 0; i < image->mapping_count; i++) /* it stands in the first made */
        target.own_bytes += atomic_load(&image->mappings[i]->segment->own_bytes);
    fb_spool_memory_look(&image->memory, &target, image->writer);
}

int fb_spool_image_end(struct fb_spool_image *image, enum fb_recording_reason reason,
                       struct fb_error *err)
{
    if (image->ended)
        return 0;
    for (size_t i = 0; i < image->mapping_count; i++)
        if (atomic_load(&image->mappings[i]->segment->closed) != 0)
            reason = FB_RECORDING_NO_ROOM;
    image->totals.reason = image->damaged ? FB_RECORDING_NO_ROOM : reason;
    image->ended = true;
    unmap(image);
    fb_spool_memory_end(&image->memory, image->writer);
    fb_spool_memory_deinit(&image->memory);
    fb_spool_sites_write(&image->sites, image->writer);
    fb_spool_sites_deinit(&image->sites);
    image->events = fb_recording_writer_events(image->writer);
    int status = fb_recording_writer_close(image->writer, &image->totals, err);
    image->writer = NULL;
    off_t size = lseek(image->fd, 0, SEEK_END);
    image->bytes = size > 0 ? (uint64_t)size : 0;
    (void)close(image->fd);
    return status;
}

void fb_spool_image_stop(struct fb_spool_image *image)
{
    for (size_t i = 0; i < image->mapping_count; i++)
        atomic_store(&image->mappings[i]->segment->stop, 1);
}

void fb_spool_image_deinit(struct fb_spool_image *image)
{
    struct fb_error ignored = {0};
    if (fb_spool_image_end(image, FB_RECORDING_STOPPED, &ignored) != 0)
        image->events = 0;
    free(image->path);
}
