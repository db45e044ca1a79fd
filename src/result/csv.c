#include "result/csv.h"

#include <stdbool.h>
#include <string.h>

static bool must_quote(const char *text)
{
    return strpbrk(text, ",\"\r\n") != NULL;
}

void fb_csv_add(struct fb_buf *buf, const char *text)
{
    if (!must_quote(text)) {
        fb_buf_adds(buf, text);
        return;
    }
    fb_buf_adds(buf, "\"");
    for (; *text != '\0'; text++)
        fb_buf_add(buf, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    fb_buf_adds(buf, "\"");
}

void fb_csv_put(FILE *file, const char *text)
{
    if (!must_quote(text)) {
        (void)fputs(text, file);
        return;
    }
    (void)fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            (void)fputc('"', file);
        (void)fputc(*text, file);
    }
    (void)fputc('"', file);
}

/* Unquotes the field at `from` in place; returns its end (',' or the terminator), NULL if open. */
static char *unquote(char *from)
{
    char *to = from;
    for (char *at = from + 1;; at++) {
        if (*at == '\0')
            return NULL;
        if (*at == '"' && at[1] != '"') {
            *to = '\0';
            return at + 1;
        }
        if (*at == '"')
            at++;
        *to++ = *at;
    }
}

int fb_csv_split(char *line, char **fields, int max)
{
    int count = 0;
    for (char *at = line;;) {
        if (count == max)
            return -1;
        fields[count++] = at;
        char *end = *at == '"' ? unquote(at) : at + strcspn(at, ",");
        if (end == NULL || (*end != '\0' && *end != ','))
            return -1;
        if (*end == '\0')
            return count;
        *end = '\0';
        at = end + 1;
    }
}
