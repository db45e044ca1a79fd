#include "budgeted/footprint.h"

#include "budgeted/blocks.h"
#include "budgeted/credit.h"
#include "preload/contract.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GRANT_SHARE 16 /* of the budget, at most, between two censuses */
#define STATM_BYTES 128

static struct {
    _Atomic bool on;
    _Atomic size_t censuses;
    _Atomic int64_t kept;    /* by the inner allocator, at the last census */
    _Atomic int64_t floor;   /* of that, after the last purge */
    _Atomic int64_t missing; /* bytes over the budget, at the last census */
} state;

/* Fields 2 and 3 of /proc/self/statm, in pages: resident, and the part of it that is file or shmem.
 */
static bool parse(const char *text, size_t pages[3])
{
    for (size_t field = 0; field < 3; field++) {
        if (*text < '0' || *text > '9')
            return false;
        for (pages[field] = 0; *text >= '0' && *text <= '9'; text++)
            pages[field] = 10 * pages[field] + (size_t)(*text - '0');
        text += *text == ' ';
    }
    return true;
}

/* Opened anew each time: programs close descriptors that they do not know, and use the number for
 * something else. Raw system calls: open and read of libc are cancellation points, malloc is none.
 */
static bool read_resident(size_t *bytes)
{
    char text[STATM_BYTES];
    size_t pages[3];
    int saved = errno;
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/statm", O_RDONLY | O_CLOEXEC, 0);
    long length = fd >= 0 ? syscall(SYS_read, fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        (void)syscall(SYS_close, fd);
    errno = saved;
    if (length <= 0)
        return false;
    text[length] = '\0';
    if (!parse(text, pages) || pages[1] < pages[2])
        return false;
    *bytes = (pages[1] - pages[2]) * (size_t)sysconf(_SC_PAGESIZE);
    return true;
}

bool fba_footprint_open(void)
{
    size_t resident;
    if (!read_resident(&resident))
        return false;
    atomic_store(&state.on, true);
    return true;
}

bool fba_footprint_is_on(void)
{
    return atomic_load_explicit(&state.on, memory_order_relaxed);
}

static void touch(void *block, size_t usable)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    volatile unsigned char *first = block, *last = first + usable - 1;
    for (volatile unsigned char *each = first; each < last; each += page)
        *each = *each; /* cppcheck-suppress selfAssignment ; a volatile write */
    *last = *last;     /* cppcheck-suppress selfAssignment */
}

void fba_footprint_admit(void *block, size_t usable)
{
    /* No room for the table: touched, it needs no entry. */
    if (usable < FBA_FOOTPRINT_LARGE || !fba_blocks_add(block, usable))
        touch(block, usable);
}

void fba_footprint_dismiss(void *block, size_t usable)
{
    if (usable >= FBA_FOOTPRINT_LARGE)
        fba_blocks_remove(block);
}

bool fba_footprint_census(void)
{
    size_t resident, budget = fba_credit_budget();
    struct fba_credit_census census = fba_credit_census_begin();
    int64_t room = census.known_room - (int64_t)census.pending; /* when no descriptor is left */
    if (read_resident(&resident)) {
        size_t known = resident + census.pending;
        /* After the resident ones it would be wrong: what is touched meanwhile must count twice,
         * not never. So a second look at them ends the count. */
        size_t untouched = fba_blocks_untouched(known < budget ? budget - known : 0);
        if (read_resident(&resident))
            known = resident + census.pending;
        room = (int64_t)budget - (int64_t)(known + untouched);
        atomic_store(&state.kept, (int64_t)(resident + untouched) - census.handed);
    }
    atomic_store(&state.missing, -room);
    fba_credit_census_end(room, budget / GRANT_SHARE);
    atomic_fetch_add(&state.censuses, 1);
    return room >= 0;
}

bool fba_footprint_purge_may_help(void)
{
    int64_t more = atomic_load(&state.kept) - atomic_load(&state.floor);
    return more > 0 && more >= atomic_load(&state.missing);
}

void fba_footprint_note_purged(void)
{
    atomic_store(&state.floor, atomic_load(&state.kept));
}

size_t fba_footprint_censuses(void)
{
    return atomic_load(&state.censuses);
}
