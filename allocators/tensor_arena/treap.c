#include "tensor_arena/heap.h"

/* Fibonacci hashing: a node's priority is its number's, so none is stored. */
static uint32_t priority(uint32_t index)
{
    return index * UINT32_C(2654435769);
}

static bool before(const struct ta_run *left, const struct ta_run *right)
{
    return left->pages != right->pages ? left->pages < right->pages : left->first < right->first;
}

/* Parts a tree into what comes before `key` and the rest. */
static void part(uint32_t root, const struct ta_run *key, uint32_t *smaller, uint32_t *larger)
{
    while (root != 0) {
        struct ta_run *node = ta_run_at(root);
        if (before(node, key)) {
            *smaller = root;
            smaller = &node->right;
            root = node->right;
        } else {
            *larger = root;
            larger = &node->left;
            root = node->left;
        }
    }
    *smaller = 0;
    *larger = 0;
}

void ta_treap_insert(uint32_t *root, uint32_t run)
{
    struct ta_run *added = ta_run_at(run);
    uint32_t weight = priority(run);
    while (*root != 0 && priority(*root) > weight) {
        struct ta_run *node = ta_run_at(*root);
        root = before(node, added) ? &node->right : &node->left;
    }
    part(*root, added, &added->left, &added->right);
    *root = run;
}

/* Joins two trees, everything in `left` being before everything in `right`. */
static void join(uint32_t *root, uint32_t left, uint32_t right)
{
    while (left != 0 && right != 0) {
        if (priority(left) > priority(right)) {
            *root = left;
            root = &ta_run_at(left)->right;
            left = *root;
        } else {
            *root = right;
            root = &ta_run_at(right)->left;
            right = *root;
        }
    }
    *root = left != 0 ? left : right;
}

void ta_treap_remove(uint32_t *root, uint32_t run)
{
    const struct ta_run *removed = ta_run_at(run);
    while (*root != run) {
        struct ta_run *node = ta_run_at(*root);
        root = before(node, removed) ? &node->right : &node->left;
    }
    join(root, removed->left, removed->right);
}

uint32_t ta_treap_fit(uint32_t root, uint32_t pages)
{
    uint32_t best = 0;
    while (root != 0) {
        const struct ta_run *node = ta_run_at(root);
        if (node->pages < pages) {
            root = node->right;
        } else {
            best = root;
            root = node->left;
        }
    }
    return best;
}

uint32_t ta_treap_below(uint32_t root, uint32_t run)
{
    uint32_t best = 0;
    while (root != 0) {
        const struct ta_run *node = ta_run_at(root);
        if (run == 0 || before(node, ta_run_at(run))) {
            best = root;
            root = node->right;
        } else {
            root = node->left;
        }
    }
    return best;
}
