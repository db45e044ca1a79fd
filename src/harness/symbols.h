/* What an address in an executable or a library is called: function, source file and line, as far
 * as the file (or its debugging information, where that is installed) tells. By libdw; names of C++
 * and Rust are demangled by libiberty.
 */
#ifndef FB_HARNESS_SYMBOLS_H
#define FB_HARNESS_SYMBOLS_H

#include "base/buf.h"

#include <stdint.h>

struct fb_symbols; /* opaque: one file */

/* bias: what was added to the addresses in the file when it was loaded. NULL: it cannot be read as
 * what it was. */
struct fb_symbols *fb_symbols_open(const char *path, uint64_t bias);
void fb_symbols_close(struct fb_symbols *symbols);
/* Adds a line for the function at the address in memory, and before it one for each that the
 * compiler inlined there: "parse, request.c:120", where there is no line "parse, libservice.so",
 * without a name "libservice.so+0x4af0". */
void fb_symbols_add(const struct fb_symbols *symbols, uint64_t address, struct fb_buf *out);

#endif
