/* A program to record: does known numbers of calls, or one thing that is hard on a recorder.
 *
 *   recorded counts     COUNTS_* calls of every function of the malloc family
 *   recorded nothing    none: what libc itself calls is there, too
 *   recorded threads    8 threads, 10000 blocks each, freed by the next thread
 *   recorded contended  8 threads that allocate and free 20000 blocks each at once
 *   recorded churn      300 threads after one another, 10 blocks each, freed at their ends
 *   recorded fork       1000 blocks, then a child that frees 500 of them and allocates 2000
 *   recorded exec       becomes "recorded counts"
 *   recorded kill       3000 blocks, then SIGKILL
 *   recorded peak       64 blocks of 1 MiB at once, touched, then 1000 small pairs
 *   recorded pause      1024 blocks of 64 KiB at once, freed, then nothing for 400 ms, then a pair
 *   recorded beside     20 MiB mapped, 6 MiB of .bss, 2 MiB on the stacks of two threads each,
 *                       32 MiB of blocks, all written, for 400 ms
 *   recorded share      blocks of 16 MiB of which all, a quarter, nothing is written
 *   recorded reuse      a block of 16 MiB, all written, freed; one of 16 MiB + 64 KiB in the same
 *                       place, a quarter written; a calloc and a realloc there, whose contents
 *                       must be right
 *   recorded many       200000 pairs
 *   recorded grind      1500000 pairs of all sizes to 4 KiB
 *   recorded sites      load_weights() 16 MiB in 4 blocks, serve() 1000 blocks of 4000 bytes on
 *                       each of two threads, all of it alive; then in a child count_words()
 *                       100000 bytes, grown to 3 MiB, and load_weights()
 *   recorded places     2^17 blocks of 16 bytes, each from another stack, then load_weights()
 *   recorded ending     allocates in a constructor, in key destructors and in a destructor
 */
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, BLOCKS = 10000 };

static void *hide(void *block)
{
    __asm__ volatile("" : "+r"(block)::"memory");
    return block;
}

static void take_back(void *block)
{
    free(hide(block));
}

/* 1000 births in all, 100 reallocs, 1000 frees; free(NULL) is no call. */
static int counts(void)
{
    void *blocks[1000];
    int n = 0;
    for (; n < 300; n++)
        blocks[n] = malloc(100 + (size_t)n);
    for (; n < 500; n++)
        blocks[n] = calloc(10, 20);
    for (; n < 600; n++)
        blocks[n] = realloc(hide(NULL), 64);
    for (; n < 700; n++)
        if (posix_memalign(&blocks[n], 64, 1000) != 0)
            return 1;
    for (; n < 800; n++)
        blocks[n] = aligned_alloc(4096, 8192);
    for (; n < 900; n++)
        blocks[n] = memalign(32, 50);
    for (; n < 950; n++)
        blocks[n] = valloc(100);
    for (; n < 960; n++)
        blocks[n] = pvalloc(100);
    for (; n < 1000; n++)
        blocks[n] = reallocarray(hide(NULL), 7, 9);
    for (int i = 0; i < 50; i++)
        blocks[i] = realloc(blocks[i], 5000);
    for (int i = 0; i < 50; i++)
        blocks[i] = reallocarray(blocks[i], 100, 2);
    for (int i = 0; i < 1000; i++)
        take_back(blocks[i]);
    take_back(NULL);
    return hide(malloc(SIZE_MAX / 4)) != NULL;
}

static void *passed[THREADS][BLOCKS];
static pthread_barrier_t barrier;

static void *pass_on(void *argument)
{
    size_t own = (size_t)argument;
    for (size_t i = 0; i < BLOCKS; i++)
        passed[own][i] = malloc(32 + i % 100);
    (void)pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < BLOCKS; i++)
        take_back(passed[(own + 1) % THREADS][i]);
    return NULL;
}

static void *contend(void *argument)
{
    for (size_t i = 0; i < 20000; i++)
        take_back(hide(malloc(16 + (i + (size_t)argument) % 500)));
    return NULL;
}

static int threads(void *(*body)(void *))
{
    pthread_t ids[THREADS];
    (void)pthread_barrier_init(&barrier, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&ids[i], NULL, body, (void *)i) != 0)
            return 1;
    for (size_t i = 0; i < THREADS; i++)
        (void)pthread_join(ids[i], NULL);
    return 0;
}

static void *live_shortly(void *argument)
{
    void *blocks[10];
    for (int i = 0; i < 10; i++)
        blocks[i] = malloc(200);
    for (int i = 0; i < 10; i++)
        take_back(blocks[i]);
    return argument;
}

static int churn(void)
{
    for (int i = 0; i < 300; i++) {
        pthread_t id;
        if (pthread_create(&id, NULL, live_shortly, NULL) != 0)
            return 1;
        (void)pthread_join(id, NULL);
    }
    return 0;
}

static int split(void)
{
    static void *blocks[1000];
    for (int i = 0; i < 1000; i++)
        blocks[i] = malloc(1000);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 500; i++)
            take_back(blocks[i]);
        for (int i = 0; i < 2000; i++)
            (void)hide(malloc(500));
        _exit(0);
    }
    int status = 0;
    (void)waitpid(child, &status, 0);
    for (int i = 0; i < 1000; i++)
        take_back(blocks[i]);
    return status;
}

static int die(void)
{
    for (int i = 0; i < 3000; i++)
        (void)hide(malloc(1000));
    return raise(SIGKILL);
}

static int peak(void)
{
    void *blocks[64];
    for (int i = 0; i < 64; i++)
        memset(blocks[i] = malloc(1 << 20), 1, 1 << 20);
    for (int i = 0; i < 64; i++)
        take_back(blocks[i]);
    for (int i = 0; i < 1000; i++)
        take_back(hide(malloc(100)));
    return 0;
}

static unsigned char data[6 << 20];

static void *use_stack(void *together)
{
    unsigned char room[2 << 20];
    take_back(hide(malloc(100)));
    memset(hide(room), 1, sizeof room);
    (void)pthread_barrier_wait(together);
    (void)usleep(2000000); /* memory is walked once a second at least: so once at rest */
    return NULL;
}

/* 24 MiB, of which the middle 8 go, unused, and the last 8 become 12. */
static int map_some(void)
{
    unsigned char *mapped =
        mmap(NULL, 24 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return 1;
    memset(mapped, 1, 8 << 20);
    memset(mapped + (16 << 20), 1, 8 << 20);
    (void)munmap(mapped + (8 << 20), 8 << 20);
    unsigned char *grown = mremap(mapped + (16 << 20), 8 << 20, 12 << 20, MREMAP_MAYMOVE);
    if (grown == MAP_FAILED)
        return 1;
    memset(grown, 1, 12 << 20);
    return 0;
}

static int beside(void)
{
    static void *blocks[512];
    pthread_barrier_t together;
    pthread_t crew[2];
    for (int i = 0; i < 512; i++)
        memset(blocks[i] = malloc(65536), 1, 65536);
    memset(hide(data), 1, sizeof data);
    (void)pthread_barrier_init(&together, NULL, 3);
    for (int i = 0; i < 2; i++)
        (void)pthread_create(&crew[i], NULL, use_stack, &together);
    int failed = map_some();
    (void)pthread_barrier_wait(&together);
    for (int i = 0; i < 2; i++)
        (void)pthread_join(crew[i], NULL);
    return failed;
}

static int pause_after_frees(void)
{
    static void *blocks[1024];
    for (int i = 0; i < 1024; i++)
        memset(blocks[i] = malloc(65536), 1, 65536);
    for (int i = 0; i < 1024; i++)
        take_back(blocks[i]);
    (void)usleep(1000000);
    take_back(hide(malloc(100)));
    return 0;
}

/* The last two live to the end. */
static int share(void)
{
    enum { SIZE = 16 << 20 };
    char *blocks[5];
    for (int i = 0; i < 5; i++)
        blocks[i] = hide(malloc(SIZE));
    memset(blocks[0], 1, SIZE);
    memset(blocks[1], 1, SIZE / 4);
    memset(blocks[3], 1, SIZE / 2);
    for (int i = 0; i < 3; i++)
        take_back(blocks[i]);
    return 0;
}

static size_t not_equal(const unsigned char *block, size_t size, unsigned char value)
{
    size_t wrong = 0;
    for (size_t i = 0; i < size; i++)
        wrong += block[i] != value;
    return wrong;
}

static int reuse(void)
{
    enum { SIZE = 16 << 20, MORE = SIZE + (64 << 10) };
    (void)mallopt(M_MMAP_THRESHOLD, INT_MAX); /* all in one heap, which keeps its pages */
    (void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
    unsigned char *all = malloc(SIZE);
    memset(hide(all), 1, SIZE);
    take_back(all);
    unsigned char *quarter = malloc(MORE);
    int elsewhere = quarter != all;
    memset(hide(quarter), 2, MORE / 4);
    take_back(quarter);
    unsigned char *zeros = calloc(1, SIZE);
    size_t wrong = not_equal(hide(zeros), SIZE, 0);
    memset(zeros, 3, SIZE);
    zeros = realloc(hide(zeros), SIZE + 1000);
    wrong += not_equal(hide(zeros), SIZE, 3);
    take_back(zeros);
    return elsewhere || wrong > 0;
}

static int many(void)
{
    for (int i = 0; i < 200000; i++)
        take_back(hide(malloc(16 + (size_t)i % 1000)));
    return 0;
}

static int grind(void)
{
    unsigned random = 1;
    for (int i = 0; i < 1500000; i++) {
        random = random * 1664525U + 1013904223U;
        take_back(hide(malloc(1 + (random >> 12) % 4096)));
    }
    return 0;
}

static void *kept[4 + 2 * 1000 + 1];

__attribute__((noinline)) static void load_weights(void)
{
    for (int i = 0; i < 4; i++)
        memset(hide(kept[i] = malloc(4 << 20)), 1, 4 << 20);
}

__attribute__((noinline)) static void *serve(void *first)
{
    void **blocks = first;
    for (int i = 0; i < 1000; i++)
        blocks[i] = malloc(4000);
    return hide(NULL);
}

__attribute__((noinline)) static void count_words(void)
{
    kept[0] = malloc(100000);
    kept[0] = realloc(hide(kept[0]), 3 << 20);
}

static int sites(void)
{
    pthread_t ids[2];
    int status = 0;
    load_weights();
    for (int i = 0; i < 2; i++)
        if (pthread_create(&ids[i], NULL, serve, &kept[4 + 1000 * i]) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        (void)pthread_join(ids[i], NULL);
    pid_t child = fork();
    if (child == 0) {
        count_words();
        load_weights();
        _exit(0);
    }
    (void)waitpid(child, &status, 0);
    return status;
}

/* Each of its stacks is another one: of two calls at each level. */
__attribute__((noinline)) static void descend(int left)
{
    if (left == 0) {
        (void)hide(malloc(16));
        return;
    }
    descend(left - 1);
    (void)hide(NULL);
    descend(left - 1);
    (void)hide(NULL);
}

static int places(void)
{
    descend(17);
    load_weights();
    return 0;
}

static pthread_key_t key;
static int enabled;
static void *from_constructor;

/* Frees and allocates in each of the four rounds, so after the recorder noted the thread's end. */
static void again(void *value)
{
    take_back(value);
    (void)pthread_setspecific(key, hide(malloc(333)));
}

static void *end_late(void *argument)
{
    (void)pthread_setspecific(key, hide(malloc(333)));
    return argument;
}

__attribute__((constructor)) static void before(void)
{
    from_constructor = hide(malloc(777));
}

__attribute__((destructor)) static void after(void)
{
    take_back(from_constructor);
    for (int i = 0; i < 100 && enabled; i++)
        take_back(hide(malloc(444)));
}

static int ending(void)
{
    enabled = 1;
    (void)pthread_key_create(&key, again);
    return threads(end_late);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "nothing";
    const struct {
        const char *name;
        int (*run)(void);
    } modes[] = {{"counts", counts},
                 {"churn", churn},
                 {"fork", split},
                 {"kill", die},
                 {"peak", peak},
                 {"share", share},
                 {"pause", pause_after_frees},
                 {"reuse", reuse},
                 {"many", many},
                 {"grind", grind},
                 {"ending", ending},
                 {"beside", beside},
                 {"sites", sites},
                 {"places", places}};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(mode, modes[i].name) == 0)
            return modes[i].run();
    if (strcmp(mode, "threads") == 0)
        return threads(pass_on);
    if (strcmp(mode, "contended") == 0)
        return threads(contend);
    if (strcmp(mode, "exec") == 0)
        return execl(argv[0], argv[0], "counts", (char *)NULL);
    return 0;
}
