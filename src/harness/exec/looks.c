/* Looking into the processes: which executable, who answers malloc, what is worth a note. */
#include "harness/exec/session.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "harness/run.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOOKS_MAX = 200,         /* at a process that ld.so has not finished with: some seconds */
    SHARE_THAT_MATTERS = 10, /* a tenth of the peak: less is a helper and gets a note only */
    AGAIN_SHARE = 100,       /* looking again takes 1 % of the time at most */
};
#define AGAIN_NS UINT64_C(250000000)

static struct fb_session_program *find_program(struct fb_session *session, const char *name,
                                               const char *answered_by)
{
    for (size_t i = 0; i < session->program_count; i++) {
        struct fb_session_program *program = &session->programs[i];
        bool same_by = program->answered_by == NULL || answered_by == NULL
                           ? program->answered_by == answered_by
                           : strcmp(program->answered_by, answered_by) == 0;
        if (same_by && strcmp(program->name, name) == 0)
            return program;
    }
    session->programs =
        fb_realloc(session->programs, session->program_count + 1, sizeof *session->programs);
    struct fb_session_program *added = &session->programs[session->program_count++];
    *added = (struct fb_session_program){.name = fb_strdup(name),
                                         .answered_by =
                                             answered_by != NULL ? fb_strdup(answered_by) : NULL};
    return added;
}

static void take_notes(struct fb_session *session, struct fb_exec_answer *answer)
{
    for (size_t i = 0; i < answer->note_count; i++)
        fb_session_note(session, answer->notes[i]);
    free(answer->notes);
    answer->notes = NULL;
    answer->note_count = 0;
}

static void settle(struct fb_session *session, struct fb_process *process,
                   struct fb_exec_answer *answer)
{
    struct fb_session_program *program = find_program(session, process->title, answer->by);
    program->processes++;
    if (program->why == NULL && answer->why != NULL)
        program->why = fb_strdup(answer->why);
    if (process->pid == session->keeper.leader && answer->kind == FB_ANSWER_ASKED)
        session->leader_proven = true;
    process->settled = true;
    process->replaced = false;
}

static void look_at(struct fb_session *session, struct fb_process *process, bool thorough)
{
    const struct fb_answer_question question = {.objects = session->request->objects,
                                                .contender = session->request->contender,
                                                .program = process->title,
                                                .environment = session->environment,
                                                .thorough = thorough};
    struct fb_exec_answer answer;
    fb_answer_look(process->pid, &question, &answer);
    process->looks++;
    process->objects = answer.object_count;
    bool known = answer.kind != FB_ANSWER_UNKNOWN;
    if (known || thorough || !answer.early)
        take_notes(session, &answer);
    if (!process->settled && (known || !answer.early || process->looks >= LOOKS_MAX))
        settle(session, process, &answer);
    fb_answer_deinit(&answer);
}

/* Interpreters load most of what matters after their start: node its native modules, Python numpy.
 * A program that ends by itself leaves no process for the thorough look at its end. */
static void look_again(struct fb_session *session, struct fb_process *process)
{
    size_t before = process->objects;
    look_at(session, process, false);
    if (process->objects > before)
        look_at(session, process, true);
}

/* A fork of a process that was looked into is the same again. */
static bool is_copy(const struct fb_session *session, const struct fb_process *process)
{
    const struct fb_process *parent = fb_family_find(&session->family, process->parent);
    return parent != NULL && parent->settled && process->looks == 0 &&
           strcmp(parent->program, process->program) == 0;
}

static void note_peaks(struct fb_session *session)
{
    for (size_t i = 0; i < session->family.count; i++) {
        const struct fb_process *process = &session->family.members[i];
        for (size_t j = 0; j < session->program_count; j++) {
            struct fb_session_program *program = &session->programs[j];
            if (strcmp(program->name, process->title) == 0 &&
                process->anon_bytes > program->peak_bytes)
                program->peak_bytes = process->anon_bytes;
        }
    }
}

static void space_out(struct fb_session *session, uint64_t began_ns)
{
    uint64_t rest_ns = (fb_clock_spent_ns() - began_ns) * AGAIN_SHARE;
    session->next_again_ns = fb_clock_now_ns() + (rest_ns > AGAIN_NS ? rest_ns : AGAIN_NS);
}

void fb_session_look(struct fb_session *session, bool thorough)
{
    uint64_t began_ns = fb_clock_spent_ns();
    bool again = !thorough && fb_clock_now_ns() >= session->next_again_ns;
    for (size_t i = 0; i < session->family.count; i++) {
        struct fb_process *process = &session->family.members[i];
        if (process->zombie || process->borrowed || process->program[0] == '\0')
            continue;
        if (process->settled && !thorough) {
            if (again)
                look_again(session, process);
            continue;
        }
        /* In between fork and exec a child looks like its parent; give it one scan. */
        if (!thorough && is_copy(session, process)) {
            process->looks++;
            continue;
        }
        look_at(session, process, thorough);
    }
    note_peaks(session);
    if (again)
        space_out(session, began_ns);
}

const char *fb_session_not_asked(const struct fb_session *session)
{
    for (size_t i = 0; i < session->program_count; i++) {
        const struct fb_session_program *program = &session->programs[i];
        if (program->why != NULL && program->peak_bytes >= session->peak_bytes / SHARE_THAT_MATTERS)
            return program->why;
    }
    return NULL;
}
