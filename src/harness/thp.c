/* Transparent huge pages: what the system does, and how a cell is brought to what was asked. */
#include "harness/run.h"

#include "harness/proc.h"

#include <string.h>

const char *fb_thp_enabled(char *buffer, size_t size)
{
    char text[128];
    const char *open = NULL;
    if (fb_proc_read("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text, NULL) == 0)
        open = strchr(text, '[');
    size_t length = open != NULL ? strcspn(open + 1, "]") : 0;
    if (length == 0 || length >= size) {
        open = "[never";
        length = 5;
    }
    memcpy(buffer, open + 1, length);
    buffer[length] = '\0';
    return buffer;
}

enum fb_thp_plan fb_thp_plan_of(const char *wanted, const char *enabled)
{
    if (wanted != NULL && strcmp(wanted, "never") == 0)
        return FB_THP_OFF;
    bool advised = wanted == NULL || strcmp(wanted, "advised") == 0;
    return advised && strcmp(enabled, "always") == 0 ? FB_THP_EXCEPT_ADVISED : FB_THP_LEAVE;
}

const char *fb_thp_used(enum fb_thp_plan plan, bool fell_back, const char *enabled)
{
    if (plan == FB_THP_OFF && !fell_back)
        return "never";
    if (plan == FB_THP_EXCEPT_ADVISED)
        return fell_back ? "off (no except-advised)" : "advised";
    /* Left as the system has it: a process cannot raise it. */
    if (strcmp(enabled, "madvise") == 0)
        return "advised";
    return strcmp(enabled, "always") == 0 ? "always" : "never";
}
