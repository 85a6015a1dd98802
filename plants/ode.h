/*
 * The classical Runge-Kutta method of order 4, for plants whose equations are not linear. A plant
 * divides a period into equal parts that are short beside its fastest time constant: with
 * ODE_PARTS_PER_TIME of them in one, the error of a part is below 1e-9 of the change.
 */
#ifndef HILOCO_PLANTS_ODE_H
#define HILOCO_PLANTS_ODE_H

#include "model.h"

enum { ODE_STATES_MAX = 8, ODE_PARTS_PER_TIME = 25, ODE_PARTS_MAX = 10000 };

/* The slopes of the state x. `in` are the inputs, which are held. */
typedef void ode_slope_fn(const void *plant, const double *x, const double *in, double *slope);

/* The number of parts for a period of a plant that changes at this rate at most; 0: too many, or
 * the rate is not a number. */
unsigned ode_parts(double period_s, double fastest_per_s);

/* Logs that the period has too many parts. */
void ode_say_fast(const struct hil_config *config, double fastest_per_s);

/* Advances x, of `count` numbers, by a period in this many parts. */
void ode_advance(ode_slope_fn *slope, const void *plant, unsigned count, double *x,
                 const double *in, double period_s, unsigned parts);

#endif
