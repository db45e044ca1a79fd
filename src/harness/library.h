/* Allocator libraries on disk: finding, judging and naming their version. No library is ever
 * loaded into the harness. */
#ifndef FB_HARNESS_LIBRARY_H
#define FB_HARNESS_LIBRARY_H

#include "allocators/backends.h"

#include <stdbool.h>
#include <stddef.h>

/* NULL when path is a shared object that this machine's programs can load, else a new string that
 * says why not: "no such file", "wrong ELF class (32-bit)", … */
char *fb_library_fault(const char *path);

/* The version of the package that owns the file (dpkg's lists are read, no program is run), else
 * what the library says of itself, else "so-4.5.10" from its name, else "". New string. */
char *fb_library_version(const char *path);
/* The folder of the C library that this process uses: "/lib/x86_64-linux-gnu". New string; NULL
 * when it cannot be told. */
char *fb_library_libc_folder(void);
/* The C library's package version, else gnu_get_libc_version(). New string. */
char *fb_library_libc_version(void);

/* Whether the bytes stand in the file: a tunable whose name (with its terminator) appears nowhere
 * cannot be known. True when the file cannot be read. */
bool fb_library_holds(const char *path, const void *bytes, size_t size);

/* Whether the library brings folders of its own in which its dependencies are looked for
 * (DT_RUNPATH). False when the file cannot be read. */
bool fb_library_has_runpath(const char *path);

/* Order of two versions by their dotted numbers, after a Debian epoch ("1:") and up to the first
 * other character: -1, 0, 1. Missing parts count as 0. */
int fb_version_compare(const char *a, const char *b);

#endif
