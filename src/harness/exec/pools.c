#include "harness/exec/pools.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *prefix; /* of the object's file name */
    const char *off;    /* NAME=VALUE that switches the pool off, or NULL */
    const char *sentence;
} pools[] = {
    {"python3", "PYTHONMALLOC=malloc",
     "Python keeps objects of up to 512 bytes in pools of its own (pymalloc), which come from mmap "
     "and not from malloc; PYTHONMALLOC=malloc sends them through the allocator"},
    {"libpython3", "PYTHONMALLOC=malloc",
     "Python keeps objects of up to 512 bytes in pools of its own (pymalloc), which come from mmap "
     "and not from malloc; PYTHONMALLOC=malloc sends them through the allocator"},
    {"node", NULL,
     "Node's JavaScript heap is V8's own; only native code and buffers pass malloc "
     "(--max-old-space-size is the heap's limit)"},
    {"libjvm.so", NULL,
     "the Java heap is mapped by the JVM itself (-Xmx); only native memory passes malloc"},
    {"php", "USE_ZEND_ALLOC=0",
     "PHP has a memory manager of its own; USE_ZEND_ALLOC=0 sends it through the allocator"},
    {"libonnxruntime.so", NULL,
     "onnxruntime keeps tensors in an arena of its own, unless the session's options say "
     "enable_cpu_mem_arena=False (enableCpuMemArena: false in node): then they go through the "
     "allocator"},
    {"libmonosgen", NULL, "Mono's managed heap is its own; only native memory passes malloc"},
    {"libcoreclr.so", NULL, "the .NET heap is its own; only native memory passes malloc"},
    {"beam.smp", NULL,
     "the Erlang VM has allocators of its own over mmap; +Mea min sends most of it through malloc"},
};

static bool is_set(char *const *environment, const char *setting)
{
    for (; environment != NULL && *environment != NULL; environment++)
        if (strcmp(*environment, setting) == 0)
            return true;
    return false;
}

const char *fb_pool_note(const char *file_name, char *const *environment)
{
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++) {
        if (strncmp(file_name, pools[i].prefix, strlen(pools[i].prefix)) != 0)
            continue;
        bool off = pools[i].off != NULL && is_set(environment, pools[i].off);
        return off ? NULL : pools[i].sentence;
    }
    return NULL;
}
