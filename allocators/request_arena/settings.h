/* The options of request-arena, FRAGBENCH_REQUEST_ARENA_<NAME>, read once from the environment:
 *
 *   CHUNK   bytes of a chunk, made a power of two, 64 KiB … 1 GiB        256 KiB
 *   LARGE   larger objects go to the inner allocator; 1 KiB … CHUNK      64 KiB
 *   CAP     most bytes of the room for one request, 0 = any number       0
 *   ON_CAP  "spill" to the inner allocator, or "refuse"                  spill
 *   POOL    bytes of unused chunks whose pages stay, for all threads        64 MiB
 *   RANGE   address space that is set aside for all chunks               64 GiB
 *   DEBUG   find pointers that are used after their scope ended          0
 */
#ifndef ALLOCATORS_REQUEST_ARENA_SETTINGS_H
#define ALLOCATORS_REQUEST_ARENA_SETTINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct fra_settings {
    size_t chunk_bytes;
    unsigned chunk_shift; /* log2 of it */
    size_t large_bytes;
    size_t range_bytes;
    size_t pool_chunks; /* POOL by chunks */
    bool debug;
    /* these two may change while the program runs; a request reads them at its start */
    _Atomic size_t cap_bytes; /* SIZE_MAX = none */
    atomic_bool refuse;
};

extern struct fra_settings fra_settings;

/* Reads the environment into fra_settings. Not thread-safe: the opener serialises. */
void fra_settings_read(void);

#endif
