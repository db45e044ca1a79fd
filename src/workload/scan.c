/* The first look at a text: its events, before a tree is built. */
#include "workload/tree.h"

struct scan {
    struct fb_tree *tree;
    size_t depth, nodes, anchors, documents;
    bool ended;
};

static bool refuse(const struct scan *scan, const yaml_event_t *event, const char *id,
                   const char *text)
{
    fb_tree_fault(scan->tree, event->start_mark, event->end_mark, id, text);
    return false;
}

static const yaml_char_t *anchor_of(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor;
    default:
        return NULL;
    }
}

static void count(struct scan *scan, const yaml_event_t *event)
{
    yaml_event_type_t type = event->type;
    bool opens = type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT;
    bool closes = type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT;
    scan->documents += type == YAML_DOCUMENT_START_EVENT;
    scan->nodes += opens || type == YAML_SCALAR_EVENT;
    scan->anchors += anchor_of(event) != NULL;
    scan->depth = scan->depth + opens - closes;
    scan->ended = type == YAML_STREAM_END_EVENT;
}

static bool take(struct scan *scan, const yaml_event_t *event)
{
    count(scan, event);
    if (scan->documents > 1)
        return refuse(scan, event, "multiple-documents",
                      "a second document begins; a workload is one: put it into a file of its own");
    if (scan->depth > FB_TREE_DEPTH)
        return refuse(scan, event, "too-deep",
                      "values are nested more than 32 deep; no key of the language needs that");
    if (scan->anchors > FB_TREE_ANCHORS)
        return refuse(
            scan, event, "too-large",
            "there are more than 1,000 anchors; write values that are used once in place");
    if (scan->nodes > FB_TREE_VISITS)
        return refuse(scan, event, "too-large",
                      "the file has more than 100,000 values; use distributions and iterations");
    return true;
}

static bool next(struct scan *scan, yaml_parser_t *parser)
{
    yaml_event_t event;
    if (!yaml_parser_parse(parser, &event)) {
        fb_tree_syntax_fault(scan->tree, parser);
        return false;
    }
    bool well = take(scan, &event);
    yaml_event_delete(&event);
    return well;
}

bool fb_tree_scan(struct fb_tree *tree, const char *text, size_t size)
{
    struct scan scan = {.tree = tree};
    yaml_parser_t parser;
    bool well = true;
    if (!yaml_parser_initialize(&parser)) {
        fb_diagnostics_add(tree->diagnostics, 0, 0, 1, "unreadable",
                           "no memory for the YAML parser; free some");
        return false;
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    while (well && !scan.ended)
        well = next(&scan, &parser);
    yaml_parser_delete(&parser);
    return well;
}
