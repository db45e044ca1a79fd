#include "report/table.h"

#include "base/alloc.h"
#include "base/shell.h"

#include <stdlib.h>
#include <string.h>

#define LINE_CAP 65536U

static void add_setting(struct fb_buf *line, const char *name, const char *value)
{
    fb_buf_addf(line, "%s%s=", line->length > 0 ? " " : "", name);
    fb_shell_add(line, value == NULL ? "" : value);
}

static void add_preload(struct fb_buf *line, const struct fb_cell *cell)
{
    const char *inner = cell->allocator.inner_path;
    bool wraps = inner != NULL && inner[0] != '\0';
    char *value = fb_format("%s%s%s", cell->allocator.path, wraps ? ":" : "", wraps ? inner : "");
    add_setting(line, "LD_PRELOAD", value);
    free(value);
}

char *fb_table_spec(const struct fb_cell *cell)
{
    struct fb_buf line;
    fb_buf_init(&line, LINE_CAP);
    fb_buf_adds(&line, "-a ");
    fb_shell_add(&line, cell->allocator.spec == NULL ? "" : cell->allocator.spec);
    char *text = fb_strdup(line.text);
    fb_buf_deinit(&line);
    return text;
}

char *fb_table_environment(const struct fb_cell *cell)
{
    const char *backend = cell->allocator.backend == NULL ? "" : cell->allocator.backend;
    struct fb_buf line;
    fb_buf_init(&line, LINE_CAP);
    if (strcmp(backend, "null") != 0 && cell->allocator.path != NULL &&
        cell->allocator.path[0] != '\0')
        add_preload(&line, cell);
    for (size_t i = 0; i < cell->allocator.env_count; i++)
        if (strcmp(cell->allocator.env[i].name, "LD_PRELOAD") != 0)
            add_setting(&line, cell->allocator.env[i].name, cell->allocator.env[i].value);
    char *text = fb_strdup(line.text);
    fb_buf_deinit(&line);
    return text;
}
