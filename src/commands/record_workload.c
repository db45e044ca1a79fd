#include "commands/record_workload.h"

#include "base/alloc.h"
#include "base/units.h"
#include "commands/locate.h"
#include "commands/message.h"
#include "workload/fit.h"
#include "workload/replica.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_CAP_BYTES ((size_t)1 << 21)
#define LONG_FIT_EVENTS 1000000U /* takes long enough to be announced */

int fb_record_workload_check(const char *path, bool force, struct fb_error *err)
{
    size_t length = strlen(path);
    if (length < 6 || strcmp(path + length - 5, ".yaml") != 0)
        return fb_fail(err, FB_ERROR_INPUT, "--workload %s: name a file that ends in .yaml", path);
    if (!force && access(path, F_OK) == 0)
        return fb_fail(err, FB_ERROR_INPUT, "%s is there already; -f replaces it", path);
    return 0;
}

static struct fb_workload *load(const char *path, struct fb_error *err)
{
    struct fb_diagnostics diagnostics;
    struct fb_workload *workload = NULL;
    fb_diagnostics_init(&diagnostics);
    if (fb_workload_load(path, NULL, 0, &workload, &diagnostics) != 0) {
        (void)fb_fail(err, FB_ERROR_INPUT, "%s: %s", path, diagnostics.items[0].text);
    } else if (workload->replica == NULL) {
        (void)fb_fail(err, FB_ERROR_INPUT, "%s: a workload already; --from takes a recording",
                      path);
        fb_workload_free(workload);
        workload = NULL;
    }
    fb_diagnostics_deinit(&diagnostics);
    return workload;
}

/* Under a name of its own until it is whole. */
static int write_file(const char *path, const struct fb_buf *text, struct fb_error *err)
{
    char *part = fb_format("%s.part-%ld", path, (long)getpid());
    FILE *file = fopen(part, "we");
    bool whole = file != NULL && fwrite(text->text, 1, text->length, file) == text->length;
    whole = file != NULL && fclose(file) == 0 && whole && rename(part, path) == 0;
    int status = whole ? 0 : fb_fail_errno(err, "cannot write %s", path);
    if (!whole)
        (void)unlink(part);
    free(part);
    return status;
}

static void tell(const char *path, const struct fb_fit_report *report)
{
    char recorded[48], fitted[48];
    double recorded_bytes =
        (double)(report->recorded_peak_bytes > 0 ? report->recorded_peak_bytes : 1);
    fb_message_note("%s: %zu phases, %zu classes; peak live %s, the recording's %s (%+.1f %%)",
                    path, report->phases, report->classes,
                    fb_units_bytes(report->peak_bytes, fitted, sizeof fitted),
                    fb_units_bytes(report->recorded_peak_bytes, recorded, sizeof recorded),
                    100.0 * ((double)report->peak_bytes - (double)report->recorded_peak_bytes) /
                        recorded_bytes);
}

int fb_record_workload(const char *recording, const char *path, struct fb_error *err)
{
    struct fb_workload *workload = load(recording, err);
    struct fb_fit_report report;
    struct fb_buf text;
    if (workload == NULL)
        return -1;
    char *name = fb_locate_name(path);
    fb_buf_init(&text, TEXT_CAP_BYTES);
    if (workload->replica->event_count > LONG_FIT_EVENTS)
        fb_message_note("fitting %s: some seconds a million calls", path);
    int status = fb_fit_make(workload, name, &text, &report, err);
    if (status == 0)
        status = write_file(path, &text, err);
    if (status == 0)
        tell(path, &report);
    fb_buf_deinit(&text);
    free(name);
    fb_workload_free(workload);
    return status;
}
