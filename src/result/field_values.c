#include "result/field_values.h"

#include "base/alloc.h"
#include "result/attribution_fields.h"
#include "result/reason.h"
#include "result/record.h"

#include <math.h>
#include <string.h>

static struct fb_place inside(const struct fb_place *place, const char *name)
{
    return (struct fb_place){place, name, 0, place->file, place->err};
}

static int require_object(const json_t *value, const struct fb_place *place)
{
    return json_is_object(value) ? 0 : fb_codec_fail(place, "expected an object");
}

json_t *fb_metrics_encode(const void *record)
{
    const struct fb_repetition *repetition = record;
    json_t *object = json_object();
    for (int i = 0; i < FB_METRIC_COUNT; i++)
        fb_codec_put(object, fb_metrics[i].name, fb_codec_number(repetition->values[i]));
    return object;
}

/* A metric that this version has and the file's did not is n/a, not an error. */
int fb_metrics_decode(const json_t *value, void *record, const struct fb_place *place)
{
    struct fb_repetition *repetition = record;
    if (require_object(value, place) != 0)
        return -1;
    for (int i = 0; i < FB_METRIC_COUNT; i++) {
        const struct fb_place here = inside(place, fb_metrics[i].name);
        const json_t *number = json_object_get(value, fb_metrics[i].name);
        repetition->values[i] = NAN;
        if (number == NULL)
            repetition->na[i] = "not in this file";
        else if (fb_codec_read_number(number, &repetition->values[i], &here) != 0)
            return -1;
    }
    return 0;
}

json_t *fb_na_encode(const void *record)
{
    const struct fb_repetition *repetition = record;
    json_t *object = json_object();
    for (int i = 0; i < FB_METRIC_COUNT; i++) {
        if (isfinite(repetition->values[i]))
            continue;
        const char *reason = repetition->na[i];
        fb_codec_put(object, fb_metrics[i].name,
                     fb_codec_text(reason != NULL ? reason : "not measured"));
    }
    return object;
}

int fb_na_decode(const json_t *value, void *record, const struct fb_place *place)
{
    struct fb_repetition *repetition = record;
    if (require_object(value, place) != 0)
        return -1;
    for (int i = 0; i < FB_METRIC_COUNT; i++) {
        const struct fb_place here = inside(place, fb_metrics[i].name);
        const json_t *reason = json_object_get(value, fb_metrics[i].name);
        if (reason == NULL)
            continue;
        if (!json_is_string(reason))
            return fb_codec_fail(&here, "expected a string");
        if (!isnan(repetition->values[i]))
            return fb_codec_fail(&here, "a reason of n/a for a metric that has a value");
        repetition->na[i] = fb_reason_keep(json_string_value(reason));
    }
    return 0;
}

json_t *fb_phase_encode(const void *record)
{
    (void)record;
    return json_null();
}

int fb_phase_decode(const json_t *value, void *record, const struct fb_place *place)
{
    (void)record;
    bool fine = json_is_string(value) || json_is_null(value);
    return fine ? 0 : fb_codec_fail(place, "expected a phase's name or null");
}

json_t *fb_checkpoints_encode(const void *record)
{
    const struct fb_repetition *repetition = record;
    json_t *array = json_array();
    for (size_t i = 0; i < repetition->checkpoint_count; i++) {
        int phase = repetition->checkpoints[i].phase;
        json_t *object = fb_codec_encode(fb_checkpoint_fields, &repetition->checkpoints[i]);
        if (phase >= 0 && (size_t)phase < repetition->phase_count)
            fb_codec_put(object, "phase", fb_codec_text(repetition->phases[phase].name));
        fb_attribution_encode(&repetition->checkpoints[i], object);
        (void)json_array_append_new(array, object);
    }
    return array;
}

static int find_phase(const struct fb_repetition *repetition, const char *name)
{
    for (size_t i = 0; i < repetition->phase_count; i++)
        if (strcmp(repetition->phases[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int decode_checkpoint(const json_t *value, struct fb_repetition *repetition,
                             struct fb_checkpoint *checkpoint, const struct fb_place *place)
{
    if (fb_codec_decode(fb_checkpoint_fields, value, checkpoint, place) != 0)
        return -1;
    const char *name = json_string_value(json_object_get(value, "phase"));
    checkpoint->phase = name == NULL ? -1 : find_phase(repetition, name);
    if (name != NULL && checkpoint->phase < 0) {
        const struct fb_place here = inside(place, "phase");
        return fb_codec_fail(&here, "no phase is named \"%s\"", name);
    }
    return fb_attribution_decode(value, checkpoint, place);
}

int fb_checkpoints_decode(const json_t *value, void *record, const struct fb_place *place)
{
    struct fb_repetition *repetition = record;
    if (!json_is_array(value))
        return fb_codec_fail(place, "expected an array");
    size_t count = json_array_size(value);
    repetition->checkpoints = fb_alloc(count, sizeof *repetition->checkpoints);
    repetition->checkpoint_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct fb_place here = {place, NULL, i, place->file, place->err};
        if (decode_checkpoint(json_array_get(value, i), repetition, &repetition->checkpoints[i],
                              &here) != 0)
            return -1;
    }
    return 0;
}

json_t *fb_timing_encode(const void *record)
{
    const struct fb_cell *cell = record;
    json_t *object = json_object();
    for (int i = 0; i < FB_METRIC_COUNT; i++)
        if (cell->timing.done && isfinite(cell->timing.values[i]))
            fb_codec_put(object, fb_metrics[i].name, fb_codec_number(cell->timing.values[i]));
    return object;
}

int fb_timing_decode(const json_t *value, void *record, const struct fb_place *place)
{
    struct fb_cell *cell = record;
    if (require_object(value, place) != 0)
        return -1;
    for (int i = 0; i < FB_METRIC_COUNT; i++) {
        const struct fb_place here = inside(place, fb_metrics[i].name);
        const json_t *number = json_object_get(value, fb_metrics[i].name);
        cell->timing.values[i] = NAN;
        if (number != NULL && fb_codec_read_number(number, &cell->timing.values[i], &here) != 0)
            return -1;
    }
    return 0;
}

static const struct fb_field summary_fields[] = {
    {.name = "n", .kind = FB_FIELD_UNSIGNED, .offset = offsetof(struct fb_summary, n)},
    {.name = "median", .kind = FB_FIELD_NUMBER, .offset = offsetof(struct fb_summary, median)},
    {.name = "min", .kind = FB_FIELD_NUMBER, .offset = offsetof(struct fb_summary, min)},
    {.name = "max", .kind = FB_FIELD_NUMBER, .offset = offsetof(struct fb_summary, max)},
    {.name = NULL},
};

json_t *fb_summary_encode(const void *record)
{
    const struct fb_cell *cell = record;
    json_t *object = json_object();
    for (int i = 0; i < FB_METRIC_COUNT; i++) {
        struct fb_summary summary = cell->summary[i];
        if (summary.n == 0) /* a cell that never ran may be all zeros: no zero is ever shown */
            summary = (struct fb_summary){0, NAN, NAN, NAN};
        fb_codec_put(object, fb_metrics[i].name, fb_codec_encode(summary_fields, &summary));
    }
    return object;
}

int fb_summary_decode(const json_t *value, void *record, const struct fb_place *place)
{
    struct fb_cell *cell = record;
    if (require_object(value, place) != 0)
        return -1;
    for (int i = 0; i < FB_METRIC_COUNT; i++) {
        const struct fb_place here = inside(place, fb_metrics[i].name);
        const json_t *summary = json_object_get(value, fb_metrics[i].name);
        cell->summary[i] = (struct fb_summary){0, NAN, NAN, NAN};
        if (summary != NULL &&
            fb_codec_decode(summary_fields, summary, &cell->summary[i], &here) != 0)
            return -1;
    }
    return 0;
}

json_t *fb_limit_metric_encode(const void *record)
{
    const struct fb_limit *limit = record;
    return json_string(fb_metrics[limit->metric].name);
}

int fb_limit_metric_decode(const json_t *value, void *record, const struct fb_place *place)
{
    struct fb_limit *limit = record;
    if (!json_is_string(value))
        return fb_codec_fail(place, "expected a metric's name");
    limit->metric = fb_metric_find(json_string_value(value));
    if (limit->metric == FB_METRIC_COUNT)
        return fb_codec_fail(place, "unknown metric \"%s\"; read it with a newer fragbench",
                             json_string_value(value));
    return 0;
}

json_t *fb_units_encode(const void *record)
{
    (void)record;
    json_t *object = json_object();
    for (int i = 0; i < FB_METRIC_COUNT; i++) {
        json_t *unit = json_object();
        const char *better = fb_metrics[i].better == FB_BETTER_LOWER ? "lower" : "none";
        fb_codec_put(unit, "unit", json_string(fb_metrics[i].unit));
        fb_codec_put(unit, "better", json_string(better));
        fb_codec_put(unit, "assume", json_string(fb_metrics[i].exact ? "exact" : "nothing"));
        fb_codec_put(object, fb_metrics[i].name, unit);
    }
    return object;
}

int fb_units_decode(const json_t *value, void *record, const struct fb_place *place)
{
    (void)record;
    return require_object(value, place);
}
