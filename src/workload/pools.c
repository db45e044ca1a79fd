/* Named pools of threads. */
#include "base/alloc.h"
#include "base/suggest.h"
#include "workload/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POOL_THREADS_MAX = 256, POOLS_THREADS_MAX = 1024 };

static void read_pool(struct fb_reader *reader, const struct fb_pair *pair, size_t index)
{
    struct fb_pool *pool = &reader->workload->pools[index];
    struct fb_value value = {.values = "a count of threads from 1 to 256"};
    uint64_t threads = 2; /* what is faulty counts as two, so that nothing more is said about it */
    reader->pool_notes[index].key = pair->key;
    (void)snprintf(pool->name, sizeof pool->name, "%.*s", FB_NAME_MAX - 1, pair->name);
    (void)snprintf(value.what, sizeof value.what, "pool \"%.40s\"", pair->name);
    if (fb_name_check(pair->key, pair->name, "pool") &&
        (strcmp(pair->name, "same") == 0 || strcmp(pair->name, "other") == 0))
        fb_node_fault(pair->key, "bad-name",
                      "pool name \"%s\" is a word that freed_by takes; choose another name",
                      pair->name);
    if (fb_value_inner(reader, &value, pair->value, &value))
        (void)fb_value_whole(&value, FB_UNIT_COUNT, 1, POOL_THREADS_MAX, &threads);
    pool->threads = (uint32_t)threads;
}

void fb_read_pools(struct fb_reader *reader, const struct fb_fields *top)
{
    struct fb_workload *workload = reader->workload;
    struct fb_value value;
    struct fb_pairs pairs;
    char total[32];
    uint64_t threads = 0;
    reader->pools_known = !fb_fields_has(top, "pools");
    if (!fb_fields_get(reader, top, "pools", &value))
        return;
    if (!fb_node_is_mapping(value.node)) {
        fb_value_wrong_type(&value);
        return;
    }
    reader->pools_known = true;
    fb_pairs_init(&pairs, value.node, "pools");
    workload->pools = fb_alloc(pairs.count, sizeof *workload->pools);
    workload->pool_count = pairs.count;
    reader->pool_notes = fb_alloc(pairs.count, sizeof *reader->pool_notes);
    for (size_t i = 0; i < pairs.count; i++) {
        read_pool(reader, &pairs.items[i], i);
        threads += workload->pools[i].threads;
    }
    if (threads > POOLS_THREADS_MAX)
        fb_node_fault(value.node, "too-large",
                      "the pools have %s threads together; 1,024 are the most",
                      fb_units_count(threads, total, sizeof total));
    fb_pairs_deinit(&pairs);
}

static void report_unknown(const struct fb_reader *reader, const struct fb_value *value,
                           const char *name, const char *const *words, size_t word_count)
{
    const struct fb_workload *workload = reader->workload;
    char advice[FB_TITLE_MAX];
    size_t count = 0;
    const char **known = fb_alloc(word_count + workload->pool_count, sizeof *known);
    for (size_t i = 0; i < word_count; i++)
        known[count++] = words[i];
    for (size_t i = 0; i < workload->pool_count; i++)
        known[count++] = workload->pools[i].name;
    if (workload->pool_count == 0 && fb_suggest(name, known, count) == NULL)
        (void)snprintf(advice, sizeof advice, "; declare it, such as \"pools: {%.40s: 8}\"", name);
    else
        (void)fb_advise(name, known, count, advice, sizeof advice);
    fb_node_fault(value->node, "unknown-pool", "%s names the unknown pool \"%.40s\"%s", value->what,
                  name, advice);
    free(known);
}

const struct fb_pool *fb_pool_find(struct fb_reader *reader, const struct fb_value *value,
                                   const char *const *words, size_t word_count)
{
    const char *name = fb_value_text(value);
    if (name == NULL)
        return NULL;
    for (size_t i = 0; i < reader->workload->pool_count; i++) {
        if (strcmp(reader->workload->pools[i].name, name) == 0) {
            reader->pool_notes[i].used = true;
            return &reader->workload->pools[i];
        }
    }
    if (reader->pools_known)
        report_unknown(reader, value, name, words, word_count);
    return NULL;
}

void fb_pools_check_unused(const struct fb_reader *reader)
{
    for (size_t i = 0; i < reader->workload->pool_count; i++)
        if (!reader->pool_notes[i].used)
            fb_node_fault(reader->pool_notes[i].key, "unused-pool",
                          "no phase runs on pool \"%s\" and no object is freed by it; use it or "
                          "remove it",
                          reader->workload->pools[i].name);
}
