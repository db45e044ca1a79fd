#include "harness/ending.h"

#include "base/alloc.h"
#include "base/units.h"
#include "harness/complaint.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* "in phase serve at op 12,345", or how early it was. New string. */
static char *place_of(const struct fb_ending *ending, uint64_t op)
{
    char number[32];
    if (!ending->ready)
        return fb_strdup("before the first op");
    if (ending->phase_name == NULL)
        return fb_format("at op %s", fb_units_count(op, number, sizeof number));
    return fb_format("in phase %s at op %s", ending->phase_name,
                     fb_units_count(op, number, sizeof number));
}

/* The last line it printed, which most allocators end with: new string, ": …" or "". */
static char *last_words(const char *text)
{
    size_t length = text != NULL ? strlen(text) : 0;
    while (length > 0 && text[length - 1] == '\n')
        length--;
    if (length == 0)
        return fb_strdup("");
    size_t begin = length;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    if (length - begin > 200)
        length = begin + 200;
    return fb_format(": %.*s", (int)(length - begin), text + begin);
}

static enum fb_status killed(const struct fb_ending *ending, const char *place, char **detail)
{
    if (ending->oom_known && !ending->oom_moved) {
        *detail = fb_format("killed from outside by SIGKILL %s; the kernel's OOM killer has not "
                            "been at work",
                            place);
        return FB_STATUS_CRASHED;
    }
    *detail = ending->oom_known
                  ? fb_format("ended by the kernel's OOM killer %s", place)
                  : fb_format("killed by SIGKILL %s, not by fragbench: most likely the kernel's "
                              "OOM killer",
                              place);
    return FB_STATUS_OOM_KILLED;
}

static enum fb_status judge_signal(const struct fb_ending *ending, int number, char **detail)
{
    const char *machine = fb_complaint_of_machine(ending->text);
    if (machine != NULL && number == SIGABRT) {
        *detail = fb_strdup(machine);
        return FB_STATUS_UNSUPPORTED;
    }
    char *place = place_of(ending, ending->op_index);
    enum fb_status status = FB_STATUS_CRASHED;
    if (number == SIGKILL) {
        status = killed(ending, place, detail);
    } else {
        const char *name = sigabbrev_np(number);
        char *words = last_words(ending->text);
        *detail = fb_format("SIG%s %s%s", name != NULL ? name : "?", place, words);
        free(words);
    }
    free(place);
    return status;
}

static enum fb_status judge_early(const struct fb_ending *ending, int code, char **detail)
{
    const char *preload = fb_complaint_of_preload(ending->text);
    if (preload != NULL) {
        *detail = fb_strdup(preload);
        return FB_STATUS_NOT_PRELOADED;
    }
    char *place = place_of(ending, ending->op_index);
    char *words = last_words(ending->text);
    *detail = fb_format("the process ended with exit code %d %s%s", code, place, words);
    free(place);
    free(words);
    return FB_STATUS_CRASHED;
}

static enum fb_status judge_refused(const struct fb_ending *ending, char **detail)
{
    char calls[32], bytes[32];
    if (ending->refused_calls == 0)
        return FB_STATUS_OK;
    *detail = fb_format("%s allocations of %s in total were refused: equal work was not done",
                        fb_units_count(ending->refused_calls, calls, sizeof calls),
                        fb_units_bytes(ending->refused_bytes, bytes, sizeof bytes));
    return FB_STATUS_REFUSED;
}

static const struct {
    enum fb_status status;
    const char *what;
} worker_faults[] = {
    [FB_WORKER_CORRUPTED] = {FB_STATUS_CORRUPTED, "memory was overwritten"},
    [FB_WORKER_REFUSED] = {FB_STATUS_REFUSED, "refused where the phase says on_refusal: fail"},
    [FB_WORKER_BAD_TRACE] = {FB_STATUS_CRASHED, "the trace is damaged"},
    [FB_WORKER_OS_ERROR] = {FB_STATUS_CRASHED, "the system refused"},
};

static enum fb_status judge_fault(const struct fb_ending *ending, char **detail)
{
    char *place = place_of(ending, ending->fault_op);
    bool system = ending->end == FB_WORKER_OS_ERROR && ending->fault_errno != 0;
    *detail = fb_format("%s %s: %s%s%s", worker_faults[ending->end].what, place, ending->fault_text,
                        system ? ": " : "", system ? strerror(ending->fault_errno) : "");
    free(place);
    return worker_faults[ending->end].status;
}

enum fb_status fb_ending_judge(const struct fb_ending *ending, char **detail)
{
    *detail = NULL;
    if (WIFSIGNALED(ending->wait_status))
        return judge_signal(ending, WTERMSIG(ending->wait_status), detail);
    if (ending->end == FB_WORKER_DONE && WEXITSTATUS(ending->wait_status) == 0)
        return judge_refused(ending, detail);
    if (ending->end > FB_WORKER_DONE && ending->end <= FB_WORKER_OS_ERROR)
        return judge_fault(ending, detail);
    return judge_early(ending, WEXITSTATUS(ending->wait_status), detail);
}
