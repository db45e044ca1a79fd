#include "base/detmath.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ln 2 in two parts: the high one has 21 trailing zero bits, so that its product
 * with an exponent is exact. */
#define LN2_HIGH 0x1.62e42feep-1
#define LN2_LOW 0x1.a39ef35793c76p-33
#define SQRT_HALF 0.70710678118654752440
#define EXPONENT_BIAS 1023
#define ARGUMENT_MAX 700.0

static uint64_t bits_of(double x)
{
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double x = 0;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Splits x into m × 2^e with m in [√½, √2): near x = 1 the exponent is 0 and
 * nothing cancels. */
static double split(double x, int *exponent)
{
    int e = 0;
    if (x < 0x1.0p-1022) { /* subnormal */
        x *= 0x1.0p54;
        e = -54;
    }
    uint64_t bits = bits_of(x);
    e += (int)(bits >> 52) - (EXPONENT_BIAS - 1);
    double m = double_of((bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3fe0000000000000));
    if (m < SQRT_HALF) {
        m += m;
        e--;
    }
    *exponent = e;
    return m;
}

/* ln m = 2 artanh(s) = 2 s (1 + s²/3 + s⁴/5 + …), s = (m − 1)/(m + 1), |s| < 0.1716:
 * after 12 terms the rest is below 2^-58 of the sum. */
static const double log_terms[] = {1.0 / 25, 1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15,
                                   1.0 / 13, 1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};

double fb_det_log(double x)
{
    int exponent = 0;
    double m = split(x, &exponent);
    double s = (m - 1.0) / (m + 1.0);
    double square = s * s;
    double sum = 0.0;
    for (size_t i = 0; i < sizeof log_terms / sizeof log_terms[0]; i++)
        sum = (sum + log_terms[i]) * square;
    double e = (double)exponent;
    return e * LN2_HIGH + (2.0 * s + (2.0 * s * sum + e * LN2_LOW));
}

/* 1/14! … 1/2!, 1/1!: the divisors are exact in a double. */
static const double exp_terms[] = {1.0 / 87178291200, 1.0 / 6227020800,
                                   1.0 / 479001600,   1.0 / 39916800,
                                   1.0 / 3628800,     1.0 / 362880,
                                   1.0 / 40320,       1.0 / 5040,
                                   1.0 / 720,         1.0 / 120,
                                   1.0 / 24,          1.0 / 6,
                                   1.0 / 2,           1.0};

/* e^x = 2^k e^r, |r| ≤ ln 2 / 2; the series of e^r to r^14 / 14! by Horner. */
double fb_det_exp(double x)
{
    if (x > ARGUMENT_MAX)
        x = ARGUMENT_MAX;
    if (x < -ARGUMENT_MAX)
        x = -ARGUMENT_MAX;
    int k = (int)(x * 1.44269504088896340736 + (x < 0 ? -0.5 : 0.5));
    double r = (x - (double)k * LN2_HIGH) - (double)k * LN2_LOW;
    double sum = 0.0;
    for (size_t i = 0; i < sizeof exp_terms / sizeof exp_terms[0]; i++)
        sum = (sum + exp_terms[i]) * r;
    return (1.0 + sum) * double_of((uint64_t)(k + EXPONENT_BIAS) << 52);
}

double fb_det_pow(double x, double y)
{
    return fb_det_exp(y * fb_det_log(x));
}
