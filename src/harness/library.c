#include "harness/library.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "harness/contender.h"
#include "harness/runner.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The identification and machine fields are at the same place in both ELF classes. */
static int read_ident(const char *path, Elf64_Ehdr *header)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t got = pread(fd, header, sizeof *header, 0);
    (void)close(fd);
    if (got < (ssize_t)sizeof(Elf32_Ehdr)) {
        errno = ENOEXEC;
        return -1;
    }
    return 0;
}

char *fb_library_fault(const char *path)
{
    struct stat status;
    Elf64_Ehdr header = {0}, own = {0};
    if (stat(path, &status) != 0)
        return fb_format("%s", errno == ENOENT ? "no such file" : strerror(errno));
    if (!S_ISREG(status.st_mode))
        return fb_strdup("not a regular file");
    if (strpbrk(path, ": \t") != NULL)
        return fb_strdup("a path with a colon or a space, which LD_PRELOAD cannot carry");
    if (read_ident(path, &header) != 0 && errno != ENOEXEC)
        return fb_format("%s", strerror(errno));
    if (status.st_size < (off_t)sizeof header || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return fb_strdup("not an ELF shared object");
    if (read_ident("/proc/self/exe", &own) != 0)
        return NULL;
    if (header.e_ident[EI_CLASS] != own.e_ident[EI_CLASS])
        return fb_format("wrong ELF class (%s)",
                         header.e_ident[EI_CLASS] == ELFCLASS32 ? "32-bit" : "64-bit");
    if (header.e_machine != own.e_machine || header.e_ident[EI_DATA] != own.e_ident[EI_DATA])
        return fb_format("built for another machine (ELF machine %u, this one is %u)",
                         header.e_machine, own.e_machine);
    if (header.e_type != ET_DYN)
        return fb_strdup("an ELF file, but no shared object");
    return NULL;
}

/* The usable match with the highest version in its path: llvm-14 before llvm-9. */
static char *best_match(const char *pattern)
{
    glob_t found;
    char *best = NULL;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            char *fault = fb_library_fault(found.gl_pathv[i]);
            if (fault == NULL && (best == NULL || strverscmp(found.gl_pathv[i], best) > 0)) {
                free(best);
                best = fb_strdup(found.gl_pathv[i]);
            }
            free(fault);
        }
    }
    globfree(&found);
    return best;
}

static char *match_in(const char *folder, size_t length, const char *name)
{
    char *pattern = fb_format("%.*s/%s", (int)length, folder, name);
    char *path = best_match(pattern);
    free(pattern);
    return path;
}

/* $FRAGBENCH_ALLOCATOR_PATH first, then as ld.so goes: local before the distribution's. */
static char *search_folders(const char *name)
{
    static const char *const folders[] = {
        "/usr/local/lib",       "/usr/local/lib64", "/usr/local/lib/*-linux-gnu",
        "/usr/lib/*-linux-gnu", "/usr/lib64",       "/usr/lib",
    };
    char *path = NULL;
    const char *own = getenv("FRAGBENCH_ALLOCATOR_PATH");
    while (own != NULL && *own != '\0' && path == NULL) {
        size_t length = strcspn(own, ":");
        if (length > 0)
            path = match_in(own, length, name);
        own += length + (own[length] == ':');
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && path == NULL; i++)
        path = match_in(folders[i], strlen(folders[i]), name);
    return path;
}

/* Our own allocators lie beside the worker. */
static char *own_library(const char *name)
{
    char worker[PATH_MAX], clock_library[PATH_MAX];
    if (fb_runner_locate(worker, clock_library, sizeof worker, NULL) != 0)
        return NULL;
    char *path = fb_format("%.*s/%s", (int)(strrchr(worker, '/') - worker), worker, name);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *fb_backend_locate(const struct fb_backend *backend)
{
    char *path = NULL;
    if ((backend->flags & FB_BACKEND_OWN) != 0)
        return own_library(backend->libraries[0]);
    for (const char *const *name = backend->libraries; *name != NULL && path == NULL; name++)
        path = strchr(*name, '/') != NULL ? best_match(*name) : search_folders(*name);
    if (path == NULL)
        return NULL;
    char *resolved = realpath(path, NULL);
    if (resolved == NULL)
        return path;
    free(path);
    return resolved;
}

bool fb_library_holds(const char *path, const void *bytes, size_t size)
{
    struct stat status;
    bool found = true;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        void *file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file != MAP_FAILED) {
            found = memmem(file, (size_t)status.st_size, bytes, size) != NULL;
            (void)munmap(file, (size_t)status.st_size);
        }
    }
    (void)close(fd);
    return found;
}
