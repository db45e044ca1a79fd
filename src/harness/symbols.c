#include "harness/symbols.h"

#include "base/alloc.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OVERLAPS_MAX 32U /* functions that may lie between one's begin and an address within it */

struct function {
    uint64_t begin, size; /* size 0: not told, as in assembly */
    const char *name;     /* the module's */
    bool global;
};

struct fb_symbols {
    Dwfl *session;
    Dwfl_Module *module;
    char *name; /* of the file, without folders */
    uint64_t bias;
    struct function *functions; /* by begin */
    size_t count;
};

/* Where an instruction is from. */
struct place {
    const char *file; /* NULL: not known */
    int line;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static int by_begin(const void *left, const void *right)
{
    const struct function *a = left;
    const struct function *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->global != b->global)
        return a->global ? 1 : -1;   /* the last one is looked at first */
    return strcmp(a->name, b->name); /* "malloc" before "__libc_malloc" */
}

/* libdwfl looks at every symbol for every address; programs have some hundred thousand. */
static void list_functions(struct fb_symbols *symbols)
{
    int all = dwfl_module_getsymtab(symbols->module);
    if (all <= 0)
        return;
    symbols->functions = fb_alloc((size_t)all, sizeof *symbols->functions);
    for (int i = 0; i < all; i++) {
        GElf_Sym symbol;
        GElf_Addr address = 0;
        GElf_Word section = SHN_UNDEF;
        const char *name =
            dwfl_module_getsym_info(symbols->module, i, &symbol, &address, &section, NULL, NULL);
        int type = name != NULL ? GELF_ST_TYPE(symbol.st_info) : STT_FILE;
        bool code = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
        if (!code || *name == '\0' || section == SHN_UNDEF || section == SHN_ABS)
            continue;
        symbols->functions[symbols->count++] = (struct function){
            address, symbol.st_size, name, GELF_ST_BIND(symbol.st_info) != STB_LOCAL};
    }
    qsort(symbols->functions, symbols->count, sizeof *symbols->functions, by_begin);
}

/* NULL: none is known to have the address. */
static const struct function *function_at(const struct fb_symbols *symbols, uint64_t address)
{
    size_t low = 0, high = symbols->count; /* the first that begins behind it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->functions[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i > 0 && low - i < OVERLAPS_MAX; i--) {
        const struct function *function = &symbols->functions[i - 1];
        if (address - function->begin < function->size || (function->size == 0 && i == low))
            return function;
    }
    return NULL;
}

struct fb_symbols *fb_symbols_open(const char *path, uint64_t bias)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };
    if (*path == '\0' || access(path, R_OK) != 0)
        return NULL;
    Dwfl *session = dwfl_begin(&callbacks);
    if (session == NULL)
        return NULL;
    dwfl_report_begin(session);
    Dwfl_Module *module = dwfl_report_elf(session, path, path, -1, bias, true);
    if (dwfl_report_end(session, NULL, NULL) != 0 || module == NULL) {
        dwfl_end(session);
        return NULL;
    }
    struct fb_symbols *symbols = fb_alloc(1, sizeof *symbols);
    *symbols = (struct fb_symbols){
        .session = session, .module = module, .name = fb_strdup(base_name(path)), .bias = bias};
    list_functions(symbols);
    return symbols;
}

void fb_symbols_close(struct fb_symbols *symbols)
{
    if (symbols == NULL)
        return;
    dwfl_end(symbols->session);
    free(symbols->functions);
    free(symbols->name);
    free(symbols);
}

/* Without a version, as in "malloc@@GLIBC_2.2.5". */
static void add_name(const char *name, struct fb_buf *out)
{
    char *plain = cplus_demangle(name, DMGL_AUTO);
    if (plain != NULL)
        fb_buf_adds(out, plain);
    else
        fb_buf_addf(out, "%.*s", (int)strcspn(name, "@"), name);
    free(plain);
}

static void add_line(const struct fb_symbols *symbols, const char *name, const struct place *place,
                     struct fb_buf *out)
{
    add_name(name, out);
    if (place->file != NULL && place->line > 0)
        fb_buf_addf(out, ", %s:%d\n", base_name(place->file), place->line);
    else
        fb_buf_addf(out, ", %s\n", symbols->name);
}

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Attribute *linkage = dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute);
    const char *name = linkage != NULL ? dwarf_formstring(linkage) : NULL;
    return name != NULL ? name : dwarf_diename(die);
}

/* Where the inlined function of that scope was called. */
static struct place place_of_call(Dwarf_Die *unit, Dwarf_Die *scope)
{
    Dwarf_Attribute attribute;
    Dwarf_Files *files = NULL;
    Dwarf_Word file = 0, line = 0;
    size_t count = 0;
    struct place place = {NULL, 0};
    if (dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attribute), &file) == 0 &&
        dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attribute), &line) == 0 &&
        dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count) {
        place.file = dwarf_filesrc(files, file, NULL, NULL);
        place.line = (int)line;
    }
    return place;
}

/* Lines for what was inlined; *place becomes where the outermost of it was called. */
static void add_inlined(const struct fb_symbols *symbols, uint64_t address, struct place *place,
                        struct fb_buf *out)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *scopes = NULL;
    Dwarf_Die *unit = dwfl_module_addrdie(symbols->module, address, &bias);
    int count = unit != NULL ? dwarf_getscopes(unit, address - bias, &scopes) : 0;
    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_subprogram)
            break;
        const char *name = tag == DW_TAG_inlined_subroutine ? name_of(&scopes[i]) : NULL;
        if (name == NULL)
            continue;
        add_line(symbols, name, place, out);
        *place = place_of_call(unit, &scopes[i]);
    }
    free(scopes);
}

void fb_symbols_add(const struct fb_symbols *symbols, uint64_t address, struct fb_buf *out)
{
    struct place place = {NULL, 0};
    Dwfl_Line *line = dwfl_module_getsrc(symbols->module, address);
    if (line != NULL)
        place.file = dwfl_lineinfo(line, NULL, &place.line, NULL, NULL, NULL);
    add_inlined(symbols, address, &place, out);
    const struct function *function = function_at(symbols, address);
    if (function != NULL)
        add_line(symbols, function->name, &place, out);
    else
        fb_buf_addf(out, "%s+0x%llx\n", symbols->name,
                    (unsigned long long)(address - symbols->bias));
}
