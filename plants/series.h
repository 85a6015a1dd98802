/*
 * The circuit of buck converters with their outputs in series across one load. One current flows
 * through the string,
 *
 *      io = sum of (vC + ESR iL) / (load + sum of ESR)
 *      L iL' = u - r iL - vo,  C vC' = iL - io,  vo = vC + ESR (iL - io)         r = rL + ron
 *
 * for each converter. u is what its switches put on the inductor.
 */
#ifndef HILOCO_PLANTS_SERIES_H
#define HILOCO_PLANTS_SERIES_H

#include "model.h"

enum { SERIES_WIDTH_MAX = 32, SERIES_STATES_MAX = 2 * SERIES_WIDTH_MAX };

struct series {
    unsigned n; /* converters; converter i has the states 2 i, iL, and 2 i + 1, vC */
    double inductance_h[SERIES_WIDTH_MAX], capacitance_f[SERIES_WIDTH_MAX];
    double resistance_ohm[SERIES_WIDTH_MAX], esr_ohm[SERIES_WIDTH_MAX]; /* r and ESR */
    double diode_v[SERIES_WIDTH_MAX];                                   /* drop of its diodes */
    double path_ohm;                                                    /* load + sum of ESR */
    hil_log_fn *log;
    void *log_arg;
};

/* The current through the string. */
double series_current(const struct series *s, const double *x);

/* The voltage that converter i gives while the current io flows. */
double series_voltage(const struct series *s, const double *x, double io, unsigned i);

/* Advances x by t while all gates of some converters are off. A converter whose `enable` is below
 * 0.5 conducts by its diodes only: by the lower one while its current is positive, by the upper
 * one, into its source, while it is negative. At zero it stays until its output is below zero or
 * above its source, by its diodes' drop. The others are averaged. `duty`, `source_v` and `enable`
 * have a value for each converter. Returns 0, or -ERANGE after logging that the circuit is too fast
 * for a step. */
int series_by_diodes(const struct series *s, const double *duty, const double *source_v,
                     const double *enable, double *x, double t);

#endif
