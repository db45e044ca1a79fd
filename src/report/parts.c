#include "report/parts.h"

#include "base/alloc.h"
#include "base/units.h"
#include "metrics/sentences.h"

#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0
/* A class is worth a row when it keeps so much, and twice what is live on those pages. */
#define HELD_MIN_BYTES (UINT64_C(1) << 20)
enum { ROWS_MAX = 64 };

typedef const struct fb_checkpoint *pick_function(const struct fb_cell *cell);

static bool is_told(const struct fb_checkpoint *checkpoint)
{
    return checkpoint != NULL && checkpoint->attribution != NULL &&
           (checkpoint->attribution->is_split || checkpoint->attribution->is_second_run);
}

/* A cell's checkpoint, where its free pages were split. */
static const struct fb_checkpoint *told(const struct fb_cell *cell, pick_function *pick)
{
    const struct fb_checkpoint *checkpoint = pick(cell);
    return is_told(checkpoint) ? checkpoint : NULL;
}

static size_t count_told(const struct fb_group *group, pick_function *pick)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++)
        count += told(&group->cells[i], pick) != NULL;
    return count;
}

static const char *phase_of(const struct fb_cell *cell, const struct fb_checkpoint *checkpoint)
{
    const struct fb_repetition *first = &cell->repetitions[0];
    bool known = checkpoint->phase >= 0 && (size_t)checkpoint->phase < first->phase_count;
    return known ? first->phases[checkpoint->phase].name : "";
}

/* Decimals of a column come from its largest value, so that they line up. */
static int decimals(uint64_t largest_bytes)
{
    return (double)largest_bytes < 10 * MIB ? 2 : 1;
}

static char *size_text(uint64_t bytes, int digits)
{
    return fb_format("%.*f", digits, (double)bytes / MIB);
}

enum { PARTS_NAME, PARTS_PHASE, PARTS_RSS, PARTS_FIRST };

static const struct fb_grid_column parts_columns[] = {
    {"allocator", "", "allocator", true, 0},   {"after", "", "phase", true, 9},
    {"RSS", "MiB", "RSS", false, 0},           {"live", "MiB", "live", false, 4},
    {"rounding", "MiB", "rounding", false, 3}, {"holes", "MiB", "holes", false, 0},
    {"cached", "MiB", "cached", false, 0},     {"stuck", "MiB", "stuck", false, 2},
    {"startup", "MiB", "startup", false, 5},   {"base", "MiB", "base", false, 6},
};
enum { PARTS_COLUMNS = sizeof parts_columns / sizeof parts_columns[0] };
_Static_assert(PARTS_COLUMNS == PARTS_FIRST + FB_PART_COUNT, "a column a part");

/* The value of a column of sizes. */
static uint64_t parts_value(const struct fb_attribution *attribution, size_t column)
{
    return column == PARTS_RSS ? attribution->footprint_bytes
                               : attribution->parts[column - PARTS_FIRST];
}

static void fill_parts_column(const struct fb_group *group, pick_function *pick, size_t column,
                              struct fb_grid *grid)
{
    uint64_t largest = 0;
    size_t row = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct fb_checkpoint *checkpoint = told(&group->cells[i], pick);
        uint64_t value = checkpoint != NULL ? parts_value(checkpoint->attribution, column) : 0;
        largest = value > largest ? value : largest;
    }
    for (size_t i = 0; i < group->count; i++) {
        const struct fb_checkpoint *checkpoint = told(&group->cells[i], pick);
        if (checkpoint != NULL)
            fb_grid_set(grid, row++, column,
                        size_text(parts_value(checkpoint->attribution, column), decimals(largest)));
    }
}

static bool make_parts(const struct fb_group *group, pick_function *pick, bool phase,
                       struct fb_grid *grid)
{
    size_t rows = count_told(group, pick), row = 0;
    if (rows == 0)
        return false;
    fb_grid_init(grid, parts_columns, PARTS_COLUMNS, rows);
    for (size_t i = 0; i < group->count; i++) {
        const struct fb_cell *cell = &group->cells[i];
        const struct fb_checkpoint *checkpoint = told(cell, pick);
        if (checkpoint == NULL)
            continue;
        fb_grid_set(grid, row, PARTS_NAME, fb_strdup(fb_text_or_empty(cell->allocator.name)));
        if (phase)
            fb_grid_set(grid, row, PARTS_PHASE, fb_strdup(phase_of(cell, checkpoint)));
        row++;
    }
    for (size_t column = PARTS_RSS; column < PARTS_COLUMNS; column++)
        fill_parts_column(group, pick, column, grid);
    return true;
}

/* Whether some cell kept most at the end of another phase than the last, and had something else
 * there. */
static bool is_kept_elsewhere(const struct fb_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct fb_checkpoint *kept = told(&group->cells[i], fb_explained_kept);
        const struct fb_checkpoint *end = fb_explained_end(&group->cells[i]);
        if (kept != NULL && end != NULL &&
            memcmp(kept->attribution->parts, end->attribution->parts,
                   sizeof end->attribution->parts) != 0)
            return true;
    }
    return false;
}

struct held {
    const struct fb_cell *cell;
    const struct fb_hostage *hostage;
};

static size_t find_held(const struct fb_group *group, struct held *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct fb_checkpoint *kept = told(&group->cells[i], fb_explained_kept);
        for (size_t h = 0; kept != NULL && h < kept->attribution->hostage_count; h++) {
            const struct fb_hostage *hostage = &kept->attribution->hostages[h];
            if (hostage->held_bytes >= HELD_MIN_BYTES &&
                hostage->held_bytes >= 2 * hostage->held_live_bytes && count < ROWS_MAX)
                rows[count++] = (struct held){&group->cells[i], hostage};
        }
    }
    return count;
}

static const struct fb_grid_column held_columns[] = {
    {"allocator", "", "allocator", true, 0},
    {"class", "", "class", true, 0},
    {"live", "MiB", "live", false, 1},
    {"holds", "MiB", "holds", false, 0},
    {"held", "per live", "held per live byte", false, 2},
    {"pages", "", "pages", false, 4},
    {"near empty", "under 10 %", "pages under 10 % full", false, 3},
};

static bool make_held(const struct fb_group *group, struct fb_grid *grid)
{
    struct held rows[ROWS_MAX];
    size_t count = find_held(group, rows);
    char text[32];
    if (count == 0)
        return false;
    fb_grid_init(grid, held_columns, sizeof held_columns / sizeof held_columns[0], count);
    for (size_t i = 0; i < count; i++) {
        const struct fb_hostage *hostage = rows[i].hostage;
        uint64_t live = hostage->held_live_bytes > 0 ? hostage->held_live_bytes : 1;
        fb_grid_set(grid, i, 0, fb_strdup(fb_text_or_empty(rows[i].cell->allocator.name)));
        fb_grid_set(grid, i, 1, fb_strdup(hostage->class_name));
        fb_grid_set(grid, i, 2, size_text(hostage->held_live_bytes, 2));
        fb_grid_set(grid, i, 3, size_text(hostage->held_bytes, 2));
        fb_grid_set(grid, i, 4, fb_format("%.1f", (double)hostage->held_bytes / (double)live));
        fb_grid_set(grid, i, 5, fb_strdup(fb_units_count(hostage->pages, text, sizeof text)));
        fb_grid_set(
            grid, i, 6,
            fb_format("%.0f %%", (double)hostage->histogram[0] * 100 / (double)hostage->pages));
    }
    return true;
}

static const struct fb_grid_column account_columns[] = {
    {"allocator", "", "allocator", true, 0},
    {"in blocks", "MiB", "in blocks", false, 1},
    {"allocated", "MiB", "allocated", false, 0},
    {"active", "MiB", "active", false, 2},
    {"RSS", "MiB", "RSS", false, 5},
    {"resident", "MiB", "resident", false, 0},
    {"retained", "MiB", "retained", false, 4},
    {"metadata", "MiB", "metadata", false, 3},
};

static char *account_text(const struct fb_attribution *attribution, enum fb_account account)
{
    uint64_t value = attribution->account[account];
    return value == FB_ACCOUNT_NA ? fb_strdup("n/a") : size_text(value, 2);
}

static void fill_account_row(struct fb_grid *grid, size_t row, const struct fb_cell *cell,
                             const struct fb_attribution *attribution)
{
    static const enum fb_account order[] = {FB_ACCOUNT_ALLOCATED, FB_ACCOUNT_ACTIVE,
                                            FB_ACCOUNT_RESIDENT, FB_ACCOUNT_RETAINED,
                                            FB_ACCOUNT_METADATA};
    static const size_t columns[] = {2, 3, 5, 6, 7};
    fb_grid_set(grid, row, 0, fb_strdup(fb_text_or_empty(cell->allocator.name)));
    fb_grid_set(
        grid, row, 1,
        size_text(attribution->parts[FB_PART_LIVE] + attribution->parts[FB_PART_ROUNDING], 2));
    fb_grid_set(grid, row, 4, size_text(attribution->footprint_bytes, 2));
    for (size_t i = 0; i < FB_ACCOUNT_COUNT; i++)
        fb_grid_set(grid, row, columns[i], account_text(attribution, order[i]));
}

static bool has_account(const struct fb_checkpoint *checkpoint)
{
    return checkpoint != NULL && checkpoint->attribution->account_known;
}

static bool make_account(const struct fb_group *group, struct fb_grid *grid)
{
    size_t rows = 0, row = 0;
    for (size_t i = 0; i < group->count; i++)
        rows += has_account(told(&group->cells[i], fb_explained_kept));
    if (rows == 0)
        return false;
    fb_grid_init(grid, account_columns, sizeof account_columns / sizeof account_columns[0], rows);
    for (size_t i = 0; i < group->count; i++) {
        const struct fb_checkpoint *kept = told(&group->cells[i], fb_explained_kept);
        if (has_account(kept))
            fill_account_row(grid, row++, &group->cells[i], kept->attribution);
    }
    return true;
}

static void name(struct fb_parts_grid *grid, const char *title)
{
    grid->title = fb_strdup(title);
}

size_t fb_parts_grids(const struct fb_group *group, struct fb_parts_grid grids[FB_PARTS_GRIDS_MAX])
{
    size_t count = 0;
    if (make_parts(group, fb_explained_peak, false, &grids[count].grid))
        name(&grids[count++], "Where the memory is when most is live:");
    if (is_kept_elsewhere(group) && make_parts(group, fb_explained_kept, true, &grids[count].grid))
        name(&grids[count++], "Where it is after the phase that keeps most:");
    if (make_parts(group, fb_explained_end, false, &grids[count].grid))
        name(&grids[count++], "Where it is at the end:");
    if (make_held(group, &grids[count].grid))
        name(&grids[count++], "Pages that one class of objects keeps alone, where most is kept:");
    if (make_account(group, &grids[count].grid))
        name(&grids[count++],
             "What the allocators say themselves, where most is kept; in blocks and RSS are "
             "fragbench's:");
    return count;
}

void fb_parts_grid_deinit(struct fb_parts_grid *grid)
{
    free(grid->title);
    fb_grid_deinit(&grid->grid);
    *grid = (struct fb_parts_grid){0};
}

/* What does not add up is said before anything is made of it. */
static void add_faults(const struct fb_cell *cell, const char *bullet, struct fb_buf *out)
{
    static pick_function *const picks[] = {fb_explained_peak, fb_explained_kept, fb_explained_end};
    char text[32];
    for (size_t i = 0; i < sizeof picks / sizeof picks[0]; i++) {
        const struct fb_checkpoint *checkpoint = told(cell, picks[i]);
        int64_t mismatch = checkpoint != NULL ? checkpoint->attribution->mismatch_bytes : 0;
        if (mismatch != 0) {
            uint64_t size = mismatch > 0 ? (uint64_t)mismatch : (uint64_t)-mismatch;
            fb_buf_addf(out, "%sNote: %s, %s: the parts are %s %s than RSS; please report it.\n",
                        bullet, fb_text_or_empty(cell->allocator.name), checkpoint->kind,
                        fb_units_bytes(size, text, sizeof text), mismatch > 0 ? "less" : "more");
            return;
        }
    }
    const struct fb_checkpoint *end = told(cell, fb_explained_end);
    if (end != NULL && end->attribution->is_second_run)
        fb_buf_addf(out,
                    "%sNote: %s: the second run differed from the first, so the parts are "
                    "those of the second.\n",
                    bullet, fb_text_or_empty(cell->allocator.name));
}

static void add_cell(const struct fb_cell *cell, const struct fb_verdict_style *style,
                     struct fb_buf *out)
{
    struct fb_sentences sentences;
    if (told(cell, fb_explained_kept) == NULL)
        return;
    fb_sentences_init(&sentences, cell);
    for (size_t i = 0; i < sentences.count; i++)
        fb_buf_addf(out, "%s%s after %s: %s\n%s%s%s\n", style->bullet,
                    fb_text_or_empty(cell->allocator.name), phase_of(cell, sentences.checkpoint),
                    sentences.items[i].text, style->command, sentences.items[i].command,
                    style->command_end);
    fb_sentences_deinit(&sentences);
}

void fb_parts_sentences(const struct fb_group *group, const struct fb_verdict_style *style,
                        struct fb_buf *out)
{
    fb_buf_addf(out,
                "%scached: free pages that a purge gives back; stuck: that it does not. holes: the "
                "rest of pages that hold something live.\n",
                style->bullet);
    for (size_t i = 0; i < group->count; i++)
        add_faults(&group->cells[i], style->bullet, out);
    for (size_t i = 0; i < group->count; i++)
        add_cell(&group->cells[i], style, out);
}
