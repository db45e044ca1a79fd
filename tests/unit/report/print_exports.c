/* Writes each format of each hand-made document into a folder: DIR/DOCUMENT.FORMAT, for
 * tests/formats/validate.py. Usage: print_exports DIR */
#include "documents.h"

#include "base/alloc.h"
#include "report/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int write_one(const char *folder, const char *name, const struct sheaf *sheaf,
                     const char *format)
{
    char *path = fb_format("%s/%s.%s", folder, name, format);
    char *text = sheaf_export(sheaf, format);
    FILE *file = fopen(path, "we");
    int status = file == NULL;
    if (file != NULL) {
        (void)fputs(text, file);
        status = fclose(file) != 0;
    }
    free(text);
    free(path);
    return status;
}

static int write_all(const char *folder, const char *name, struct sheaf *sheaf)
{
    int status = 0;
    for (size_t i = 0; i < fb_export_count; i++)
        status |= write_one(folder, name, sheaf, fb_exports[i].name);
    sheaf_deinit(sheaf);
    return status;
}

int main(int argc, char **argv)
{
    struct sheaf sheaf;
    if (argc != 2)
        return 2;
    (void)mkdir(argv[1], 0777);
    sheaf_run(&sheaf);
    int status = write_all(argv[1], "run", &sheaf);
    sheaf_run(&sheaf);
    sheaf_make_nasty(&sheaf);
    status |= write_all(argv[1], "run-nasty", &sheaf);
    sheaf_comparison(&sheaf, 2);
    status |= write_all(argv[1], "comparison", &sheaf);
    sheaf_comparison(&sheaf, 3);
    sheaf_make_nasty(&sheaf);
    status |= write_all(argv[1], "comparison-nasty", &sheaf);
    if (status != 0)
        perror(argv[1]);
    return status;
}
