#include "harness/library.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether `count` entries of `size` bytes from `offset` lie within a file. */
static bool within(uint64_t offset, uint64_t count, uint64_t size, uint64_t file_bytes)
{
    return offset <= file_bytes && count <= (file_bytes - offset) / size;
}

static bool dynamic_has_runpath(const unsigned char *file, const ElfW(Phdr) * segment)
{
    for (size_t i = 0; i < segment->p_filesz / sizeof(ElfW(Dyn)); i++) {
        ElfW(Dyn) entry;
        memcpy(&entry, file + segment->p_offset + i * sizeof entry, sizeof entry);
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_RUNPATH)
            return true;
    }
    return false;
}

static bool file_has_runpath(const unsigned char *file, uint64_t file_bytes)
{
    ElfW(Ehdr) header;
    if (file_bytes < sizeof header)
        return false;
    memcpy(&header, file, sizeof header);
    if (header.e_phentsize != sizeof(ElfW(Phdr)) ||
        !within(header.e_phoff, header.e_phnum, sizeof(ElfW(Phdr)), file_bytes))
        return false;
    for (size_t i = 0; i < header.e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, file + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_DYNAMIC &&
            within(segment.p_offset, segment.p_filesz, 1, file_bytes) &&
            dynamic_has_runpath(file, &segment))
            return true;
    }
    return false;
}

bool fb_library_has_runpath(const char *path)
{
    struct stat status;
    bool found = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        void *file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file != MAP_FAILED) {
            found = file_has_runpath(file, (uint64_t)status.st_size);
            (void)munmap(file, (size_t)status.st_size);
        }
    }
    (void)close(fd);
    return found;
}
