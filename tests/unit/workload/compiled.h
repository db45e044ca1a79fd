/* Support of the compiler's tests: a workload compiled into memory, and its ops as text. */
#ifndef FB_TEST_COMPILED_H
#define FB_TEST_COMPILED_H

#include "trace/reader.h"
#include "workload/compile.h"

struct compiled {
    struct fb_totals totals;
    struct fb_trace trace;
    int fd;
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define CONSTANT(value)                                \
    {                                                  \
        .kind = FB_DISTRIBUTION_CONSTANT, .a = (value) \
    }

/* A workload over two arrays of the caller's. */
#define WORKLOAD(class_table, phase_table)                                                    \
    {                                                                                         \
        .classes = (class_table), .class_count = COUNT(class_table), .phases = (phase_table), \
        .phase_count = COUNT(phase_table)                                                     \
    }

/* Compiles with the seed and scale 1; fails the test when that fails. */
struct compiled compile(const struct fb_workload *workload, uint64_t seed);
struct compiled compile_with(const struct fb_workload *workload,
                             const struct fb_compile_options *options);
void compiled_free(struct compiled *compiled);

/* The ops from the first PHASE_BEGIN to the last PHASE_END in lockstep order, one word each,
 * samples and checkpoints left out: "<0 i0 +a0:100 -a0 >0" is a phase of one iteration that
 * allocates 100 bytes of class a in slot 0 and frees them. "~a0:200" a realloc, "pace(5)",
 * "sleep(5)", "sleep(5+)" since the last "hold", "{0 }0" a scope, "+a0:8." and "-a0." with the
 * scope's flag, "-a0*" of an object that another thread allocated. Threads: "start1", "@1" a
 * turn to stream 1 ("@1!" strict), "park", "resume1", "await1", "join1 end". Free the text. */
char *ops_as_text(const struct fb_trace *trace);
/* The same of all that comes after the last PHASE_END. */
char *tail_as_text(const struct fb_trace *trace);
/* Compiles with seed 42 and compares ops_as_text(). */
void expect_ops(const struct fb_workload *workload, const char *expected);

/* A class of constant size, and one with a constant length of life. */
struct fb_object_class class_of(const char *name, double size, enum fb_lifetime lifetime);
struct fb_object_class living(const char *name, double size, enum fb_lifetime lifetime,
                              double length);

#endif
