/*
 * A configuration: which switches and diodes conduct. While it lasts the circuit is linear,
 *
 *      w' = F w                w: all that changes (network.h)
 *      u  = T w                how far each diode is from changing, and how fast that moves
 *      y  = C w                outputs
 *
 * Its ladder has exp(F d) - 1 for d = h, h/2, h/4, ..., where h is the period of the loop: any
 * instant in a period is a descent on it. A row of the tests is negative if the diode should
 * change.
 */
#ifndef HILOCO_CIRCUIT_CONFIGURATION_H
#define HILOCO_CIRCUIT_CONFIGURATION_H

#include <complex.h>
#include <stdint.h>

#include "algebra.h"
#include "declarations.h"
#include "network.h"

/* The shortest rung is at most this long. So many are enough for a period of an hour. */
#define CIR_SHORTEST_S 1e-13
enum { CIR_RUNGS_MAX = 57 };

/* What an output shows: the voltage between two nodes, the current of an element, whether a device
 * conducts, or the mean power in an element. */
struct cir_probe {
    int element; /* CIR_NOWHERE: a voltage */
    bool is_state, is_power;
    const struct cir_loss_line *losses; /* of the power in a switch; NULL: none */
    unsigned node[2];
};

struct cir_configuration {
    uint64_t key;     /* a bit for each device; 1: it conducts */
    unsigned longest; /* the rung from which a period may be built without missing an event */
    double *rungs, *tests, *outputs, *powers; /* in columns of a padded number of rows */
};

/* What all configurations of a circuit have in common, and the memory in which one is made. */
struct cir_maker {
    const struct cir_network *network;
    const struct cir_probe *probes;
    unsigned probe_count;
    double period_s;
    unsigned rung_count;
    double rung_s[CIR_RUNGS_MAX]; /* their lengths */
    unsigned power_count;         /* probes of power: 4 rows each, v, i and rates */
    unsigned moving_rows, test_rows, output_rows, power_rows; /* padded */
    struct cir_factors factors;
    double *solutions;              /* of the unknowns, for each of w: unknown_count w_count */
    double *rates;                  /* F: moving_count w_count */
    double *tests;                  /* T: diode_count w_count */
    double *powers;                 /* v and i of the probes of power */
    double *power, *term, *product; /* w_count squared each, for the exponential */
    double complex *modes, *mode_work;
    struct cir_block *blocks;
};

/* Returns 0 or -ENOMEM. */
int cir_maker_open(struct cir_maker *m, const struct cir_network *network,
                   const struct cir_probe *probes, unsigned probe_count, double period_s);
void cir_maker_close(struct cir_maker *m);

/* The numbers that a configuration needs room for. */
size_t cir_configuration_numbers(const struct cir_maker *m);

/* Makes the configuration of c->key in the room at `numbers`. False: its network is singular. Does
 * not allocate. */
bool cir_configure(struct cir_maker *m, struct cir_configuration *c, double *numbers);

/* Says why a network is singular, by the names of what makes it so. Returns -EINVAL. */
int cir_say_singular(const struct cir_maker *m, const struct cir_said *said);

/* y = M x for a matrix in columns of `rows` numbers, a multiple of CIR_LANES. */
enum { CIR_LANES = 4 };
void cir_apply(double *restrict y, const double *restrict m, unsigned rows, unsigned columns,
               const double *restrict x);

#endif
