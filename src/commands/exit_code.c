#include "commands/exit_code.h"

#include "base/buf.h"

#include <argp.h>
#include <string.h>

/* In order of precedence: the first row whose bit is set decides. A signal comes after bad
 * input and I/O trouble, which a person has to hear of even when they pressed Ctrl-C. */
static const struct exit_row {
    unsigned bit;
    int code;
    const char *shown;
    const char *help;
} rows[] = {
    {0, 0, "0", "done"},
    {FB_HAPPENED_BAD_INPUT, 2, "2",
     "bad command line or workload; results that cannot be compared"},
    {FB_HAPPENED_IO, 3, "3", "could not work (a file, memory, a process)"},
    {FB_HAPPENED_SIGNAL, 128, "128+n", "ended by signal n; what was measured is kept"},
    {FB_HAPPENED_NOTHING, 4, "4", "nothing to run or compare"},
    {FB_HAPPENED_INCOMPLETE, 5, "5",
     "incomplete: a cell crashed, timed out …, or a shard is missing"},
    {FB_HAPPENED_GATE, 1, "1", "a gate failed: over a limit, worse than the base, or missing"},
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

int fb_exit_code(unsigned happened, int signal)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if ((happened & rows[i].bit) != 0)
            return rows[i].bit == FB_HAPPENED_SIGNAL ? rows[i].code + signal : rows[i].code;
    }
    return 0;
}

unsigned fb_exit_of_error(const struct fb_error *err)
{
    static const unsigned bits[] = {
        [FB_ERROR_NONE] = 0,
        [FB_ERROR_INPUT] = FB_HAPPENED_BAD_INPUT,
        [FB_ERROR_IO] = FB_HAPPENED_IO,
        [FB_ERROR_NOTHING] = FB_HAPPENED_NOTHING,
    };
    return bits[err->kind];
}

/* A refusal that is allowed lets the run go on to its last checkpoint; one in a phase with
 * on_refusal: fail ends it before. */
static bool stopped_by_refusal(const struct fb_repetition *repetition)
{
    if (repetition->status != FB_STATUS_REFUSED)
        return false;
    for (size_t i = 0; i < repetition->checkpoint_count; i++) {
        if (strcmp(repetition->checkpoints[i].kind, "purged") == 0)
            return false;
    }
    return true;
}

static bool incomplete(const struct fb_cell *cell)
{
    if (!fb_status_done(cell->status) || !fb_status_done(cell->timing.status))
        return true;
    for (size_t i = 0; i < cell->repetition_count; i++) {
        if (stopped_by_refusal(&cell->repetitions[i]))
            return true;
    }
    return false;
}

unsigned fb_exit_of_result(const struct fb_result *result)
{
    unsigned happened = 0;
    size_t skipped = 0;
    for (size_t i = 0; i < result->cell_count; i++) {
        const struct fb_cell *cell = &result->cells[i];
        if (fb_status_skipped(cell->status))
            skipped++;
        else if (incomplete(cell))
            happened |= FB_HAPPENED_INCOMPLETE;
    }
    /* One job of many: the others may have something to run, so having nothing is no failure. */
    bool shard = result->shard.index > 0 && result->shard.count > 1;
    return skipped == result->cell_count && !shard ? happened | FB_HAPPENED_NOTHING : happened;
}

unsigned fb_exit_of_findings(const struct fb_findings *findings)
{
    unsigned happened = 0;
    for (size_t i = 0; i < findings->count; i++) {
        const struct fb_finding *finding = &findings->items[i];
        if (finding->gates)
            happened |=
                finding->judgement == FB_JUDGED_FAILED ? FB_HAPPENED_INCOMPLETE : FB_HAPPENED_GATE;
    }
    return happened;
}

char *fb_exit_help_filter(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text; /* argp frees only what differs from text */
    struct fb_buf buf;
    fb_buf_init(&buf, 8192);
    if (text != NULL)
        fb_buf_addf(&buf, "%s\n\n", text);
    fb_buf_adds(&buf, "Exit codes:\n");
    for (size_t i = 0; i < ROW_COUNT; i++)
        fb_buf_addf(&buf, "  %-6s %s\n", rows[i].shown, rows[i].help);
    return buf.text; /* argp frees it */
}
