#include "metrics/measure.h"

#include <math.h>

double fb_measure_quantile(const struct fb_latency_bin *bins, size_t count, double q)
{
    double total = 0, seen = 0, answer = NAN;
    for (size_t i = 0; i < count; i++)
        total += (double)bins[i].count;
    double wanted = q * total;
    for (size_t i = 0; i < count; i++) {
        double here = (double)bins[i].count;
        if (here <= 0)
            continue;
        double share = (wanted - seen) / here;
        answer = bins[i].low_ns + (bins[i].high_ns - bins[i].low_ns) * fmin(share, 1.0);
        if (seen + here >= wanted)
            break;
        seen += here;
    }
    return answer;
}
