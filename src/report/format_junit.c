/* JUnit XML as Ant's junitreport task began it and Jenkins, GitLab and GitHub actions read it. */
#include "report/case.h"
#include "report/formats.h"
#include "report/group.h"
#include "report/plain.h"

#include <math.h>
#include <string.h>

static const struct fb_plain_escape xml[] = {
    {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&apos;"}, {'\0', ""},
};

static void add_attribute(struct fb_buf *out, const char *name, const char *text)
{
    fb_buf_addf(out, " %s=\"", name);
    fb_plain_add(out, text, FB_PLAIN_ONE_LINE, xml);
    fb_buf_adds(out, "\"");
}

static void add_text(struct fb_buf *out, const char *text)
{
    fb_plain_add(out, text, FB_PLAIN_KEEP_LINES, xml);
}

struct tally {
    size_t tests, failures, errors, skipped;
    double time_s;
};

/* Of one workload, or of all (NULL). A cell's time counts once, with its own case. */
static struct tally count(const struct fb_cases *cases, const char *workload)
{
    struct tally tally = {0};
    for (size_t i = 0; i < cases->count; i++) {
        const struct fb_case *item = &cases->items[i];
        const char *name = fb_text_or_empty(item->cell->workload.name);
        if (workload != NULL && strcmp(name, workload) != 0)
            continue;
        tally.tests++;
        tally.failures += item->outcome == FB_CASE_FAILURE;
        tally.errors += item->outcome == FB_CASE_ERROR;
        tally.skipped += item->outcome == FB_CASE_SKIPPED;
        tally.time_s += item->finding == NULL ? fb_cell_wall_s(item->cell) : 0;
    }
    return tally;
}

static void add_tally(struct fb_buf *out, const struct tally *tally)
{
    fb_buf_addf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"", tally->tests,
                tally->failures, tally->errors);
}

static void add_summary(struct fb_buf *out, const char *name, const struct fb_summary *summary)
{
    if (summary->n > 0)
        fb_buf_addf(out, "%s %.15g (%.15g to %.15g, n=%u)\n", name, summary->median, summary->min,
                    summary->max, summary->n);
}

/* The numbers, in base units. */
static void add_numbers(struct fb_buf *out, const struct fb_case *item)
{
    const struct fb_finding *finding = item->finding;
    if (finding == NULL && !fb_status_done(item->cell->status))
        return;
    fb_buf_adds(out, "      <system-out>");
    for (int i = 0; finding == NULL && i < FB_METRIC_COUNT; i++)
        add_summary(out, fb_metrics[i].name, &item->cell->summary[i]);
    if (finding != NULL) {
        add_text(out, item->message);
        fb_buf_adds(out, "\n");
        add_summary(out, "base", &finding->before);
        add_summary(out, finding->before.n > 0 ? "new" : "value", &finding->after);
        if (!isnan(finding->limit))
            fb_buf_addf(out, "limit %.15g\n", finding->limit);
        if (finding->metric < FB_METRIC_COUNT)
            fb_buf_addf(out, "unit %s\n", fb_metrics[finding->metric].unit);
    }
    fb_buf_adds(out, "</system-out>\n");
}

static void add_outcome(struct fb_buf *out, const struct fb_case *item)
{
    static const char *const tags[] = {
        [FB_CASE_SKIPPED] = "skipped", [FB_CASE_FAILURE] = "failure", [FB_CASE_ERROR] = "error"};
    if (item->outcome == FB_CASE_PASSED)
        return;
    fb_buf_addf(out, "      <%s", tags[item->outcome]);
    add_attribute(out, "message", item->message);
    if (item->outcome == FB_CASE_SKIPPED) { /* the Jenkins form has no more */
        fb_buf_adds(out, "/>\n");
        return;
    }
    add_attribute(out, "type", item->type);
    fb_buf_adds(out, ">");
    add_text(out, item->message);
    if (item->finding != NULL && item->finding->where != NULL) {
        fb_buf_adds(out, "\n");
        add_text(out, item->finding->where);
    }
    if (item->finding != NULL && item->finding->next != NULL) {
        fb_buf_adds(out, "\nnext: ");
        add_text(out, item->finding->next);
    }
    fb_buf_addf(out, "</%s>\n", tags[item->outcome]);
}

static void add_stderr(struct fb_buf *out, const struct fb_cell *cell)
{
    for (size_t i = 0; i < cell->repetition_count; i++) {
        const char *text = cell->repetitions[i].stderr_text;
        if (fb_status_done(cell->repetitions[i].status) || text == NULL || *text == '\0')
            continue;
        fb_buf_adds(out, "      <system-err>");
        add_text(out, text);
        fb_buf_adds(out, "</system-err>\n");
        return;
    }
}

static void add_case(struct fb_buf *out, const struct fb_case *item)
{
    fb_buf_adds(out, "    <testcase");
    add_attribute(out, "classname", fb_text_or_empty(item->cell->workload.name));
    add_attribute(out, "name", item->name);
    fb_buf_addf(out, " time=\"%.3f\">\n", item->finding == NULL ? fb_cell_wall_s(item->cell) : 0);
    add_outcome(out, item);
    add_numbers(out, item);
    if (item->outcome == FB_CASE_ERROR)
        add_stderr(out, item->cell);
    fb_buf_adds(out, "    </testcase>\n");
}

/* The first of its workload speaks for the suite. */
static bool is_first(const struct fb_cases *cases, size_t index)
{
    const char *name = fb_text_or_empty(cases->items[index].cell->workload.name);
    for (size_t i = 0; i < index; i++)
        if (strcmp(fb_text_or_empty(cases->items[i].cell->workload.name), name) == 0)
            return false;
    return true;
}

static void add_suite(struct fb_buf *out, const struct fb_cases *cases, size_t first,
                      const char *started)
{
    const char *workload = fb_text_or_empty(cases->items[first].cell->workload.name);
    struct tally tally = count(cases, workload);
    fb_buf_adds(out, "  <testsuite");
    add_attribute(out, "name", workload);
    add_tally(out, &tally);
    fb_buf_addf(out, " skipped=\"%zu\" time=\"%.3f\"", tally.skipped, tally.time_s);
    if (started != NULL && strlen(started) == 20) { /* the schema's form has no zone: cut "Z" */
        fb_buf_addf(out, " timestamp=\"%.19s\"", started);
    }
    fb_buf_adds(out, ">\n");
    for (size_t i = first; i < cases->count; i++)
        if (strcmp(fb_text_or_empty(cases->items[i].cell->workload.name), workload) == 0)
            add_case(out, &cases->items[i]);
    fb_buf_adds(out, "  </testsuite>\n");
}

void fb_format_junit(const struct fb_document *document, struct fb_buf *out)
{
    struct fb_cases cases;
    fb_cases_init(&cases, document);
    struct tally tally = count(&cases, NULL);
    fb_buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fragbench\"");
    add_tally(out, &tally);
    fb_buf_addf(out, " time=\"%.3f\">\n", tally.time_s);
    const struct fb_document_set *newest = &document->sets[document->set_count - 1];
    for (size_t i = 0; i < cases.count; i++)
        if (is_first(&cases, i))
            add_suite(out, &cases, i, newest->result->started);
    fb_buf_adds(out, "</testsuites>\n");
    fb_cases_deinit(&cases);
}
