#include "harness/exec/binary.h"

#include "base/alloc.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const fb_inside_names[FB_INSIDE_COUNT] = {
    [FB_INSIDE_GO] = "the Go runtime's allocator",
    [FB_INSIDE_JEMALLOC] = "jemalloc",
    [FB_INSIDE_MIMALLOC] = "mimalloc",
    [FB_INSIDE_TCMALLOC] = "tcmalloc",
};

/* Functions that give an allocator inside away; a linker keeps them when the code is used. */
static const struct {
    const char *symbol;
    enum fb_inside inside;
} telltales[] = {
    {"runtime.mallocgc", FB_INSIDE_GO},    {"_rjem_malloc", FB_INSIDE_JEMALLOC},
    {"_rjem_mallocx", FB_INSIDE_JEMALLOC}, {"je_malloc", FB_INSIDE_JEMALLOC},
    {"mi_malloc", FB_INSIDE_MIMALLOC},     {"mi_malloc_aligned", FB_INSIDE_MIMALLOC},
    {"tc_malloc", FB_INSIDE_TCMALLOC},
};

/* Texts of theirs that stay in a program that was stripped of its symbols. */
static const struct {
    const char *text;
    enum fb_inside inside;
} phrases[] = {
    {"<jemalloc>: ", FB_INSIDE_JEMALLOC},
    {"mimalloc: warning: ", FB_INSIDE_MIMALLOC},
    {"TCMALLOC_LARGE_ALLOC_REPORT_THRESHOLD", FB_INSIDE_TCMALLOC},
};
#define SEARCHED_MAX ((size_t)32 << 20) /* some ms: it is done while the program runs */

/* A call through any of them shows where the object's memory comes from. */
static const char *const calls[] = {"malloc", "calloc", "free", "realloc"};

static void note_symbol(struct fb_binary *object, const GElf_Sym *symbol, const char *name,
                        bool exported)
{
    bool defined = symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0;
    bool function =
        GELF_ST_TYPE(symbol->st_info) == STT_FUNC || GELF_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC;
    if (!defined || !function)
        return;
    if (strcmp(name, "malloc") == 0) {
        object->defines_malloc = object->defines_malloc || exported;
        object->hidden_malloc = object->hidden_malloc || !exported;
    }
    for (size_t i = 0; i < sizeof telltales / sizeof telltales[0]; i++)
        if (strcmp(telltales[i].symbol, name) == 0)
            object->inside |= 1U << telltales[i].inside;
}

static void read_symbols(struct fb_binary *object, Elf *elf, Elf_Scn *section,
                         const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    if (data == NULL || header->sh_entsize == 0)
        return;
    int count = (int)(data->d_size / header->sh_entsize);
    for (int i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, i, &symbol) == NULL)
            return;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (name != NULL)
            note_symbol(object, &symbol, name, header->sh_type == SHT_DYNSYM);
    }
}

static const char *symbol_name(Elf *elf, size_t table_index, size_t symbol_index)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    Elf_Scn *section = elf_getscn(elf, table_index);
    Elf_Data *data = section != NULL ? elf_getdata(section, NULL) : NULL;
    if (data == NULL || gelf_getshdr(section, &header) == NULL ||
        gelf_getsym(data, (int)symbol_index, &symbol) == NULL || symbol.st_shndx != SHN_UNDEF)
        return NULL;
    return elf_strptr(elf, header.sh_link, symbol.st_name);
}

static void note_slot(struct fb_binary *object, const char *name, uint64_t offset)
{
    for (size_t i = 0; name != NULL && i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(calls[i], name) == 0 && object->slot_count < FB_BINARY_SLOTS)
            object->slots[object->slot_count++] = offset;
}

static void read_relocations(struct fb_binary *object, Elf *elf, Elf_Scn *section,
                             const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    if (data == NULL || header->sh_entsize == 0)
        return;
    int count = (int)(data->d_size / header->sh_entsize);
    for (int i = 0; i < count; i++) {
        GElf_Rela rela;
        if (gelf_getrela(data, i, &rela) == NULL)
            return;
        size_t index = GELF_R_SYM(rela.r_info);
        if (index != 0)
            note_slot(object, symbol_name(elf, header->sh_link, index), rela.r_offset);
    }
}

static void read_dynamic(struct fb_binary *object, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    int count =
        data != NULL && header->sh_entsize != 0 ? (int)(data->d_size / header->sh_entsize) : 0;
    for (int i = 0; i < count; i++) {
        GElf_Dyn entry;
        if (gelf_getdyn(data, i, &entry) == NULL || entry.d_tag == DT_NULL)
            return;
        if (entry.d_tag == DT_SYMBOLIC ||
            (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_SYMBOLIC) != 0))
            object->symbolic = true;
    }
}

static void read_section(struct fb_binary *object, Elf *elf, Elf_Scn *section)
{
    GElf_Shdr header;
    size_t names;
    if (gelf_getshdr(section, &header) == NULL)
        return;
    if (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB)
        read_symbols(object, elf, section, &header);
    else if (header.sh_type == SHT_RELA)
        read_relocations(object, elf, section, &header);
    else if (header.sh_type == SHT_DYNAMIC)
        read_dynamic(object, section, &header);
    const char *name =
        elf_getshdrstrndx(elf, &names) == 0 ? elf_strptr(elf, names, header.sh_name) : NULL;
    if (name != NULL && strcmp(name, ".go.buildinfo") == 0) /* there in stripped programs, too */
        object->inside |= 1U << FB_INSIDE_GO;
}

static void search_texts(struct fb_binary *object, Elf *elf, const GElf_Shdr *texts)
{
    size_t size = 0;
    const char *raw = elf_rawfile(elf, &size);
    if (raw == NULL || texts->sh_offset > size || texts->sh_size > size - texts->sh_offset)
        return;
    size_t length = texts->sh_size < SEARCHED_MAX ? texts->sh_size : SEARCHED_MAX;
    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++)
        if (memmem(raw + texts->sh_offset, length, phrases[i].text, strlen(phrases[i].text)) !=
            NULL)
            object->inside |= 1U << phrases[i].inside;
}

/* Executables only: libraries of a distribution are stripped, all of them, and many. */
static void read_stripped(struct fb_binary *object, Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header, texts = {0};
    size_t names;
    if (object->interpreter[0] == '\0' || elf_getshdrstrndx(elf, &names) != 0)
        return;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_SYMTAB)
            return;
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (name != NULL && strcmp(name, ".rodata") == 0)
            texts = header;
    }
    search_texts(object, elf, &texts);
}

static void read_segments(struct fb_binary *object, Elf *elf)
{
    size_t count = 0, size = 0;
    const char *raw = elf_rawfile(elf, &size);
    if (elf_getphdrnum(elf, &count) != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf, (int)i, &segment) == NULL)
            return;
        object->dynamic = object->dynamic || segment.p_type == PT_DYNAMIC;
        if (segment.p_type == PT_INTERP && raw != NULL && segment.p_offset < size &&
            segment.p_filesz <= size - segment.p_offset)
            (void)snprintf(object->interpreter, sizeof object->interpreter, "%.*s",
                           (int)strnlen(raw + segment.p_offset, segment.p_filesz),
                           raw + segment.p_offset);
    }
}

static void read_elf(struct fb_binary *object, Elf *elf)
{
    GElf_Ehdr header;
    Elf_Scn *section = NULL;
    if (elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == NULL)
        return;
    object->elf = true;
    object->is_64 = gelf_getclass(elf) == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
    object->program = header.e_entry != 0;
    read_segments(object, elf);
    while ((section = elf_nextscn(elf, section)) != NULL)
        read_section(object, elf, section);
    read_stripped(object, elf);
}

static struct fb_binary *read_object(const char *path, const char *file)
{
    struct fb_binary *object = fb_alloc(1, sizeof *object);
    object->path = fb_strdup(path);
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return object;
    if (elf_version(EV_CURRENT) != EV_NONE) {
        Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
        if (elf != NULL) {
            read_elf(object, elf);
            (void)elf_end(elf);
        }
    }
    (void)close(fd);
    return object;
}

const struct fb_binary *fb_binaries_get(struct fb_binaries *objects, const char *path,
                                        const char *file)
{
    for (size_t i = 0; i < objects->count; i++)
        if (strcmp(objects->items[i]->path, path) == 0)
            return objects->items[i];
    objects->items = fb_realloc(objects->items, objects->count + 1, sizeof(struct fb_binary *));
    objects->items[objects->count] = read_object(path, file);
    return objects->items[objects->count++];
}

void fb_binaries_deinit(struct fb_binaries *objects)
{
    for (size_t i = 0; i < objects->count; i++) {
        free(objects->items[i]->path);
        free(objects->items[i]);
    }
    free(objects->items);
    *objects = (struct fb_binaries){0};
}
