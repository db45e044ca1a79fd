/* The tables that map the result record to result.json (fragbench-result/1). */
#ifndef FB_RESULT_FIELDS_H
#define FB_RESULT_FIELDS_H

#include "result/codec.h"

/* Members of struct fb_result, without "schema". */
extern const struct fb_field fb_result_fields[];

#endif
