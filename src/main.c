/* The sub-command table, nothing else. */
#include "commands/commands.h"

static const struct fb_command commands[] = {
    {"run", cmd_run, "run workloads under allocators, print a table, write a result folder"},
    {"check", cmd_check, "parse and validate workloads, print what they would do"},
    {"list", cmd_list, "what there is: allocators, workloads, metrics, keys"},
    {"exec", cmd_exec, "run a program of your own under allocators, measured from outside"},
    {"doctor", cmd_doctor, "what this machine can measure"},
};

int main(int argc, char **argv)
{
    return fb_commands_dispatch(commands, sizeof commands / sizeof commands[0], argc, argv);
}
