#include "base/shell.h"

#include <ctype.h>
#include <string.h>

static bool is_plain(const char *text)
{
    for (; *text != '\0'; text++)
        if (!isalnum((unsigned char)*text) && strchr("_-./,:+@%=", *text) == NULL)
            return false;
    return true;
}

/* A quote itself becomes '\''. */
void fb_shell_add(struct fb_buf *line, const char *text)
{
    if (is_plain(text)) {
        fb_buf_adds(line, text);
        return;
    }
    fb_buf_adds(line, "'");
    for (; *text != '\0'; text++)
        fb_buf_add(line, *text == '\'' ? "'\\''" : text, *text == '\'' ? 4 : 1);
    fb_buf_adds(line, "'");
}
