#include "harness/data_end.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

/* Addresses in the file begin at its lowest segment's page. */
static uint64_t end_of(Elf *elf, uint64_t start)
{
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), lowest = UINT64_MAX, highest = 0;
    size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr part;
        if (gelf_getphdr(elf, (int)i, &part) == NULL || part.p_type != PT_LOAD)
            continue;
        lowest = part.p_vaddr < lowest ? part.p_vaddr : lowest;
        highest = part.p_vaddr + part.p_memsz > highest ? part.p_vaddr + part.p_memsz : highest;
    }
    if (highest <= lowest)
        return 0;
    uint64_t bias = start - lowest / page_bytes * page_bytes;
    return bias + (highest + page_bytes - 1) / page_bytes * page_bytes;
}

uint64_t fb_data_end(const char *path, uint64_t start)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE) {
        if (fd >= 0)
            (void)close(fd);
        return 0;
    }
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    uint64_t end = elf != NULL && elf_kind(elf) == ELF_K_ELF ? end_of(elf, start) : 0;
    (void)elf_end(elf);
    (void)close(fd);
    return end;
}
