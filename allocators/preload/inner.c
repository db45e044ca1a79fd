#include "preload/inner.h"

#include "preload/contract.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define BOOTSTRAP_ALIGN ((size_t)16)

typedef void any_function(void);

/* What a search finds: the table, and what its purge calls. */
struct finding {
    struct fba_inner inner;
    int (*mallctl)(const char *name, void *old, size_t *old_size, void *new, size_t new_size);
    void (*release_free_memory)(void);
    void (*mi_collect)(bool force);
    int (*malloc_trim)(size_t pad);
};

static struct {
    struct finding finding; /* written once, before `found` */
    _Atomic bool found;
    atomic_flag publishing;
    _Atomic size_t bootstrap_used;
} state = {.publishing = ATOMIC_FLAG_INIT};

_Alignas(64) unsigned char fba_bootstrap[FBA_BOOTSTRAP_BYTES];

static __thread bool searching;

static void purge_jemalloc(void)
{
    (void)state.finding.mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    (void)state.finding.mallctl("arena.4096.purge", NULL, NULL, NULL, 0); /* 4096 = all arenas */
}

static void purge_tcmalloc(void)
{
    state.finding.release_free_memory();
}

static void purge_mimalloc(void)
{
    state.finding.mi_collect(true);
}

static void purge_glibc(void)
{
    (void)state.finding.malloc_trim(0);
}

static void *object_of(any_function *function)
{
    Dl_info info;
    return dladdr((void *)(uintptr_t)function, &info) != 0 ? info.dli_fbase : NULL;
}

static any_function *next(const char *name)
{
    return (any_function *)(uintptr_t)dlsym(RTLD_NEXT, name);
}

static any_function *need(const char *name)
{
    any_function *found = next(name);
    if (found == NULL)
        fba_panic("the allocator behind this one lacks a function of the malloc family");
    return found;
}

/* A function of the very object that answers malloc: a program may hold a second allocator that
 * answers nothing, and malloc_trim is libc's, whoever allocates. */
static any_function *of_same_object(const char *name, any_function *malloc_found)
{
    any_function *found = next(name);
    if (found == NULL || object_of(found) != object_of(malloc_found))
        return NULL;
    return found;
}

static void find_purge(struct finding *finding)
{
    any_function *owner = (any_function *)finding->inner.malloc;
    any_function *found;
    if ((found = of_same_object("mallctl", owner)) != NULL) {
        finding->mallctl = (int (*)(const char *, void *, size_t *, void *, size_t))found;
        finding->inner.purge = purge_jemalloc;
    } else if ((found = of_same_object("MallocExtension_ReleaseFreeMemory", owner)) != NULL) {
        finding->release_free_memory = found;
        finding->inner.purge = purge_tcmalloc;
    } else if ((found = of_same_object("mi_collect", owner)) != NULL) {
        finding->mi_collect = (void (*)(bool))found;
        finding->inner.purge = purge_mimalloc;
    } else if ((found = of_same_object("malloc_trim", owner)) != NULL) {
        finding->malloc_trim = (int (*)(size_t))found;
        finding->inner.purge = purge_glibc;
    }
    /* By its own name: others have a malloc_trim as well. */
    finding->inner.is_glibc = of_same_object("gnu_get_libc_version", owner) != NULL;
}

static struct finding find(void)
{
    struct finding finding = {
        .inner.malloc = (void *(*)(size_t))need("malloc"),
        .inner.calloc = (void *(*)(size_t, size_t))need("calloc"),
        .inner.realloc = (void *(*)(void *, size_t))need("realloc"),
        .inner.free = (void (*)(void *))need("free"),
        .inner.posix_memalign = (int (*)(void **, size_t, size_t))need("posix_memalign"),
        .inner.malloc_usable_size = (size_t(*)(void *))need("malloc_usable_size"),
    };
    find_purge(&finding);
    (void)dlerror(); /* what is not there left an error text; it is not the program's */
    return finding;
}

static void publish(const struct finding *finding)
{
    if (!atomic_flag_test_and_set(&state.publishing)) {
        state.finding = *finding;
        atomic_store_explicit(&state.found, true, memory_order_release);
    }
    /* The other one is copying, and needs no lock for that. */
    while (!atomic_load_explicit(&state.found, memory_order_acquire))
        (void)sched_yield();
}

static __attribute__((noinline, cold)) const struct fba_inner *search(void)
{
    if (searching)
        return NULL;
    int saved = errno;
    searching = true;
    struct finding finding = find();
    publish(&finding);
    searching = false;
    errno = saved;
    return &state.finding.inner;
}

const struct fba_inner *fba_inner(void)
{
    if (__builtin_expect(atomic_load_explicit(&state.found, memory_order_acquire), true))
        return &state.finding.inner;
    return search();
}

/* A block is preceded by its size, right below its first byte. */
void *fba_bootstrap_allocate(size_t size, size_t align)
{
    if (align < BOOTSTRAP_ALIGN)
        align = BOOTSTRAP_ALIGN;
    uintptr_t base = (uintptr_t)fba_bootstrap;
    size_t used = atomic_load(&state.bootstrap_used), start, end;
    do {
        start = ((base + used + sizeof(size_t) + align - 1) & ~(align - 1)) - base;
        if (__builtin_add_overflow(start, size, &end) || end > FBA_BOOTSTRAP_BYTES)
            fba_panic("out of memory before the allocator behind this one was found");
    } while (!atomic_compare_exchange_weak(&state.bootstrap_used, &used, end));
    memcpy(fba_bootstrap + start - sizeof size, &size, sizeof size);
    return fba_bootstrap + start;
}

size_t fba_bootstrap_usable(const void *block)
{
    size_t size;
    memcpy(&size, (const unsigned char *)block - sizeof size, sizeof size);
    return size;
}
