/* log, exp and pow that give the same bits everywhere.
 *
 * libm's results differ in the last bit between versions and machines, and one
 * bit moves a rounded size. These use only IEEE 754 +, −, ×, ÷ and sqrt (each
 * exactly rounded by the standard) in a fixed order; the build turns off
 * contraction to FMA (-ffp-contract=off). Relative error of log and exp below
 * 1e-14; pow's grows with the exponent and is below that where |y × log x| ≤ 20.
 */
#ifndef FB_BASE_DETMATH_H
#define FB_BASE_DETMATH_H

double fb_det_log(double x);           /* x > 0 and finite */
double fb_det_exp(double x);           /* beyond ±700: the result at ±700, never an infinity */
double fb_det_pow(double x, double y); /* x > 0; saturates as exp does */

#endif
