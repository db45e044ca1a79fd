/* Parts of exec on fixed text and on this machine's own files. */
#include "harness/environment.h"
#include "harness/exec/answer.h"
#include "harness/exec/environ.h"
#include "harness/exec/family.h"
#include "harness/exec/live.h"
#include "harness/exec/pools.h"
#include "harness/exec/ready.h"
#include "harness/exec/relink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_stat_line_is_read_from_its_last_parenthesis(void **state)
{
    (void)state;
    pid_t parent = 0;
    char letter = 0;
    assert_int_equal(fb_family_stat_parse("12 (a) b) (c) R 7 12 12", &parent, &letter), 0);
    assert_int_equal(parent, 7);
    assert_int_equal(letter, 'R');
    assert_int_equal(fb_family_stat_parse("12 (a", &parent, &letter), -1);
    assert_int_equal(fb_family_stat_parse("12 (a) R", &parent, &letter), -1);
    assert_int_equal(fb_family_stat_parse("", &parent, &letter), -1);
    assert_int_equal(parent, 7);
}

/* Three workers forked from one that holds 100: each page is in one Pss or spread over several. */
static void what_is_counted_twice_lies_on_the_youngest(void **state)
{
    (void)state;
    struct fb_process parent = {.anon_bytes = 100}, first = {.anon_bytes = 110},
                      second = {.anon_bytes = 100};
    struct fb_process *const order[] = {&parent, &first, &second};
    const uint64_t pss[] = {34, 44, 33}; /* 111 in all */
    fb_family_spread(order, pss, 3);
    assert_int_equal(parent.twice_bytes, 0);
    assert_int_equal(first.twice_bytes, 99);
    assert_int_equal(second.twice_bytes, 100);
    const uint64_t alone[] = {100, 110, 100};
    fb_family_spread(order, alone, 3);
    assert_int_equal(first.twice_bytes + second.twice_bytes + parent.twice_bytes, 0);
}

enum { TOUCHED = 32 << 20 };

static void hold_until_told(int told)
{
    char byte,
        *memory = mmap(NULL, TOUCHED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory, 1, TOUCHED);
    if (fork() == 0) { /* shares it all */
        (void)!read(told, &byte, 1);
        _exit(0);
    }
    (void)!read(told, &byte, 1);
    _exit(0);
}

static void a_family_is_found_and_weighed_once(void **state)
{
    (void)state;
    int ends[2];
    struct fb_family family;
    struct fb_family_exact exact;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0)
        hold_until_told(ends[0]);
    fb_family_init(&family, getpid());
    for (int i = 0; i < 500 && (family.count < 2 || family.members[0].anon_bytes < TOUCHED); i++) {
        (void)usleep(10000);
        fb_family_scan(&family, 0, true);
        (void)fb_family_footprint(&family, (uint64_t)i);
    }
    assert_int_equal(fb_family_alive(&family), 2);
    assert_non_null(fb_family_find(&family, child));
    assert_null(fb_family_find(&family, getpid()));
    uint64_t sum = fb_family_footprint(&family, UINT64_MAX);
    assert_in_range(sum, TOUCHED, TOUCHED + (TOUCHED / 4));
    fb_family_exact(&family, &exact);
    assert_in_range(exact.footprint_bytes, TOUCHED, TOUCHED + (TOUCHED / 4));
    assert_true(exact.mappings > 0);
    assert_int_equal(write(ends[1], "xx", 2), 2); /* a byte for each of the two */
    (void)close(ends[1]);
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    fb_family_scan(&family, 0, true);
    assert_null(fb_family_find(&family, child));
    fb_family_deinit(&family);
}

static const char table[] =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n"
    "   0: 0100007F:18EB 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 "
    "4711 1 0000000000000000 100 0 0 10 0\n"
    "   1: 0100007F:18EB 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 "
    "4712 1 0000000000000000 20 4 30 10 -1\n"
    "   2: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A "
    "00000000:00000000 00:00000000 00000000     0        0 4713 1 0000000000000000 100 0 0 10 0\n";

static void listeners_are_told_from_connections(void **state)
{
    (void)state;
    uint64_t inodes[4] = {0};
    assert_int_equal(fb_ready_listeners(table, 0x18EB, inodes, 4), 1);
    assert_int_equal(inodes[0], 4711);
    assert_int_equal(fb_ready_listeners(table, 0x1F90, inodes, 4), 1);
    assert_int_equal(inodes[0], 4713);
    assert_int_equal(fb_ready_listeners(table, 80, inodes, 4), 0);
    assert_int_equal(fb_ready_listeners("", 80, inodes, 4), 0);
}

static void a_line_counts_when_it_is_whole(void **state)
{
    (void)state;
    char path[] = "/tmp/fragbench-ready-XXXXXX";
    struct fb_ready_log log = {.fd = mkstemp(path)};
    regex_t wanted;
    assert_int_equal(regcomp(&wanted, "^ready to (serve|work)$", REG_EXTENDED | REG_NOSUB), 0);
    assert_int_equal(write(log.fd, "not ready\nready to se", 21), 21);
    assert_false(fb_ready_line(&log, &wanted));
    assert_int_equal(write(log.fd, "rve", 3), 3);
    assert_false(fb_ready_line(&log, &wanted));
    assert_int_equal(write(log.fd, "\nmore\n", 6), 6);
    assert_true(fb_ready_line(&log, &wanted));
    assert_false(fb_ready_line(&log, &wanted));
    regfree(&wanted);
    (void)close(log.fd);
    (void)unlink(path);
}

static const char *entry(char **environment, const char *start)
{
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, start, strlen(start)) == 0)
            return *environment;
    return NULL;
}

static void the_environment_is_the_persons_with_the_allocator_put_in(void **state)
{
    (void)state;
    char home[] = "HOME=/h", preload[] = "LD_PRELOAD=/mine.so", conf[] = "MALLOC_CONF=old",
         tunables[] = "GLIBC_TUNABLES=glibc.x=1";
    char *const own[] = {home, preload, conf, tunables, NULL};
    char library[] = "/je.so", key[] = "MALLOC_CONF", value[] = "narenas:1",
         glibc[] = "GLIBC_TUNABLES", arenas[] = "glibc.malloc.arena_max=1";
    struct fb_setting settings[] = {{key, value}, {glibc, arenas}};
    const struct fb_contender contender = {.path = library, .env = settings, .env_count = 2};
    const struct fb_environ_additions additions = {
        .contender = &contender, .live_library = "/live.so", .live_block = "/proc/1/fd/3"};
    char **list = fb_environ_new(own, &additions);
    assert_string_equal(entry(list, "HOME="), "HOME=/h");
    assert_string_equal(entry(list, "LD_PRELOAD="), "LD_PRELOAD=/live.so:/je.so:/mine.so");
    assert_string_equal(entry(list, "MALLOC_CONF="), "MALLOC_CONF=narenas:1");
    assert_string_equal(entry(list, "GLIBC_TUNABLES="),
                        "GLIBC_TUNABLES=glibc.x=1:glibc.malloc.arena_max=1");
    assert_string_equal(entry(list, "FRAGBENCH_LIVE="), "FRAGBENCH_LIVE=/proc/1/fd/3");
    fb_environment_free(list);
    const struct fb_contender nothing = {.label = NULL};
    const struct fb_environ_additions plain = {.contender = &nothing};
    list = fb_environ_new(own, &plain);
    assert_string_equal(entry(list, "LD_PRELOAD="), "LD_PRELOAD=/mine.so");
    fb_environment_free(list);
}

static void pools_are_known_by_their_files(void **state)
{
    (void)state;
    char off[] = "PYTHONMALLOC=malloc";
    char *const switched[] = {off, NULL}, *const plain[] = {NULL};
    assert_non_null(fb_pool_note("python3.11", plain));
    assert_null(fb_pool_note("python3.11", switched));
    assert_non_null(fb_pool_note("libjvm.so", switched));
    assert_null(fb_pool_note("redis-server", plain));
}

/* The C library of this very test, from its own link map. */
static char *own_libc(void)
{
    struct fb_linkmap map;
    char *path = NULL;
    fb_linkmap_read(getpid(), &map);
    assert_int_equal(map.kind, FB_LINKMAP_COMPLETE);
    for (size_t i = 0; i < map.count; i++)
        if (strstr(map.objects[i].path, "/libc.so") != NULL)
            path = strdup(map.objects[i].path);
    fb_linkmap_deinit(&map);
    assert_non_null(path);
    return path;
}

static void libc_exports_malloc_and_this_program_does_not(void **state)
{
    (void)state;
    struct fb_binaries binaries = {0};
    char *libc = own_libc();
    const struct fb_binary *library = fb_binaries_get(&binaries, libc, libc);
    assert_true(library->elf && library->is_64 && library->defines_malloc);
    const struct fb_binary *self = fb_binaries_get(&binaries, "/self", "/proc/self/exe");
    assert_true(self->elf && self->interpreter[0] == '/');
    const struct fb_binary *text = fb_binaries_get(&binaries, "/etc/passwd", "/etc/passwd");
    assert_false(text->elf);
    assert_ptr_equal(fb_binaries_get(&binaries, libc, libc), library);
    fb_binaries_deinit(&binaries);
    free(libc);
}

static void the_first_that_exports_malloc_answers(void **state)
{
    (void)state;
    struct fb_binaries binaries = {0};
    char *libc = own_libc();
    char self[] = "/etc/passwd", other[] = "/opt/other.so";
    const struct fb_contender glibc = {.label = NULL}, asked = {.path = other};
    struct fb_linkmap_object objects[] = {{self, 0}, {libc, 0}};
    const struct fb_linkmap map = {.objects = objects, .count = 2};
    struct fb_answer_question question = {
        .objects = &binaries, .contender = &glibc, .program = "p"};
    struct fb_exec_answer answer;
    fb_answer_judge(&map, &question, &answer);
    assert_int_equal(answer.kind, FB_ANSWER_ASKED);
    assert_string_equal(answer.by, libc);
    fb_answer_deinit(&answer);
    question.contender = &asked;
    fb_answer_judge(&map, &question, &answer);
    assert_int_equal(answer.kind, FB_ANSWER_OTHER);
    assert_non_null(strstr(answer.why, "LD_PRELOAD"));
    fb_answer_deinit(&answer);
    fb_binaries_deinit(&binaries);
    free(libc);
}

static void libc_is_preloaded_only_behind_another_allocator(void **state)
{
    (void)state;
    struct fb_binaries binaries = {0};
    struct fb_relink relink;
    char *libc = own_libc(), list[4096];
    (void)snprintf(list, sizeof list, "\tlinux-vdso.so.1 (0x1)\n\tlibc.so.6 => %s (0x2)\n", libc);
    fb_relink_parse(list, &binaries, &relink);
    assert_null(relink.libc);
    /* The same file under another name stands for an allocator. */
    char path[] = "/tmp/fragbench-relink-XXXXXX";
    int fd = mkstemp(path);
    (void)close(fd);
    (void)unlink(path);
    assert_int_equal(symlink(libc, path), 0);
    (void)snprintf(list, sizeof list, "\tliballoc.so => %s (0x1)\n\tlibc.so.6 => %s (0x2)\n", path,
                   libc);
    fb_relink_parse(list, &binaries, &relink);
    assert_string_equal(relink.libc, libc);
    assert_string_equal(relink.linked_to, path);
    fb_relink_deinit(&relink);
    (void)unlink(path);
    fb_binaries_deinit(&binaries);
    free(libc);
}

static void live_slots_are_summed_and_those_of_the_dead_dropped(void **state)
{
    (void)state;
    struct fb_live live;
    struct fb_live_count count;
    struct fb_process self = {.pid = getpid()};
    const struct fb_family family = {.members = &self, .count = 1};
    assert_int_equal(fb_live_open(&live, NULL), 0);
    struct fb_live_slot *slots = live.block->slots;
    live.block->used = 3;
    slots[0] = (struct fb_live_slot){
        .owner = getpid(), .allocated_bytes = 100, .freed_bytes = 30, .calls = 5};
    /* freed by another thread than the one that allocated */
    slots[1] = (struct fb_live_slot){
        .owner = getpid(), .allocated_bytes = 0, .freed_bytes = 20, .calls = 1};
    pid_t gone = fork();
    if (gone == 0)
        _exit(0);
    assert_int_equal(waitpid(gone, NULL, 0), gone);
    slots[2] = (struct fb_live_slot){.owner = gone, .allocated_bytes = 7000, .calls = 2};
    fb_live_read(&live, &family, &count);
    assert_int_equal(count.live_bytes, 50);
    assert_int_equal(count.volume_bytes, 7100);
    assert_int_equal(count.calls, 8);
    assert_int_equal(slots[2].owner, 0);
    fb_live_read(&live, &family, &count);
    assert_int_equal(count.volume_bytes, 7100);
    fb_live_close(&live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stat_line_is_read_from_its_last_parenthesis),
        cmocka_unit_test(what_is_counted_twice_lies_on_the_youngest),
        cmocka_unit_test(a_family_is_found_and_weighed_once),
        cmocka_unit_test(listeners_are_told_from_connections),
        cmocka_unit_test(a_line_counts_when_it_is_whole),
        cmocka_unit_test(the_environment_is_the_persons_with_the_allocator_put_in),
        cmocka_unit_test(pools_are_known_by_their_files),
        cmocka_unit_test(libc_exports_malloc_and_this_program_does_not),
        cmocka_unit_test(the_first_that_exports_malloc_answers),
        cmocka_unit_test(libc_is_preloaded_only_behind_another_allocator),
        cmocka_unit_test(live_slots_are_summed_and_those_of_the_dead_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
