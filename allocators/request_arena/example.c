/* How a service uses request-arena: one scope a request, small objects from the window, what
 * outlives the request from malloc. */
#include <fragbench/request_arena.h>
#include <fragbench/stats.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS 1000

struct piece {
    struct piece *next;
    char *text;
};

/* A copy of text that lives as long as the request. */
static char *copy(struct fragbench_request_window *window, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *made = fragbench_request_arena_alloc(window, bytes, 1);
    return made == NULL ? NULL : memcpy(made, text, bytes);
}

/* Cuts prompt at its spaces, last word first; NULL when the request may not have that much memory.
 */
static struct piece *split(const char *prompt)
{
    struct fragbench_request_window *window = fragbench_request_arena_window();
    char *words = copy(window, prompt), *rest = NULL;
    struct piece *pieces = NULL;
    if (words == NULL)
        return NULL;
    for (char *word = strtok_r(words, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        struct piece *piece =
            fragbench_request_arena_alloc(window, sizeof *piece, _Alignof(struct piece));
        if (piece == NULL)
            return NULL;
        *piece = (struct piece){.next = pieces, .text = word};
        pieces = piece;
    }
    return pieces;
}

/* Answers with the words in reverse. The answer outlives the request: it is the caller's to free.
 */
static char *answer(const char *prompt)
{
    fragbench_scope_begin();
    char *out = calloc(strlen(prompt) + 2, 1), *end = out;
    for (struct piece *piece = split(prompt); end != NULL && piece != NULL; piece = piece->next) {
        end = stpcpy(end, piece->text);
        if (piece->next != NULL)
            *end++ = ' ';
    }
    fragbench_scope_end(); /* all pieces at once */
    return out;
}

static void print_statistics(void)
{
    struct fragbench_stat rows[64];
    size_t count = fragbench_stats(rows, 64);
    for (size_t i = 0; i < count && i < 64; i++)
        printf("%-32s %" PRIu64 "\n", rows[i].name, rows[i].value);
}

int main(void)
{
    char *last = NULL;
    for (int i = 0; i < REQUESTS; i++) {
        free(last);
        last = answer("the last shall be first and the first last");
    }
    if (last == NULL || strcmp(last, "last first the and first be shall last the") != 0)
        return EXIT_FAILURE;
    printf("%s\n", last);
    free(last);
    print_statistics();
    return EXIT_SUCCESS;
}
