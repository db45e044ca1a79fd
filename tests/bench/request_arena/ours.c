/* request-arena's side of the comparison with bumpalo; bumpalo.rs has the other, line by line the
 * same. */
#include "ours.h"

#include <fragbench/request_arena.h>

/* As Rust's asm!("", in(reg) p): the object escapes, and memory may have changed. */
static inline void use(void *object)
{
    __asm__ volatile("" : : "r"(object) : "memory");
}

void ours_fixed(size_t objects)
{
    struct fragbench_request_window *window = fragbench_request_arena_window();
    fragbench_scope_begin();
    for (size_t i = 0; i < objects; i++) {
        uint64_t *object = fragbench_request_arena_alloc(window, 4 * sizeof *object, 8);
        if (object == NULL)
            __builtin_trap();
        object[0] = object[1] = object[2] = object[3] = i;
        use(object);
    }
    fragbench_scope_end();
}

void ours_mixed(const size_t *sizes, size_t objects)
{
    struct fragbench_request_window *window = fragbench_request_arena_window();
    fragbench_scope_begin();
    for (size_t i = 0; i < objects; i++) {
        uint64_t *object = fragbench_request_arena_alloc(window, sizes[i], 8);
        if (object == NULL)
            __builtin_trap();
        object[0] = i;
        use(object);
    }
    fragbench_scope_end();
}

void ours_called(const size_t *sizes, size_t objects, size_t align)
{
    fragbench_scope_begin();
    for (size_t i = 0; i < objects; i++) {
        uint64_t *object = fragbench_scope_alloc(sizes[i], align);
        if (object == NULL)
            __builtin_trap();
        object[0] = i;
        use(object);
    }
    fragbench_scope_end();
}
