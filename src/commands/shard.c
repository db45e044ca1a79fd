#include "commands/shard.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/sha256.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PLAN_CAP_BYTES ((size_t)1 << 28)

/* Digits only: strtoul() alone would take "+1", " 1" and "-1". Returns what follows, NULL at a
 * fault. */
static const char *read_number(const char *text, unsigned *out)
{
    char *end = NULL;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || errno != 0 || value < 1 || value > FB_SHARD_COUNT_MAX)
        return NULL;
    *out = (unsigned)value;
    return end;
}

int fb_shard_parse(const char *text, struct fb_shard_option *out, struct fb_error *err)
{
    struct fb_shard_option shard = {0};
    const char *rest = read_number(text, &shard.index);
    if (rest != NULL && *rest == '/')
        rest = read_number(rest + 1, &shard.count);
    else
        rest = NULL;
    if (rest == NULL || *rest != '\0')
        return fb_fail(err, FB_ERROR_INPUT,
                       "--shard \"%s\": write I/N, as in 1/4 to 4/4; N at most %u", text,
                       FB_SHARD_COUNT_MAX);
    if (shard.index > shard.count)
        return fb_fail(err, FB_ERROR_INPUT,
                       "--shard \"%s\": there are %u shards, counted from 1; write 1/%u to %u/%u",
                       text, shard.count, shard.count, shard.count, shard.count);
    *out = shard;
    return 0;
}

bool fb_shard_has(const struct fb_shard_option *shard, size_t cell)
{
    return cell % shard->count == shard->index - 1;
}

size_t fb_shard_size(const struct fb_shard_option *shard, size_t total)
{
    const struct fb_shard whole = {shard->index, shard->count, total, NULL};
    return (size_t)fb_shard_cells(&whole);
}

size_t fb_shard_place(const struct fb_shard_option *shard, size_t cell)
{
    return cell / shard->count;
}

void fb_shard_mark(const struct fb_shard_option *shard, struct fb_plan *plan, size_t contenders)
{
    for (size_t unit = 0; unit < plan->count; unit++) {
        bool here = false;
        for (size_t c = 0; c < contenders; c++)
            here = here || fb_shard_has(shard, unit * contenders + c);
        plan->units[unit].elsewhere = !here;
    }
}

/* Length first: no two lists of texts give the same bytes. */
static void add_text(struct fb_buf *out, const char *text)
{
    fb_buf_addf(out, "%zu:%s\n", strlen(text), text);
}

static void add_unit(struct fb_buf *out, const struct fb_plan_unit *unit)
{
    const struct fb_workload *workload = unit->workload;
    add_text(out, workload->name);
    add_text(out, workload->sha256);
    for (size_t i = 0; i < workload->param_count; i++) {
        add_text(out, workload->params[i].name);
        add_text(out, workload->params[i].value);
    }
    fb_buf_addf(out, "unit %" PRIu64 " %u %.17g\n", workload->seed, unit->seed_count, unit->scale);
}

static void add_options(struct fb_buf *out, const struct fb_run_options *options)
{
    fb_buf_addf(out, "layouts %u repeats %u clock %d order %d\n", options->layouts,
                options->repeats, (int)options->clock, (int)options->order);
    fb_buf_addf(out, "interval %" PRIu64 " timeout %" PRIu64 " limit %d %" PRIu64 "\n",
                options->interval_ns, options->timeout_ns, options->memory_limit_given,
                options->memory_limit_bytes);
    fb_buf_addf(out, "verify %d timing %d thp %s\n", options->verify, options->timing,
                options->thp);
}

void fb_shard_record(const struct fb_plan *plan, const struct fb_contenders *contenders,
                     const struct fb_run_options *options, struct fb_shard *out)
{
    struct fb_buf text;
    char hex[FB_SHA256_HEX];
    fb_buf_init(&text, PLAN_CAP_BYTES);
    add_options(&text, options);
    for (size_t unit = 0; unit < plan->count; unit++)
        add_unit(&text, &plan->units[unit]);
    for (size_t unit = 0; unit < plan->count; unit++) {
        for (size_t c = 0; c < contenders->count; c++) {
            char *id = fb_plan_cell_id(&plan->units[unit], contenders->items[c].label);
            add_text(&text, id);
            free(id);
        }
    }
    fb_sha256_memory(text.text, text.length, hex);
    fb_buf_deinit(&text);
    *out = (struct fb_shard){options->shard.index, options->shard.count,
                             plan->count * contenders->count, fb_strdup(hex)};
}
