/* The members of a checkpoint in result.json that tell where its footprint is. They are together
 * there or together not: files of before have none. */
#ifndef FB_RESULT_ATTRIBUTION_FIELDS_H
#define FB_RESULT_ATTRIBUTION_FIELDS_H

#include "result/codec.h"
#include "result/record.h"

/* Puts the members into the checkpoint's object; "parts" is null where nothing was looked at. */
void fb_attribution_encode(const struct fb_checkpoint *checkpoint, json_t *object);
int fb_attribution_decode(const json_t *object, struct fb_checkpoint *checkpoint,
                          const struct fb_place *place) FB_MUST_USE;

#endif
