/* The pattern of workloads/heap-top-pin.yaml in a program of its own, which then asks its
 * allocator: what attribution says of the workload, checked without fragbench. Usage: independent
 * PAIRS */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 64 * 1024, SURVIVOR = 64, PAGE = 4096 };

__attribute__((weak)) void malloc_stats_print(void (*write)(void *user, const char *text),
                                              void *user, const char *options);

static void show(void *user, const char *text)
{
    (void)user;
    (void)fputs(text, stdout);
}

int main(int argc, char **argv)
{
    static char output[BLOCK]; /* stdio's own buffer would be a block on the heap's top */
    size_t pairs = argc > 1 ? strtoul(argv[1], NULL, 10) : 12000;
    void *volatile *blocks = calloc(pairs, sizeof *blocks);
    if (blocks == NULL || setvbuf(stdout, output, _IOFBF, sizeof output) != 0)
        return 1;
    for (size_t i = 0; i < pairs; i++) {
        blocks[i] = malloc(BLOCK);
        volatile char *survivor = malloc(SURVIVOR);
        if (blocks[i] == NULL || survivor == NULL)
            return 1;
        for (size_t at = 0; at < BLOCK; at += PAGE)
            ((volatile char *)blocks[i])[at] = 1;
        survivor[0] = 1;
    }
    for (size_t i = 0; i < pairs; i++)
        free(blocks[i]);
    if (malloc_stats_print != NULL)
        malloc_stats_print(show, NULL, "gdablxeh");
    else
        (void)malloc_info(0, stdout);
    return 0;
}
