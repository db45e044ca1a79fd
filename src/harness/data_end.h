/* How far an object's own data reaches in memory. */
#ifndef FB_HARNESS_DATA_END_H
#define FB_HARNESS_DATA_END_H

#include <stdint.h>

/* The end, in whole pages, of what an ELF file takes when its first byte is mapped at start: its
 * .bss lies behind what is mapped of the file, and nothing in /proc/PID/maps says where that ends.
 * 0: no such file, or none that can be loaded. */
uint64_t fb_data_end(const char *path, uint64_t start);

#endif
