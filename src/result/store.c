#include "result/store.h"

#include "base/alloc.h"
#include "result/draft.h"
#include "result/fields.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SCHEMA_FAMILY "fragbench-result/"

json_t *fb_store_json(const struct fb_result *result)
{
    json_t *document = json_object();
    fb_codec_put(document, "schema", json_string(FB_RESULT_SCHEMA));
    json_t *members = fb_codec_encode(fb_result_fields, result);
    (void)json_object_update(document, members);
    json_decref(members);
    return document;
}

char *fb_store_text(const struct fb_result *result)
{
    json_t *document = fb_store_json(result);
    char *dumped = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    char *text = fb_format("%s\n", dumped != NULL ? dumped : "{}");
    free(dumped);
    json_decref(document);
    return text;
}

int fb_store_write_file(const char *path, const void *data, size_t size, struct fb_error *err)
{
    struct fb_draft draft;
    if (fb_draft_open(&draft, path, err) != 0)
        return -1;
    (void)fwrite(data, 1, size, draft.file);
    return fb_draft_commit(&draft, err);
}

int fb_store_write_result(const char *dir, const struct fb_result *result, struct fb_error *err)
{
    char *path = fb_format("%s/result.json", dir);
    char *text = fb_store_text(result);
    int status = fb_store_write_file(path, text, strlen(text), err);
    free(text);
    free(path);
    return status;
}

static int check_schema(const json_t *document, const char *path, struct fb_error *err)
{
    const char *schema = json_string_value(json_object_get(document, "schema"));
    if (schema == NULL || strncmp(schema, SCHEMA_FAMILY, strlen(SCHEMA_FAMILY)) != 0)
        return fb_fail(err, FB_ERROR_INPUT, "%s: no fragbench result: \"schema\" should be \"%s\"",
                       path, FB_RESULT_SCHEMA);
    if (strcmp(schema, FB_RESULT_SCHEMA) != 0)
        return fb_fail(err, FB_ERROR_INPUT,
                       "%s: written as \"%.60s\", this fragbench reads \"%s\"; update fragbench",
                       path, schema, FB_RESULT_SCHEMA);
    return 0;
}

static int decode_document(const json_t *document, const char *path, struct fb_result *out,
                           struct fb_error *err)
{
    const struct fb_place root = {NULL, "", 0, path, err};
    struct fb_result result = {0};
    if (check_schema(document, path, err) != 0)
        return -1;
    if (fb_codec_decode(fb_result_fields, document, &result, &root) != 0) {
        fb_result_deinit(&result);
        return -1;
    }
    *out = result;
    return 0;
}

static char *document_path(const char *path)
{
    struct stat status;
    bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    return folder ? fb_format("%s/result.json", path) : fb_strdup(path);
}

int fb_store_read_result(const char *path, struct fb_result *out, struct fb_error *err)
{
    json_error_t fault;
    int result = -1;
    char *file = document_path(path);
    json_t *document = json_load_file(file, JSON_REJECT_DUPLICATES, &fault);
    if (document != NULL)
        result = decode_document(document, file, out, err);
    else if (fault.line < 1)
        (void)fb_fail(err, FB_ERROR_INPUT, "%s; give a result folder or its result.json",
                      fault.text);
    else
        (void)fb_fail(err, FB_ERROR_INPUT, "%s:%d:%d: %s; no whole result.json", file, fault.line,
                      fault.column, fault.text);
    json_decref(document);
    free(file);
    return result;
}
