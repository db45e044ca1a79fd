#include "compiled.h"

#include "lockstep.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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

static const char *marks_of(const struct fb_op *op)
{
    bool foreign = (op->flags & FB_OP_FLAG_FOREIGN) != 0, scope = op->flags & FB_OP_FLAG_SCOPE;
    return foreign ? (scope ? "*." : "*") : (scope ? "." : "");
}

static char *call_as_text(const struct fb_trace *trace, const struct fb_op *op)
{
    const char *name = trace->classes[op->class_index].name;
    unsigned long long size = op->arg;
    if (op->kind == FB_OP_FREE)
        return fb_format("-%s%u%s", name, op->slot, marks_of(op));
    return fb_format("%s%s%u:%llu%s", op->kind == FB_OP_ALLOC ? "+" : "~", name, op->slot, size,
                     marks_of(op));
}

/* A mark is its word, and its operand where that says something. */
static char *mark_as_text(const struct fb_op *op)
{
    static const struct {
        const char *before, *after;
        bool operand;
    } words[FB_OP_KIND_COUNT] = {
        [FB_OP_END] = {"end", "", false},         [FB_OP_PACE] = {"pace(", ")", true},
        [FB_OP_SLEEP] = {"sleep(", ")", true},    [FB_OP_PHASE_BEGIN] = {"<", "", true},
        [FB_OP_PHASE_END] = {">", "", true},      [FB_OP_ITERATION] = {"i", "", true},
        [FB_OP_PURGE] = {"purge", "", false},     [FB_OP_HEARTBEAT] = {"beat", "", false},
        [FB_OP_TURN] = {"@", "", true},           [FB_OP_THREAD_START] = {"start", "", true},
        [FB_OP_THREAD_JOIN] = {"join", "", true}, [FB_OP_PARK] = {"park", "", false},
        [FB_OP_RESUME] = {"resume", "", true},    [FB_OP_AWAIT] = {"await", "", true},
        [FB_OP_HOLD] = {"hold", "", false},       [FB_OP_SCOPE_BEGIN] = {"{", "", true},
        [FB_OP_SCOPE_END] = {"}", "", true},
    };
    assert_non_null(words[op->kind].before);
    const char *more = (op->flags & FB_OP_FLAG_STRICT) != 0       ? "!"
                       : (op->flags & FB_OP_FLAG_SINCE_HOLD) != 0 ? "+"
                       : (op->flags & FB_OP_FLAG_OWN) != 0        ? "own"
                                                                  : "";
    return words[op->kind].operand
               ? fb_format("%s%llu%s%s", words[op->kind].before, (unsigned long long)op->arg, more,
                           words[op->kind].after)
               : fb_format("%s%s", words[op->kind].before, more);
}

static bool is_call(const struct fb_op *op)
{
    return op->kind == FB_OP_ALLOC || op->kind == FB_OP_REALLOC || op->kind == FB_OP_FREE;
}

static char *steps_as_text(const struct fb_trace *trace, const struct step *steps, uint64_t count)
{
    char *text = fb_strdup("");
    for (uint64_t i = 0; i < count; i++) {
        const struct fb_op *op = steps[i].op;
        if (op->kind == FB_OP_SAMPLE || op->kind == FB_OP_CHECKPOINT)
            continue;
        char *word = is_call(op) ? call_as_text(trace, op) : mark_as_text(op);
        char *longer = fb_format("%s%s%s", text, text[0] != '\0' ? " " : "", word);
        free(word);
        free(text);
        text = longer;
    }
    return text;
}

static uint64_t phases_end(const struct lockstep *lockstep)
{
    uint64_t last = lockstep->count;
    while (last > 0 && lockstep->steps[last - 1].op->kind != FB_OP_PHASE_END)
        last--;
    return last;
}

char *ops_as_text(const struct fb_trace *trace)
{
    struct lockstep lockstep = lockstep_of(trace);
    char *text = steps_as_text(trace, lockstep.steps, phases_end(&lockstep));
    lockstep_free(&lockstep);
    return text;
}

char *tail_as_text(const struct fb_trace *trace)
{
    struct lockstep lockstep = lockstep_of(trace);
    uint64_t begin = phases_end(&lockstep);
    char *text = steps_as_text(trace, lockstep.steps + begin, lockstep.count - begin);
    lockstep_free(&lockstep);
    return text;
}

void expect_ops(const struct fb_workload *workload, const char *expected)
{
    struct compiled compiled = compile(workload, 42);
    char *text = ops_as_text(&compiled.trace);
    assert_string_equal(text, expected);
    free(text);
    compiled_free(&compiled);
}

struct fb_object_class class_of(const char *name, double size, enum fb_lifetime lifetime)
{
    struct fb_object_class class = {.lifetime = lifetime, .size = CONSTANT(size)};
    strncpy(class.name, name, sizeof class.name - 1);
    return class;
}

struct fb_object_class living(const char *name, double size, enum fb_lifetime lifetime,
                              double length)
{
    struct fb_object_class class = class_of(name, size, lifetime);
    class.life.a = length;
    return class;
}
