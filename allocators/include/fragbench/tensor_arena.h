/* tensor-arena: malloc for inference services, and memory for one forward pass at a time.
 *
 * With libfragbench-tensor-arena.so linked or preloaded, malloc and its family are tensor-arena's.
 * These functions are for programs that know more: which tensors belong to one pass, and when
 * memory should go back. Scopes are fragbench/scope.h's, counters fragbench/stats.h's, and
 * fragbench/purge.h's call gives memory back at once.
 *
 *     fragbench_scope_begin();
 *     float *scores = fragbench_tensor_alloc(heads * length, sizeof *scores);
 *     …
 *     fragbench_scope_end();    all of the pass at once
 *
 * All functions may be called on any thread; none throws or prints.
 */
#ifndef FRAGBENCH_TENSOR_ARENA_H
#define FRAGBENCH_TENSOR_ARENA_H

#include "fragbench/purge.h"
#include "fragbench/scope.h"
#include "fragbench/stats.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* count elements of size bytes in the calling thread's innermost scope, 64-byte aligned, not
 * zeroed. NULL with errno ENOMEM when count × size overflows or memory is refused; nothing has
 * changed then. Without an open scope it is as malloc's, to be freed. */
void *fragbench_tensor_alloc(size_t count, size_t size);

/* One arena of fixed capacity for several threads: fork-join passes over one set of activations. */
struct fragbench_ring;

/* capacity bytes at most, taken as they are used. NULL with errno ENOMEM. */
struct fragbench_ring *fragbench_ring_open(size_t capacity);
/* As fragbench_tensor_alloc, by any number of threads at once and without a lock. A request that
 * does not fit leaves the ring as it was: a smaller one may still fit. */
void *fragbench_ring_alloc(struct fragbench_ring *ring, size_t count, size_t size);
/* All memory at once, in O(1). No thread may use or take memory of the ring meanwhile. */
void fragbench_ring_reset(struct fragbench_ring *ring);
/* Bytes handed out since the last reset, and the most that ever were: how large it need be. */
size_t fragbench_ring_used(const struct fragbench_ring *ring);
size_t fragbench_ring_peak(const struct fragbench_ring *ring);
/* NULL is allowed. */
void fragbench_ring_close(struct fragbench_ring *ring);

#ifdef __cplusplus
}
#endif

#endif
