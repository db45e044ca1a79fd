#include "harness/spool_sites.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/map.h"
#include "harness/symbols.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_CAP_BYTES ((size_t)1 << 16)
#define NO_MODULE UINT32_MAX
#define MODULES_MAX 65536U
#define NAMES_FIRST 256U

struct fb_spool_module {
    uint64_t begin, end, bias;
    char *path;
};

struct frame {
    uint64_t address; /* of the call, not of what comes behind it */
    uint32_t module;  /* or NO_MODULE */
};

struct fb_spool_site {
    struct frame *frames;
    unsigned count;
};

/* Names that were found, by module and address; files are opened when the first is asked for. */
struct names {
    const struct fb_spool_sites *sites;
    struct fb_symbols **files;
    bool *tried;
    struct fb_map known; /* key of a frame → index in texts */
    char **texts;
    size_t count, capacity;
};

void fb_spool_sites_module(struct fb_spool_sites *sites, const uint64_t *record,
                           unsigned path_words)
{
    char path[FB_SPOOL_PATH_WORDS_MAX * sizeof(uint64_t)] = "";
    if (sites->module_count == MODULES_MAX)
        return;
    if (path_words <= FB_SPOOL_PATH_WORDS_MAX)
        memcpy(path, record + 4, path_words * sizeof(uint64_t));
    if (memchr(path, '\0', sizeof path) == NULL)
        path[0] = '\0';
    sites->modules = fb_realloc(sites->modules, sites->module_count + 1, sizeof *sites->modules);
    sites->modules[sites->module_count++] =
        (struct fb_spool_module){record[1], record[2], record[3], fb_strdup(path)};
}

/* The newest: an older one may have been unloaded. */
static uint32_t module_at(const struct fb_spool_sites *sites, uint64_t address)
{
    for (size_t i = sites->module_count; i-- > 0;)
        if (address >= sites->modules[i].begin && address < sites->modules[i].end)
            return (uint32_t)i;
    return NO_MODULE;
}

void fb_spool_sites_frames(struct fb_spool_sites *sites, uint64_t number, const uint64_t *frames,
                           unsigned count)
{
    if (number == 0 || number >= FB_RECORDING_SITES_MAX || count > FB_SPOOL_FRAMES_MAX)
        return;
    if (number > sites->count) {
        sites->sites = fb_realloc(sites->sites, number, sizeof *sites->sites);
        memset(sites->sites + sites->count, 0, (number - sites->count) * sizeof *sites->sites);
        sites->count = (uint32_t)number;
    }
    struct fb_spool_site *site = &sites->sites[number - 1];
    free(site->frames);
    site->frames = fb_alloc(count, sizeof *site->frames);
    site->count = count;
    for (unsigned i = 0; i < count; i++) {
        uint64_t address = frames[i] - 1;
        site->frames[i] = (struct frame){address, module_at(sites, address)};
    }
}

static char *name_frame(struct names *names, const struct frame *frame)
{
    struct fb_buf text;
    if (frame->module == NO_MODULE)
        return fb_strdup("(code outside of any file)\n");
    const struct fb_spool_module *module = &names->sites->modules[frame->module];
    if (!names->tried[frame->module]) {
        names->tried[frame->module] = true;
        names->files[frame->module] = fb_symbols_open(module->path, module->bias);
    }
    const struct fb_symbols *file = names->files[frame->module];
    fb_buf_init(&text, TEXT_CAP_BYTES);
    if (file != NULL) {
        fb_symbols_add(file, frame->address, &text);
    } else {
        const char *slash = strrchr(module->path, '/');
        fb_buf_addf(&text, "%s+0x%llx\n", slash != NULL ? slash + 1 : "(unknown file)",
                    (unsigned long long)(frame->address - module->bias));
    }
    char *name = fb_strdup(text.text);
    fb_buf_deinit(&text);
    return name;
}

/* Stays the names'. */
static const char *known_name(struct names *names, const struct frame *frame)
{
    uint64_t key = (uint64_t)(frame->module & 0xffffU) << 47 ^ frame->address;
    uint64_t index = 0;
    key &= UINT64_MAX >> 1; /* never a map's empty key */
    if (fb_map_get(&names->known, key, &index))
        return names->texts[index];
    if (names->count == names->capacity) {
        names->capacity *= 2;
        names->texts = fb_realloc(names->texts, names->capacity, sizeof *names->texts);
    }
    names->texts[names->count] = name_frame(names, frame);
    fb_map_put(&names->known, key, names->count);
    return names->texts[names->count++];
}

static char *name_site(struct names *names, const struct fb_spool_site *site)
{
    struct fb_buf text;
    fb_buf_init(&text, TEXT_CAP_BYTES);
    for (unsigned i = 0; i < site->count; i++)
        fb_buf_adds(&text, known_name(names, &site->frames[i]));
    char *frames = fb_strdup(text.text != NULL ? text.text : "");
    fb_buf_deinit(&text);
    return frames;
}

static void names_deinit(struct names *names)
{
    for (size_t i = 0; i < names->sites->module_count; i++)
        fb_symbols_close(names->files[i]);
    for (size_t i = 0; i < names->count; i++)
        free(names->texts[i]);
    free(names->texts);
    free(names->files);
    free(names->tried);
    fb_map_deinit(&names->known);
}

void fb_spool_sites_write(const struct fb_spool_sites *sites, struct fb_recording_writer *writer)
{
    if (sites->count == 0)
        return;
    struct names names = {
        .sites = sites,
        .files = fb_alloc(sites->module_count + 1, sizeof(struct fb_symbols *)),
        .tried = fb_alloc(sites->module_count + 1, sizeof(bool)),
        .texts = fb_alloc(NAMES_FIRST, sizeof(char *)),
        .capacity = NAMES_FIRST,
    };
    char **frames = fb_alloc(sites->count, sizeof *frames);
    for (uint32_t i = 0; i < sites->count; i++)
        frames[i] = name_site(&names, &sites->sites[i]);
    fb_recording_writer_sites(writer, (const char *const *)frames, sites->count);
    for (uint32_t i = 0; i < sites->count; i++)
        free(frames[i]);
    free(frames);
    names_deinit(&names);
}

void fb_spool_sites_deinit(struct fb_spool_sites *sites)
{
    for (size_t i = 0; i < sites->module_count; i++)
        free(sites->modules[i].path);
    for (uint32_t i = 0; i < sites->count; i++)
        free(sites->sites[i].frames);
    free(sites->modules);
    free(sites->sites);
    *sites = (struct fb_spool_sites){0};
}
