/* What api.c and budgeted.c tell each other. */
#ifndef ALLOCATORS_BUDGETED_BUDGETED_H
#define ALLOCATORS_BUDGETED_BUDGETED_H

#include <stdbool.h>
#include <stddef.h>

/* Calls that the inner allocator itself refused, within the budget. */
size_t fba_budgeted_inner_failed(void);
/* Purges the inner allocator's caches; false where it has no call for that. */
bool fba_budgeted_purge(void);
/* The soft limit's function when only the option asks for one: a line on descriptor 2. */
void fba_budgeted_say_soft(size_t used, size_t limit, void *context);

#endif
