#include "commands/recorded.h"

struct fb_recorded fb_recorded_of(const struct fb_recording_memories *memories)
{
    if (memories->count == 0)
        return (struct fb_recorded){0};
    return (struct fb_recorded){
        .peak_bytes = memories->peak.anonymous_bytes,
        .mapped_bytes = memories->peak.mapped_bytes,
        .library_bytes = memories->peak.library_bytes,
        .stack_bytes = memories->peak.stack_bytes,
    };
}
