#include "harness/exec/ready.h"

#include "base/alloc.h"
#include "harness/proc.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TABLE_MAX ((size_t)4 << 20)
#define LISTENING 0x0AUL /* TCP_LISTEN in include/net/tcp_states.h */
enum { INODES_MAX = 16 };

/* The text after `words` words, or NULL where the line ends before. */
static const char *skip_words(const char *at, unsigned words)
{
    for (; words > 0; words--) {
        at += strspn(at, " ");
        at += strcspn(at, " \n");
        if (*at != ' ')
            return NULL;
    }
    return at + strspn(at, " ");
}

/* "  0: 0100007F:18EB 00000000:0000 0A … uid timeout inode …": local port (of the second word) and
 * state (the fourth) in hexadecimal, the inode is the tenth. */
static bool parse_row(const char *row, unsigned *port, unsigned long *state, uint64_t *inode)
{
    char *end;
    const char *local = skip_words(row, 1), *letter = skip_words(row, 3),
               *number = skip_words(row, 9);
    const char *colon = local != NULL ? strchr(local, ':') : NULL;
    if (colon == NULL || letter == NULL || number == NULL || colon > letter)
        return false;
    *port = (unsigned)strtoul(colon + 1, &end, 16);
    if (*end != ' ')
        return false;
    *state = strtoul(letter, &end, 16);
    *inode = strtoull(number, NULL, 10);
    return *end == ' ';
}

size_t fb_ready_listeners(const char *text, unsigned port, uint64_t *inodes, size_t room)
{
    size_t found = 0;
    while (*text != '\0') {
        unsigned local = 0;
        unsigned long state = 0;
        uint64_t inode = 0;
        if (parse_row(text, &local, &state, &inode) && local == port && state == LISTENING) {
            if (found < room)
                inodes[found] = inode;
            found++;
        }
        size_t length = strcspn(text, "\n");
        text += length + (text[length] == '\n');
    }
    return found;
}

static size_t listeners_of(pid_t pid, unsigned port, uint64_t *inodes)
{
    static const char *const tables[] = {"tcp", "tcp6"};
    char path[64], *text = fb_alloc(TABLE_MAX, 1);
    size_t found = 0;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        (void)snprintf(path, sizeof path, "/proc/%ld/net/%s", (long)pid, tables[i]);
        if (fb_proc_read(path, text, TABLE_MAX, NULL) == 0)
            found += fb_ready_listeners(text, port, inodes + found, INODES_MAX / 2);
        if (found > INODES_MAX / 2)
            found = INODES_MAX / 2;
    }
    free(text);
    return found;
}

static bool holds_socket(pid_t pid, const uint64_t *inodes, size_t count)
{
    char path[64], link[sizeof path + 300], target[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    DIR *folder = opendir(path);
    bool found = false;
    if (folder == NULL)
        return false;
    for (const struct dirent *entry = readdir(folder); entry != NULL && !found;
         entry = readdir(folder)) {
        (void)snprintf(link, sizeof link, "%s/%s", path, entry->d_name);
        ssize_t length = readlink(link, target, sizeof target - 1);
        if (length <= 0)
            continue;
        target[length] = '\0';
        bool socket = strncmp(target, "socket:[", 8) == 0;
        for (size_t i = 0; socket && i < count; i++)
            found = found || strtoull(target + 8, NULL, 10) == inodes[i];
    }
    (void)closedir(folder);
    return found;
}

bool fb_ready_port(const struct fb_family *family, unsigned port, bool *stranger)
{
    uint64_t inodes[INODES_MAX];
    *stranger = false;
    for (size_t i = 0; i < family->count; i++) {
        /* The table is that of the process's network namespace. */
        size_t count = listeners_of(family->members[i].pid, port, inodes);
        for (size_t j = 0; count > 0 && j < family->count; j++)
            if (holds_socket(family->members[j].pid, inodes, count))
                return true;
        *stranger = *stranger || count > 0;
        if (count > 0)
            return false;
    }
    return false;
}

static bool line_matches(struct fb_ready_log *log, const regex_t *wanted)
{
    log->line[log->length] = '\0';
    log->length = 0;
    return regexec(wanted, log->line, 0, NULL, 0) == 0;
}

bool fb_ready_line(struct fb_ready_log *log, const regex_t *wanted)
{
    char piece[4096];
    ssize_t got;
    while ((got = pread(log->fd, piece, sizeof piece, (off_t)log->offset)) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            log->offset++;
            if (piece[i] == '\n') {
                if (line_matches(log, wanted))
                    return true;
            } else if (log->length < sizeof log->line - 1) {
                log->line[log->length++] = piece[i];
            }
        }
    }
    return false;
}
