/*
 * Draws the eigenvalues of a sampled loop and the unit circle.
 */
#ifndef HIL_PLOT_POLES_H
#define HIL_PLOT_POLES_H

#include <complex.h>
#include <stdio.h>

struct hil_poles {
    const char *scenario;
    double at_s, period_us;
    double complex *at;
    unsigned count;
};

/* Draws DIR/poles.png and .svg. Reports to `messages`. Returns 0 or a negative errno: -ENOPKG when
 * gnuplot is missing. */
int hil_plot_poles(const char *dir, const struct hil_poles *poles, FILE *messages);

#endif
