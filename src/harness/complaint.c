#include "harness/complaint.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct pattern {
    const char *part;    /* of a line */
    const char *meaning; /* NULL: the line itself says it best */
};

static const struct pattern preload_patterns[] = {
    {"cannot allocate memory in static TLS block",
     "the library needs more static thread-local storage than ld.so has left"},
    {"wrong ELF class", "the library is built for another word size (wrong ELF class)"},
    {"invalid ELF header", "the file is no ELF shared object"},
    {"symbol lookup error", NULL},
    {"error while loading shared libraries", NULL},
    {"cannot be preloaded", NULL},
};

/* jemalloc; mimalloc (only with show_errors); scudo. */
static const struct pattern tunable_patterns[] = {
    {"<jemalloc>: Invalid conf", NULL}, {"<jemalloc>: Malformed conf", NULL},
    {"<jemalloc>: Conf string", NULL},  {"has an invalid value", NULL},
    {"unrecognized flag", NULL},        {"Scudo ERROR: invalid value", NULL},
};

static const struct pattern machine_patterns[] = {
    {"Unsupported system page size",
     "the library was built for another page size than this machine's"},
};

static const char *line_at(const char *text, const char *at)
{
    static char line[512];
    const char *begin = at;
    while (begin > text && begin[-1] != '\n')
        begin--;
    (void)snprintf(line, sizeof line, "%.*s", (int)strcspn(begin, "\n"), begin);
    return line;
}

static const char *match(const struct pattern *patterns, size_t count, const char *text)
{
    for (size_t i = 0; text != NULL && i < count; i++) {
        const char *at = strstr(text, patterns[i].part);
        if (at != NULL)
            return patterns[i].meaning != NULL ? patterns[i].meaning : line_at(text, at);
    }
    return NULL;
}

#define MATCH(patterns, text) match(patterns, sizeof(patterns) / sizeof((patterns)[0]), text)

const char *fb_complaint_of_preload(const char *text)
{
    return MATCH(preload_patterns, text);
}

const char *fb_complaint_of_tunable(const char *text)
{
    return MATCH(tunable_patterns, text);
}

const char *fb_complaint_of_machine(const char *text)
{
    return MATCH(machine_patterns, text);
}
