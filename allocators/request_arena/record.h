/* What requests took: a histogram of their peaks, over all threads. */
#ifndef ALLOCATORS_REQUEST_ARENA_RECORD_H
#define ALLOCATORS_REQUEST_ARENA_RECORD_H

#include <stddef.h>
#include <stdint.h>

/* Counts a request that ended. Any thread, no lock. */
void fra_record_request(size_t peak_bytes);
/* The upper bound of the range in which the request of rank ceil(share × requests) lies, at
 * most 12.5 % above its peak, and never above the largest peak seen; 0 without requests. share in
 * (0, 1]. */
uint64_t fra_record_quantile_bytes(double share);
uint64_t fra_record_largest_bytes(void);
uint64_t fra_record_requests(void);
/* Requests with a peak of at least bytes, which should be a power of two from 1 KiB: others count
 * from the range that they lie in. */
uint64_t fra_record_requests_from(uint64_t bytes);

#endif
