#include "harness/exec/fate.h"

#include "base/alloc.h"
#include "harness/complaint.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { LINES = 3, WORDS_MAX = 400 };

static const char *const places[] = {
    [FB_FATE_STARTING] = "before it was ready",
    [FB_FATE_WORKING] = "at work",
    [FB_FATE_SETTLING] = "while idle",
    [FB_FATE_STOPPING] = "when asked to end",
};

/* The last lines of a log, joined: ": a | b | c", or "" for an empty log. New string. */
static char *last_words(const char *text)
{
    size_t length = text != NULL ? strlen(text) : 0;
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        length--;
    if (length == 0)
        return fb_strdup("");
    size_t begin = length;
    for (int lines = 0; begin > 0 && length - begin < WORDS_MAX; begin--)
        if (text[begin - 1] == '\n' && ++lines == LINES)
            break;
    char *words = fb_format("; it said: %.*s", (int)(length - begin), text + begin);
    for (char *at = words; *at != '\0'; at++)
        if (*at == '\n' || *at == '\t' || *at == '\r')
            *at = *at == '\n' ? '|' : ' ';
    return words;
}

/* "exit code 3", "SIGSEGV". New string. */
static char *ending_of(int wait_status)
{
    if (!WIFSIGNALED(wait_status))
        return fb_format("exit code %d", WEXITSTATUS(wait_status));
    const char *name = sigabbrev_np(WTERMSIG(wait_status));
    return name != NULL ? fb_format("SIG%s", name) : fb_format("signal %d", WTERMSIG(wait_status));
}

static bool is_success(int wait_status)
{
    return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
}

static enum fb_status crashed(const char *who, int wait_status, const char *place, const char *text,
                              char **detail)
{
    char *ending = ending_of(wait_status), *words = last_words(text);
    *detail = fb_format("%s ended %s with %s%s", who, place, ending, words);
    free(ending);
    free(words);
    return FB_STATUS_CRASHED;
}

static enum fb_status judge_kill(const struct fb_fate *fate, char **detail)
{
    const char *place = places[fate->stage];
    if (fate->oom_known && !fate->oom_moved) {
        *detail = fb_format("%s was killed %s by SIGKILL from outside; the kernel's OOM killer has "
                            "not been at work",
                            fate->name, place);
        return FB_STATUS_CRASHED;
    }
    *detail = fb_format("%s was killed %s by SIGKILL, not by fragbench: %s the kernel's OOM killer",
                        fate->name, place, fate->oom_known ? "by" : "most likely by");
    return FB_STATUS_OOM_KILLED;
}

/* Asked by SIGTERM to end, a program may die of it or end with a code of its choice. */
static bool ends_as_asked(const struct fb_fate *fate)
{
    return fate->stage == FB_FATE_STOPPING &&
           (WIFEXITED(fate->wait_status) || WTERMSIG(fate->wait_status) == SIGTERM);
}

static enum fb_status judge_program(const struct fb_fate *fate, char **detail)
{
    bool killed = WIFSIGNALED(fate->wait_status) && WTERMSIG(fate->wait_status) == SIGKILL;
    if (!fate->ended || ends_as_asked(fate))
        return FB_STATUS_OK;
    if (killed)
        return judge_kill(fate, detail);
    bool too_early = fate->stage == FB_FATE_STARTING && fate->waits_for_ready;
    if (is_success(fate->wait_status) && !too_early)
        return FB_STATUS_OK;
    return crashed(fate->name, fate->wait_status, places[fate->stage], fate->text, detail);
}

/* Of other libraries that are missing the program speaks itself; helpers that cannot take the
 * preload are the looks' business. */
static const char *preload_complaint(const struct fb_fate *fate)
{
    bool ours = fate->head != NULL && fate->library != NULL && !fate->proven &&
                strstr(fate->head, fate->library) != NULL;
    return ours ? fb_complaint_of_preload(fate->head) : NULL;
}

static bool judge_complaints(const struct fb_fate *fate, enum fb_status *status, char **detail)
{
    const char *preload = preload_complaint(fate);
    const char *machine = fb_complaint_of_machine(fate->head);
    const char *tunable = fate->tunables ? fb_complaint_of_tunable(fate->head) : NULL;
    const struct {
        const char *text;
        enum fb_status status;
    } found[] = {{machine, FB_STATUS_UNSUPPORTED},
                 {preload, FB_STATUS_NOT_PRELOADED},
                 {tunable, FB_STATUS_BAD_TUNABLE}};
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        if (found[i].text == NULL)
            continue;
        *status = found[i].status;
        *detail = fb_strdup(found[i].text);
        return true;
    }
    return false;
}

enum fb_status fb_fate_judge(const struct fb_fate *fate, char **detail)
{
    enum fb_status status = FB_STATUS_OK;
    *detail = NULL;
    if (judge_complaints(fate, &status, detail))
        return status;
    status = judge_program(fate, detail);
    if (status != FB_STATUS_OK)
        return status;
    if (fate->driver_ended && !is_success(fate->driver_status))
        return crashed("the driver", fate->driver_status, "its work", fate->driver_text, detail);
    if (fate->not_asked != NULL) {
        *detail = fb_strdup(fate->not_asked);
        return FB_STATUS_NOT_PRELOADED;
    }
    return FB_STATUS_OK;
}
