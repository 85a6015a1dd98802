/*
 * Linear systems of two states and one input, and their exact sampling.
 *
 *      continuous   x' = a x + b u
 *      sampled      x+ = a x + b u     one period later, u held over it
 *
 * A struct linear holds either form, as both have the same shape.
 */
#ifndef HILOCO_PLANTS_LINEAR_H
#define HILOCO_PLANTS_LINEAR_H

struct linear {
    double a[2][2];
    double b[2];
};

/*
 * Samples a continuous system with a zero-order hold. The result is exact except for rounding, for
 * any matrix (singular, oscillating, with equal eigenvalues) and any period >= 0. If a number is
 * not finite, the result is NaN.
 */
void linear_sample(struct linear *sampled, const struct linear *continuous, double period_s);

/* Advances x by one period of a sampled system. */
static inline void linear_advance(const struct linear *sampled, double x[2], double u)
{
    const double x0 = sampled->a[0][0] * x[0] + sampled->a[0][1] * x[1] + sampled->b[0] * u;
    const double x1 = sampled->a[1][0] * x[0] + sampled->a[1][1] * x[1] + sampled->b[1] * u;
    x[0] = x0;
    x[1] = x1;
}

#endif
