/*
 * Makes a circuit anew with other values of its parameters: at once in virtual time, and in real
 * time by a thread beside the loop, which looks every millisecond whether there is something to do.
 * The loop takes the new circuit over at the beginning of a period, and neither allocates nor
 * waits.
 */
#ifndef HILOCO_CIRCUIT_TUNER_H
#define HILOCO_CIRCUIT_TUNER_H

#include "assembly.h"

struct cir_tuner;

/* `now` is the circuit that runs, with these parameters; the tuner makes others like it, with
 * `inputs`, which must outlive the tuner. Returns 0 or a negative errno. */
int cir_tuner_open(struct cir_tuner **tuner, const struct cir_assembly *now,
                   const double *parameters, const double *inputs, bool real_time, hil_log_fn *log,
                   void *log_arg);

/* Must be called before the circuit that runs is closed. May be NULL. */
void cir_tuner_close(struct cir_tuner *t);

/* Asks for a circuit with these parameters. In virtual time it takes the place of *now, and the
 * result is -EDOM, after a message, if there is none. In real time the result is 0. */
int cir_tuner_ask(struct cir_tuner *t, const double *parameters, struct cir_assembly **now);

/* Puts the circuit that was asked for, once it is ready, in the place of *now. If there is none,
 * the parameters are again those of *now. */
void cir_tuner_take(struct cir_tuner *t, double *parameters, struct cir_assembly **now);

#endif
