#include "report/palette.h"

#include "report/group.h"

#include <string.h>

/* Black, blue, vermilion and green are of Okabe and Ito's set for the colour-blind; its sky blue,
 * orange and yellow are too light on white, so the others are darker neighbours. */
const struct fb_palette_row fb_palette[] = {
    {"ptmalloc2", {0x000000, {0}}},
    {"jemalloc", {0x0072b2, {14, 3}}},
    {"tcmalloc", {0xd55e00, {8, 3}}},
    {"mimalloc", {0x009e73, {10, 3, 3, 3}}},
    {"budgeted", {0x882255, {0}}},
    {"request-arena", {0x6a3d9a, {0}}},
    {"tensor-arena", {0x8c510a, {0}}},
    {"scudo", {0xcc79a7, {0}}},
    {"tbbmalloc", {0x7a7a00, {0}}},
    {"null", {0x767676, {2, 3}}},
    {NULL, {0}},
};

/* Solid belongs to the rows above. */
static const unsigned char dashes[][FB_DASH_PARTS] = {
    {9, 4}, {3, 3}, {10, 3, 2, 3}, {16, 4}, {5, 2, 5, 6}, {2, 5}, {16, 4, 4, 4},
};
#define DASHES (sizeof dashes / sizeof dashes[0])

/* For libraries that are not in the table. */
static const unsigned strangers[] = {0x1f8fa8, 0xc71585, 0x5f6b00, 0xb2182b, 0x3b4cc0, 0xa6761d};
#define STRANGERS (sizeof strangers / sizeof strangers[0])

/* FNV-1a: the same label gives the same look everywhere. */
static size_t hash(const char *text)
{
    uint64_t value = UINT64_C(14695981039346656037);
    for (; *text != '\0'; text++)
        value = (value ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return (size_t)(value >> 16);
}

static const struct fb_palette_row *find(const char *name)
{
    for (size_t i = 0; fb_palette[i].name != NULL; i++)
        if (strcmp(fb_palette[i].name, name) == 0)
            return &fb_palette[i];
    return NULL;
}

static struct fb_stroke choose(const char *label, const char *backend)
{
    const struct fb_palette_row *own = find(label);
    const struct fb_palette_row *family = find(backend);
    if (own != NULL)
        return own->stroke;
    struct fb_stroke stroke = {.colour = family != NULL ? family->stroke.colour
                                                        : strangers[hash(label) % STRANGERS]};
    memcpy(stroke.dash, dashes[hash(label) / STRANGERS % DASHES], FB_DASH_PARTS);
    return stroke;
}

static bool taken(const struct fb_stroke *stroke, const struct fb_stroke *earlier, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (earlier[i].colour == stroke->colour &&
            memcmp(earlier[i].dash, stroke->dash, FB_DASH_PARTS) == 0)
            return true;
    return false;
}

/* With more contenders of one colour than dashes, the last ones do look alike. */
void fb_palette_assign(const struct fb_cell *cells, size_t count, struct fb_stroke *out)
{
    for (size_t i = 0; i < count; i++) {
        const char *label = fb_text_or_empty(cells[i].allocator.name);
        out[i] = choose(label, fb_text_or_empty(cells[i].allocator.backend));
        size_t next = hash(label) / STRANGERS;
        for (size_t tries = 0; tries < DASHES && taken(&out[i], out, i); tries++)
            memcpy(out[i].dash, dashes[++next % DASHES], FB_DASH_PARTS);
    }
}
