/* What the parts of tensor-arena's front share: the settings, and when it is open.
 */
#ifndef ALLOCATORS_TENSOR_ARENA_ARENA_H
#define ALLOCATORS_TENSOR_ARENA_ARENA_H

#include "tensor_arena/region.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ta_arena {
    _Atomic bool ready;
    size_t large;            /* bytes from which a block lies in the large area */
    size_t direct;           /* bytes from which a block is a mapping of its own; SIZE_MAX = none */
    _Atomic uint64_t scopes; /* outermost ones that ended */
    _Atomic uint64_t scope_refused;
};

extern struct ta_arena ta_arena;

#endif
