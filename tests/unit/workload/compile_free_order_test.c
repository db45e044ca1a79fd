/* Threads that run at once instead of in turn: whatever the schedule, no trace deadlocks, no slot
 * is used twice, each free gets the very object it was meant for. */
#include "compiled.h"
#include "free_order.h"
#include "scenarios.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SCHEDULES = 30 };

static const char *first_fault(const struct fb_trace *trace, const struct lockstep *lockstep)
{
    for (uint64_t seed = 0; seed < SCHEDULES; seed++) {
        const char *fault =
            free_order_run(trace, lockstep, (enum policy)(seed % POLICY_COUNT), seed);
        if (fault != NULL)
            return fault;
    }
    return NULL;
}

static void every_schedule_of_the_crowd_ends_well(void **state)
{
    (void)state;
    struct compiled compiled = compile(&crowd, 42);
    struct lockstep lockstep = lockstep_of(&compiled.trace);
    const char *fault = first_fault(&compiled.trace, &lockstep);
    if (fault != NULL)
        fail_msg("%s", fault);
    lockstep_free(&lockstep);
    compiled_free(&compiled);
}

/* Other seeds make other crowds. */
static void every_crowd_ends_well(void **state)
{
    (void)state;
    for (uint64_t seed = 100; seed < 120; seed++) {
        struct compiled compiled = compile(&crowd, seed);
        struct lockstep lockstep = lockstep_of(&compiled.trace);
        for (int policy = 0; policy < POLICY_COUNT; policy++) {
            const char *fault =
                free_order_run(&compiled.trace, &lockstep, (enum policy)policy, seed);
            if (fault != NULL)
                fail_msg("seed %llu: %s", (unsigned long long)seed, fault);
        }
        lockstep_free(&lockstep);
        compiled_free(&compiled);
    }
}

/* The check itself: a trace with something of its order taken away does not pass it. */
static const char *fault_without(uint8_t kind, uint8_t flags, uint8_t becomes)
{
    struct compiled compiled = compile(&crowd, 42);
    struct fb_trace trace = compiled.trace;
    struct fb_op *ops = fb_alloc(trace.header->op_count, sizeof *ops);
    memcpy(ops, trace.ops, trace.header->op_count * sizeof *ops);
    for (uint64_t i = 0; i < trace.header->op_count; i++) {
        if (ops[i].kind != kind)
            continue;
        ops[i].kind = becomes;
        ops[i].flags = (uint8_t)(ops[i].flags & ~flags);
    }
    trace.ops = ops;
    struct lockstep lockstep = lockstep_of(&trace);
    const char *fault = first_fault(&trace, &lockstep);
    lockstep_free(&lockstep);
    free(ops);
    compiled_free(&compiled);
    return fault;
}

static void a_trace_without_its_waits_does_not_end_well(void **state)
{
    (void)state;
    assert_null(fault_without(FB_OP_HOLD, 0, FB_OP_HOLD));
    assert_string_equal(fault_without(FB_OP_FREE, FB_OP_FLAG_FOREIGN, FB_OP_FREE),
                        "an op on an object that is not there");
    assert_non_null(fault_without(FB_OP_AWAIT, 0, FB_OP_HOLD));
    assert_non_null(fault_without(FB_OP_RESUME, 0, FB_OP_HOLD));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_schedule_of_the_crowd_ends_well),
        cmocka_unit_test(every_crowd_ends_well),
        cmocka_unit_test(a_trace_without_its_waits_does_not_end_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
