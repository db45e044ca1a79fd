/* Stands in for the worker: prints what fb_spawn() made of its process, one fact a line. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

extern char **environ;

static void print_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int own = folder != NULL ? dirfd(folder) : -1;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != own)
            printf("fd %s\n", entry->d_name);
    if (folder != NULL)
        (void)closedir(folder);
}

static void print_score(void)
{
    char text[32] = "";
    FILE *file = fopen("/proc/self/oom_score_adj", "re");
    if (file != NULL && fgets(text, sizeof text, file) != NULL)
        printf("oom_score_adj %s", text);
    if (file != NULL)
        (void)fclose(file);
}

int main(int argc, char **argv)
{
    struct rlimit stack, core;
    int deathsig = 0;
    sigset_t blocked;
    printf("argv0 %s\nargc %d\n", argv[0], argc);
    print_descriptors();
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || getrlimit(RLIMIT_CORE, &core) != 0 ||
        prctl(PR_GET_PDEATHSIG, &deathsig) != 0 || sigprocmask(SIG_BLOCK, NULL, &blocked) != 0)
        return 1;
    printf("stack %llu\ncore %llu\n", (unsigned long long)stack.rlim_cur,
           (unsigned long long)core.rlim_cur);
    printf("fixed %d\n", (personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0);
    printf("deathsig %d\nleader %d\n", deathsig, getsid(0) == getpid());
    printf("int_blocked %d\nint_ignored %d\n", sigismember(&blocked, SIGINT),
           signal(SIGINT, SIG_DFL) == SIG_IGN);
    print_score();
    for (char **variable = environ; *variable != NULL; variable++)
        printf("env %s\n", *variable);
    return 0;
}
