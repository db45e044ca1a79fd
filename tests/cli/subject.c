/* Programs to be watched, one a mode: subject MODE [ARGUMENT...]. Made for exec.bats. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1048576, BLOCK = 65536 };

static void pause_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static long number(char **arguments, int index)
{
    return strtol(arguments[index], NULL, 10);
}

/* Blocks of 64 KiB, written: under every allocator's threshold for a mapping of its own or not. */
static void take(long mib)
{
    for (long i = 0; i < mib * (MIB / BLOCK); i++) {
        char *block = malloc(BLOCK);
        if (block == NULL)
            abort();
        memset(block, 1, BLOCK);
    }
}

static int hold(char **arguments)
{
    take(number(arguments, 0));
    pause_ms(number(arguments, 1));
    return 0;
}

/* One block, which no size class rounds. */
static int block(char **arguments)
{
    size_t bytes = (size_t)number(arguments, 0) * MIB;
    char *memory = malloc(bytes);
    if (memory == NULL)
        return 1;
    memset(memory, 1, bytes);
    pause_ms(number(arguments, 1));
    return 0;
}

/* Parent and children share what the parent took before. */
static int share(char **arguments)
{
    long children = number(arguments, 1);
    take(number(arguments, 0));
    for (long i = 0; i < children; i++)
        if (fork() == 0) {
            pause_ms(number(arguments, 2));
            _exit(0);
        }
    while (wait(NULL) > 0) {
    }
    return 0;
}

/* Each child takes memory of its own. */
static int spread(char **arguments)
{
    long children = number(arguments, 1);
    for (long i = 0; i < children; i++)
        if (fork() == 0) {
            take(number(arguments, 0));
            pause_ms(number(arguments, 2));
            _exit(0);
        }
    while (wait(NULL) > 0) {
    }
    return 0;
}

/* Execs itself in another mode, in a child: subject exec MODE … */
static int exec_child(char **arguments)
{
    pid_t child = fork();
    if (child == 0) {
        (void)execv("/proc/self/exe", arguments - 1);
        _exit(127);
    }
    return waitpid(child, NULL, 0) == child ? 0 : 1;
}

/* The daemon's way out of every process group and session. */
static int become_daemon(char **arguments)
{
    if (fork() != 0)
        return 0;
    (void)setsid();
    if (fork() != 0)
        _exit(0);
    take(number(arguments, 0));
    pause_ms(number(arguments, 1));
    return 0;
}

static int stubborn(char **arguments)
{
    (void)signal(SIGTERM, SIG_IGN);
    pause_ms(number(arguments, 0));
    return 0;
}

static int crash(char **arguments)
{
    (void)arguments;
    (void)fprintf(stderr, "last words\n");
    (void)raise(SIGSEGV);
    return 0;
}

static int leave(char **arguments)
{
    (void)fprintf(stderr, "leaving with %s\n", arguments[0]);
    return (int)number(arguments, 0);
}

/* Listens after a pause, holds memory, ends on SIGTERM. */
static int serve(char **arguments)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)number(arguments, 0)),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int reuse = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    pause_ms(100);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 8) != 0)
        return 3;
    take(number(arguments, 1));
    (void)printf("serving\n");
    (void)fflush(stdout);
    for (;;)
        (void)pause();
}

static void *churn(void *rounds)
{
    for (long i = 0; i < (long)(intptr_t)rounds; i++)
        free(malloc(100));
    return NULL;
}

/* 64 calls a round: threads that come and go, and what they leave is counted. */
static int threads(char **arguments)
{
    pthread_t crew[8];
    for (long i = 0; i < number(arguments, 0); i++) {
        for (size_t j = 0; j < 8; j++)
            if (pthread_create(&crew[j], NULL, churn, (void *)(intptr_t)4) != 0)
                return 1;
        for (size_t j = 0; j < 8; j++)
            (void)pthread_join(crew[j], NULL);
    }
    take(8);
    pause_ms(200);
    return 0;
}

/* Frees half of what it took. */
static int halve(char **arguments)
{
    long count = number(arguments, 0) * (MIB / BLOCK);
    char **blocks = malloc((size_t)count * sizeof *blocks);
    for (long i = 0; blocks != NULL && i < count; i++) {
        blocks[i] = malloc(BLOCK);
        if (blocks[i] != NULL)
            memset(blocks[i], 1, BLOCK);
    }
    pause_ms(150);
    for (long i = 0; blocks != NULL && i < count; i += 2)
        free(blocks[i]);
    pause_ms(150);
    return 0;
}

/* Loads a library that binds to libc before anything that was preloaded. */
static int deepbind(char **arguments)
{
#ifdef SUBJECT_STATIC /* cannot load anything */
    void *library = NULL;
#else
    void *library = dlopen(arguments[0], RTLD_NOW | RTLD_DEEPBIND);
#endif
    void *(*stray)(size_t) = NULL;
    void *symbol = library != NULL && arguments[0] != NULL ? dlsym(library, "stray") : NULL;
    memcpy(&stray, &symbol, sizeof stray);
    if (stray == NULL || stray(100) == NULL)
        return 1;
    pause_ms(300);
    return 0;
}

static int show_environment(char **arguments)
{
    const char *value = getenv(arguments[0]);
    (void)printf("%s=%s\n", arguments[0], value != NULL ? value : "");
    return 0;
}

static const struct {
    const char *name;
    int arguments;
    int (*run)(char **arguments);
} modes[] = {
    {"hold", 2, hold},
    {"block", 2, block},
    {"share", 3, share},
    {"spread", 3, spread},
    {"exec", 1, exec_child},
    {"daemon", 2, become_daemon},
    {"stubborn", 1, stubborn},
    {"crash", 0, crash},
    {"leave", 1, leave},
    {"serve", 2, serve},
    {"threads", 1, threads},
    {"halve", 1, halve},
    {"environment", 1, show_environment},
    {"deepbind", 1, deepbind},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(modes[i].name, argv[1]) == 0 && argc - 2 >= modes[i].arguments)
            return modes[i].run(argv + 2);
    (void)fprintf(stderr, "subject: unknown mode\n");
    return 2;
}
