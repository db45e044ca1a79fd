/* Any bytes through the workload parser: it must end soon, leak nothing, and either give a
 * workload that keeps its promises or at least one fault that can be shown.
 *
 * libFuzzer's entry; corpus_main.c calls it for files, without clang.
 */
#include "workload_fuzz.h"

#include "workload/workload.h"

#include <stdlib.h>

/* Not assert(): it must hold in release builds too. */
static void require(bool well)
{
    if (!well)
        abort();
}

static void check_workload(const struct fb_workload *workload)
{
    require(workload->name != NULL && workload->class_count > 0 && workload->phase_count > 0);
    for (size_t i = 0; i < workload->class_count; i++) {
        const struct fb_object_class *class = &workload->classes[i];
        require(class->name[0] != '\0' && class->size.a <= (double)FB_DISTRIBUTION_MAX);
        require(class->call != FB_CALL_ALIGNED || class->align >= 8);
        require(class->grow == FB_GROW_NONE || class->grow_by_bytes > 0 || class->grow_factor > 1);
    }
    for (size_t i = 0; i < workload->phase_count; i++) {
        const struct fb_phase *phase = &workload->phases[i];
        require(phase->has_iterations == (phase->iterations > 0));
        for (size_t j = 0; j < phase->allocate_count; j++)
            require(phase->allocate[j].class_index < workload->class_count);
        for (size_t j = 0; j < phase->free_count; j++)
            require(phase->free[j].share <= UINT64_C(1) << 32);
    }
}

static void check_faults(const struct fb_diagnostics *diagnostics)
{
    struct fb_buf buf;
    require(diagnostics->count > 0);
    fb_buf_init(&buf, (size_t)1 << 20);
    fb_diagnostics_render(diagnostics, &buf);
    require(buf.length > 0 && !buf.overflow);
    fb_buf_deinit(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct fb_override overrides[] = {{"requests", "{uniform: [1, $weights]}"}};
    struct fb_diagnostics diagnostics;
    struct fb_workload *workload = NULL;
    fb_diagnostics_init(&diagnostics);
    /* Half of the inputs, told by a byte of their own, also have an override. */
    size_t override_count = size > 0 ? data[size - 1] & 1U : 0;
    if (fb_workload_parse("fuzz.yaml", (const char *)data, size, overrides, override_count,
                          &workload, &diagnostics) == 0)
        check_workload(workload);
    else
        check_faults(&diagnostics);
    fb_workload_free(workload);
    fb_diagnostics_deinit(&diagnostics);
    return 0;
}
