#include "commands/report_parts.h"

#include "base/alloc.h"
#include "commands/comparing.h"
#include "metrics/limits.h"
#include "report/comparison.h"
#include "result/store.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COMPARED_CAP_BYTES ((size_t)1 << 24)

static bool is_path(const char *text)
{
    struct stat status;
    return stat(text, &status) == 0;
}

/* "base=results/a" → label and path; a path that holds '=' and is there is a path. Two are a base and
 * the new one, as `compare` calls them; of more, each has its number. */
static void split(const char *argument, size_t index, size_t count, char **label, const char **path)
{
    const char *equals = strchr(argument, '=');
    *path = argument;
    if (equals != NULL && equals != argument && !is_path(argument)) {
        *label = fb_format("%.*s", (int)(equals - argument), argument);
        *path = equals + 1;
        return;
    }
    if (count > 2)
        *label = fb_format("%zu", index + 1);
    else
        *label = fb_strdup(count == 1 ? "" : index == 0 ? "base" : "new");
}

/* The folder of a result or of a file, with a slash at the end. New string. */
static char *folder_of(const char *path)
{
    char *folder = fb_store_folder_of(path);
    char *with_slash = fb_format("%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/");
    free(folder);
    return with_slash;
}

static bool knows(const struct fb_report_parts *parts, const char *name)
{
    for (size_t i = 0; i < parts->workload_count; i++)
        if (strcmp(parts->workloads[i].name, name) == 0)
            return true;
    return false;
}

static void read_workloads(struct fb_report_parts *parts, size_t set)
{
    const struct fb_result *result = &parts->results[set];
    for (size_t i = 0; i < result->cell_count; i++) {
        const char *name = result->cells[i].workload.name;
        if (name == NULL || knows(parts, name))
            continue;
        parts->workloads =
            fb_realloc(parts->workloads, parts->workload_count + 1, sizeof *parts->workloads);
        parts->workloads[parts->workload_count++] =
            (struct fb_html_workload){name, fb_store_read_workload(parts->folders[set], name)};
    }
}

int fb_report_parts_read(struct fb_report_parts *parts, const char *const *results, size_t count,
                         struct fb_error *err)
{
    *parts = (struct fb_report_parts){
        .sets = fb_alloc(count, sizeof *parts->sets),
        .results = fb_alloc(count, sizeof *parts->results),
        .labels = fb_alloc(count, sizeof *parts->labels),
        .folders = fb_alloc(count, sizeof *parts->folders),
        .links = fb_alloc(count, sizeof *parts->links),
    };
    fb_buf_init(&parts->compared, COMPARED_CAP_BYTES);
    for (size_t i = 0; i < count; i++) {
        const char *path;
        split(results[i], i, count, &parts->labels[i], &path);
        parts->folders[i] = folder_of(path);
        parts->count = i + 1;
        if (fb_store_read_result(path, &parts->results[i], err) != 0)
            return -1;
        parts->sets[i] =
            (struct fb_document_set){parts->labels[i], parts->folders[i], &parts->results[i]};
        read_workloads(parts, i);
    }
    parts->document = (struct fb_document){parts->sets, count, false, &parts->findings};
    parts->extra.workloads = parts->workloads;
    parts->extra.workload_count = parts->workload_count;
    return 0;
}

static void compare(struct fb_report_parts *parts)
{
    static const struct fb_comparison_style plain = {0};
    struct fb_compare_options rules = {.fail_on = FB_COMPARE_FAIL_ON};
    fb_tolerances_init(&rules.tolerances);
    fb_comparing_judge(parts->sets, parts->count, &rules, &parts->comparison);
    parts->document.findings = &parts->comparison.findings;
    parts->extra.refusals = parts->comparison.refusals;
    if (parts->comparison.findings.count == 0)
        return;
    struct fb_document document = parts->document;
    document.comparison = true;
    fb_comparison_render(&document, &plain, &parts->compared);
    parts->extra.comparison = parts->compared.text;
}

void fb_report_parts_judge(struct fb_report_parts *parts)
{
    if (parts->count > 1)
        compare(parts);
    else
        fb_limits_judge(&parts->results[0], &parts->findings);
}

void fb_report_parts_draw(struct fb_report_parts *parts)
{
    /* A picture of changes would show the pairs that were refused, too. */
    bool comparable = parts->count > 1 && parts->comparison.refused == 0;
    fb_report_pictures_draw(parts->sets, parts->count, comparable, &parts->pictures);
    parts->extra.pictures = parts->pictures.items;
    parts->extra.picture_count = parts->pictures.count;
}

/* The path of `folder` from the folder of `file`, where it lies there or below: a page that is
 * moved with the result keeps its links. */
static char *below(const char *folder, const char *file)
{
    char inner[PATH_MAX], outer[PATH_MAX];
    char *outside = folder_of(file);
    char *link = NULL;
    if (realpath(folder, inner) != NULL && realpath(outside, outer) != NULL) {
        size_t length = strlen(outer);
        if (strcmp(inner, outer) == 0)
            link = fb_strdup("");
        else if (strncmp(inner, outer, length) == 0 && inner[length] == '/')
            link = fb_format("%s/", inner + length + 1);
    }
    free(outside);
    return link;
}

void fb_report_parts_link(struct fb_report_parts *parts, const char *file)
{
    for (size_t i = 0; i < parts->count; i++)
        parts->links[i] = below(parts->folders[i], file);
    parts->extra.folders = (const char *const *)parts->links;
}

void fb_report_parts_deinit(struct fb_report_parts *parts)
{
    fb_report_pictures_deinit(&parts->pictures);
    fb_comparison_deinit(&parts->comparison);
    fb_buf_deinit(&parts->compared);
    for (size_t i = 0; i < parts->workload_count; i++)
        free((char *)parts->workloads[i].text);
    for (size_t i = 0; i < parts->count; i++) {
        fb_result_deinit(&parts->results[i]);
        free(parts->labels[i]);
        free(parts->folders[i]);
        free(parts->links[i]);
    }
    fb_findings_deinit(&parts->findings);
    free(parts->workloads);
    free(parts->sets);
    free(parts->results);
    free(parts->labels);
    free(parts->folders);
    free(parts->links);
    *parts = (struct fb_report_parts){0};
}
