#include "report/table.h"

#include "base/alloc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LINE_CAP 65536U

static bool is_plain(const char *text)
{
    for (; *text != '\0'; text++)
        if (!isalnum((unsigned char)*text) && strchr("_-./,:+@%=", *text) == NULL)
            return false;
    return true;
}

/* In single quotes, where a quote itself becomes '\''. */
void fb_table_quote(struct fb_buf *line, const char *text)
{
    if (*text != '\0' && is_plain(text)) {
        fb_buf_adds(line, text);
        return;
    }
    fb_buf_adds(line, "'");
    for (; *text != '\0'; text++)
        fb_buf_add(line, *text == '\'' ? "'\\''" : text, *text == '\'' ? 4 : 1);
    fb_buf_adds(line, "'");
}

static void add_setting(struct fb_buf *line, const char *name, const char *value)
{
    fb_buf_addf(line, "%s%s=", line->length > 0 ? " " : "", name);
    fb_table_quote(line, value == NULL ? "" : value);
}

static void add_preload(struct fb_buf *line, const struct fb_cell *cell)
{
    const char *inner = cell->allocator.inner_path;
    bool wraps = inner != NULL && inner[0] != '\0';
    char *value = fb_format("%s%s%s", cell->allocator.path, wraps ? ":" : "", wraps ? inner : "");
    add_setting(line, "LD_PRELOAD", value);
    free(value);
}

char *fb_table_environment(const struct fb_cell *cell)
{
    const char *backend = cell->allocator.backend == NULL ? "" : cell->allocator.backend;
    bool outside = strcmp(backend, "ptmalloc2") != 0 && strcmp(backend, "null") != 0;
    struct fb_buf line;
    fb_buf_init(&line, LINE_CAP);
    if (outside && cell->allocator.path != NULL && cell->allocator.path[0] != '\0')
        add_preload(&line, cell);
    for (size_t i = 0; i < cell->allocator.env_count; i++)
        if (strcmp(cell->allocator.env[i].name, "LD_PRELOAD") != 0)
            add_setting(&line, cell->allocator.env[i].name, cell->allocator.env[i].value);
    char *text = fb_strdup(line.text);
    fb_buf_deinit(&line);
    return text;
}
