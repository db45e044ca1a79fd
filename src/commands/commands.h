/* The sub-commands. Each takes its own argument vector (argv[0] is "fragbench NAME"),
 * prints its document on stdout and everything else on stderr, and returns the exit
 * code (commands/exit_code.h). argp ends the process itself for --help and for a bad
 * command line.
 */
#ifndef FB_COMMANDS_COMMANDS_H
#define FB_COMMANDS_COMMANDS_H

#include <stddef.h>

int cmd_run(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_exec(int argc, char **argv);

struct fb_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
};

/* Parses the options before the sub-command, runs the sub-command of the table and
 * flushes stdout. Returns the exit code of the process. */
int fb_commands_dispatch(const struct fb_command *table, size_t count, int argc, char **argv);

#endif
