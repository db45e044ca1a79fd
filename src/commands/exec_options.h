/* The command line of `exec`. Strings stay argv's. */
#ifndef FB_COMMANDS_EXEC_OPTIONS_H
#define FB_COMMANDS_EXEC_OPTIONS_H

#include "commands/options.h"

#include <regex.h>

struct fb_exec_options {
    struct fb_run_options common; /* those that `run` has, too */
    char **command;               /* the program and its arguments, NULL-terminated */
    const char *name;             /* of the cells; the program's file name by default */
    unsigned ready_port;          /* 0 = none */
    const char *ready_text;       /* NULL = none */
    regex_t ready_line;           /* compiled; with ready_text */
    const char *driver;           /* NULL = none */
    uint64_t settle_ns, grace_ns;
    bool live;
};

/* Parses; on --help or a bad command line argp prints and ends the process (0 or 2). */
void fb_exec_options_parse(int argc, char **argv, struct fb_exec_options *out);
void fb_exec_options_deinit(struct fb_exec_options *options);

#endif
