#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#define CHUNK_BYTES ((size_t)64 * 1024)

static void finish(SHA2_CTX *context, char hex[FB_SHA256_HEX])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA256Final(digest, context);
    for (size_t i = 0; i < sizeof digest; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15U];
    }
    hex[2 * sizeof digest] = '\0';
}

void fb_sha256_memory(const void *data, size_t size, char hex[FB_SHA256_HEX])
{
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, data, size);
    finish(&context, hex);
}

/* pread, not read: the caller's offset (a trace about to be mapped or inherited) stays. */
int fb_sha256_fd(int fd, char hex[FB_SHA256_HEX], struct fb_error *err)
{
    uint8_t chunk[CHUNK_BYTES];
    SHA2_CTX context;
    SHA256Init(&context);
    off_t at = 0;
    for (;;) {
        ssize_t got = pread(fd, chunk, sizeof chunk, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fb_fail_errno(err, "cannot read the file to hash");
        if (got == 0)
            break;
        SHA256Update(&context, chunk, (size_t)got);
        at += got;
    }
    finish(&context, hex);
    return 0;
}

int fb_sha256_file(const char *path, char hex[FB_SHA256_HEX], struct fb_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fb_fail_errno(err, "cannot open %s", path);
    int result = fb_sha256_fd(fd, hex, err);
    (void)close(fd);
    return result;
}
