/* One YAML document as a tree of nodes with places.
 *
 * The only files that know libyaml are tree.c, scan.c, pairs.c and syntax.c. A loaded
 * tree is bounded: at most FB_TREE_VISITS nodes counted as often as aliases repeat them,
 * at most FB_TREE_DEPTH deep, no cycles, no NUL in a scalar; so whoever walks it needs
 * no limits of his own.
 *
 * A tree comes from the file or, with `override` set, from a command line's value:
 * then faults carry no place (line 0) and say where the text comes from.
 */
#ifndef FB_WORKLOAD_TREE_H
#define FB_WORKLOAD_TREE_H

#include "workload/diagnostic.h"

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#define FB_TREE_VISITS 100000
#define FB_TREE_DEPTH 32
#define FB_TREE_ANCHORS 1000
#define FB_PAIRS_MAX 1000 /* keys of one mapping: looking for duplicates is quadratic */

struct fb_tree {
    struct fb_diagnostics *diagnostics; /* borrowed */
    const char *override;               /* borrowed: the parameter's name, or NULL */
    yaml_document_t document;
    bool loaded;
};

/* A node; raw is NULL for "none". By value, valid as long as its tree. */
struct fb_node {
    struct fb_tree *tree;
    yaml_node_t *raw;
};

/* Loads text into tree (diagnostics and override set by the caller, the rest zero). False
 * when a fault was added. */
bool fb_tree_load(struct fb_tree *tree, const char *text, size_t size);
void fb_tree_unload(struct fb_tree *tree);
struct fb_node fb_tree_root(struct fb_tree *tree);

/* Adds a fault that marks the node; raw NULL: about the whole file. */
void fb_node_fault(struct fb_node node, const char *id, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a place of the text. */
void fb_tree_fault(struct fb_tree *tree, yaml_mark_t begin, yaml_mark_t end, const char *id,
                   const char *text);
/* Reads the text's events only and refuses, before a tree is built, what would make libyaml slow:
 * its scanner is quadratic in depth, its loader in anchors. Also the place where a second document
 * and syntax errors are found. False when a fault was added (scan.c). */
bool fb_tree_scan(struct fb_tree *tree, const char *text, size_t size);
/* Adds the syntax fault that stopped the parser, in our words (syntax.c). */
void fb_tree_syntax_fault(struct fb_tree *tree, const yaml_parser_t *parser);

/* The text of a scalar, NULL for lists and mappings. */
const char *fb_node_text(struct fb_node node);
/* A scalar that stands for nothing: empty, ~ or null, unquoted. */
bool fb_node_is_null(struct fb_node node);
bool fb_node_is_mapping(struct fb_node node);
bool fb_node_is_list(struct fb_node node);
/* "a list", "a mapping", "nothing", "\"text\"" cut to 40 bytes; returns buffer. */
const char *fb_node_describe(struct fb_node node, char *buffer, size_t size);
/* Of a list; 0 for others. */
size_t fb_node_count(struct fb_node node);
struct fb_node fb_node_item(struct fb_node node, size_t index);
/* The raw pairs of a mapping, merge keys not put in; 0 for others. */
size_t fb_node_pair_count(struct fb_node node);
struct fb_node fb_node_pair_key(struct fb_node node, size_t index);
struct fb_node fb_node_pair_value(struct fb_node node, size_t index);

struct fb_pair {
    struct fb_node key, value;
    const char *name; /* the key's text */
};

/* The pairs of a mapping, merge keys (<<) put in: own keys win, then earlier merges. */
struct fb_pairs {
    struct fb_pair *items; /* owned */
    size_t count;
};

/* Faults: duplicate-key, a key that is no text, a merge of something that is no mapping, too many
 * keys; the pairs that are well are there nevertheless. title names the mapping: "object \"kv\"".
 */
void fb_pairs_init(struct fb_pairs *pairs, struct fb_node mapping, const char *title);
void fb_pairs_deinit(struct fb_pairs *pairs);
/* NULL when there is none. */
const struct fb_pair *fb_pairs_find(const struct fb_pairs *pairs, const char *name);

#endif
