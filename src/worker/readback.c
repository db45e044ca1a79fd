/* Tunables read back from the allocator itself. No stdio: it allocates. */
#include "worker/owner.h"

#include "worker/foreign.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

struct text {
    char *at, *end; /* always room for the terminator at end */
};

static void put(struct text *out, const char *word)
{
    while (*word != '\0' && out->at < out->end)
        *out->at++ = *word++;
    *out->at = '\0';
}

static void put_number(struct text *out, uint64_t value, bool negative)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    if (negative)
        digits[--at] = '-';
    put(out, &digits[at]);
}

static bool is_text_option(const char *key)
{
    static const char *const keys[] = {"thp",  "dss",          "percpu_arena",    "metadata_thp",
                                       "junk", "zero_realloc", "stats_print_opts"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* mallctl answers EINVAL unless the size is the option's own, which so tells its type. */
static bool read_jemalloc(const char *key, struct text *out)
{
    char name[128] = "opt.";
    if (mallctl == NULL || strlen(key) > sizeof name - 5)
        return false;
    memcpy(name + 4, key, strlen(key) + 1);
    bool flag;
    unsigned count;
    int64_t wide;
    size_t size = sizeof flag;
    int answer = mallctl(name, &flag, &size, NULL, 0);
    if (answer == 0) {
        put(out, flag ? "true" : "false");
        return true;
    }
    if (answer == ENOENT) {
        put(out, "!missing");
        return true;
    }
    size = sizeof count;
    if (mallctl(name, &count, &size, NULL, 0) == 0) {
        put_number(out, count, false);
        return true;
    }
    size = sizeof wide;
    if (mallctl(name, &wide, &size, NULL, 0) != 0)
        return false;
    if (is_text_option(key))
        put(out, (const char *)(uintptr_t)wide);
    else
        put_number(out, wide < 0 ? (uint64_t)-wide : (uint64_t)wide, wide < 0);
    return true;
}

static bool read_tcmalloc(const char *key, struct text *out)
{
    static const struct {
        const char *key, *property;
    } rows[] = {
        {"max_total_thread_cache_bytes", "tcmalloc.max_total_thread_cache_bytes"},
        {"aggressive_decommit", "tcmalloc.aggressive_memory_decommit"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t value = 0;
        if (strcmp(key, rows[i].key) != 0 || MallocExtension_GetNumericProperty == NULL ||
            !MallocExtension_GetNumericProperty(rows[i].property, &value))
            continue;
        put_number(out, value, false);
        return true;
    }
    return false;
}

static bool read_one(enum fb_purge kind, const char *key, struct text *out)
{
    if (kind == FB_PURGE_JEMALLOC)
        return read_jemalloc(key, out);
    if (kind == FB_PURGE_TCMALLOC)
        return read_tcmalloc(key, out);
    return false;
}

void fb_owner_read_back(struct fb_shared *shared, enum fb_purge kind)
{
    struct text out = {shared->readback, shared->readback + FB_READBACK_MAX - 1};
    const char *from = shared->readback_keys;
    while (*from != '\0') {
        char key[96];
        size_t length = strcspn(from, "\n");
        size_t copied = length < sizeof key - 1 ? length : sizeof key - 1;
        memcpy(key, from, copied);
        key[copied] = '\0';
        from += length + (from[length] == '\n');
        char *begin = out.at;
        put(&out, key);
        put(&out, "=");
        if (read_one(kind, key, &out)) {
            put(&out, "\n");
        } else {
            out.at = begin; /* cannot be read: no line */
            *begin = '\0';
        }
    }
}
