/* The sub-command table, nothing else. */
#include "commands/commands.h"

static const struct fb_command commands[] = {
    {"run", cmd_run, "run workloads under allocators, print a table, write a result folder"},
    {"merge", cmd_merge, "join the shards of a run (run --shard I/N) into one result"},
    {"compare", cmd_compare, "judge result sets, or allocators within one, against a base; gate"},
    {"plot", cmd_plot, "pictures of results, through gnuplot"},
    {"report", cmd_report, "write one HTML page from results"},
    {"check", cmd_check, "parse and validate workloads, print what they would do"},
    {"record", cmd_record, "run a program and record its allocations, for run to replay"},
    {"list", cmd_list, "what there is: allocators, workloads, metrics, keys"},
    {"exec", cmd_exec, "run a program of your own under allocators, measured from outside"},
    {"doctor", cmd_doctor, "what this machine can measure"},
};

int main(int argc, char **argv)
{
    return fb_commands_dispatch(commands, sizeof commands / sizeof commands[0], argc, argv);
}
