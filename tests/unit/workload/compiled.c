#include "compiled.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct compiled compile_with(const struct fb_workload *workload,
                             const struct fb_compile_options *options)
{
    struct compiled compiled = {.fd = memfd_create("trace", MFD_CLOEXEC)};
    struct fb_error err = {0};
    assert_true(compiled.fd >= 0);
    if (fb_compile_totals(workload, options, &compiled.totals, &err) != 0)
        fail_msg("%s", err.text);
    if (fb_compile_trace(workload, options, &compiled.totals, compiled.fd, &err) != 0)
        fail_msg("%s", err.text);
    const char *fault = fb_trace_open(compiled.fd, &compiled.trace);
    if (fault != NULL)
        fail_msg("%s", fault);
    return compiled;
}

struct compiled compile(const struct fb_workload *workload, uint64_t seed)
{
    struct fb_compile_options options = {.seed = seed, .scale = 1.0};
    return compile_with(workload, &options);
}

void compiled_free(struct compiled *compiled)
{
    fb_trace_close(&compiled->trace);
    fb_totals_deinit(&compiled->totals);
    assert_int_equal(close(compiled->fd), 0);
}

static char *op_as_text(const struct fb_trace *trace, const struct fb_op *op)
{
    const char *name =
        op->class_index < trace->header->class_count ? trace->classes[op->class_index].name : "?";
    unsigned long long arg = op->arg;
    switch ((enum fb_op_kind)op->kind) {
    case FB_OP_ALLOC:
        return fb_format("+%s%u:%llu", name, op->slot, arg);
    case FB_OP_REALLOC:
        return fb_format("~%s%u:%llu", name, op->slot, arg);
    case FB_OP_FREE:
        return fb_format("-%s%u", name, op->slot);
    case FB_OP_PACE:
        return fb_format("pace(%llu)", arg);
    case FB_OP_SLEEP:
        return fb_format("sleep(%llu)", arg);
    case FB_OP_PHASE_BEGIN:
        return fb_format("<%llu", arg);
    case FB_OP_PHASE_END:
        return fb_format(">%llu", arg);
    case FB_OP_ITERATION:
        return fb_format("i%llu", arg);
    default:
        return fb_format("?%u", op->kind);
    }
}

char *ops_as_text(const struct fb_trace *trace)
{
    uint64_t last = trace->header->op_count;
    while (last > 0 && trace->ops[last - 1].kind != FB_OP_PHASE_END)
        last--;
    char *text = fb_strdup("");
    for (uint64_t i = 0; i < last; i++) {
        if (trace->ops[i].kind == FB_OP_SAMPLE || trace->ops[i].kind == FB_OP_CHECKPOINT)
            continue;
        char *word = op_as_text(trace, &trace->ops[i]);
        char *longer = fb_format("%s%s%s", text, text[0] != '\0' ? " " : "", word);
        free(word);
        free(text);
        text = longer;
    }
    return text;
}
