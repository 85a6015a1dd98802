/* The time function of a source: constant, a sine, straight pieces, or given from outside. */
#ifndef HILOCO_CIRCUIT_WAVE_H
#define HILOCO_CIRCUIT_WAVE_H

#include <stdbool.h>

#include "expression.h"

/* Two instants that are closer than this are the same: the rounding of t, and a hundredth of a
 * picosecond. */
#define CIR_SAME_S(t_s) (1e-14 + 1e-15 * (t_s))

enum cir_wave_kind { CIR_CONSTANT, CIR_SINE, CIR_PIECES, CIR_EXTERNAL, CIR_PWM };

struct cir_point {
    double t_s, value;
};

struct cir_wave {
    enum cir_wave_kind kind;
    double constant;                                  /* also the offset of a sine */
    double amplitude, hertz, delay_s, damping, phase; /* of a sine; the phase in radians */
    struct cir_point *points; /* of pieces, with times after the delay; two may share a time */
    unsigned count;
    double period_s; /* of pieces; 0: they do not repeat */
    unsigned input; /* of what is given from outside: a row of the declared inputs; or a PWM unit */
    unsigned gate;  /* of the unit: the first or the second */
};

/* The netlist's .tran, from which SPICE takes what a source leaves open; 0: it has none. */
struct cir_tran {
    double step_s, stop_s;
};

/* How a wave is read from the tokens of a statement, from `first` on. */
struct cir_wave_reader {
    const struct cir_statement *statement;
    unsigned first;
    cir_lookup *lookup;
    void *arg;
    struct cir_tran tran;
    struct cir_block **blocks;
    const struct cir_said *said;
};

/* Returns 0, or a negative errno after a message. */
int cir_wave_read(struct cir_wave *wave, const struct cir_wave_reader *reader);

/* An instant at which pieces begin or end: `place` counts them, over all repetitions. Returns
 * infinity beyond the last. */
double cir_corner_s(const struct cir_wave *wave, unsigned long long place);

/* The value and the slope right after that corner; with place -1, before the first. */
double cir_piece(const struct cir_wave *wave, long long place, double *slope);

/* The value at an instant; of a corner with a jump, the one after it. */
double cir_wave_value(const struct cir_wave *wave, double t_s);

/* Sine and cosine with their damping at an instant after the delay. */
void cir_sine_state(const struct cir_wave *wave, double t_s, double state[2]);

#endif
