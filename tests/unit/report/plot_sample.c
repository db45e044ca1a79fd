#include "plot_sample.h"

#include "base/alloc.h"
#include "result/store.h"
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define NS_PER_S UINT64_C(1000000000)
#define LOAD_S 2U   /* first phase */
#define SERVE_S 20U /* both */

/* After the phases: kind, seconds after the last free, MiB retained of every 100 kept. */
static const struct {
    const char *kind;
    unsigned after_s, percent;
} afterwards[] = {
    {"idle_0s", 0, 100},    {"idle_1s", 1, 90}, {"idle_10s", 10, 50},
    {"active_10s", 20, 40}, {"purged", 20, 10},
};
#define AFTERWARDS (sizeof afterwards / sizeof afterwards[0])

/* Live bytes at a sample: up to 50 MiB in the first phase, then a saw between 50 and 290, with one
 * peak of 300. */
static uint64_t live_at(unsigned i, unsigned points)
{
    unsigned load = points / 10;
    if (i < load)
        return 50 * MIB * i / load;
    if (i == points / 2)
        return 300 * MIB;
    return (50 + 24 * ((i - load) % 11)) * MIB;
}

static void fill_points(struct fb_repetition *repetition, unsigned points)
{
    free(repetition->series.points);
    repetition->series.points = fb_alloc(points, sizeof *repetition->series.points);
    repetition->series.count = points;
    double peak = repetition->values[FB_METRIC_PEAK_FOOTPRINT_BYTES];
    uint64_t held = 2 * MIB;
    for (unsigned i = 0; i < points; i++) {
        uint64_t live = live_at(i, points);
        uint64_t wanted = i == points / 2 ? (uint64_t)peak : live + live / 16 + MIB;
        held = wanted > held ? wanted : held - (held - wanted) / 4;
        uint64_t most = (uint64_t)peak;
        repetition->series.points[i] = (struct fb_point){
            .t_ns = SERVE_S * NS_PER_S * i / points,
            .footprint_bytes = held < most ? held : most,
            .live_bytes = live,
            .phase = i < points / 10 ? 0 : 1,
            .reason = 1,
        };
    }
}

static void add_checkpoint(struct fb_repetition *repetition, const char *kind, int phase,
                           uint64_t t_ns, uint64_t footprint, uint64_t live)
{
    size_t count = repetition->checkpoint_count++;
    repetition->checkpoints =
        fb_realloc(repetition->checkpoints, count + 1, sizeof *repetition->checkpoints);
    repetition->checkpoints[count] = (struct fb_checkpoint){
        .phase = phase, .t_ns = t_ns, .footprint_bytes = footprint, .live_bytes = live};
    (void)snprintf(repetition->checkpoints[count].kind, sizeof repetition->checkpoints[0].kind,
                   "%s", kind);
}

static void fill_checkpoints(struct fb_repetition *repetition)
{
    double peak = repetition->values[FB_METRIC_PEAK_FOOTPRINT_BYTES];
    double kept = repetition->values[FB_METRIC_KEPT_BYTES];
    for (size_t i = 0; i < repetition->checkpoint_count; i++) {
        fb_attribution_free(repetition->checkpoints[i].attribution);
        free(repetition->checkpoints[i].allocator);
    }
    repetition->checkpoint_count = 0;
    add_checkpoint(repetition, "start", -1, 0, MIB, 0);
    add_checkpoint(repetition, "phase_end", 0, LOAD_S * NS_PER_S, 60 * MIB, 50 * MIB);
    add_checkpoint(repetition, "peak_live", 1, SERVE_S / 2 * NS_PER_S, (uint64_t)peak, 300 * MIB);
    add_checkpoint(repetition, "phase_end", 1, SERVE_S * NS_PER_S, 50 * MIB + (uint64_t)kept,
                   50 * MIB);
    for (size_t i = 0; i < AFTERWARDS; i++)
        add_checkpoint(repetition, afterwards[i].kind, 1,
                       (SERVE_S + afterwards[i].after_s) * NS_PER_S,
                       (uint64_t)(kept * afterwards[i].percent / 100), 0);
}

static void write_heat(const char *dir, const char *name, unsigned seed)
{
    char *path = fb_format("%s/%s", dir, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    (void)fputs("mapping,kind,offset_bytes,group_bytes,resident_pages,occupied_pages,free_pages,"
                "cached_pages,stuck_pages,startup_pages,base_pages,live_bytes,rounding_bytes\n",
                file);
    for (unsigned i = 0; i < 300; i++)
        if (i % 50 < 45) /* with gaps */
            (void)fprintf(file, "%u,anonymous,%u,65536,16,8,8,8,0,%u,0,%u,0\n", i / 200,
                          i % 200 * 65536, i == 0 ? 16 : 0,
                          i * seed % 7 == 0 ? 0 : i * seed % 17 * 3855);
    (void)fclose(file);
    free(path);
}

/* Parts as a second run with a purge leaves them, or (not split) those of a first one. */
static struct fb_attribution *make_parts(uint64_t live, uint64_t free_bytes, bool is_split)
{
    struct fb_attribution *made = fb_alloc(1, sizeof *made);
    made->parts[FB_PART_LIVE] = live;
    made->parts[FB_PART_ROUNDING] = live / 16;
    made->parts[FB_PART_HOLES] = 10 * MIB;
    made->parts[FB_PART_CACHED] = is_split ? free_bytes / 4 * 3 : 0;
    made->parts[FB_PART_STUCK] = is_split ? free_bytes / 4 : 0;
    made->parts[FB_PART_STARTUP] = MIB / 2;
    made->parts[FB_PART_BASE] = MIB / 8;
    made->free_bytes = free_bytes;
    made->is_split = is_split;
    made->footprint_bytes = fb_attribution_sum(made);
    return made;
}

/* As attribution leaves it: parts and a page map at the peak and at phases' ends. */
static void explain(struct plot_sample *sample)
{
    char *folder = fb_format("%s/heat", sample->dir);
    assert_int_equal(mkdir(folder, 0700), 0);
    free(folder);
    for (size_t i = 0; i < 2; i++) { /* the two that are ok */
        struct fb_checkpoint *checkpoints = sample->result.cells[i].repetitions[0].checkpoints;
        char *name = fb_format("heat/%zu.csv", i);
        write_heat(sample->dir, name, 3 + (unsigned)i);
        for (size_t k = 1; k < 4; k++) {
            checkpoints[k].attribution =
                make_parts(k == 2 ? 300 * MIB : 50 * MIB, k == 2 ? 0 : i * 80 * MIB, true);
            checkpoints[k].attribution->heat_file = fb_strdup(name);
        }
        free(name);
    }
}

static void make_source(struct plot_sample *sample)
{
    fb_plot_source_init(&sample->source, sample->dir, &sample->result, true, 800);
}

void plot_sample_init(struct plot_sample *sample, unsigned points, bool explained)
{
    char dir[] = "/tmp/fragbench-plot-XXXXXX";
    struct fb_error err = {0};
    assert_non_null(mkdtemp(dir));
    sample->dir = fb_strdup(dir);
    assert_int_equal(fb_store_create(dir, true, &err), 0);
    sample_result_init(&sample->result);
    for (size_t i = 0; i < sample->result.cell_count; i++) {
        struct fb_cell *cell = &sample->result.cells[i];
        for (size_t k = 0; fb_status_done(cell->status) && k < cell->repetition_count; k++) {
            fill_points(&cell->repetitions[k], points);
            fill_checkpoints(&cell->repetitions[k]);
            assert_int_equal(fb_store_write_series(dir, cell, &cell->repetitions[k], &err), 0);
        }
    }
    if (explained)
        explain(sample);
    make_source(sample);
}

void plot_sample_deinit(struct plot_sample *sample)
{
    char *command = fb_format("rm -r '%s'", sample->dir);
    fb_plot_source_deinit(&sample->source);
    fb_result_deinit(&sample->result);
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): a path of mkdtemp
    free(command);
    free(sample->dir);
}

void plot_sample_rename(struct plot_sample *sample, const char *name)
{
    fb_plot_source_deinit(&sample->source);
    for (size_t i = 0; i < sample->result.cell_count; i++) {
        struct fb_cell *cell = &sample->result.cells[i];
        free(cell->workload.name);
        free(cell->id);
        cell->workload.name = fb_strdup(name);
        cell->id = fb_format("%s/%s/sequences=256", name, cell->allocator.name);
    }
    make_source(sample);
}

void plot_sample_rename_contender(struct plot_sample *sample, size_t cell, const char *name)
{
    fb_plot_source_deinit(&sample->source);
    free(sample->result.cells[cell].allocator.name);
    sample->result.cells[cell].allocator.name = fb_strdup(name);
    make_source(sample);
}

struct fb_plot_request plot_sample_request(const struct plot_sample *sample)
{
    return (struct fb_plot_request){.sources = &sample->source,
                                    .source_count = 1,
                                    .metric = FB_METRIC_COUNT,
                                    .threshold = FB_PLOT_THRESHOLD_DEFAULT,
                                    .width = FB_PLOT_WIDTH_DEFAULT};
}

struct fb_pictures plot_sample_make(const struct fb_plot_request *request, const char *kind)
{
    struct fb_pictures pictures = {0};
    const struct fb_plot_kind *found = fb_plot_kind_find(kind);
    assert_non_null(found);
    found->make(request, &pictures);
    return pictures;
}
