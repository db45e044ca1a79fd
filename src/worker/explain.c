#include "worker/explain.h"

#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* struct pthread of glibc begins where pthread_self() points and has 2,304 bytes in 2.36. */
enum { THREAD_BLOCK_BYTES = 2304 };

struct gathering {
    struct fb_shared *shared;
    uintptr_t tls_low; /* the lowest static TLS block of this thread */
};

static void add_range(struct fb_shared *shared, uint64_t start, uint64_t end, bool is_allocator)
{
    if (shared->data_range_count == FB_DATA_RANGES_MAX)
        return; /* what is left out counts as the allocator's: never the other way round */
    shared->data_ranges[shared->data_range_count++] =
        (struct fb_data_range){start, end, is_allocator, 0};
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool contains(const struct dl_phdr_info *object, uintptr_t address)
{
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && address >= start && address - start < header->p_memsz)
            return true;
    }
    return false;
}

/* The program (which has no name), the loader, libc and the clock library. */
static bool is_ours(const struct dl_phdr_info *object)
{
    return object->dlpi_name == NULL || object->dlpi_name[0] == '\0' ||
           object->dlpi_addr == getauxval(AT_BASE) ||
           contains(object, (uintptr_t)dl_iterate_phdr) ||
           ends_with(object->dlpi_name, "/libfragbench-clock.so");
}

static int gather(struct dl_phdr_info *object, size_t size, void *user)
{
    struct gathering *gathering = user;
    bool ours = is_ours(object);
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        uint64_t start = object->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && (header->p_flags & PF_W) != 0)
            add_range(gathering->shared, start, start + header->p_memsz, !ours);
    }
    uintptr_t tls =
        size > offsetof(struct dl_phdr_info, dlpi_tls_data) ? (uintptr_t)object->dlpi_tls_data : 0;
    if (tls != 0 && tls < gathering->tls_low)
        gathering->tls_low = tls;
    return 0;
}

void fb_explain_data_ranges(struct fb_shared *shared)
{
    struct gathering gathering = {shared, UINTPTR_MAX};
    (void)dl_iterate_phdr(gather, &gathering);
    uintptr_t self = (uintptr_t)pthread_self();
    uintptr_t low = gathering.tls_low < self ? gathering.tls_low : self;
    add_range(shared, low, self + THREAD_BLOCK_BYTES, false);
}
