#include "budgeted/shortage.h"

#include "budgeted/credit.h"
#include "budgeted/footprint.h"
#include "preload/contract.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define WARNING_EVERY_S 10
#define LINE_BYTES 256
#define REARM_SHARE 16 /* a limit is armed again 1/16 below itself */

static struct {
    _Atomic size_t refused, purges, soft_calls;
    _Atomic bool short_now;
    _Atomic int64_t next_warning_s; /* 0 = the first one */
    _Atomic size_t warned_refused;
    _Atomic size_t soft_limit; /* 0 = none */
    _Atomic bool above;
    pthread_mutex_t lock; /* the two below, which belong together with soft_limit */
    fba_soft_function *function;
    void *context;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

void fba_shortage_set_soft(size_t limit, fba_soft_function *function, void *context)
{
    (void)pthread_mutex_lock(&state.lock);
    state.function = function;
    state.context = context;
    atomic_store(&state.soft_limit, function != NULL ? limit : 0);
    atomic_store(&state.above, false);
    (void)pthread_mutex_unlock(&state.lock);
}

void fba_shortage_note_use(size_t used)
{
    size_t limit = atomic_load_explicit(&state.soft_limit, memory_order_relaxed);
    if (limit == 0 || used < limit || atomic_exchange(&state.above, true))
        return;
    (void)pthread_mutex_lock(&state.lock);
    limit = atomic_load(&state.soft_limit);
    fba_soft_function *function = state.function;
    void *context = state.context;
    (void)pthread_mutex_unlock(&state.lock);
    if (limit == 0 || used < limit)
        return;
    atomic_fetch_add(&state.soft_calls, 1);
    function(used, limit, context);
}

static bool is_armed_again(size_t used, size_t limit)
{
    return used < limit - limit / REARM_SHARE;
}

void fba_shortage_note_return(size_t used, size_t budget)
{
    if (atomic_load_explicit(&state.above, memory_order_relaxed) &&
        is_armed_again(used, atomic_load(&state.soft_limit)))
        atomic_store(&state.above, false);
    if (atomic_load_explicit(&state.short_now, memory_order_relaxed) &&
        is_armed_again(used, budget))
        atomic_store(&state.short_now, false);
}

bool fba_shortage_begins(void)
{
    return !atomic_exchange(&state.short_now, true);
}

void fba_shortage_note_purge(void)
{
    atomic_fetch_add(&state.purges, 1);
}

struct line {
    char text[LINE_BYTES];
    size_t used;
};

static void add_text(struct line *line, const char *text)
{
    size_t length = strnlen(text, sizeof line->text - 1 - line->used);
    memcpy(line->text + line->used, text, length);
    line->used += length;
    line->text[line->used] = '\0';
}

static void add_number(struct line *line, size_t number)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    add_text(line, digits + at);
}

static void warn(size_t size, size_t refused_since)
{
    struct fba_credit_figures figures;
    struct line line = {.used = 0};
    fba_credit_figures(&figures);
    add_text(&line, "refused ");
    add_number(&line, size);
    add_text(&line, " bytes: ");
    add_number(&line, figures.used);
    add_text(&line, " of ");
    add_number(&line, figures.budget);
    add_text(&line, fba_footprint_is_on() ? " bytes of footprint are used" : " bytes are used");
    if (refused_since > 1) {
        add_text(&line, "; ");
        add_number(&line, refused_since);
        add_text(&line, " refusals since the last line");
    }
    fba_say(line.text);
}

void fba_shortage_refuse(size_t size)
{
    size_t refused = atomic_fetch_add(&state.refused, 1) + 1;
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    int64_t due = atomic_load(&state.next_warning_s);
    if ((due != 0 && now.tv_sec < due) ||
        !atomic_compare_exchange_strong(&state.next_warning_s, &due,
                                        (int64_t)now.tv_sec + WARNING_EVERY_S))
        return;
    warn(size, refused - atomic_exchange(&state.warned_refused, refused));
}

void fba_shortage_fork_prepare(void)
{
    (void)pthread_mutex_lock(&state.lock);
}

void fba_shortage_fork_done(void)
{
    (void)pthread_mutex_unlock(&state.lock);
}

void fba_shortage_figures(struct fba_shortage_figures *out)
{
    *out = (struct fba_shortage_figures){
        .refused = atomic_load(&state.refused),
        .purges = atomic_load(&state.purges),
        .soft_calls = atomic_load(&state.soft_calls),
    };
}
