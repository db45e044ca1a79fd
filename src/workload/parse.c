/* The whole file: from text to a workload. */
#include "base/alloc.h"
#include "base/sha256.h"
#include "workload/reader.h"
#include "workload/replica.h"
#include "workload/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LANGUAGE_VERSION 1
#define SEED_DEFAULT 42

void fb_workload_free(struct fb_workload *workload)
{
    if (workload == NULL)
        return;
    free(workload->text);
    for (size_t i = 0; i < workload->param_count; i++) {
        free(workload->params[i].name);
        free(workload->params[i].value);
    }
    for (size_t i = 0; i < workload->class_count; i++) {
        fb_distribution_deinit(&workload->classes[i].size);
        fb_distribution_deinit(&workload->classes[i].life);
    }
    for (size_t i = 0; i < workload->phase_count; i++) {
        for (size_t j = 0; j < workload->phases[i].allocate_count; j++)
            fb_distribution_deinit(&workload->phases[i].allocate[j].count);
        free(workload->phases[i].allocate);
        free(workload->phases[i].free);
    }
    for (size_t i = 0; i < workload->limit_count; i++)
        free(workload->limits[i].allocator);
    free(workload->limits);
    fb_replica_free(workload->replica);
    free(workload->params);
    free(workload->pools);
    free(workload->classes);
    free(workload->phases);
    free(workload->file);
    free(workload->name);
    free(workload->description);
    free(workload->source);
    free(workload);
}

/* A newer language is refused before its keys, which mean nothing here, are read. */
static bool is_newer(struct fb_node root)
{
    for (size_t i = 0; i < fb_node_pair_count(root); i++) {
        const char *key = fb_node_text(fb_node_pair_key(root, i));
        struct fb_node value = fb_node_pair_value(root, i);
        uint64_t version = 0;
        if (key == NULL || strcmp(key, "fragbench") != 0 || fb_node_text(value) == NULL ||
            fb_units_parse(FB_UNIT_COUNT, fb_node_text(value), &version, NULL) != 0 ||
            version <= LANGUAGE_VERSION)
            continue;
        fb_node_fault(value, "version",
                      "language version %llu is newer than this fragbench, which knows 1; use a "
                      "newer fragbench",
                      (unsigned long long)version);
        return true;
    }
    return false;
}

static void read_version(struct fb_reader *reader, const struct fb_fields *fields)
{
    struct fb_value value;
    uint64_t version = 0;
    if (!fb_fields_has(fields, "fragbench"))
        fb_diagnostics_add(reader->diagnostics, 0, 0, 1, "version",
                           "the language version is missing; begin with \"fragbench: 1\"");
    else if (fb_fields_get(reader, fields, "fragbench", &value))
        (void)fb_value_whole(&value, FB_UNIT_COUNT, 1, LANGUAGE_VERSION, &version);
}

/* Prose is taken as it stands: a "$" in it is a dollar. */
static char *read_prose(const struct fb_fields *fields, const char *key)
{
    if (!fb_fields_has(fields, key))
        return fb_strdup("");
    struct fb_node value = fb_fields_raw(fields, key);
    const char *text = fb_node_text(value);
    if (text == NULL)
        fb_node_fault(value, "wrong-type", "%s is no text; put it into quotes", key);
    return fb_strdup(text != NULL ? text : "");
}

static void read_head(struct fb_reader *reader, const struct fb_fields *fields)
{
    struct fb_workload *workload = reader->workload;
    struct fb_value value;
    if (fb_fields_need(reader, fields, "name", &value)) {
        const char *name = fb_value_text(&value);
        if (name != NULL && fb_name_check(value.node, name, "workload"))
            workload->name = fb_strdup(name);
    }
    workload->description = read_prose(fields, "description");
    workload->source = read_prose(fields, "source");
    workload->seed = SEED_DEFAULT;
    if (fb_fields_get(reader, fields, "seed", &value))
        (void)fb_value_whole(&value, FB_UNIT_COUNT, 0, UINT64_MAX, &workload->seed);
}

static void read_params(struct fb_reader *reader, const struct fb_fields *fields,
                        const struct fb_override *overrides, size_t override_count)
{
    struct fb_node declared = {0};
    if (fb_fields_has(fields, "params"))
        declared = fb_fields_raw(fields, "params");
    if (declared.raw != NULL && !fb_node_is_mapping(declared)) {
        fb_node_fault(declared, "wrong-type",
                      "params is no mapping; write \"params: {requests: 100}\"");
        declared.raw = NULL;
    }
    fb_params_init(&reader->params, declared, overrides, override_count, reader->diagnostics);
    reader->workload->params = fb_params_export(&reader->params, &reader->workload->param_count);
}

static void read_workload(struct fb_reader *reader, const struct fb_override *overrides,
                          size_t override_count)
{
    struct fb_node whole_file = {.tree = &reader->file};
    struct fb_value value = {.node = fb_tree_root(&reader->file),
                             .values = "a mapping that begins with \"fragbench: 1\"",
                             .what = "the workload"};
    struct fb_fields fields;
    if (is_newer(value.node) || !fb_fields_read(&value, "top", whole_file, &fields))
        return;
    /* Before anything that may use them. */
    read_params(reader, &fields, overrides, override_count);
    read_version(reader, &fields);
    read_head(reader, &fields);
    fb_read_pools(reader, &fields);
    if (fb_fields_need(reader, &fields, "objects", &value))
        fb_read_objects(reader, &value);
    if (fb_fields_need(reader, &fields, "phases", &value))
        fb_read_phases(reader, &value);
    if (fb_fields_get(reader, &fields, "limits", &value))
        fb_read_limits(reader, &value);
}

int fb_workload_parse(const char *path, const char *text, size_t size,
                      const struct fb_override *overrides, size_t override_count,
                      struct fb_workload **out, struct fb_diagnostics *diagnostics)
{
    free(diagnostics->file);
    diagnostics->file = fb_strdup(path);
    if (!fb_text_accept(text, size, diagnostics))
        return -1;
    struct fb_reader reader = {.diagnostics = diagnostics,
                               .file = {.diagnostics = diagnostics},
                               .workload = fb_alloc(1, sizeof *reader.workload)};
    reader.workload->file = fb_strdup(path);
    fb_sha256_memory(text, size, reader.workload->sha256);
    reader.workload->text = fb_alloc(size + 1, 1);
    memcpy(reader.workload->text, text, size);
    reader.workload->text_bytes = size;
    if (fb_tree_load(&reader.file, diagnostics->source, diagnostics->source_size))
        read_workload(&reader, overrides, override_count);
    fb_params_deinit(&reader.params);
    fb_tree_unload(&reader.file);
    free(reader.notes);
    free(reader.pool_notes);
    if (diagnostics->count > 0) {
        fb_workload_free(reader.workload);
        return -1;
    }
    *out = reader.workload;
    return 0;
}
