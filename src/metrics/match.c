#include "metrics/match.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_CAP 65536U
#define HASH_CHARS 12 /* of a hash that is shown */
#define BIT FB_MATCH_BIT

const struct fb_match_info fb_matches[FB_MATCH_COUNT] = {
    [FB_MATCH_WORKLOAD] = {"workload",
                           BIT(FB_MATCH_PARAMS) | BIT(FB_MATCH_SEED) | BIT(FB_MATCH_TRACE), true,
                           "the workload's name"},
    [FB_MATCH_PARAMS] = {"params", BIT(FB_MATCH_TRACE), true, "its parameters"},
    [FB_MATCH_SCALE] = {"scale", BIT(FB_MATCH_TRACE), false, "--scale"},
    [FB_MATCH_SEED] = {"seed", BIT(FB_MATCH_TRACE), false, "the seeds"},
    [FB_MATCH_TRACE] = {"trace", 0, false,
                        "the trace that was replayed, as a hash (recordings: their name is all)"},
    [FB_MATCH_ALLOCATOR] = {"allocator",
                            BIT(FB_MATCH_TUNABLES) | BIT(FB_MATCH_VERSION) | BIT(FB_MATCH_SHA256),
                            true,
                            "the contender: its name, and with it all that is the allocator's"},
    [FB_MATCH_TUNABLES] = {"tunables", 0, true, "the allocator's tunables"},
    [FB_MATCH_VERSION] = {"version", BIT(FB_MATCH_SHA256), false, "its version"},
    [FB_MATCH_SHA256] = {"sha256", 0, false, "its library, as a hash"},
    [FB_MATCH_LIBC] = {"libc", 0, false, "the C library"},
    [FB_MATCH_MACHINE] = {"machine", 0, false, "the machine's architecture"},
    [FB_MATCH_PAGE_SIZE] = {"page-size", 0, false, "the size of a page"},
    [FB_MATCH_THP] = {"thp", 0, false, "transparent huge pages"},
    [FB_MATCH_CPUS] = {"cpus", 0, false, "the CPUs that allocators see: arenas follow them"},
    [FB_MATCH_CLOCK] = {"clock", 0, false, "virtual or real"},
    [FB_MATCH_ORDER] = {"order", 0, false, "lockstep or free"},
    [FB_MATCH_LAYOUTS] = {"layouts", 0, false, "the set of address layouts"},
};

enum fb_match fb_match_find(const char *name)
{
    size_t field = 0;
    while (field < FB_MATCH_COUNT && strcmp(fb_matches[field].name, name) != 0)
        field++;
    return (enum fb_match)field;
}

unsigned fb_match_heads(unsigned fields)
{
    unsigned heads = fields;
    for (size_t i = 0; i < FB_MATCH_COUNT; i++)
        if ((fields & BIT(i)) != 0)
            heads &= ~(fb_match_closure(BIT(i)) & ~BIT(i));
    return heads;
}

unsigned fb_match_closure(unsigned fields)
{
    for (size_t pass = 0; pass < 2; pass++) /* two steps reach the end of the longest chain */
        for (size_t field = 0; field < FB_MATCH_COUNT; field++)
            fields |= (fields & BIT(field)) != 0 ? fb_matches[field].implies : 0;
    return fields;
}

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

/* "budgeted:budget=1GiB+jemalloc" → "budgeted+jemalloc". */
static char *without_tunables(const struct fb_cell *cell)
{
    const char *label = or_empty(cell->allocator.name);
    if (cell->allocator.tunable_count == 0)
        return fb_strdup(label);
    size_t head = strcspn(label, ":");
    const char *inner = strrchr(label + head, '+');
    return fb_format("%.*s%s", (int)head, label, inner == NULL ? "" : inner);
}

static void add_pairs(struct fb_buf *out, const struct fb_name_value *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fb_buf_addf(out, "%s%s=%s", i > 0 ? ", " : "", or_empty(pairs[i].name),
                    or_empty(pairs[i].value));
}

/* A value seen in an earlier repetition is not said again. */
static bool seen_before(const struct fb_cell *cell, size_t index, bool layouts)
{
    const struct fb_repetition *own = &cell->repetitions[index];
    for (size_t i = 0; i < index; i++) {
        const struct fb_repetition *other = &cell->repetitions[i];
        if (layouts ? other->layout == own->layout : other->seed == own->seed)
            return true;
    }
    return false;
}

static void add_seeds(struct fb_buf *out, const struct fb_cell *cell)
{
    if (cell->repetition_count == 0)
        fb_buf_addf(out, "%llu", (unsigned long long)cell->workload.seed);
    for (size_t i = 0; i < cell->repetition_count; i++)
        if (!seen_before(cell, i, false))
            fb_buf_addf(out, "%s%llu", i > 0 ? ", " : "",
                        (unsigned long long)cell->repetitions[i].seed);
}

static void add_layouts(struct fb_buf *out, const struct fb_cell *cell)
{
    fb_buf_adds(out, or_empty(cell->layout));
    for (size_t i = 0; i < cell->repetition_count; i++)
        if (!seen_before(cell, i, true))
            fb_buf_addf(out, "%s%u", i > 0 ? ", " : " ", cell->repetitions[i].layout);
}

static void add_hash(struct fb_buf *out, const char *hash)
{
    fb_buf_addf(out, "%.*s", HASH_CHARS, or_empty(hash));
}

/* A system set to "always" is brought down to "madvise" for a worker (the cell's own value says
 * where it could not be), so of the host only "never" matters. */
static void add_thp(struct fb_buf *out, const struct fb_host *host, const struct fb_cell *cell)
{
    bool never = strcmp(or_empty(host->thp), "never") == 0;
    fb_buf_addf(out, "%s%s", or_empty(cell->thp), never ? ", off in the system" : "");
}

static bool same_trace(const struct fb_cell *a, const struct fb_cell *b)
{
    return strcmp(or_empty(a->workload.trace_sha256), or_empty(b->workload.trace_sha256)) == 0;
}

bool fb_match_data_may_differ(const struct fb_cell *a, const struct fb_cell *b)
{
    bool executed = fb_cell_is_program(a) || fb_cell_is_program(b);
    return executed || (fb_cell_is_recording(a) && fb_cell_is_recording(b) && !same_trace(a, b));
}

/* Two recordings of one program are two traces, and the change of the program is what they are made
 * to show: they are the same by their name. */
static void add_trace(struct fb_buf *out, const struct fb_cell *cell)
{
    if (fb_cell_is_recording(cell))
        fb_buf_adds(out, "a recording");
    else
        add_hash(out, cell->workload.trace_sha256);
}

/* Whether the library came with fragbench: then it is a part of fragbench's build, which is shown
 * and not refused. One that is named by its path is a contender like any other. */
static bool is_of_fragbench(const struct fb_cell *cell)
{
    const char *path = or_empty(cell->allocator.path), *slash = strrchr(path, '/');
    const char *own = "libfragbench-";
    return or_empty(cell->allocator.backend)[0] != '\0' &&
           strncmp(slash == NULL ? path : slash + 1, own, strlen(own)) == 0;
}

static void add_library_field(enum fb_match field, const struct fb_cell *cell, struct fb_buf *out)
{
    if (is_of_fragbench(cell))
        fb_buf_adds(out, "fragbench's own");
    else if (field == FB_MATCH_VERSION)
        fb_buf_adds(out, or_empty(cell->allocator.version));
    else
        add_hash(out, cell->allocator.sha256);
}

static void add_workload_field(enum fb_match field, const struct fb_cell *cell, struct fb_buf *out)
{
    if (field == FB_MATCH_WORKLOAD)
        fb_buf_adds(out, or_empty(cell->workload.name));
    else if (field == FB_MATCH_PARAMS)
        add_pairs(out, cell->workload.params, cell->workload.param_count);
    else if (field == FB_MATCH_SCALE)
        fb_buf_addf(out, "%.15g", cell->workload.scale);
    else if (field == FB_MATCH_SEED)
        add_seeds(out, cell);
    else
        add_trace(out, cell);
}

/* Tunables are part of the name that is shown; here they are a field of their own. */
static void add_contender(struct fb_buf *out, const struct fb_cell *cell)
{
    char *plain = without_tunables(cell);
    fb_buf_adds(out, plain);
    free(plain);
}

static void add_field(enum fb_match field, const struct fb_host *host, const struct fb_cell *cell,
                      struct fb_buf *out)
{
    switch (field) {
    case FB_MATCH_ALLOCATOR:
        add_contender(out, cell);
        break;
    case FB_MATCH_TUNABLES:
        add_pairs(out, cell->allocator.tunables, cell->allocator.tunable_count);
        break;
    case FB_MATCH_VERSION:
    case FB_MATCH_SHA256:
        add_library_field(field, cell, out);
        break;
    case FB_MATCH_LIBC:
        fb_buf_adds(out, or_empty(host->libc));
        break;
    case FB_MATCH_MACHINE:
        fb_buf_adds(out, or_empty(host->machine));
        break;
    case FB_MATCH_PAGE_SIZE:
        fb_buf_addf(out, "%llu", (unsigned long long)host->page_bytes);
        break;
    case FB_MATCH_THP:
        add_thp(out, host, cell);
        break;
    case FB_MATCH_CPUS:
        fb_buf_addf(out, "%u online, %u allowed", host->cpus_online, host->cpus_allowed);
        break;
    case FB_MATCH_CLOCK:
        fb_buf_adds(out, or_empty(cell->clock));
        break;
    case FB_MATCH_ORDER:
        fb_buf_adds(out, or_empty(cell->order));
        break;
    case FB_MATCH_LAYOUTS:
        add_layouts(out, cell);
        break;
    default:
        add_workload_field(field, cell, out);
    }
}

char *fb_match_text(enum fb_match field, const struct fb_host *host, const struct fb_cell *cell)
{
    struct fb_buf out;
    fb_buf_init(&out, TEXT_CAP);
    add_field(field, host, cell, &out);
    char *text = fb_strdup(out.length > 0 ? out.text : "none");
    fb_buf_deinit(&out);
    return text;
}

unsigned fb_match_differences(const struct fb_host *host_a, const struct fb_cell *a,
                              const struct fb_host *host_b, const struct fb_cell *b)
{
    unsigned fields = 0;
    for (size_t i = 0; i < FB_MATCH_COUNT; i++) {
        enum fb_match field = (enum fb_match)i;
        char *text_a = fb_match_text(field, host_a, a), *text_b = fb_match_text(field, host_b, b);
        fields |= strcmp(text_a, text_b) != 0 ? BIT(field) : 0;
        free(text_a);
        free(text_b);
    }
    return fields;
}

const char *fb_match_varied(const struct fb_cell *cell)
{
    size_t skip = strlen(or_empty(cell->workload.name)) + 1;
    const char *id = or_empty(cell->id);
    skip += strlen(or_empty(cell->allocator.name));
    if (strlen(id) <= skip || id[skip] != '/')
        return "";
    return id + skip + 1;
}

char *fb_match_identity(const struct fb_cell *cell, unsigned by)
{
    const char *workload = (by & BIT(FB_MATCH_WORKLOAD)) != 0 ? "" : or_empty(cell->workload.name);
    const char *varied = (by & BIT(FB_MATCH_PARAMS)) != 0 ? "" : fb_match_varied(cell);
    char *plain = without_tunables(cell);
    const char *contender =
        (by & BIT(FB_MATCH_TUNABLES)) != 0 ? plain : or_empty(cell->allocator.name);
    if ((by & BIT(FB_MATCH_ALLOCATOR)) != 0)
        contender = "";
    char *identity = fb_format("%s\n%s\n%s", workload, contender, varied);
    free(plain);
    return identity;
}
