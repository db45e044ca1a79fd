#include "harness/spool_memory.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "harness/beside.h"
#include "harness/proc.h"

#include <stdlib.h>
#include <unistd.h>

#define LOOK_NS UINT64_C(2000000)
#define WALK_PART 50U                    /* walks take at most this part of the time … */
#define WALK_GRACE_NS UINT64_C(50000000) /* … and this, which a short program gets, too */
#define WALK_LEAST_NS UINT64_C(1000000000)
#define FIT_PART 33U /* a walk's sum may be off by 3 per cent … */
#define FIT_BYTES UINT64_C(1048576)
#define NEW_PEAK_PART 100U /* a peak is new from one per cent … */
#define MUCH_PART 5U
#define STILL_BYTES UINT64_C(65536)
#define NEW_PEAK_BYTES UINT64_C(262144)

/* The kernel maps whole pages. */
static void to_pages(uint64_t address, uint64_t size, uint64_t *start, uint64_t *end)
{
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    *start = address / page_bytes * page_bytes;
    *end = (address + size + page_bytes - 1) / page_bytes * page_bytes;
}

void fb_spool_memory_map(struct fb_spool_memory *memory, uint64_t address, uint64_t size)
{
    uint64_t start = 0, end = 0;
    to_pages(address, size, &start, &end);
    fb_ranges_add(&memory->mapped, start, end);
}

bool fb_spool_memory_unmap(struct fb_spool_memory *memory, uint64_t address, uint64_t size)
{
    uint64_t start = 0, end = 0;
    to_pages(address, size, &start, &end);
    bool known = fb_ranges_overlap(&memory->mapped, start, end) > 0;
    fb_ranges_remove(&memory->mapped, start, end);
    return known;
}

void fb_spool_memory_stack(struct fb_spool_memory *memory, uint32_t thread, uint64_t address)
{
    if (memory->stack_count == memory->stack_capacity) {
        memory->stack_capacity = memory->stack_capacity * 2 + 16;
        memory->stacks = fb_realloc(memory->stacks, memory->stack_capacity, sizeof *memory->stacks);
    }
    memory->stacks[memory->stack_count++] = (struct fb_spool_stack){thread, address};
}

/* glibc keeps the stack for the next thread, but gives nearly all of it back to the kernel. */
void fb_spool_memory_exit(struct fb_spool_memory *memory, uint32_t thread)
{
    for (size_t i = 0; i < memory->stack_count; i++)
        if (memory->stacks[i].thread == thread) {
            memory->stacks[i] = memory->stacks[--memory->stack_count];
            return;
        }
}

static void record(struct fb_spool_memory *memory, struct fb_recording_writer *writer)
{
    struct fb_recording_memory now = memory->last;
    if (memory->seen_peak_bytes > now.anonymous_bytes)
        now.anonymous_bytes = memory->seen_peak_bytes;
    if (now.anonymous_bytes > memory->written_peak_bytes)
        memory->written_peak_bytes = now.anonymous_bytes;
    memory->seen_peak_bytes = 0;
    memory->waits = false;
    fb_recording_writer_memory(writer, &now);
}

void fb_spool_memory_walked(struct fb_spool_memory *memory, const struct fb_recording_memory *now,
                            bool grew, struct fb_recording_writer *writer)
{
    if (memory->waits) {
        uint64_t known = memory->last.anonymous_bytes;
        if (now->anonymous_bytes + known / NEW_PEAK_PART + STILL_BYTES >= known)
            memory->seen_peak_bytes =
                memory->seen_peak_bytes > known ? memory->seen_peak_bytes : known;
        else
            record(memory, writer);
    }
    memory->walked = true;
    memory->last = *now;
    if (!grew) {
        record(memory, writer);
        return;
    }
    if (memory->seen_peak_bytes > now->anonymous_bytes)
        memory->last.anonymous_bytes = memory->seen_peak_bytes;
    memory->seen_peak_bytes = 0;
    memory->waits = true;
}

/* What the process holds by the kernel's own counters, which are read at one instant. */
static bool read_held(const struct fb_spool_target *target, uint64_t *bytes)
{
    struct fb_error gone = {0};
    return fb_proc_held(target->pid, bytes, &gone) == 0;
}

bool fb_spool_memory_fits(uint64_t sum_bytes, uint64_t before_bytes, uint64_t after_bytes)
{
    uint64_t least = before_bytes < after_bytes ? before_bytes : after_bytes;
    uint64_t most = before_bytes < after_bytes ? after_bytes : before_bytes;
    return sum_bytes + least / FIT_PART + FIT_BYTES >= least &&
           sum_bytes <= most + most / FIT_PART + FIT_BYTES;
}

/* The mappings are walked one by one while the process goes on: a block that moves from one that is
 * yet to come to one that was there counts in both, or in none. So the parts are taken from the
 * walk, if its sum fits the counters before and behind it, and the whole from those. */
static bool measure(const struct fb_spool_memory *memory, const struct fb_spool_target *target,
                    struct fb_beside_sum *sum, bool *grew)
{
    uint64_t before_bytes = 0, after_bytes = 0;
    struct fb_error gone = {0};
    uint64_t *stacks = fb_alloc(memory->stack_count, sizeof *stacks);
    for (size_t i = 0; i < memory->stack_count; i++)
        stacks[i] = memory->stacks[i].address;
    const struct fb_beside beside = {&memory->mapped, stacks, memory->stack_count,
                                     target->own_bytes};
    /* Whose process it is, is asked last: an exec before that would give the next image's memory to
     * this one. */
    bool known = read_held(target, &before_bytes) &&
                 fb_beside_measure(target->pid, &beside, sum, &gone) == 0 &&
                 read_held(target, &after_bytes) && fb_mappings_named(target->pid, target->mapping);
    free(stacks);
    uint64_t all_bytes = known ? sum->memory.anonymous_bytes + sum->recorder_bytes : 0;
    if (!known || !fb_spool_memory_fits(all_bytes, before_bytes, after_bytes))
        return false;
    *grew = after_bytes > before_bytes + STILL_BYTES;
    uint64_t held_bytes = before_bytes > after_bytes ? before_bytes : after_bytes;
    uint64_t beside_bytes = fb_recording_beside_bytes(&sum->memory);
    sum->memory.anonymous_bytes = held_bytes > beside_bytes + sum->recorder_bytes
                                      ? held_bytes - sum->recorder_bytes
                                      : beside_bytes;
    return true;
}

static void walk(struct fb_spool_memory *memory, const struct fb_spool_target *target,
                 struct fb_recording_writer *writer)
{
    uint64_t begin_ns = fb_clock_spent_ns();
    struct fb_beside_sum sum;
    bool grew = false;
    bool known = measure(memory, target, &sum, &grew);
    memory->walked_ns = fb_clock_now_ns();
    memory->spent_ns += fb_clock_spent_ns() - begin_ns;
    if (!known && !fb_mappings_named(target->pid, target->mapping))
        memory->seen_peak_bytes = 0; /* perhaps another image's */
    if (!known)
        return;
    memory->recorder_bytes = sum.recorder_bytes;
    fb_spool_memory_walked(memory, &sum.memory, grew, writer);
}

/* A new peak is worth a walk when the process has stopped growing, or has grown a lot: one that
 * grows is not walked at every step. One that grew during a walk is walked again when it rests: its
 * parts may be older than its whole. */
static bool is_due(const struct fb_spool_memory *memory, uint64_t now_ns, uint64_t held_bytes)
{
    if (memory->spent_ns > (now_ns - memory->begin_ns) / WALK_PART + WALK_GRACE_NS)
        return false;
    uint64_t known = memory->written_peak_bytes, peak = memory->seen_peak_bytes;
    if (memory->waits && memory->last.anonymous_bytes > known)
        known = memory->last.anonymous_bytes;
    bool is_new = peak > known + known / NEW_PEAK_PART + NEW_PEAK_BYTES;
    bool rests = held_bytes <= memory->held_bytes + STILL_BYTES;
    return !memory->walked || now_ns - memory->walked_ns >= WALK_LEAST_NS ||
           (memory->waits && rests) ||
           (is_new && (rests || held_bytes > known + known / MUCH_PART));
}

void fb_spool_memory_look(struct fb_spool_memory *memory, const struct fb_spool_target *target,
                          struct fb_recording_writer *writer)
{
    uint64_t now_ns = fb_clock_now_ns(), held_bytes = 0;
    if (memory->begin_ns == 0)
        memory->begin_ns = now_ns;
    if (now_ns - memory->looked_ns < LOOK_NS)
        return;
    memory->looked_ns = now_ns;
    if (!read_held(target, &held_bytes))
        return;
    held_bytes -= held_bytes < memory->recorder_bytes ? held_bytes : memory->recorder_bytes;
    if (held_bytes > memory->seen_peak_bytes)
        memory->seen_peak_bytes = held_bytes;
    bool due = is_due(memory, now_ns, held_bytes);
    memory->held_bytes = held_bytes;
    if (due)
        walk(memory, target, writer);
}

void fb_spool_memory_end(struct fb_spool_memory *memory, struct fb_recording_writer *writer)
{
    if (memory->waits || (memory->walked && memory->seen_peak_bytes > memory->written_peak_bytes))
        record(memory, writer);
}

void fb_spool_memory_deinit(struct fb_spool_memory *memory)
{
    fb_ranges_deinit(&memory->mapped);
    free(memory->stacks);
    memory->stacks = NULL;
    memory->stack_count = memory->stack_capacity = 0;
}
