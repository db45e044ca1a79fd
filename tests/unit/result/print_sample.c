/* Prints the sample result as result.json, for the schema test. */
#include "result/store.h"
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    struct fb_result sample;
    sample_result_init(&sample);
    sample_result_merge(&sample);
    char *text = fb_store_text(&sample);
    int written = fputs(text, stdout);
    free(text);
    fb_result_deinit(&sample);
    return written < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
