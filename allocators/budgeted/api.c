/* The C API and the counters; everything here is somebody else's figure. */
#include "budgeted/blocks.h"
#include "budgeted/budgeted.h"
#include "budgeted/credit.h"
#include "budgeted/footprint.h"
#include "budgeted/shortage.h"
#include "fragbench/budgeted.h"
#include "fragbench/stats.h"
#include "preload/contract.h"

#include <malloc.h>
#include <string.h>

FBA_EXPORT void fragbench_budgeted_set(size_t budget)
{
    fba_open(); /* the environment's budget must not come after this one */
    if (budget > FRAGBENCH_BUDGETED_UNLIMITED)
        budget = FRAGBENCH_BUDGETED_UNLIMITED;
    fba_credit_set_budget(budget);
}

static struct fba_credit_figures figures_now(void)
{
    struct fba_credit_figures figures;
    fba_open();
    fba_credit_figures(&figures);
    return figures;
}

FBA_EXPORT size_t fragbench_budgeted_budget(void)
{
    return figures_now().budget;
}

FBA_EXPORT enum fragbench_budgeted_mode fragbench_budgeted_mode(void)
{
    fba_open();
    return fba_footprint_is_on() ? FRAGBENCH_BUDGETED_FOOTPRINT : FRAGBENCH_BUDGETED_CHARGED;
}

FBA_EXPORT size_t fragbench_budgeted_used(void)
{
    return figures_now().used;
}

FBA_EXPORT size_t fragbench_budgeted_peak(void)
{
    return figures_now().peak;
}

FBA_EXPORT size_t fragbench_budgeted_refused(void)
{
    struct fba_shortage_figures shortage;
    fba_shortage_figures(&shortage);
    return shortage.refused;
}

FBA_EXPORT void
fragbench_budgeted_on_soft_limit(size_t limit, fragbench_budgeted_callback *callback, void *context)
{
    fba_open();
    fba_shortage_set_soft(limit, callback, context);
}

/* Gives back what the allocator behind this one can, under the name that programs know. Without it
 * libc's own would answer, whoever allocates. 1: something may have been given back, as in libc. */
FBA_EXPORT int malloc_trim(size_t pad)
{
    (void)pad;
    fba_open();
    return fba_budgeted_purge() ? 1 : 0;
}

void fba_budgeted_say_soft(size_t used, size_t limit, void *context)
{
    (void)used;
    (void)limit;
    (void)context;
    fba_say("the soft limit is reached");
}

FBA_EXPORT size_t fragbench_stats(struct fragbench_stat *out, size_t count)
{
    struct fba_credit_figures credit = figures_now();
    struct fba_shortage_figures shortage;
    fba_shortage_figures(&shortage);
    const struct fragbench_stat rows[] = {
        {"budget_bytes", credit.budget},
        {"budget_used_bytes", credit.used},
        {"budget_peak_bytes", credit.peak},
        {"refused_calls", shortage.refused},
        {"inner_failed_calls", fba_budgeted_inner_failed()},
        {"purges", shortage.purges},
        {"soft_limit_calls", shortage.soft_calls},
        {"tightenings", credit.tightenings},
        {"censuses", fba_footprint_censuses()},
        {"large_blocks", fba_blocks_count()},
        {"threads", credit.threads},
    };
    size_t have = sizeof rows / sizeof *rows;
    memcpy(out, rows, (count < have ? count : have) * sizeof *rows);
    return have;
}
