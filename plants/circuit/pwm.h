/*
 * A PWM unit: a carrier, and the edges of one gate, or of two that complement each other.
 *
 * The carrier of a sawtooth goes from 0 to 1 in a period, and the gate is on while it is below the
 * duty: from the beginning of the period. A centred carrier goes to 1 and back, and the gate is on
 * around the middle of the period. The duty is taken at the beginning of a period, or of each half.
 * The frequency and the phase are taken at the beginning of a period: one of another phase is
 * longer or shorter for once.
 *
 * With a peak the first gate turns off as soon as a current reaches a level, which falls during the
 * period by `slope`. With stamps there is no carrier: the loop gives the times of the edges.
 */
#ifndef HILOCO_CIRCUIT_PWM_H
#define HILOCO_CIRCUIT_PWM_H

#include "declarations.h"

struct cir_pwm {
    const struct cir_pwm_line *line;
    bool raw;           /* the duty's: of two gates the first is on, or the second */
    bool enabled;       /* else all gates are off */
    bool waiting;       /* for the end of the dead time */
    bool second;        /* half of a period */
    double duty;        /* taken last */
    double phase;       /* of the present period, as a share of one */
    double start_s;     /* of this half, or of the whole period of a sawtooth */
    double length_s;    /* likewise */
    double edge_s;      /* within it; infinity: none is left */
    double dead_end_s;  /* when a gate that waits turns on */
    double blank_end_s; /* of the peak's comparator; infinity: it is over */
    double on_s, off_s; /* stamps that are still to come; infinity: none */
    bool tripped;       /* until it is enabled again */
};

/* Sets a unit to t = 0. */
void cir_pwm_begin(struct cir_pwm *p, const struct cir_pwm_line *line, const double *inputs);

/* Takes `enable`, which acts at once. */
void cir_pwm_latch(struct cir_pwm *p, const double *inputs, double t_s);

/* The next instant at which something is due, and what is due at an instant. */
double cir_pwm_next_s(const struct cir_pwm *p);
void cir_pwm_ring(struct cir_pwm *p, const double *inputs, double t_s);

/* The level of a comparator of this unit at an instant, and its slope: of the peak, or of the trip.
 */
double cir_pwm_level(const struct cir_pwm *p, bool peak, const double *inputs, double t_s,
                     double *slope);

/* Ends the first gate's time in this period, as the current has reached the peak; false: it is off,
 * or the comparator is blanked. */
bool cir_pwm_cut(struct cir_pwm *p, const double *inputs, double t_s);

/* Turns all gates off until `enable` goes from 0 to 1. False: they are off. */
bool cir_pwm_trip(struct cir_pwm *p);

/* Whether the first gate, or the second, is on. */
bool cir_pwm_is_on(const struct cir_pwm *p, unsigned gate);

#endif
