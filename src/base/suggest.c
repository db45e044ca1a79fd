#include "base/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { WORD_MAX = 64 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Optimal string alignment: insertions, deletions, replacements and swaps of neighbours cost
 * one each, the case of a letter nothing. Both words are at most WORD_MAX long. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_MAX + 1];
    size_t *above2 = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        above[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = above[j - 1] + !same(a[i - 1], b[j - 1]);
            row[j] = smaller(row[j], smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = smaller(row[j], above2[j - 2] + 1);
        }
        size_t *spare = above2;
        above2 = above;
        above = row;
        row = spare;
    }
    return above[b_length];
}

const char *fb_suggest(const char *word, const char *const *candidates, size_t count)
{
    size_t length = strlen(word);
    if (length == 0 || length > WORD_MAX)
        return NULL;
    /* One slip in three letters is a typing error; more is another word. */
    size_t best_distance = (length + 2) / 3 + 1;
    const char *best = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t other = candidates[i] == NULL ? 0 : strlen(candidates[i]);
        if (other == 0 || other > WORD_MAX)
            continue;
        size_t found = distance(word, length, candidates[i], other);
        if (found < best_distance && found < other) {
            best_distance = found;
            best = candidates[i];
        }
    }
    return best;
}
