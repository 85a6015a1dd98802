/*
 * A converter's circuit over a stretch of time in which no switch changes. It is linear there and
 * is solved exactly. The moment at which the current reaches a level is found on that solution,
 * exact except for rounding.
 *
 * While all gates are off, the current flows on through a diode until it is zero. It stays zero
 * until the voltages make a diode conduct:
 *
 *                    current > 0, the other switch's diode    current < 0, the main switch's diode
 *      buck          from ground: the inductor feeds          back into the source
 *      boost         to the output, with the source           from ground, into the source
 *      buck-boost    to the output                            back into the source
 *
 * So a boost's output does not fall below its source.
 *
 * An inductor that saturates has one inductance up to its saturation current, and another one
 * beyond it. A stretch ends where the current passes from one to the other.
 */
#ifndef HILOCO_PLANTS_STRETCH_H
#define HILOCO_PLANTS_STRETCH_H

#include "circuit.h"

struct stretch {
    struct linear equations;
    double u;               /* their input */
    double source, feeding; /* as in the circuit */
    double least_a, most_a; /* the equations hold for currents from here to there */
};

/* `on` is 1 while the main switch conducts, and 0 while the other switch does. */
struct stretch stretch_conducting(const struct circuit *circuit,
                                  const struct circuit_topology *topology, int on, const double *in,
                                  const double *x);

/* The derivative of the current. */
double stretch_slope(const struct stretch *stretch, const double *x);

/* Adds the charge that came from the source in the time t, from x to `after`. */
void stretch_charge(const struct stretch *stretch, const double *x, double *after, double t);

/* Advances x by at most `t`, or until the current reaches `level`; the current then is exactly
 * `level`. It also stops at a current beyond which the inductance is another. Returns the time that
 * it advanced by. */
double stretch_run(const struct stretch *stretch, double *x, double t, double level);

/* Advances x by at most `t` with all gates off, and sets *feeding to that of the diode. Returns the
 * time that it advanced by. */
double stretch_by_diodes(const struct circuit *circuit, const struct circuit_topology *topology,
                         const double *in, double *x, double t, double *feeding);

/* Advances x by `t` with these connections. Returns as stretch_all_off does. */
int stretch_through(const struct circuit *circuit, double source, double feeding, const double *in,
                    double *x, double t);

/* Advances x by `t` with all gates off. Returns 0, or -ERANGE after logging that the circuit is too
 * fast for that. */
int stretch_all_off(const struct circuit *circuit, const struct circuit_topology *topology,
                    const double *in, double *x, double t);

/* The outputs with all gates off. */
void stretch_off_output(const struct circuit *circuit, const struct circuit_topology *topology,
                        const double *in, const double *x, double input_a, double *out);

/* The most stretches in a step. More would take too long. */
enum { STRETCHES_MAX = 100000 };

/* Logs that a step would need more than STRETCHES_MAX. Returns -ERANGE. */
int stretch_too_many(const struct circuit *circuit);

/* The same for stretches that are at most this long. */
int stretch_refuse(hil_log_fn *log, void *log_arg, double longest_s);

#endif
