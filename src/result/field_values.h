/* The members of result.json that are no plain struct member: codec callbacks for fields.c. */
#ifndef FB_RESULT_FIELD_VALUES_H
#define FB_RESULT_FIELD_VALUES_H

#include "result/codec.h"

#define FB_DECODER(name) \
    int name(const json_t *value, void *record, const struct fb_place *place) FB_MUST_USE

/* struct fb_repetition: values[] by metric name, and the reasons of those that are null. */
json_t *fb_metrics_encode(const void *record);
FB_DECODER(fb_metrics_decode);
json_t *fb_na_encode(const void *record);
FB_DECODER(fb_na_decode);
/* struct fb_repetition: checkpoints with their phase by name. Phases are decoded before. */
json_t *fb_checkpoints_encode(const void *record);
FB_DECODER(fb_checkpoints_decode);
/* struct fb_checkpoint: keeps the place of "phase", which needs the repetition. */
json_t *fb_phase_encode(const void *record);
FB_DECODER(fb_phase_decode);
/* struct fb_cell: timing.values[] that are there, and summary[]. */
json_t *fb_timing_encode(const void *record);
FB_DECODER(fb_timing_decode);
json_t *fb_summary_encode(const void *record);
FB_DECODER(fb_summary_decode);
/* struct fb_limit: its metric by name. */
json_t *fb_limit_metric_encode(const void *record);
FB_DECODER(fb_limit_metric_decode);
/* The metric table: unit, direction, what may be assumed. Written for readers, not read back. */
json_t *fb_units_encode(const void *record);
FB_DECODER(fb_units_decode);

extern const struct fb_field fb_checkpoint_fields[];

#endif
