/* The scope contract: how a program tells an allocator which allocations live and die together.
 *
 * An allocator that knows scopes exports these three functions next to malloc; fragbench's
 * worker (and any program) finds them as weak symbols. Scopes belong to the calling thread and
 * nest. Memory of a scope is only ever asked for by fragbench_scope_alloc(), so nothing
 * longer-lived can dangle after the reset: plain malloc is never drawn into the room.
 *
 * Allocators without scopes see the same program: the same sizes by malloc, freed one by one, in
 * the order they were made, at the scope's end.
 */
#ifndef FRAGBENCH_SCOPE_H
#define FRAGBENCH_SCOPE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a scope inside the calling thread's innermost one. */
void fragbench_scope_begin(void);
/* Memory of the innermost open scope: size bytes, aligned to align (a power of two, at least 1;
 * 0 = 16). NULL with errno ENOMEM when refused. Without an open scope: as malloc. It must not be
 * used after the scope's end; passing it to free() earlier is allowed and gives nothing back. */
void *fragbench_scope_alloc(size_t size, size_t align);
/* Ends the innermost scope: all its memory at once. */
void fragbench_scope_end(void);

#ifdef __cplusplus
}
#endif

#endif
