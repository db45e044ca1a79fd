/* Which version a library is. dpkg's files are read directly: dpkg-query takes some 50 ms a
 * question, and a machine without dpkg then needs no special case. */
#include "harness/library.h"

#include "base/alloc.h"

#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DPKG_FOLDER "/var/lib/dpkg"

static bool list_has(const char *list, const char *path)
{
    FILE *file = fopen(list, "re");
    if (file == NULL)
        return false;
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    ssize_t length;
    while (!found && (length = getline(&line, &size, file)) > 0) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        /* A merged /usr: the list may say /lib where the file is /usr/lib. */
        found = strcmp(line, path) == 0 ||
                (strncmp(path, "/usr/", 5) == 0 && strcmp(line, path + 4) == 0);
    }
    free(line);
    (void)fclose(file);
    return found;
}

static bool package_owns(const char *package, const char *path)
{
    static const char *const suffixes[] = {".list", ":*.list"}; /* :* is the architecture */
    bool owns = false;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0] && !owns; i++) {
        char *pattern = fb_format(DPKG_FOLDER "/info/%s%s", package, suffixes[i]);
        glob_t found;
        if (glob(pattern, 0, NULL, &found) == 0)
            for (size_t j = 0; j < found.gl_pathc && !owns; j++)
                owns = list_has(found.gl_pathv[j], path);
        globfree(&found);
        free(pattern);
    }
    return owns;
}

/* "Version:" of the stanza "Package: NAME" in dpkg's status file; NULL when there is none. */
static char *package_version(const char *package)
{
    FILE *file = fopen(DPKG_FOLDER "/status", "re");
    if (file == NULL)
        return NULL;
    char *line = NULL, *version = NULL;
    size_t size = 0;
    bool inside = false;
    while (version == NULL && getline(&line, &size, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "Package: ", 9) == 0)
            inside = strcmp(line + 9, package) == 0;
        else if (inside && strncmp(line, "Version: ", 9) == 0)
            version = fb_strdup(line + 9);
    }
    free(line);
    (void)fclose(file);
    return version;
}

static char *packaged_version(const char *path)
{
    for (size_t i = 0; i < fb_backend_count; i++) {
        const char *package = fb_backends[i].package;
        if (package != NULL && package_owns(package, path))
            return package_version(package);
    }
    return NULL;
}

/* What oneTBB ("TBBmalloc: VERSION\t\t2021.8\n") and our own libraries hold. */
static char *told_behind(const char *mark, const char *bytes, size_t size)
{
    const char *told = memmem(bytes, size, mark, strlen(mark));
    if (told == NULL)
        return NULL;
    told += strlen(mark);
    const char *end = memchr(told, '\n', (size_t)(bytes + size - told));
    return end == NULL ? NULL : fb_format("%.*s", (int)(end - told), told);
}

/* jemalloc holds "5.3.0-0-g54eaed1d…" (git describe). */
static char *told_in(const char *bytes, size_t size)
{
    static const char *const marks[] = {"TBBmalloc: VERSION\t\t",
                                        "fragbench allocator: VERSION\t\t"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        char *told = told_behind(marks[i], bytes, size);
        if (told != NULL)
            return told;
    }
    /* String by string, so that nothing reads beyond the mapping's end. */
    const char *at = bytes, *end;
    for (; (end = memchr(at, '\0', (size_t)(bytes + size - at))) != NULL; at = end + 1) {
        size_t length = isdigit((unsigned char)*at) ? strspn(at, "0123456789.") : 0;
        if (length < 5 || at[length] != '-')
            continue;
        const char *hash = at + length + 1 + strspn(at + length + 1, "0123456789");
        if (strncmp(hash, "-g", 2) == 0 && strspn(hash + 2, "0123456789abcdef") == 40)
            return fb_format("%.*s", (int)length, at);
    }
    return NULL;
}

static char *told_version(const char *path)
{
    struct stat status;
    char *version = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && status.st_size > 64) {
        size_t size = (size_t)status.st_size;
        void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            version = told_in(bytes, size);
            (void)munmap(bytes, size);
        }
    }
    (void)close(fd);
    return version;
}

char *fb_library_version(const char *path)
{
    char *version = packaged_version(path);
    if (version == NULL)
        version = told_version(path);
    if (version != NULL)
        return version;
    const char *suffix = strstr(path, ".so.");
    /* Marked as what it is: a library's ABI number says little about its release. */
    return suffix != NULL ? fb_format("so-%s", suffix + 4) : fb_strdup("");
}

/* As the loader was told it. */
static char *libc_path(void)
{
    Dl_info info;
    const char *(*function)(void) = gnu_get_libc_version;
    void *address; /* ISO C has no cast from a function */
    memcpy(&address, &function, sizeof address);
    bool told = dladdr(address, &info) != 0 && info.dli_fname != NULL;
    return told ? fb_strdup(info.dli_fname) : NULL;
}

char *fb_library_libc_folder(void)
{
    char *path = libc_path();
    char *slash = path != NULL && path[0] == '/' ? strrchr(path, '/') : NULL;
    if (slash == NULL || slash == path) {
        free(path);
        return NULL;
    }
    *slash = '\0';
    return path;
}

char *fb_library_libc_version(void)
{
    char *version = NULL;
    char *named = libc_path();
    char *path = named != NULL ? realpath(named, NULL) : NULL;
    if (path != NULL && package_owns("libc6", path))
        version = package_version("libc6");
    free(path);
    free(named);
    return version != NULL ? version : fb_strdup(gnu_get_libc_version());
}

/* The next number of a dotted version; *text moves behind it, or to the end at another character.
 */
static unsigned long next_part(const char **text)
{
    if (!isdigit((unsigned char)**text)) {
        *text += strlen(*text);
        return 0;
    }
    char *end;
    unsigned long part = strtoul(*text, &end, 10);
    *text = *end == '.' ? end + 1 : end;
    return part;
}

int fb_version_compare(const char *a, const char *b)
{
    const char *epoch_a = strchr(a, ':'), *epoch_b = strchr(b, ':');
    a = epoch_a != NULL ? epoch_a + 1 : a;
    b = epoch_b != NULL ? epoch_b + 1 : b;
    while (*a != '\0' || *b != '\0') {
        unsigned long part_a = next_part(&a), part_b = next_part(&b);
        if (part_a != part_b)
            return part_a < part_b ? -1 : 1;
    }
    return 0;
}
