#include "workload/tree.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char standard_tag[] = "tag:yaml.org,2002:";

/* The state of one walk over the whole tree. */
struct walk {
    struct fb_tree *tree;
    yaml_node_t *path[FB_TREE_DEPTH]; /* from the root to here */
    size_t depth;
    size_t visits;
};

static bool walk_node(struct walk *walk, int id);

static bool refuse(struct walk *walk, yaml_node_t *raw, const char *id, const char *text)
{
    fb_node_fault((struct fb_node){walk->tree, raw}, id, "%s", text);
    return false;
}

static bool check_node(struct walk *walk, yaml_node_t *raw)
{
    for (size_t i = 0; i < walk->depth; i++)
        if (walk->path[i] == raw)
            return refuse(walk, raw, "cyclic-alias",
                          "this value contains an alias of itself; write the inner one out");
    if (++walk->visits > FB_TREE_VISITS)
        return refuse(walk, walk->depth > 2 ? walk->path[2] : raw, "alias-bomb",
                      "with its aliases the file has more than 100,000 values; use fewer aliases, "
                      "distributions and iterations");
    if (walk->depth == FB_TREE_DEPTH)
        return refuse(walk, raw, "too-deep",
                      "values are nested more than 32 deep; no key of the language needs that");
    if (raw->tag != NULL &&
        strncmp((const char *)raw->tag, standard_tag, sizeof standard_tag - 1) != 0)
        return refuse(walk, raw, "wrong-type", "tags have no meaning here; remove this one");
    if (raw->type == YAML_SCALAR_NODE && memchr(raw->data.scalar.value, 0, raw->data.scalar.length))
        return refuse(walk, raw, "binary", "an escaped NUL character; remove it");
    return true;
}

static bool walk_children(struct walk *walk, yaml_node_t *raw)
{
    if (raw->type == YAML_SEQUENCE_NODE)
        for (yaml_node_item_t *item = raw->data.sequence.items.start;
             item < raw->data.sequence.items.top; item++)
            if (!walk_node(walk, *item))
                return false;
    if (raw->type == YAML_MAPPING_NODE)
        for (yaml_node_pair_t *pair = raw->data.mapping.pairs.start;
             pair < raw->data.mapping.pairs.top; pair++)
            if (!walk_node(walk, pair->key) || !walk_node(walk, pair->value))
                return false;
    return true;
}

static bool walk_node(struct walk *walk, int id)
{
    yaml_node_t *raw = yaml_document_get_node(&walk->tree->document, id);
    if (raw == NULL || !check_node(walk, raw))
        return false;
    walk->path[walk->depth++] = raw;
    bool well = walk_children(walk, raw);
    walk->depth--;
    return well;
}

static bool refuse_empty(struct fb_tree *tree)
{
    if (tree->override != NULL)
        fb_diagnostics_add(tree->diagnostics, 0, 0, 1, "empty", "-L %s= has no value; give one",
                           tree->override);
    else
        fb_diagnostics_add(tree->diagnostics, 0, 0, 1, "empty",
                           "the file holds no workload; begin with \"fragbench: 1\"");
    return false;
}

static bool load(struct fb_tree *tree, yaml_parser_t *parser)
{
    if (!yaml_parser_load(parser, &tree->document)) {
        fb_tree_syntax_fault(tree, parser);
        return false;
    }
    tree->loaded = true;
    return yaml_document_get_root_node(&tree->document) != NULL || refuse_empty(tree);
}

bool fb_tree_load(struct fb_tree *tree, const char *text, size_t size)
{
    yaml_parser_t parser;
    if (!fb_tree_scan(tree, text, size))
        return false;
    if (!yaml_parser_initialize(&parser)) {
        fb_diagnostics_add(tree->diagnostics, 0, 0, 1, "unreadable",
                           "no memory for the YAML parser; free some");
        return false;
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    bool well = load(tree, &parser);
    yaml_parser_delete(&parser);
    struct walk walk = {.tree = tree};
    return well && walk_node(&walk, 1);
}

void fb_tree_unload(struct fb_tree *tree)
{
    if (tree->loaded)
        yaml_document_delete(&tree->document);
    tree->loaded = false;
}

struct fb_node fb_tree_root(struct fb_tree *tree)
{
    return (struct fb_node){tree, yaml_document_get_root_node(&tree->document)};
}

void fb_tree_fault(struct fb_tree *tree, yaml_mark_t begin, yaml_mark_t end, const char *id,
                   const char *text)
{
    if (tree->override != NULL) {
        fb_diagnostics_add(tree->diagnostics, 0, 0, 1, id, "-L %s: %s", tree->override, text);
        return;
    }
    /* What goes on for several lines is marked to the end of its first. */
    size_t length = end.line > begin.line ? SIZE_MAX : end.column - begin.column;
    fb_diagnostics_add(tree->diagnostics, begin.line + 1, begin.column + 1, length, id, "%s", text);
}

void fb_node_fault(struct fb_node node, const char *id, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    int length = vasprintf(&text, fmt, args);
    va_end(args);
    const char *shown = length < 0 ? "this fault's text did not fit into memory" : text;
    if (node.raw != NULL)
        fb_tree_fault(node.tree, node.raw->start_mark, node.raw->end_mark, id, shown);
    else
        fb_diagnostics_add(node.tree->diagnostics, 0, 0, 1, id, "%s", shown);
    if (length >= 0)
        free(text);
}

const char *fb_node_text(struct fb_node node)
{
    return node.raw->type == YAML_SCALAR_NODE ? (const char *)node.raw->data.scalar.value : NULL;
}

bool fb_node_is_null(struct fb_node node)
{
    const char *text = fb_node_text(node);
    return text != NULL && node.raw->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

bool fb_node_is_mapping(struct fb_node node)
{
    return node.raw->type == YAML_MAPPING_NODE;
}

bool fb_node_is_list(struct fb_node node)
{
    return node.raw->type == YAML_SEQUENCE_NODE;
}

const char *fb_node_describe(struct fb_node node, char *buffer, size_t size)
{
    if (fb_node_is_mapping(node))
        return "a mapping";
    if (fb_node_is_list(node))
        return "a list";
    if (fb_node_is_null(node))
        return "nothing";
    (void)snprintf(buffer, size, "\"%.40s\"", fb_node_text(node));
    return buffer;
}

size_t fb_node_count(struct fb_node node)
{
    if (!fb_node_is_list(node))
        return 0;
    return (size_t)(node.raw->data.sequence.items.top - node.raw->data.sequence.items.start);
}

static struct fb_node node_of(struct fb_node node, int id)
{
    return (struct fb_node){node.tree, yaml_document_get_node(&node.tree->document, id)};
}

struct fb_node fb_node_item(struct fb_node node, size_t index)
{
    return node_of(node, node.raw->data.sequence.items.start[index]);
}

size_t fb_node_pair_count(struct fb_node node)
{
    if (!fb_node_is_mapping(node))
        return 0;
    return (size_t)(node.raw->data.mapping.pairs.top - node.raw->data.mapping.pairs.start);
}

struct fb_node fb_node_pair_key(struct fb_node node, size_t index)
{
    return node_of(node, node.raw->data.mapping.pairs.start[index].key);
}

struct fb_node fb_node_pair_value(struct fb_node node, size_t index)
{
    return node_of(node, node.raw->data.mapping.pairs.start[index].value);
}
