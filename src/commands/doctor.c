#include "commands/columns.h"
#include "commands/commands.h"
#include "commands/exit_code.h"
#include "harness/host.h"

#include <argp.h>
#include <stdio.h>

static const char *const marks[] = {
    [FB_FINDING_OK] = "ok",
    [FB_FINDING_NOTE] = "note",
    [FB_FINDING_PROBLEM] = "PROBLEM",
};

static void print_findings(const struct fb_doctor_findings *findings)
{
    struct fb_columns columns;
    fb_columns_init(&columns, "lll");
    for (size_t i = 0; i < findings->count; i++) {
        const struct fb_doctor_finding *finding = &findings->items[i];
        fb_columns_add(&columns,
                       (const char *const[]){marks[finding->level], finding->topic, finding->text});
        if (finding->advice != NULL)
            fb_columns_add(&columns, (const char *const[]){"", "", finding->advice});
    }
    fb_columns_print(&columns, "", stdout);
    fb_columns_deinit(&columns);
}

static size_t count_problems(const struct fb_doctor_findings *findings)
{
    size_t problems = 0;
    for (size_t i = 0; i < findings->count; i++)
        problems += findings->items[i].level == FB_FINDING_PROBLEM;
    return problems;
}

int cmd_doctor(int argc, char **argv)
{
    static const struct argp argp = {
        .doc = "Try what this machine can measure: allocators, exactness of the counters, huge "
               "pages, permissions. Exit code 3 when something needed does not work.",
        .help_filter = fb_exit_help_filter,
    };
    struct fb_doctor_findings findings = {0};
    (void)argp_parse(&argp, argc, argv, 0, NULL, NULL);
    fb_doctor(&findings);
    print_findings(&findings);
    unsigned happened = count_problems(&findings) > 0 ? FB_HAPPENED_IO : 0;
    fb_doctor_findings_deinit(&findings);
    return fb_exit_code(happened, 0);
}
