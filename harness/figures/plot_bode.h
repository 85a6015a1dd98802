/*
 * Draws a frequency response: gain and phase over the logarithm of the frequency.
 */
#ifndef HIL_PLOT_BODE_H
#define HIL_PLOT_BODE_H

#include <stdbool.h>
#include <stdio.h>

struct hil_bode_reading {
    double frequency_hz, gain_db, phase_deg, coherence;
};

struct hil_bode {
    const char *scenario, *inject, *response; /* their names */
    bool of_loop;                             /* the loop's gain, which has margins */
    struct hil_bode_reading *readings;
    unsigned count;
    double crossover_hz, phase_margin_deg, gain_margin_db; /* NAN: there is none */
};

/* Draws DIR/bode.png and .svg. Reports to `messages`. Returns 0 or a negative errno: -ENOPKG when
 * gnuplot is missing. */
int hil_plot_bode(const char *dir, const struct hil_bode *bode, FILE *messages);

#endif
