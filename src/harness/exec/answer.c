#include "harness/exec/answer.h"

#include "base/alloc.h"
#include "harness/exec/pools.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool is_libc(const char *path)
{
    const char *name = file_name(path);
    return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-", 5) == 0;
}

static bool is_live_library(const char *path)
{
    return strcmp(file_name(path), FB_LIVE_LIBRARY) == 0;
}

static bool same_file(const char *a, const char *b)
{
    struct stat first, second;
    if (strcmp(a, b) == 0)
        return true;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

static bool is_asked(const struct fb_contender *contender, const char *path)
{
    return contender->path != NULL ? same_file(contender->path, path) : is_libc(path);
}

static void add_note(struct fb_exec_answer *answer, char *text)
{
    answer->notes = fb_realloc(answer->notes, answer->note_count + 1, sizeof(char *));
    answer->notes[answer->note_count++] = text;
}

void fb_answer_deinit(struct fb_exec_answer *answer)
{
    free(answer->by);
    free(answer->why);
    for (size_t i = 0; i < answer->note_count; i++)
        free(answer->notes[i]);
    free(answer->notes);
    *answer = (struct fb_exec_answer){0};
}

/* Nothing to preload is asked for: then what cannot be preloaded into is fine, but said. */
static void cannot_preload(const struct fb_answer_question *question, struct fb_exec_answer *out,
                           char *why)
{
    if (question->contender->path == NULL) {
        out->kind = FB_ANSWER_ASKED;
        add_note(out, fb_format("%s; it ran as it is, with whatever allocator it has", why));
        free(why);
        return;
    }
    out->kind = FB_ANSWER_OTHER;
    out->why = why;
}

static char *why_static(const char *program, const struct fb_binary *object)
{
    if ((object->inside & (1U << FB_INSIDE_GO)) != 0)
        return fb_format("%s is a Go program without C parts: its memory comes from the Go "
                         "runtime, which no preloaded library reaches (GOGC and GOMEMLIMIT are "
                         "its tunables)",
                         program);
    return fb_format("%s is statically linked: ld.so has no part in its start, so nothing can be "
                     "preloaded; link it dynamically",
                     program);
}

static char *why_secure(const char *program)
{
    return fb_format("%s runs with raised privileges (setuid, setgid or file capabilities): ld.so "
                     "ignores LD_PRELOAD then; measure a copy without them",
                     program);
}

static char *not_allowed(const char *program)
{
    return fb_format("%s may not be looked into (it has rights that fragbench has not): which "
                     "allocator answered is not proven",
                     program);
}

static char *why_foreign(const char *program)
{
    return fb_format("%s is built for another word size than the allocator", program);
}

/* Another object answers: which, and where it comes from. */
static char *why_other(const struct fb_linkmap *map, size_t winner,
                       const struct fb_answer_question *question)
{
    const char *by = map->objects[winner].path;
    if (winner == 0)
        return fb_format("%s has a malloc of its own built in, which comes before any preloaded "
                         "one; build it without",
                         question->program);
    const char *asked = NULL;
    for (size_t i = 0; i < map->count && asked == NULL; i++)
        if (is_asked(question->contender, map->objects[i].path))
            asked = map->objects[i].path;
    if (asked != NULL && question->contender->path == NULL)
        return fb_format("in %s malloc is answered by %s, which comes before libc's; -a libc=%s "
                         "preloads libc's before it",
                         question->program, by, asked);
    if (asked != NULL)
        return fb_format("in %s malloc is answered by %s, which comes before %s; take it out of "
                         "LD_PRELOAD, or the program's link to it out of its build",
                         question->program, by, file_name(asked));
    return fb_format("in %s malloc is answered by %s: the allocator was not loaded, as when a "
                     "parent clears the environment (LD_PRELOAD)",
                     question->program, by);
}

static const struct fb_binary *object_at(const struct fb_linkmap *map, size_t index,
                                         const struct fb_answer_question *question)
{
    const char *path = map->objects[index].path;
    return fb_binaries_get(question->objects, path, path);
}

static void note_inside(const struct fb_linkmap *map, size_t index,
                        const struct fb_answer_question *question, struct fb_exec_answer *out)
{
    const struct fb_binary *object = object_at(map, index, question);
    if (object->defines_malloc || is_live_library(object->path))
        return; /* it answers malloc, or would: no second allocator */
    for (int i = 0; i < FB_INSIDE_COUNT; i++)
        if ((object->inside & (1U << i)) != 0)
            add_note(out, fb_format("%s has %s inside, used by names of its own: that part of its "
                                    "memory is the same under every allocator",
                                    file_name(object->path), fb_inside_names[i]));
}

static void note_objects(const struct fb_linkmap *map, size_t winner,
                         const struct fb_answer_question *question, struct fb_exec_answer *out)
{
    for (size_t i = 0; i < map->count; i++) {
        const char *pool = fb_pool_note(file_name(map->objects[i].path), question->environment);
        if (i != winner)
            note_inside(map, i, question, out);
        if (pool != NULL)
            add_note(out, fb_strdup(pool));
    }
}

void fb_answer_judge(const struct fb_linkmap *map, const struct fb_answer_question *question,
                     struct fb_exec_answer *out)
{
    *out = (struct fb_exec_answer){.kind = FB_ANSWER_UNKNOWN};
    size_t winner = 0;
    while (winner < map->count && (is_live_library(map->objects[winner].path) ||
                                   !object_at(map, winner, question)->defines_malloc))
        winner++;
    if (winner == map->count)
        return;
    out->by = fb_strdup(map->objects[winner].path);
    if (is_asked(question->contender, out->by)) {
        out->kind = FB_ANSWER_ASKED;
    } else {
        out->kind = FB_ANSWER_OTHER;
        out->why = why_other(map, winner, question);
    }
    note_objects(map, winner, question, out);
}

/* Where one object's malloc leads: an address in some mapping. */
struct binding {
    const char *object;
    uint64_t address;
    char *leads_to;
};

static size_t read_bindings(pid_t pid, const struct fb_linkmap *map,
                            const struct fb_answer_question *question, struct binding *out)
{
    size_t count = 0;
    for (size_t i = 0; i < map->count; i++) {
        const struct fb_binary *object = object_at(map, i, question);
        uint64_t address;
        for (size_t j = 0; j < object->slot_count; j++)
            if (fb_linkmap_peek(pid, map->objects[i].base + object->slots[j], &address,
                                sizeof address) == 0)
                out[count++] = (struct binding){map->objects[i].path, address, NULL};
    }
    return count;
}

/* "START-END PERM OFFSET DEVICE INODE   /path": numbers in hexadecimal. false: no file mapped. */
static bool parse_mapping(char *line, uint64_t *start, uint64_t *end, const char **path)
{
    char *at;
    *start = strtoull(line, &at, 16);
    if (*at != '-')
        return false;
    *end = strtoull(at + 1, &at, 16);
    char *slash = strchr(at, '/');
    if (slash == NULL)
        return false;
    slash[strcspn(slash, "\n")] = '\0';
    *path = slash;
    return true;
}

static void find_targets(pid_t pid, struct binding *bindings, size_t count)
{
    char file[64], *line = NULL;
    size_t size = 0;
    (void)snprintf(file, sizeof file, "/proc/%ld/maps", (long)pid);
    FILE *maps = fopen(file, "re");
    while (maps != NULL && getline(&line, &size, maps) > 0) {
        uint64_t start, end;
        const char *path;
        if (!parse_mapping(line, &start, &end, &path))
            continue;
        for (size_t i = 0; i < count; i++)
            if (bindings[i].leads_to == NULL && bindings[i].address >= start &&
                bindings[i].address < end)
                bindings[i].leads_to = fb_strdup(path);
    }
    free(line);
    if (maps != NULL)
        (void)fclose(maps);
}

/* A slot that leads into its own object waits for its first call (lazy binding), or is a -Bsymbolic
 * library's own malloc. */
static bool strays(const struct binding *binding, const struct fb_exec_answer *answer,
                   const struct fb_answer_question *question)
{
    const char *to = binding->leads_to;
    if (to == NULL || same_file(to, answer->by) || is_live_library(to))
        return false;
    if (same_file(to, binding->object)) {
        const struct fb_binary *own =
            fb_binaries_get(question->objects, binding->object, binding->object);
        return own->symbolic && own->defines_malloc;
    }
    /* libstdc++'s new and the like: not malloc itself */
    return fb_binaries_get(question->objects, to, to)->defines_malloc;
}

static void note_strays(pid_t pid, const struct fb_linkmap *map,
                        const struct fb_answer_question *question, struct fb_exec_answer *out)
{
    struct binding *bindings = fb_alloc(map->count * FB_BINARY_SLOTS + 1, sizeof *bindings);
    size_t count = read_bindings(pid, map, question, bindings);
    find_targets(pid, bindings, count);
    const char *last = NULL;
    for (size_t i = 0; i < count; i++) {
        if (bindings[i].object == last || !strays(&bindings[i], out, question))
            continue;
        last = bindings[i].object;
        add_note(out, fb_format("%s calls malloc in %s instead (loaded with RTLD_DEEPBIND, or "
                                "linked -Bsymbolic): its memory is the same under every allocator",
                                file_name(last), file_name(bindings[i].leads_to)));
    }
    for (size_t i = 0; i < count; i++)
        free(bindings[i].leads_to);
    free(bindings);
}

static const struct fb_binary *executable_of(pid_t pid, const struct fb_answer_question *question)
{
    char link[64], target[PATH_MAX] = "";
    (void)snprintf(link, sizeof link, "/proc/%ld/exe", (long)pid);
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length > 0)
        target[length] = '\0';
    return fb_binaries_get(question->objects, target, link);
}

void fb_answer_look(pid_t pid, const struct fb_answer_question *question,
                    struct fb_exec_answer *out)
{
    struct fb_linkmap map;
    *out = (struct fb_exec_answer){.kind = FB_ANSWER_UNKNOWN};
    fb_linkmap_read(pid, &map);
    if (map.kind == FB_LINKMAP_COMPLETE)
        fb_answer_judge(&map, question, out);
    else if (map.kind == FB_LINKMAP_STATIC)
        cannot_preload(question, out, why_static(question->program, executable_of(pid, question)));
    else if (map.kind == FB_LINKMAP_SECURE)
        cannot_preload(question, out, why_secure(question->program));
    else if (map.kind == FB_LINKMAP_FOREIGN)
        cannot_preload(question, out, why_foreign(question->program));
    else if (map.kind == FB_LINKMAP_UNREADABLE)
        add_note(out, not_allowed(question->program));
    else
        out->early = map.kind == FB_LINKMAP_EARLY;
    out->object_count = map.count;
    if (map.kind == FB_LINKMAP_COMPLETE && question->thorough && out->by != NULL)
        note_strays(pid, &map, question, out);
    fb_linkmap_deinit(&map);
}

/* The kernel raises privileges only where they would change something. */
static bool runs_secure(const char *path)
{
    struct stat status;
    char capabilities[64];
    if (stat(path, &status) != 0)
        return false;
    if (getxattr(path, "security.capability", capabilities, sizeof capabilities) > 0)
        return geteuid() != 0;
    return ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
           ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid());
}

void fb_answer_foresee(const char *path, const struct fb_answer_question *question,
                       struct fb_exec_answer *out)
{
    const struct fb_binary *object = fb_binaries_get(question->objects, path, path);
    *out = (struct fb_exec_answer){.kind = FB_ANSWER_UNKNOWN};
    if (!object->elf) /* a script: its interpreter is looked at when it runs */
        return;
    if (!object->is_64)
        cannot_preload(question, out, why_foreign(question->program));
    else if (object->interpreter[0] == '\0')
        cannot_preload(question, out, why_static(question->program, object));
    else if (runs_secure(path))
        cannot_preload(question, out, why_secure(question->program));
}
