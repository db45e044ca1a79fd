/* GitLab's code quality report: what its merge request widget lists. */
#include "base/alloc.h"
#include "base/sha256.h"
#include "report/case.h"
#include "report/formats.h"
#include "report/group.h"
#include "result/codec.h"

#include <stdlib.h>
#include <string.h>

static const char *severity(const struct fb_case *item)
{
    if (item->level != FB_CASE_LOUD)
        return "minor";
    return item->outcome == FB_CASE_ERROR ? "critical" : "major";
}

/* The same finding in the next pipeline has the same one, whatever its figures: GitLab tells by it
 * what is new and what was mended. */
static char *fingerprint(const struct fb_case *item)
{
    char hex[FB_SHA256_HEX];
    char *id = fb_format("fragbench\n%s\n%s\n%s\n%s", item->type, fb_text_or_empty(item->cell->id),
                         item->name, item->set);
    fb_sha256_memory(id, strlen(id), hex);
    free(id);
    return fb_strdup(hex);
}

static char *description(const struct fb_case *item)
{
    const struct fb_finding *finding = item->finding;
    bool where = finding != NULL && finding->where != NULL;
    bool next = finding != NULL && finding->next != NULL;
    return fb_format("%s%s%s%s%s", item->message, where ? "; " : "", where ? finding->where : "",
                     next ? ". Next: " : "", next ? finding->next : "");
}

static json_t *location(const struct fb_case *item)
{
    const char *file = fb_case_file(item);
    unsigned line = fb_case_line(item);
    json_t *place = json_object(), *lines = json_object();
    fb_codec_put(place, "path", fb_format_plain(*file != '\0' ? file : "workload"));
    fb_codec_put(lines, "begin", json_integer(line > 0 ? line : 1));
    fb_codec_put(place, "lines", lines);
    return place;
}

static json_t *issue(const struct fb_case *item)
{
    json_t *object = json_object();
    char *says = description(item), *print = fingerprint(item);
    char *check = fb_format("fragbench-%s", item->type);
    fb_codec_put(object, "description", fb_format_plain(says));
    fb_codec_put(object, "check_name", fb_format_plain(check));
    fb_codec_put(object, "fingerprint", fb_format_plain(print));
    fb_codec_put(object, "severity", json_string(severity(item)));
    fb_codec_put(object, "location", location(item));
    free(check);
    free(print);
    free(says);
    return object;
}

void fb_format_gitlab(const struct fb_document *document, struct fb_buf *out)
{
    struct fb_cases cases;
    json_t *issues = json_array();
    fb_cases_init(&cases, document);
    for (size_t i = 0; i < cases.count; i++)
        if (cases.items[i].level >= FB_CASE_WARNING)
            (void)json_array_append_new(issues, issue(&cases.items[i]));
    fb_cases_deinit(&cases);
    fb_format_dump(issues, out);
}
