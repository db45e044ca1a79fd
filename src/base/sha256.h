/* SHA-256 of memory and files, as lower-case hex. A thin layer over libmd. */
#ifndef FB_BASE_SHA256_H
#define FB_BASE_SHA256_H

#include "base/error.h"

#include <stddef.h>

#define FB_SHA256_HEX 65 /* 64 digits and the terminator */

void fb_sha256_memory(const void *data, size_t size, char hex[FB_SHA256_HEX]);
int fb_sha256_file(const char *path, char hex[FB_SHA256_HEX], struct fb_error *err) FB_MUST_USE;
/* From the file's start to its end; the file offset is left where it was. */
int fb_sha256_fd(int fd, char hex[FB_SHA256_HEX], struct fb_error *err) FB_MUST_USE;

#endif
