#include "preload/contract.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef FBA_NAME
#define FBA_NAME "allocator"
#endif
#define LINE_BYTES 512

/* One write, so that lines of several threads do not mix. */
void fba_say(const char *text)
{
    static const char opening[] = "fragbench-" FBA_NAME ": ";
    char line[LINE_BYTES];
    size_t used = sizeof opening - 1, length = strlen(text);
    if (length > sizeof line - used - 1)
        length = sizeof line - used - 1;
    memcpy(line, opening, used);
    memcpy(line + used, text, length);
    line[used + length] = '\n';
    int saved = errno;
    ssize_t written = write(STDERR_FILENO, line, used + length + 1);
    (void)written; /* nobody is left to be told */
    errno = saved;
}

void fba_panic(const char *text)
{
    fba_say(text);
    abort();
}
