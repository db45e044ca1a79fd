/* What the readers of the language share: the state of one parse, and values that
 * know how to speak about themselves.
 *
 * Every fb_value_… and fb_fields_… function adds the fault itself and returns false,
 * so a reader only has to go on with the next key: all faults come out in one pass.
 * Out-parameters are untouched on failure.
 */
#ifndef FB_WORKLOAD_READER_H
#define FB_WORKLOAD_READER_H

#include "base/units.h"
#include "workload/keys.h"
#include "workload/params.h"
#include "workload/tree.h"
#include "workload/workload.h"

#define FB_TITLE_MAX 224
#define FB_FIELDS_MAX 24
#define FB_ITEMS_MAX 1000 /* objects or phases */
#define FB_ITERATIONS_MAX (UINT64_C(1) << 40)

/* What is known of a class while phases are read; parallel to workload->classes. */
struct fb_class_note {
    struct fb_node key;
    bool lifetime_known; /* false: faulty, so nothing more is said about it */
    bool allocated;      /* by a phase so far */
};

/* What is known of a pool; parallel to workload->pools. */
struct fb_pool_note {
    struct fb_node key;
    bool used; /* by a phase, or by an object's freed_by */
};

struct fb_reader {
    struct fb_diagnostics *diagnostics; /* borrowed */
    struct fb_workload *workload;       /* being filled; borrowed */
    struct fb_tree file;
    struct fb_params params;
    struct fb_class_note *notes;     /* owned */
    struct fb_pool_note *pool_notes; /* owned */
    bool pools_known; /* false: the key is faulty, so nothing is said about names of pools */
};

/* A value with its parameter put in. */
struct fb_value {
    struct fb_node node;
    const char *values;      /* what it takes, for people: from the key table */
    char what[FB_TITLE_MAX]; /* "size of object \"kv\"" */
};

/* The keys of one mapping, looked up in the key table. */
struct fb_fields {
    const char *where;        /* the table's "object", "phase" … */
    char title[FB_TITLE_MAX]; /* "object \"kv\"" */
    struct fb_node at;        /* what a missing key is reported at */
    struct {
        const struct fb_key *key;
        struct fb_node name, value;
    } items[FB_FIELDS_MAX];
    size_t count;
    bool unknown; /* it has keys that are not in the table */
};

/* --- fields.c --- */
/* Collects the mapping's keys; faults: wrong-type, unknown-key, duplicate-key. */
bool fb_fields_read(const struct fb_value *mapping, const char *where, struct fb_node at,
                    struct fb_fields *out);
/* False when the key is absent or its parameter unknown or its value empty. */
bool fb_fields_get(struct fb_reader *reader, const struct fb_fields *fields, const char *name,
                   struct fb_value *out);
/* The same; absence is the fault missing-key. */
bool fb_fields_need(struct fb_reader *reader, const struct fb_fields *fields, const char *name,
                    struct fb_value *out);
bool fb_fields_has(const struct fb_fields *fields, const char *name);
/* Of a key that is there: the key's own node (for faults about it), and its value with no
 * parameter put in. */
struct fb_node fb_fields_key(const struct fb_fields *fields, const char *name);
struct fb_node fb_fields_raw(const struct fb_fields *fields, const char *name);

/* --- value.c --- */
/* A value within outer: same words, parameter put in, no empty value. */
bool fb_value_inner(struct fb_reader *reader, const struct fb_value *outer, struct fb_node node,
                    struct fb_value *out);
void fb_value_wrong_type(const struct fb_value *value);
const char *fb_value_text(const struct fb_value *value);
/* A whole number of base units in low … high. */
bool fb_value_whole(const struct fb_value *value, enum fb_unit_kind kind, uint64_t low,
                    uint64_t high, uint64_t *out);
/* A number in low … high that may have a fraction. */
bool fb_value_real(const struct fb_value *value, enum fb_unit_kind kind, double low, double high,
                   double *out);
struct fb_word {
    const char *word;
    int value;
};
/* One of a table's words; fault unknown-word with a suggestion. */
bool fb_value_word(const struct fb_value *value, const struct fb_word *words, size_t count,
                   int *out);
/* Checks letters and length of a name that stands at node (fault bad-name). */
bool fb_name_check(struct fb_node node, const char *name, const char *what);
/* "; did you mean \"x\"?" or "; known are a, b, c" (the first few); returns buffer. */
const char *fb_advise(const char *word, const char *const *known, size_t count, char *buffer,
                      size_t size);

/* --- shapes.c: a number or a distribution; each value ≥ minimum (base units) --- */
bool fb_value_distribution(struct fb_reader *reader, const struct fb_value *value,
                           enum fb_unit_kind kind, uint64_t minimum, struct fb_distribution *out);

/* --- pools.c --- */
/* Fills workload->pools. Called before what names pools is read, without the key too. */
void fb_read_pools(struct fb_reader *reader, const struct fb_fields *top);
/* The pool of that name, which it counts as used. NULL (a fault) when there is none; words: other
 * values the key takes, for the suggestion. */
const struct fb_pool *fb_pool_find(struct fb_reader *reader, const struct fb_value *value,
                                   const char *const *words, size_t word_count);
void fb_pools_check_unused(const struct fb_reader *reader);

/* --- threads.c --- */
/* A phase's threads, pool and scopes. */
void fb_read_threads(struct fb_reader *reader, const struct fb_fields *fields,
                     struct fb_phase *phase);
/* Whether the phase's threads and scopes fit the object that it allocates at key. */
void fb_threads_check_object(const struct fb_reader *reader, const struct fb_phase *phase,
                             struct fb_node key, size_t class_index);

/* --- limits.c --- */
void fb_read_limits(struct fb_reader *reader, const struct fb_value *limits);

/* --- objects.c, phases.c: fill reader->workload; whether all was well stands in diagnostics --- */
void fb_read_objects(struct fb_reader *reader, const struct fb_value *objects);
void fb_read_phases(struct fb_reader *reader, const struct fb_value *phases);

#endif
