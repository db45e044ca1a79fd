#include "commands/report_parts.h"

#include "base/alloc.h"
#include "result/store.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_path(const char *text)
{
    struct stat status;
    return stat(text, &status) == 0;
}

/* "base=results/a" → label and path; a path that holds '=' and is there is a path. */
static void split(const char *argument, size_t index, size_t count, char **label, const char **path)
{
    const char *equals = strchr(argument, '=');
    *path = argument;
    if (equals != NULL && equals != argument && !is_path(argument)) {
        *label = fb_format("%.*s", (int)(equals - argument), argument);
        *path = equals + 1;
        return;
    }
    *label = count == 1 ? fb_strdup("") : fb_format("%zu", index + 1);
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
