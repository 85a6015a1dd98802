/*
 * The network of a circuit, apart from which switches and diodes conduct.
 *
 * All that changes in time is one vector w:
 *
 *      states      voltages of capacitors and currents of inductors
 *      sines       two numbers for each sinusoidal source: sine and cosine
 *      ramps       values of sources made of straight pieces, and levels of comparators
 *      ---         the rows from here on change only at events
 *      slopes      of these ramps
 *      offsets     of the sines
 *      constants   of constant sources and of inputs
 *      one         1, for the threshold of the diodes
 *
 * The unknowns of the static network are the voltages of its nodes, and the currents of voltage
 * sources, of E and H, and of capacitors, which stand there as voltage sources.
 */
#ifndef HILOCO_CIRCUIT_NETWORK_H
#define HILOCO_CIRCUIT_NETWORK_H

#include "netlist.h"

enum { CIR_DEVICES_MAX = 64, CIR_NOWHERE = -1 };

/* Where an element is in the unknowns and in w; CIR_NOWHERE: it has no such place. */
struct cir_position {
    int branch; /* unknown: its current */
    int state;  /* w: of a capacitor or an inductor, or the sine, ramp or constant of a source */
    int other;  /* w: the slope, or the offset, of a source */
    int device; /* a bit of a configuration: of a switch, a diode or a comparator */
};

/* What turns a switch: it conducts while sign * source + offset is above its threshold. */
struct cir_gate {
    unsigned element; /* the switch */
    int source;       /* an element, or CIR_NOWHERE: it never turns */
    double sign, offset;
};

struct cir_network {
    const struct cir_netlist *netlist;
    struct cir_position *positions; /* of the elements */
    int *unknown_of_node;           /* CIR_NOWHERE: the ground, and nodes outside the network */
    bool *is_gate;                  /* elements: sources that drive control nodes only */
    unsigned unknown_count;
    unsigned state_count, sine_count, ramp_count;
    unsigned moving_count; /* of w: the rows that change between events */
    unsigned w_count;
    unsigned one; /* the place of the 1 */
    struct cir_gate *gates;
    unsigned gate_count;
    unsigned *diodes; /* elements: diodes, and comparators, which change like these */
    unsigned diode_count;
    double *per_inductance; /* the inverse of the inductances, state_count squared */
    struct cir_block *blocks;
};

/* Returns 0, or a negative errno after a message that names the element; then there is nothing to
 * close. The netlist must outlive the network. */
int cir_network_make(struct cir_network *network, const struct cir_netlist *netlist,
                     const struct cir_said *said);
void cir_network_close(struct cir_network *network);

/* The voltages of a node outside the network follow from another node and from sources. Returns
 * the other node and adds the sources' values at t_s to *volts. */
unsigned cir_node_behind(const struct cir_network *network, unsigned node, double t_s,
                         double *volts);

#endif
