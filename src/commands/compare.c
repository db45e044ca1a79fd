#include "metrics/compare.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "commands/commands.h"
#include "commands/compare_options.h"
#include "commands/comparing.h"
#include "commands/exit_code.h"
#include "commands/folder.h"
#include "commands/message.h"
#include "commands/progress.h"
#include "report/comparison.h"
#include "result/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_CAP_BYTES ((size_t)1 << 28)

struct work {
    struct fb_compare_request request;
    struct fb_result *results; /* one a source */
    struct fb_document_set *sets;
    struct fb_comparison comparison;
};

static int read_sets(struct work *work, struct fb_error *err)
{
    size_t count = work->request.source_count;
    work->results = fb_alloc(count, sizeof *work->results);
    work->sets = fb_alloc(count, sizeof *work->sets);
    for (size_t i = 0; i < count; i++) {
        const struct fb_compare_source *source = &work->request.sources[i];
        if (fb_store_read_result(source->folder, &work->results[i], err) != 0)
            return -1;
        work->sets[i] = (struct fb_document_set){source->label, source->folder, &work->results[i]};
    }
    return 0;
}

/* A base that is asked for by name must be there. */
static int check_base(const struct work *work, struct fb_error *err)
{
    const char *base = work->request.rules.pairing.base;
    const struct fb_result *result = &work->results[0];
    if (base == NULL)
        return 0;
    for (size_t i = 0; i < result->cell_count; i++)
        if (fb_matchup_is_base(&result->cells[i], base))
            return 0;
    return fb_fail(err, FB_ERROR_INPUT,
                   "--base \"%s\": no contender of that name in %s, and no cell of that VAR=VALUE; "
                   "its cells: `jq -r .cells[].id %s/result.json'",
                   base, work->request.sources[0].folder, work->request.sources[0].folder);
}

static void print_document(const struct work *work, const struct fb_document *document)
{
    const struct fb_compare_request *request = &work->request;
    const struct fb_export *other =
        fb_folder_stdout_export(request->exports, request->export_count);
    const struct fb_export *format = other != NULL ? other : request->format;
    struct fb_buf text;
    fb_buf_init(&text, TEXT_CAP_BYTES);
    if (strcmp(format->name, "text") == 0) {
        const struct fb_comparison_style style = {
            .color = fb_options_want_color(request->color),
            .width = fb_progress_terminal_width(STDOUT_FILENO),
            .all = request->all,
        };
        fb_comparison_render(document, &style, &text);
    } else {
        format->render(document, &text);
    }
    (void)fwrite(text.text, 1, text.length, stdout);
    fb_buf_deinit(&text);
}

/* Refused pairs are a matter of the command line: exit 2, though the rest was judged. */
static unsigned happened(const struct work *work, struct fb_error *err)
{
    const struct fb_findings *findings = &work->comparison.findings;
    unsigned bits =
        fb_exit_of_findings(findings) | (work->comparison.refused > 0 ? FB_HAPPENED_BAD_INPUT : 0);
    bool nothing = work->comparison.judged == 0;
    for (size_t i = 0; i < findings->count; i++) {
        const struct fb_finding *finding = &findings->items[i];
        nothing &= finding->cell == NULL || finding->base == NULL ||
                   finding->judgement == FB_JUDGED_SKIPPED;
    }
    if (nothing && work->comparison.unlike > 0)
        (void)fb_fail(err, FB_ERROR_NOTHING,
                      "nothing to compare: every cell of the base was measured under other "
                      "conditions; measure the base again, here");
    else if (nothing && work->comparison.refused == 0)
        (void)fb_fail(err, FB_ERROR_NOTHING,
                      "nothing to compare: no cell has figures on both sides; cells are paired by "
                      "workload, contender and varied parameters (--by says what may differ)");
    return bits;
}

static unsigned compare(struct work *work, struct fb_error *err)
{
    if (read_sets(work, err) != 0 || check_base(work, err) != 0)
        return 0;
    fb_comparing_judge(work->sets, work->request.source_count, &work->request.rules,
                       &work->comparison);
    const struct fb_document document = {work->sets, work->request.source_count, true,
                                         &work->comparison.findings};
    print_document(work, &document);
    if (work->comparison.refusals != NULL)
        fb_message_text(work->comparison.refusals);
    if (fb_folder_export(work->request.exports, work->request.export_count, &document, true, err) !=
        0)
        return happened(work, NULL);
    return happened(work, err);
}

static void work_deinit(struct work *work)
{
    fb_comparison_deinit(&work->comparison);
    for (size_t i = 0; work->results != NULL && i < work->request.source_count; i++)
        fb_result_deinit(&work->results[i]);
    free(work->results);
    free(work->sets);
    fb_compare_options_deinit(&work->request);
}

int cmd_compare(int argc, char **argv)
{
    struct work work = {0};
    struct fb_error err = {0};
    fb_compare_options_parse(argc, argv, &work.request);
    unsigned bits = compare(&work, &err);
    if (err.kind != FB_ERROR_NONE)
        fb_message_error(&err);
    bits |= fb_exit_of_error(&err);
    work_deinit(&work);
    return fb_exit_code(bits, 0);
}
