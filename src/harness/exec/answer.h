/* Who answers malloc in a process, and what does not pass malloc at all.
 *
 * The first object in ld.so's order that exports malloc answers for all objects, with exceptions
 * that only a look at the objects' bound addresses shows: a library loaded with RTLD_DEEPBIND or
 * linked -Bsymbolic calls another one. Sentences for people say what was found and what to do.
 */
#ifndef FB_HARNESS_EXEC_ANSWER_H
#define FB_HARNESS_EXEC_ANSWER_H

#include "harness/contender.h"
#include "harness/exec/binary.h"
#include "harness/exec/linkmap.h"

#include <stdbool.h>
#include <sys/types.h>

enum fb_answer_kind {
    FB_ANSWER_ASKED = 0, /* the asked allocator */
    FB_ANSWER_OTHER,     /* another one; why says which, and what to do */
    FB_ANSWER_UNKNOWN,   /* cannot be told, or not yet */
};

struct fb_exec_answer {
    enum fb_answer_kind kind;
    bool early;          /* UNKNOWN for the moment: look again */
    char *by;            /* the object that answers; NULL: none known */
    char *why;           /* of OTHER */
    size_t object_count; /* in ld.so's list; 0: not read */
    char **notes;        /* of any kind */
    size_t note_count;
};

/* What is looked for. */
struct fb_answer_question {
    struct fb_binaries *objects; /* the cache */
    const struct fb_contender *contender;
    const char *program;      /* as it is called in sentences */
    char *const *environment; /* that the program was started with */
    bool thorough;            /* bound addresses, too: some ms in a program of many libraries */
};

/* Of a running process. */
void fb_answer_look(pid_t pid, const struct fb_answer_question *question,
                    struct fb_exec_answer *out);
/* Of a program that is not running yet, by its file alone: what can be said before a run is spent
 * on it. UNKNOWN where nothing speaks against it. */
void fb_answer_foresee(const char *path, const struct fb_answer_question *question,
                       struct fb_exec_answer *out);
/* The rule on a list of objects, for tests: as fb_answer_look() without a process. */
void fb_answer_judge(const struct fb_linkmap *map, const struct fb_answer_question *question,
                     struct fb_exec_answer *out);
void fb_answer_deinit(struct fb_exec_answer *answer);

/* The library that counts live bytes stands before the allocator and hands on to it. */
#define FB_LIVE_LIBRARY "libfragbench-live.so"

#endif
