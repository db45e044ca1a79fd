/* Workflow commands that GitHub Actions turns into annotations, and its job summary. */
#include "report/case.h"
#include "report/formats.h"
#include "report/plain.h"

#include <stdlib.h>
#include <string.h>

/* GitHub refuses a larger step summary whole. */
#define SUMMARY_MAX_BYTES ((size_t)1 << 20)
#define CUT_NOTE "\n\nCut here: GitHub shows at most 1 MiB. The whole is in the result folder.\n"

/* As the runner undoes them; a line break is a %0A of ours, not of the text's. */
static const struct fb_plain_escape data[] = {{'%', "%25"}, {'\n', "%0A"}, {'\0', ""}};
static const struct fb_plain_escape property[] = {
    {'%', "%25"}, {'\n', "%0A"}, {':', "%3A"}, {',', "%2C"}, {'\0', ""}};

static void add_property(struct fb_buf *out, const char *name, const char *text)
{
    fb_buf_addf(out, "%s=", name);
    fb_plain_add(out, text, FB_PLAIN_ONE_LINE, property);
}

static void add_more(struct fb_buf *out, const char *lead, const char *text)
{
    if (text == NULL)
        return;
    fb_buf_addf(out, "%%0A%s", lead);
    fb_plain_add(out, text, FB_PLAIN_ONE_LINE, data);
}

static void add_annotation(struct fb_buf *out, const struct fb_case *item, const char *command)
{
    const char *file = fb_case_file(item);
    unsigned line = fb_case_line(item);
    fb_buf_addf(out, "::%s ", command);
    if (*file != '\0') {
        add_property(out, "file", file);
        fb_buf_addf(out, ",line=%u,", line > 0 ? line : 1);
    }
    fb_buf_adds(out, "title=fragbench%3A ");
    fb_plain_add(out, item->type, FB_PLAIN_ONE_LINE, property);
    fb_buf_adds(out, "::");
    fb_plain_add(out, item->message, FB_PLAIN_ONE_LINE, data);
    if (item->finding != NULL) {
        add_more(out, "", item->finding->where);
        add_more(out, "next: ", item->finding->next);
    }
    fb_buf_adds(out, "\n");
}

/* GitHub shows the first ten of a kind a step: what fails the job comes first. */
void fb_format_github(const struct fb_document *document, struct fb_buf *out)
{
    static const struct {
        enum fb_case_level level;
        const char *command;
    } levels[] = {
        {FB_CASE_LOUD, "error"}, {FB_CASE_WARNING, "warning"}, {FB_CASE_NOTICE, "notice"}};
    struct fb_cases cases;
    fb_cases_init(&cases, document);
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        for (size_t j = 0; j < cases.count; j++)
            if (cases.items[j].level == levels[i].level)
                add_annotation(out, &cases.items[j], levels[i].command);
    fb_cases_deinit(&cases);
}

void fb_format_github_summary(const struct fb_document *document, struct fb_buf *out)
{
    struct fb_buf whole;
    fb_buf_init(&whole, out->cap);
    fb_format_markdown(document, &whole);
    size_t fits = SUMMARY_MAX_BYTES - sizeof CUT_NOTE;
    if (whole.length <= SUMMARY_MAX_BYTES) {
        fb_buf_add(out, whole.text, whole.length);
    } else {
        while (fits > 0 && whole.text[fits - 1] != '\n')
            fits--;
        fb_buf_add(out, whole.text, fits);
        fb_buf_adds(out, CUT_NOTE);
    }
    fb_buf_deinit(&whole);
}
