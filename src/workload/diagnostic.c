#include "workload/diagnostic.h"

#include "base/alloc.h"
#include "workload/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A longer line is shown in part, so that a file of one line of a megabyte stays readable. */
enum { SNIPPET_MAX = 120, SNIPPET_BEFORE = 60 };

void fb_diagnostics_init(struct fb_diagnostics *diagnostics)
{
    *diagnostics = (struct fb_diagnostics){0};
}

void fb_diagnostics_deinit(struct fb_diagnostics *diagnostics)
{
    for (size_t i = 0; i < diagnostics->count; i++)
        free(diagnostics->items[i].text);
    free(diagnostics->file);
    free(diagnostics->source);
    *diagnostics = (struct fb_diagnostics){0};
}

/* Values may hold escapes ("\e[31m"): nothing that moves a terminal reaches it. */
static void defuse(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at != '\0'; at++) {
        bool c1 = at[0] == 0xC2 && at[1] >= 0x80 && at[1] <= 0x9F;
        if (*at < 0x20 || *at == 0x7F)
            *at = '?';
        if (c1)
            at[0] = at[1] = '?';
    }
}

/* An aliased node is read more than once, but its fault is one fault. */
static bool known(const struct fb_diagnostics *diagnostics, size_t line, size_t column,
                  const char *text)
{
    for (size_t i = 0; i < diagnostics->count; i++) {
        const struct fb_diagnostic *item = &diagnostics->items[i];
        if (item->line == line && item->column == column && strcmp(item->text, text) == 0)
            return true;
    }
    return false;
}

void fb_diagnostics_add(struct fb_diagnostics *diagnostics, size_t line, size_t column,
                        size_t length, const char *id, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    int written = vasprintf(&text, fmt, args);
    va_end(args);
    if (written < 0)
        text = fb_strdup("this fault's text did not fit into memory");
    defuse(text);
    if (known(diagnostics, line, column, text)) {
        free(text);
        return;
    }
    if (diagnostics->count == FB_DIAGNOSTIC_MAX) {
        diagnostics->dropped++;
        free(text);
        return;
    }
    diagnostics->items[diagnostics->count++] = (struct fb_diagnostic){
        .line = line,
        .column = column,
        .length = length > 0 ? length : 1,
        .text = text,
        .id = id,
    };
}

static void add_repeated(struct fb_buf *out, char byte, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fb_buf_add(out, &byte, 1);
}

/* The part of a line that is shown: characters [first, first + count) of it. */
struct window {
    const char *text;
    size_t size_bytes;
    size_t first, count;
    bool cut_left, cut_right;
};

static struct window window_around(const char *line, size_t size, size_t column)
{
    size_t total = fb_text_characters(line, size);
    struct window window = {.first = 0, .count = total};
    if (total > SNIPPET_MAX) {
        if (column > SNIPPET_BEFORE)
            window.first = column - SNIPPET_BEFORE;
        if (window.first > total - SNIPPET_MAX)
            window.first = total - SNIPPET_MAX;
        window.count = SNIPPET_MAX;
    }
    size_t begin = fb_text_offset(line, size, window.first);
    size_t end = fb_text_offset(line, size, window.first + window.count);
    window.text = line + begin;
    window.size_bytes = end - begin;
    window.cut_left = window.first > 0;
    window.cut_right = window.first + window.count < total;
    return window;
}

/* Blanks up to the caret; a tab stays a tab, so that the caret stands below its character. */
static void add_padding(struct fb_buf *out, const struct window *window, size_t column)
{
    size_t before = column - window->first;
    size_t end = fb_text_offset(window->text, window->size_bytes, before);
    size_t given = fb_text_characters(window->text, end);
    for (size_t i = 0; i < end; i++)
        if (!fb_text_is_continuation(window->text[i]))
            add_repeated(out, window->text[i] == '\t' ? '\t' : ' ', 1);
    add_repeated(out, ' ', before - given);
}

static void render_snippet(const struct fb_diagnostics *diagnostics,
                           const struct fb_diagnostic *item, struct fb_buf *out)
{
    size_t size = 0;
    const char *line =
        fb_text_line(diagnostics->source, diagnostics->source_size, item->line, &size);
    while (line != NULL && size > 0 && (line[size - 1] == ' ' || line[size - 1] == '\t'))
        size--;
    if (line == NULL || item->column == 0)
        return;
    /* A value that is missing stands behind the end of the line. */
    size_t column = item->column - 1, total = fb_text_characters(line, size);
    if (column > total)
        column = total;
    struct window window = window_around(line, size, column);
    fb_buf_addf(out, "%4zu | %s%.*s%s\n", item->line, window.cut_left ? "..." : "",
                (int)window.size_bytes, window.text, window.cut_right ? "..." : "");
    fb_buf_adds(out, "     | ");
    add_repeated(out, ' ', window.cut_left ? 3 : 0);
    add_padding(out, &window, column);
    size_t room = window.first + window.count - column;
    size_t length = item->length < room ? item->length : room;
    fb_buf_adds(out, "^");
    add_repeated(out, '~', length > 1 ? length - 1 : 0);
    fb_buf_adds(out, "\n");
}

static void render_item(const struct fb_diagnostics *diagnostics, const struct fb_diagnostic *item,
                        struct fb_buf *out)
{
    const char *file = diagnostics->file != NULL ? diagnostics->file : "workload";
    if (item->line == 0) {
        fb_buf_addf(out, "fragbench: %s: %s [%s]\n", file, item->text, item->id);
        return;
    }
    fb_buf_addf(out, "fragbench: %s:%zu:%zu: %s [%s]\n", file, item->line, item->column, item->text,
                item->id);
    if (diagnostics->source != NULL)
        render_snippet(diagnostics, item, out);
}

static bool before(const struct fb_diagnostic *a, const struct fb_diagnostic *b)
{
    return a->line != b->line ? a->line < b->line : a->column < b->column;
}

void fb_diagnostics_render(const struct fb_diagnostics *diagnostics, struct fb_buf *out)
{
    const struct fb_diagnostic *order[FB_DIAGNOSTIC_MAX];
    /* Insertion sort: at most 50, and equal places keep their order. */
    for (size_t i = 0; i < diagnostics->count; i++) {
        size_t at = i;
        for (; at > 0 && before(&diagnostics->items[i], order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = &diagnostics->items[i];
    }
    for (size_t i = 0; i < diagnostics->count; i++)
        render_item(diagnostics, order[i], out);
    if (diagnostics->dropped > 0)
        fb_buf_addf(out, "fragbench: %s: %zu more faults are not shown; mend these first [more]\n",
                    diagnostics->file != NULL ? diagnostics->file : "workload",
                    diagnostics->dropped);
}
