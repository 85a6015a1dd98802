/*
 * A netlist with certain values of its parameters, ready to run: its elements, the network of them,
 * what the inputs and outputs of the model are in it, and its state.
 */
#ifndef HILOCO_CIRCUIT_ASSEMBLY_H
#define HILOCO_CIRCUIT_ASSEMBLY_H

#include "stage.h"

/* An output of a node outside the network: it stands on another node. */
struct cir_behind {
    unsigned node[2]; /* 0 where the node is in the network */
};

struct cir_assembly {
    const struct cir_text *text;
    const struct cir_declarations *declarations;
    struct cir_netlist netlist;
    struct cir_probe *probes;
    struct cir_behind *behind;
    bool any_behind;
    struct cir_network network;
    struct cir_stage stage;
    struct cir_block *blocks;
};

/* Makes it at t = 0. The text and the declarations must outlive it. Returns 0, or a negative errno
 * after a message. */
int cir_assembly_open(struct cir_assembly **assembly, const struct cir_text *text,
                      const struct cir_declarations *declarations, const double *parameters,
                      const double *inputs, double period_s, const struct cir_said *said);
void cir_assembly_close(struct cir_assembly *a); /* may be NULL */

/* The outputs with these inputs, with those of nodes outside the network. */
void cir_assembly_output(struct cir_assembly *a, const double *in, double *out);

#endif
