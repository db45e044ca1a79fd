/* What happens when the budget is short: one purge, a count, a line; and before that, the soft
 * limit. */
#ifndef ALLOCATORS_BUDGETED_SHORTAGE_H
#define ALLOCATORS_BUDGETED_SHORTAGE_H

#include <stdbool.h>
#include <stddef.h>

typedef void fba_soft_function(size_t used, size_t limit, void *context);

/* `used` bytes were reached by a draw: calls the soft limit's function when that crosses it. */
void fba_shortage_note_use(size_t used);
/* Use has fallen to `used`: below 15/16 of the soft limit its function may be called again; below
 * 15/16 of the budget a shortage is over. */
void fba_shortage_note_return(size_t used, size_t budget);
void fba_shortage_set_soft(size_t limit, fba_soft_function *function, void *context);

/* True for the first caller in a shortage. */
bool fba_shortage_begins(void);
/* Counts a purge. */
void fba_shortage_note_purge(void);
/* Counts a refusal of `size` bytes and says so on descriptor 2, at most every 10 s. */
void fba_shortage_refuse(size_t size);

void fba_shortage_fork_prepare(void);
void fba_shortage_fork_done(void);

struct fba_shortage_figures {
    size_t refused, purges, soft_calls;
};

void fba_shortage_figures(struct fba_shortage_figures *out);

#endif
