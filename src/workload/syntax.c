/* libyaml's syntax errors in our words. */
#include "base/alloc.h"
#include "workload/text.h"
#include "workload/tree.h"

#include <stdlib.h>
#include <string.h>

enum place {
    AT_PROBLEM, /* where libyaml stopped */
    AT_BEGIN,   /* where the construct began */
    AT_EITHER,  /* at the problem, but where it began when that is on another line: an unclosed
                   bracket is noticed at the next key only */
};

struct wording {
    const char *problem; /* a part of libyaml's text */
    const char *text;    /* ours */
    enum place place;
};

static const struct wording wordings[] = {
    {"found unexpected end of stream", "this quote is never closed; close it", AT_BEGIN},
    {"found unexpected document indicator", "this quote is never closed; close it", AT_BEGIN},
    {"did not find expected ',' or '}'",
     "a \",\" or \"}\" is missing: separate the entries or close the mapping", AT_EITHER},
    {"did not find expected ',' or ']'",
     "a \",\" or \"]\" is missing: separate the entries or close the list", AT_EITHER},
    {"mapping values are not allowed",
     "a \":\" where no key can stand; quote the text or mend the indentation", AT_PROBLEM},
    {"block sequence entries are not allowed",
     "a list entry where none can stand; put it on a line of its own", AT_PROBLEM},
    {"did not find expected key", "this fits into no mapping or list above; mend the indentation",
     AT_PROBLEM},
    {"did not find expected '-' indicator",
     "this is no entry of the list above; begin it with \"- \" or mend the indentation",
     AT_PROBLEM},
    {"could not find expected ':'", "this key has no \":\" after it; add one", AT_BEGIN},
    {"found character that cannot start any token",
     "no value can begin with this character; put the text into quotes", AT_PROBLEM},
    {"found undefined alias", "this alias names no anchor above; define it with \"&\" first",
     AT_PROBLEM},
    {"found duplicate anchor", "this anchor is there already; give it another name", AT_PROBLEM},
    {"found unknown escape character", "no such escape; use single quotes to keep a backslash",
     AT_PROBLEM},
    {"did not find expected <document start>",
     "this stands after the workload's end; indent it or give it a key", AT_PROBLEM},
    {"found a tab character", "a tab where blanks are expected; use blanks", AT_PROBLEM},
};

static const struct wording *find_wording(const char *problem)
{
    for (size_t i = 0; i < sizeof wordings / sizeof wordings[0]; i++)
        if (strstr(problem, wordings[i].problem) != NULL)
            return &wordings[i];
    return NULL;
}

/* The column (from 1) of a tab in the line's indentation; 0 when it has none. */
static size_t indented_by_tab(const struct fb_diagnostics *diagnostics, size_t line)
{
    size_t size = 0;
    const char *text = fb_text_line(diagnostics->source, diagnostics->source_size, line, &size);
    for (size_t i = 0; text != NULL && i < size; i++) {
        if (text[i] == '\t')
            return i + 1;
        if (text[i] != ' ')
            break;
    }
    return 0;
}

static yaml_mark_t place_of(const yaml_parser_t *parser, enum place place)
{
    bool begin = place == AT_BEGIN ||
                 (place == AT_EITHER && parser->context_mark.line != parser->problem_mark.line);
    return begin && parser->context != NULL ? parser->context_mark : parser->problem_mark;
}

void fb_tree_syntax_fault(struct fb_tree *tree, const yaml_parser_t *parser)
{
    const char *problem = parser->problem != NULL ? parser->problem : "no memory to parse it";
    const struct wording *wording = find_wording(problem);
    char *other = fb_format("no legal YAML: %s; mend or quote it", problem);
    yaml_mark_t mark = place_of(parser, wording != NULL ? wording->place : AT_PROBLEM);
    size_t line = parser->problem_mark.line + 1;
    size_t tab = tree->override == NULL ? indented_by_tab(tree->diagnostics, line) : 0;
    if (tab > 0)
        fb_diagnostics_add(tree->diagnostics, line, tab, 1, "tab-indentation",
                           "a tab in the indentation; YAML takes blanks only");
    else
        fb_tree_fault(tree, mark, mark, "syntax", wording != NULL ? wording->text : other);
    free(other);
}
