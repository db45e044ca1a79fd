#include "result/merge.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_CAP_BYTES 65536U
#define RANGES_SHOWN 12U

static void add_range(struct fb_buf *out, unsigned first, unsigned last)
{
    fb_buf_addf(out, "%s%u", out->length > 0 ? ", " : "", first);
    if (last > first)
        fb_buf_addf(out, "%s%u", last > first + 1 ? " to " : ", ", last);
}

/* The gaps before each input and after the last one. */
char *fb_merge_missing(const struct fb_merge_input *inputs, size_t count)
{
    struct fb_buf text;
    unsigned ranges = 0, next = 1, all = inputs[0].result.shard.count;
    fb_buf_init(&text, TEXT_CAP_BYTES);
    for (size_t i = 0; i <= count; i++) {
        unsigned here = i < count ? inputs[i].result.shard.index : all + 1;
        if (here > next && ranges < RANGES_SHOWN)
            add_range(&text, next, here - 1);
        ranges += here > next;
        next = here + 1;
    }
    if (ranges > RANGES_SHOWN)
        fb_buf_adds(&text, " and more");
    char *missing = ranges > 0 ? fb_strdup(text.text) : NULL;
    fb_buf_deinit(&text);
    return missing;
}

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

/* Machines of one make and one kernel are one kind, whichever of them it was. */
static bool same_kind(const struct fb_host *a, const struct fb_host *b)
{
    return strcmp(or_empty(a->kernel), or_empty(b->kernel)) == 0 &&
           strcmp(or_empty(a->cpu), or_empty(b->cpu)) == 0;
}

void fb_merge_notes(const struct fb_merge_input *inputs, size_t count, struct fb_buf *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct fb_result *result = &inputs[i].result;
        const struct fb_host *first = &inputs[0].result.host;
        if (!same_kind(first, &result->host))
            fb_buf_addf(out,
                        "%s ran on %s, %s; %s on %s, %s: memory under the virtual clock depends on "
                        "neither, times do\n",
                        inputs[i].path, or_empty(result->host.kernel), or_empty(result->host.cpu),
                        inputs[0].path, or_empty(first->kernel), or_empty(first->cpu));
        if (result->finished == NULL || result->interrupted)
            fb_buf_addf(out, "%s did not come to its end: its missing cells are \"interrupted\"\n",
                        inputs[i].path);
    }
}

static char *copy(const char *text)
{
    return text != NULL ? fb_strdup(text) : NULL;
}

static struct fb_host copy_host(const struct fb_host *host)
{
    struct fb_host copied = *host;
    char **const texts[] = {&copied.kernel, &copied.libc, &copied.cpu,       &copied.machine,
                            &copied.boot,   &copied.thp,  &copied.overcommit};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = copy(*texts[i]);
    return copied;
}

/* ISO 8601 in one form and one zone sorts as text. */
static void keep_earlier(char **kept, const char *time)
{
    if (time == NULL || (*kept != NULL && strcmp(time, *kept) >= 0))
        return;
    free(*kept);
    *kept = fb_strdup(time);
}

static void keep_later(char **kept, const char *time)
{
    if (time == NULL || (*kept != NULL && strcmp(time, *kept) <= 0))
        return;
    free(*kept);
    *kept = fb_strdup(time);
}

static void take_part(struct fb_merge_input *input, struct fb_merged_run *part)
{
    struct fb_result *from = &input->result;
    *part = (struct fb_merged_run){
        .shard = from->shard.index,
        .folder = fb_strdup(input->path),
        .argv = from->argv,
        .argc = from->argc,
        .started = from->started,
        .finished = from->finished,
        .interrupted = from->interrupted || from->finished == NULL,
        .host = from->host,
    };
    from->argv = NULL;
    from->argc = 0;
    from->started = from->finished = NULL;
    from->host = (struct fb_host){0};
}

static void take_facts(struct fb_merge_input *inputs, size_t count, struct fb_result *out)
{
    const struct fb_result *first = &inputs[0].result;
    out->version = copy(first->version);
    out->host = copy_host(&first->host);
    out->shard = first->shard;
    out->shard.index = 0;
    out->shard.plan = copy(first->shard.plan);
    out->parts = fb_alloc(count, sizeof *out->parts);
    out->part_count = count;
    for (size_t i = 0; i < count; i++) {
        keep_earlier(&out->started, inputs[i].result.started);
        keep_later(&out->finished, inputs[i].result.finished);
        out->host.statm_exact = out->host.statm_exact && inputs[i].result.host.statm_exact;
        take_part(&inputs[i], &out->parts[i]);
        out->interrupted = out->interrupted || out->parts[i].interrupted;
    }
}

/* Shards took the cells in turn, so taking turns again gives the order of the whole. */
void fb_merge_take(struct fb_merge_input *inputs, size_t count, struct fb_result *out)
{
    size_t total = 0, most = 0;
    *out = (struct fb_result){0};
    take_facts(inputs, count, out);
    for (size_t i = 0; i < count; i++) {
        total += inputs[i].result.cell_count;
        most = inputs[i].result.cell_count > most ? inputs[i].result.cell_count : most;
    }
    out->cells = fb_alloc(total, sizeof *out->cells);
    for (size_t turn = 0; turn < most; turn++) {
        for (size_t i = 0; i < count; i++) {
            if (turn >= inputs[i].result.cell_count)
                continue;
            out->cells[out->cell_count] = inputs[i].result.cells[turn];
            out->cells[out->cell_count++].part = (unsigned)i;
        }
    }
    for (size_t i = 0; i < count; i++)
        inputs[i].result.cell_count = 0;
}
