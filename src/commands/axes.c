#include "commands/axes.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* The end of the value that starts at text: the next comma outside brackets and quotes. */
static const char *value_end(const char *text)
{
    int depth = 0;
    char quote = '\0';
    for (; *text != '\0'; text++) {
        if (quote != '\0' && *text == quote)
            quote = '\0';
        else if (quote != '\0')
            continue;
        else if (*text == '"' || *text == '\'')
            quote = *text;
        else if (strchr("{[(", *text) != NULL)
            depth++;
        else if (strchr("}])", *text) != NULL)
            depth--;
        else if (*text == ',' && depth <= 0)
            break;
    }
    return text;
}

static void axis_deinit(struct fb_param_axis *axis)
{
    for (size_t i = 0; i < axis->count; i++)
        free(axis->values[i]);
    free(axis->values);
    free(axis->name);
}

static int split_values(struct fb_param_axis *axis, const char *text, struct fb_error *err)
{
    for (;;) {
        const char *end = value_end(text);
        if (end == text)
            return fb_fail(err, FB_ERROR_INPUT, "-L %s=: a value is empty; write %s=V1,V2",
                           axis->name, axis->name);
        axis->values = fb_realloc(axis->values, axis->count + 1, sizeof *axis->values);
        axis->values[axis->count++] = fb_format("%.*s", (int)(end - text), text);
        if (*end == '\0')
            return 0;
        text = end + 1;
    }
}

static int check_new(const struct fb_param_axes *axes, const struct fb_param_axis *axis,
                     struct fb_error *err)
{
    for (size_t i = 0; i < axes->count; i++) {
        if (strcmp(axes->items[i].name, axis->name) == 0)
            return fb_fail(err, FB_ERROR_INPUT,
                           "-L %s is given twice; list the values in one option: -L %s=V1,V2",
                           axis->name, axis->name);
    }
    if (axis->count > FB_AXES_MAX_SETS / fb_axes_sets(axes))
        return fb_fail(err, FB_ERROR_INPUT,
                       "-L %s: more than %d parameter sets in all; give fewer values", axis->name,
                       FB_AXES_MAX_SETS);
    return 0;
}

int fb_axes_add(struct fb_param_axes *axes, const char *text, struct fb_error *err)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return fb_fail(err, FB_ERROR_INPUT, "-L \"%s\": write VAR=VALUE or VAR=V1,V2", text);
    struct fb_param_axis axis = {.name = fb_format("%.*s", (int)(equals - text), text)};
    if (split_values(&axis, equals + 1, err) != 0 || check_new(axes, &axis, err) != 0) {
        axis_deinit(&axis);
        return -1;
    }
    axes->items = fb_realloc(axes->items, axes->count + 1, sizeof *axes->items);
    axes->items[axes->count++] = axis;
    return 0;
}

size_t fb_axes_sets(const struct fb_param_axes *axes)
{
    size_t sets = 1;
    for (size_t i = 0; i < axes->count; i++)
        sets *= axes->items[i].count;
    return sets;
}

void fb_axes_pick(const struct fb_param_axes *axes, size_t index, struct fb_override *out)
{
    for (size_t i = axes->count; i-- > 0;) {
        const struct fb_param_axis *axis = &axes->items[i];
        out[i] = (struct fb_override){axis->name, axis->values[index % axis->count]};
        index /= axis->count;
    }
}

void fb_axes_deinit(struct fb_param_axes *axes)
{
    for (size_t i = 0; i < axes->count; i++)
        axis_deinit(&axes->items[i]);
    free(axes->items);
    *axes = (struct fb_param_axes){0};
}
