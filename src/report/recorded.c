#include "report/recorded.h"

#include "base/units.h"

#define NUMBER_CHARS 48

void fb_recorded_beside(const struct fb_recorded *recorded, struct fb_buf *out)
{
    const struct {
        uint64_t bytes;
        const char *what;
    } parts[] = {
        {recorded->mapped_bytes, "mapped by the program"},
        {recorded->library_bytes, "data of the program and its libraries"},
        {recorded->stack_bytes, "stacks"},
    };
    char text[NUMBER_CHARS];
    const char *between = ": ";
    fb_buf_addf(out, "%s beside the heap",
                fb_units_bytes(fb_recorded_beside_bytes(recorded), text, sizeof text));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].bytes == 0)
            continue;
        fb_buf_addf(out, "%s%s %s", between, fb_units_bytes(parts[i].bytes, text, sizeof text),
                    parts[i].what);
        between = ", ";
    }
}
