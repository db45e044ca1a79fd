#include "worker/doorbell.h"

#include <errno.h>
#include <sys/socket.h>

int fb_doorbell_ring(const struct fb_bell *bell, bool wait)
{
    ssize_t sent;
    do {
        sent = send(FB_FD_DOORBELL, bell, sizeof *bell, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent != (ssize_t)sizeof *bell)
        return -1;
    if (!wait)
        return FB_ANSWER_GO;
    char answer;
    ssize_t got;
    do {
        got = recv(FB_FD_DOORBELL, &answer, sizeof answer, 0);
    } while (got < 0 && errno == EINTR);
    return got == 1 ? answer : -1;
}
