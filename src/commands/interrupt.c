#include "commands/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile int noted;

static void note(int signal)
{
    if (noted == 0)
        noted = signal;
}

static void nothing(int signal)
{
    (void)signal;
}

static void handle(int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(signal, &action, NULL);
}

void fb_interrupt_install(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct sigaction before;
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            handle(ends[i], note);
    }
    /* Handlers rather than SIG_IGN: an ignored signal would stay ignored in the workers. */
    handle(SIGPIPE, nothing);
    handle(SIGXFSZ, nothing);
}

const volatile int *fb_interrupt_stop(void)
{
    return &noted;
}

int fb_interrupt_signal(void)
{
    return noted;
}
