#include "commands/message.h"

#include "base/suggest.h"
#include "workload/keys.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static bool line_drawn;

static void wipe(void)
{
    if (!line_drawn)
        return;
    (void)fputs("\r\033[K", stderr);
    line_drawn = false;
}

void fb_message_error(const struct fb_error *err)
{
    wipe();
    (void)fprintf(stderr, "fragbench: %s\n", err->text);
}

void fb_message_note(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    wipe();
    (void)fputs("fragbench: ", stderr);
    (void)vfprintf(stderr, fmt, args);
    (void)fputc('\n', stderr);
    va_end(args);
}

void fb_message_text(const char *text)
{
    wipe();
    (void)fputs(text, stderr);
}

void fb_message_unknown(const char *what, const char *word, const char *const *known, size_t count)
{
    wipe();
    const char *near = fb_suggest(word, known, count);
    (void)fprintf(stderr, "fragbench: unknown %s \"%s\"", what, word);
    if (near != NULL)
        (void)fprintf(stderr, "; did you mean \"%s\"?", near);
    (void)fputs(" (known: ", stderr);
    for (size_t i = 0; i < count; i++)
        (void)fprintf(stderr, "%s%s", i > 0 ? ", " : "", known[i]);
    (void)fputs(")\n", stderr);
}

void fb_message_line(const char *text)
{
    wipe();
    if (text != NULL) {
        (void)fputs(text, stderr);
        line_drawn = true;
    }
    (void)fflush(stderr);
}
