#include "worker/statm.h"

#include <fcntl.h>
#include <unistd.h>

int fb_statm_open(void)
{
    return open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
}

/* Reads one number; strtoull would do but the text is not terminated. */
static const char *number(const char *at, const char *end, uint64_t *value)
{
    *value = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        *value = *value * 10 + (uint64_t)(*at - '0');
    return at < end ? at + 1 : at;
}

int fb_statm_footprint(int fd, uint64_t page_bytes, uint64_t *bytes)
{
    char text[128];
    ssize_t length = pread(fd, text, sizeof text, 0);
    if (length <= 0)
        return -1;
    const char *end = text + length;
    uint64_t size, resident, shared;
    const char *at = number(text, end, &size);
    at = number(at, end, &resident);
    (void)number(at, end, &shared);
    *bytes = resident > shared ? (resident - shared) * page_bytes : 0;
    return 0;
}
