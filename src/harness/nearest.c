#include "harness/nearest.h"

#include <string.h>

enum { WORD_MAX = 63 };

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Levenshtein's distance, one row at a time; words beyond WORD_MAX are never near. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[WORD_MAX + 1];
    size_t length_a = strlen(a), length_b = strlen(b);
    if (length_a > WORD_MAX || length_b > WORD_MAX)
        return WORD_MAX;
    for (size_t j = 0; j <= length_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t above = row[j];
            row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[length_b];
}

void fb_nearest_init(struct fb_nearest *nearest, const char *word)
{
    size_t third = strlen(word) / 3;
    *nearest = (struct fb_nearest){.word = word, .distance = (third < 2 ? 2 : third) + 1};
}

void fb_nearest_offer(struct fb_nearest *nearest, const char *candidate)
{
    size_t distance = edit_distance(nearest->word, candidate);
    size_t length = strlen(candidate);
    /* "x" is two edits from anything short: a whole word replaced is no suggestion. */
    if (distance < nearest->distance && distance < length) {
        nearest->distance = distance;
        nearest->best = candidate;
    }
}
