/* The large blocks that are handed out, and how much of each was never touched.
 *
 * An open-addressing table in a mapping of its own, at most half full, keyed by address; deletion
 * moves followers back, so there are no tombstones. What was touched stays touched while the block
 * is handed out, so a count remembers the touched beginning of each block and looks at the rest
 * only.
 */
#ifndef ALLOCATORS_BUDGETED_BLOCKS_H
#define ALLOCATORS_BUDGETED_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

/* False: no memory for the table; nothing was added. */
bool fba_blocks_add(void *block, size_t bytes);
void fba_blocks_remove(void *block);
/* Bytes in pages of the added blocks that are not resident (a swapped page is not, either), or
 * more: what was not resident when last looked at is taken as that, as long as the sum is at most
 * `enough`. Only where it is more the kernel is asked again by mincore(2), for the newest blocks
 * first, until it is not; 0 asks for all. A page that two blocks share may count twice. Some 20 µs
 * for 100 MB. */
size_t fba_blocks_untouched(size_t enough);
size_t fba_blocks_count(void);

void fba_blocks_fork_prepare(void);
void fba_blocks_fork_done(void);

#endif
