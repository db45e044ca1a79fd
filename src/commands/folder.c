#include "commands/folder.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "result/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RESULTS "results"
#define EXPORT_CAP_BYTES ((size_t)1 << 30)

char *fb_folder_now(bool compact)
{
    char text[32];
    time_t now = time(NULL);
    struct tm utc;
    (void)gmtime_r(&now, &utc);
    (void)strftime(text, sizeof text, compact ? "%Y%m%dT%H%M%SZ" : "%Y-%m-%dT%H:%M:%SZ", &utc);
    return fb_strdup(text);
}

/* "kv-cache-growth", or "kv-cache-growth+2" with two other workloads. Shards, which tend to start
 * in one second, are told apart: "kv-cache-growth-1-of-4". */
static char *base_name(const struct fb_run_options *options, const struct fb_plan *plan)
{
    char more[32] = "", shard[32] = "";
    if (options->workload_count > 1)
        (void)snprintf(more, sizeof more, "+%zu", options->workload_count - 1);
    if (options->shard.count > 1)
        (void)snprintf(shard, sizeof shard, "-%u-of-%u", options->shard.index,
                       options->shard.count);
    return fb_format("%s%s%s", plan->units[0].workload->name, more, shard);
}

char *fb_folder_choose(const struct fb_run_options *options, const struct fb_plan *plan)
{
    char *name = base_name(options, plan);
    char *folder = fb_folder_choose_named(options, name);
    free(name);
    return folder;
}

char *fb_folder_choose_named(const struct fb_run_options *options, const char *name)
{
    if (options->output != NULL)
        return fb_strdup(options->output);
    char *now = fb_folder_now(true);
    char *folder = fb_format(RESULTS "/%s-%s", name, now);
    for (unsigned i = 2; access(folder, F_OK) == 0 && i < 1000; i++) {
        free(folder);
        folder = fb_format(RESULTS "/%s-%s-%u", name, now, i);
    }
    free(now);
    return folder;
}

char *fb_folder_link_latest(const char *folder)
{
    static const char link[] = RESULTS "/latest";
    struct stat before;
    if (lstat(link, &before) == 0 && !S_ISLNK(before.st_mode))
        return fb_format("%s is not a symbolic link; left as it is", link);
    char *temporary = fb_format(RESULTS "/.latest-%ld", (long)getpid());
    (void)unlink(temporary);
    char *reason = NULL;
    if (symlink(folder + sizeof RESULTS, temporary) != 0 || rename(temporary, link) != 0) {
        reason = fb_format("cannot point %s at %s: %s", link, folder, strerror(errno));
        (void)unlink(temporary);
    }
    free(temporary);
    return reason;
}

/* A device or a pipe is written through; replacing it by rename would destroy it. */
static int write_through(const char *file, const struct fb_buf *text, bool last,
                         struct fb_error *err)
{
    FILE *stream = fopen(file, "we");
    if (stream == NULL)
        return fb_fail_errno(err, "cannot write %s", file);
    size_t written = last ? fwrite(text->text, 1, text->length, stream) : 0;
    bool whole = !last || written == text->length;
    if (fclose(stream) != 0 || !whole)
        return fb_fail_errno(err, "cannot write %s", file);
    return 0;
}

static int export_to(const struct fb_export_request *request, const struct fb_document *document,
                     bool last, struct fb_error *err)
{
    struct stat target;
    bool exists = stat(request->file, &target) == 0;
    bool special = exists && !S_ISREG(target.st_mode);
    char resolved[PATH_MAX];
    struct fb_buf text;
    fb_buf_init(&text, EXPORT_CAP_BYTES);
    request->format->render(document, &text);
    int status = 0;
    if (special)
        status = write_through(request->file, &text, last, err);
    else if (exists && realpath(request->file, resolved) != NULL)
        status = fb_store_write_file(resolved, text.text, text.length, err);
    else
        status = fb_store_write_file(request->file, text.text, text.length, err);
    fb_buf_deinit(&text);
    return status;
}

int fb_folder_export(const struct fb_export_request *requests, size_t count,
                     const struct fb_document *document, bool last, struct fb_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct fb_export_request *request = &requests[i];
        if (strcmp(request->file, "-") != 0 && export_to(request, document, last, err) != 0)
            return -1;
    }
    return 0;
}

const struct fb_export *fb_folder_stdout_export(const struct fb_export_request *requests,
                                                size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(requests[i].file, "-") == 0)
            return requests[i].format;
    }
    return NULL;
}
