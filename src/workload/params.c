#include "workload/params.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "workload/reader.h"

#include <stdlib.h>
#include <string.h>

/* CHAIN_MAX bounds the search's stack: each step may add FB_TREE_DEPTH frames. */
enum { VALUE_TEXT_MAX = 4096, CHAIN_MAX = 64 };

/* The name in "$name", NULL when node is none. */
static const char *reference(struct fb_node node)
{
    const char *text = fb_node_text(node);
    return text != NULL && text[0] == '$' ? text + 1 : NULL;
}

static const char **names_of(const struct fb_params *params)
{
    const char **names = fb_alloc(params->pairs.count, sizeof *names);
    for (size_t i = 0; i < params->pairs.count; i++)
        names[i] = params->pairs.items[i].name;
    return names;
}

static void report_unknown(const struct fb_params *params, struct fb_node node, const char *name)
{
    char advice[FB_TITLE_MAX];
    const char **names = names_of(params);
    if (params->pairs.count == 0)
        fb_node_fault(node, "unknown-param",
                      "unknown parameter \"$%.40s\"; declare it in params or write the value",
                      name);
    else
        fb_node_fault(node, "unknown-param", "unknown parameter \"$%.40s\"%s", name,
                      fb_advise(name, names, params->pairs.count, advice, sizeof advice));
    free(names);
}

bool fb_params_resolve(const struct fb_params *params, struct fb_node node, struct fb_node *out)
{
    /* The chain is no longer than the parameters: cycles were marked as broken. */
    for (const char *name = reference(node); name != NULL; name = reference(node)) {
        const struct fb_pair *pair = fb_pairs_find(&params->pairs, name);
        if (pair == NULL) {
            report_unknown(params, node, name);
            return false;
        }
        if (params->broken[pair - params->pairs.items])
            return false;
        node = pair->value;
    }
    *out = node;
    return true;
}

/* --- overrides --- */

static void report_unknown_override(const struct fb_params *params, const char *name,
                                    struct fb_diagnostics *diagnostics)
{
    char advice[FB_TITLE_MAX];
    const char **names = names_of(params);
    fb_diagnostics_add(diagnostics, 0, 0, 1, "unknown-override",
                       "-L %.40s: the workload has no such parameter%s", name,
                       params->pairs.count == 0
                           ? "; it declares none, so drop the option"
                           : fb_advise(name, names, params->pairs.count, advice, sizeof advice));
    free(names);
}

static void apply_override(struct fb_params *params, const struct fb_override *override,
                           struct fb_tree *tree)
{
    tree->override = override->name;
    const struct fb_pair *pair = fb_pairs_find(&params->pairs, override->name);
    if (pair == NULL) {
        report_unknown_override(params, override->name, tree->diagnostics);
        return;
    }
    size_t index = (size_t)(pair - params->pairs.items);
    if (fb_tree_load(tree, override->value, strlen(override->value)))
        params->pairs.items[index].value = fb_tree_root(tree);
    else
        params->broken[index] = true;
}

/* --- cycles: depth first over the graph of who uses whom --- */

enum colour { WHITE = 0, GREY, BLACK };

struct search {
    struct fb_params *params;
    enum colour *colour;
    size_t *path; /* the parameters from the first to here */
    size_t depth;
};

static bool visit(struct search *search, size_t index);

static void report_cycle(struct search *search, size_t index)
{
    const struct fb_pair *items = search->params->pairs.items;
    size_t first = search->depth;
    while (search->path[first - 1] != index)
        first--;
    struct fb_buf chain;
    fb_buf_init(&chain, 300);
    for (size_t i = first - 1; i < search->depth; i++)
        fb_buf_addf(&chain, "$%.40s uses ", items[search->path[i]].name);
    fb_node_fault(items[index].key, "cyclic-param",
                  "parameter \"%.40s\" is defined by itself: %s%s$%.40s; give one of them a value",
                  items[index].name, chain.text, chain.overflow ? "... " : "", items[index].name);
    fb_buf_deinit(&chain);
}

/* Visits every parameter that a value uses; false when one of them is broken. */
static bool visit_uses(struct search *search, struct fb_node node)
{
    const char *name = reference(node);
    bool well = true;
    if (name != NULL) {
        const struct fb_pair *pair = fb_pairs_find(&search->params->pairs, name);
        if (pair == NULL)
            report_unknown(search->params, node, name);
        return pair != NULL && visit(search, (size_t)(pair - search->params->pairs.items));
    }
    for (size_t i = 0; i < fb_node_count(node); i++)
        well = visit_uses(search, fb_node_item(node, i)) && well;
    for (size_t i = 0; i < fb_node_pair_count(node); i++)
        well = visit_uses(search, fb_node_pair_value(node, i)) && well;
    return well;
}

static bool visit(struct search *search, size_t index)
{
    bool *broken = search->params->broken;
    if (search->colour[index] == GREY) {
        report_cycle(search, index);
        broken[index] = true;
        return false;
    }
    if (search->colour[index] == BLACK || broken[index])
        return !broken[index];
    if (search->depth == CHAIN_MAX) {
        fb_node_fault(search->params->pairs.items[index].key, "too-deep",
                      "parameters use each other more than 64 deep; shorten the chain");
        broken[index] = true;
        return false;
    }
    search->colour[index] = GREY;
    search->path[search->depth++] = index;
    bool well = visit_uses(search, search->params->pairs.items[index].value);
    search->depth--;
    search->colour[index] = BLACK;
    broken[index] = broken[index] || !well;
    return !broken[index];
}

static void find_cycles(struct fb_params *params)
{
    struct search search = {
        .params = params,
        .colour = fb_alloc(params->pairs.count, sizeof(enum colour)),
        .path = fb_alloc(params->pairs.count, sizeof(size_t)),
    };
    for (size_t i = 0; i < params->pairs.count; i++)
        (void)visit(&search, i);
    free(search.colour);
    free(search.path);
}

/* --- life cycle --- */

void fb_params_init(struct fb_params *params, struct fb_node declared,
                    const struct fb_override *overrides, size_t override_count,
                    struct fb_diagnostics *diagnostics)
{
    *params = (struct fb_params){0};
    if (declared.raw != NULL)
        fb_pairs_init(&params->pairs, declared, "params");
    for (size_t i = 0; i < params->pairs.count; i++)
        (void)fb_name_check(params->pairs.items[i].key, params->pairs.items[i].name, "parameter");
    params->broken = fb_alloc(params->pairs.count, sizeof *params->broken);
    params->overrides = fb_alloc(override_count, sizeof *params->overrides);
    params->override_count = override_count;
    for (size_t i = 0; i < override_count; i++) {
        params->overrides[i].diagnostics = diagnostics;
        apply_override(params, &overrides[i], &params->overrides[i]);
    }
    find_cycles(params);
}

void fb_params_deinit(struct fb_params *params)
{
    for (size_t i = 0; i < params->override_count; i++)
        fb_tree_unload(&params->overrides[i]);
    free(params->overrides);
    free(params->broken);
    fb_pairs_deinit(&params->pairs);
    *params = (struct fb_params){0};
}

/* --- export --- */

/* Flow YAML. The buffer's cap ends it, however often parameters repeat each other. */
static void render(const struct fb_params *params, struct fb_node node, struct fb_buf *out)
{
    if (out->overflow || !fb_params_resolve(params, node, &node))
        return;
    if (fb_node_text(node) != NULL) {
        fb_buf_adds(out, fb_node_text(node));
        return;
    }
    fb_buf_adds(out, fb_node_is_list(node) ? "[" : "{");
    for (size_t i = 0; i < fb_node_count(node) && !out->overflow; i++) {
        fb_buf_adds(out, i > 0 ? ", " : "");
        render(params, fb_node_item(node, i), out);
    }
    for (size_t i = 0; i < fb_node_pair_count(node) && !out->overflow; i++) {
        fb_buf_adds(out, i > 0 ? ", " : "");
        render(params, fb_node_pair_key(node, i), out);
        fb_buf_adds(out, ": ");
        render(params, fb_node_pair_value(node, i), out);
    }
    fb_buf_adds(out, fb_node_is_list(node) ? "]" : "}");
}

struct fb_param *fb_params_export(const struct fb_params *params, size_t *count)
{
    struct fb_param *exported = fb_alloc(params->pairs.count, sizeof *exported);
    for (size_t i = 0; i < params->pairs.count; i++) {
        struct fb_buf text;
        fb_buf_init(&text, VALUE_TEXT_MAX);
        render(params, params->pairs.items[i].value, &text);
        exported[i].name = fb_strdup(params->pairs.items[i].name);
        exported[i].value = fb_strdup(text.text);
        fb_buf_deinit(&text);
    }
    *count = params->pairs.count;
    return exported;
}
