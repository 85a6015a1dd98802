/*
 * A PWM unit: a carrier, and the edges of one gate, or of two that complement each other.
 *
 * The carrier of a sawtooth goes from 0 to 1 in a period, and the gate is on while it is below the
 * duty: from the beginning of the period. A centred carrier goes to 1 and back, and the gate is on
 * around the middle of the period. The duty is taken at the beginning of a period, or of each half.
 * The frequency and the phase are taken at the beginning of a period: one of another phase is
 * longer or shorter for once.
 */
#ifndef HILOCO_CIRCUIT_PWM_H
#define HILOCO_CIRCUIT_PWM_H

#include "declarations.h"

struct cir_pwm {
    const struct cir_pwm_line *line;
    bool raw;          /* the duty's: of two gates the first is on, or the second */
    bool enabled;      /* else all gates are off */
    bool waiting;      /* for the end of the dead time */
    bool second;       /* half of a period */
    double duty;       /* taken last */
    double phase;      /* of the present period, as a share of one */
    double start_s;    /* of this half, or of the whole period of a sawtooth */
    double length_s;   /* likewise */
    double edge_s;     /* within it; infinity: none is left */
    double dead_end_s; /* when a gate that waits turns on */
};

/* Sets a unit to t = 0. */
void cir_pwm_begin(struct cir_pwm *p, const struct cir_pwm_line *line, const double *inputs);

/* Takes `enable`, which acts at once. */
void cir_pwm_latch(struct cir_pwm *p, const double *inputs, double t_s);

/* The next instant at which something is due, and what is due at an instant. */
double cir_pwm_next_s(const struct cir_pwm *p);
void cir_pwm_ring(struct cir_pwm *p, const double *inputs, double t_s);

/* Whether the first gate, or the second, is on. */
bool cir_pwm_is_on(const struct cir_pwm *p, unsigned gate);

#endif
