/* What requests took: a histogram of their peaks. Each room keeps its own, so that the end of a
 * request needs no atomic addition; who asks gets the sum over all rooms. */
#ifndef ALLOCATORS_REQUEST_ARENA_RECORD_H
#define ALLOCATORS_REQUEST_ARENA_RECORD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define FRA_RECORD_FIRST_SHIFT 10 /* ranges begin at 1 KiB, with one below … */
#define FRA_RECORD_LAST_SHIFT 40  /* … and end at 1 TiB, with one above */
#define FRA_RECORD_STEP_SHIFT 3   /* eight to an octave */
#define FRA_RECORD_OCTAVES (FRA_RECORD_LAST_SHIFT - FRA_RECORD_FIRST_SHIFT)
#define FRA_RECORD_RANGES ((FRA_RECORD_OCTAVES << FRA_RECORD_STEP_SHIFT) + 2)

/* Written by one thread, read by any. */
struct fra_record {
    _Atomic uint64_t requests[FRA_RECORD_RANGES];
    _Atomic uint64_t largest_bytes;
};

/* Counts a request that ended. */
void fra_record_request(struct fra_record *record, size_t peak_bytes);
/* Adds one to sum, which is nobody else's. */
void fra_record_add(struct fra_record *sum, const struct fra_record *one);
/* The upper bound of the range in which the request of rank ceil(share × requests) lies: at most
 * 12.5 % above its peak from 1 KiB on, and never above the largest peak; 0 without requests. share
 * in (0, 1]. */
uint64_t fra_record_quantile_bytes(const struct fra_record *record, double share);
/* Requests with a peak of at least bytes, which is 0 or a power of two from 1 KiB to 1 TiB. */
uint64_t fra_record_requests_from(const struct fra_record *record, uint64_t bytes);

#endif
