#include "preload/contract.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): its length goes with it */
    memcpy(line, opening, used);
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result) */
    memcpy(line + used, text, length);
    line[used + length] = '\n';
    int saved = errno;
    /* Not write(): that is a cancellation point, and malloc is none. */
    (void)syscall(SYS_write, STDERR_FILENO, line, used + length + 1);
    errno = saved;
}

void fba_panic(const char *text)
{
    fba_say(text);
    abort();
}
