/*
 * A circuit as a flat list of elements between numbered nodes: what a netlist says after its
 * parameters are evaluated and its subcircuits are expanded.
 *
 * Node 0 is the ground. The elements and nodes of subcircuit x1 are called x1.NAME.
 */
#ifndef HILOCO_CIRCUIT_NETLIST_H
#define HILOCO_CIRCUIT_NETLIST_H

#include <stdbool.h>

#include "declarations.h"
#include "text.h"
#include "wave.h"

enum cir_kind {
    CIR_RESISTOR,
    CIR_INDUCTOR,
    CIR_CAPACITOR,
    CIR_COUPLING,
    CIR_VOLTAGE_SOURCE,
    CIR_CURRENT_SOURCE,
    CIR_VCVS, /* E: controlled sources, by what controls them and what they are */
    CIR_CCCS, /* F */
    CIR_VCCS, /* G */
    CIR_CCVS, /* H */
    CIR_SWITCH,
    CIR_DIODE,
    CIR_PEAK, /* comparators of PWM units, which the netlist does not have itself */
    CIR_TRIP,
};

struct cir_element {
    enum cir_kind kind;
    const char *name;
    const struct cir_token *at; /* where the netlist has it */
    unsigned node[4];           /* its two, and the two that control it */
    double value;               /* R, L, C, the coupling, the gain, or the sign of a comparator */
    double initial;             /* current of an inductor, voltage of a capacitor */
    bool has_initial;
    unsigned of[2]; /* elements: the coupled inductors, or the source whose current controls it; of
                     * a comparator: the element whose current it compares, and its unit */
    struct cir_wave wave;
    double ron, roff; /* of a switch or a diode */
    double vf;
    double on_above, off_below; /* control voltages of a switch */
};

struct cir_netlist {
    struct cir_element *elements;
    unsigned element_count;
    const char **nodes;
    unsigned node_count;
    struct cir_tran tran;
    const struct cir_pwm_line *units; /* of the declarations */
    unsigned unit_count;
    struct cir_block *blocks;
};

/*
 * Expands a text. `values` are those of the declared parameters, in order. The text must outlive
 * the netlist. Returns 0, or a negative errno after a message; then there is nothing to close.
 */
int cir_netlist_expand(struct cir_netlist *netlist, const struct cir_text *text,
                       const struct cir_declarations *declarations, const double *values,
                       const struct cir_said *said);
void cir_netlist_close(struct cir_netlist *netlist);

/* The element or node of this name, or -1. Elements are also found under ngspice's names for those
 * in subcircuits (l.x1.l1). */
int cir_element_find(const struct cir_netlist *netlist, const char *name);
int cir_node_find(const struct cir_netlist *netlist, const char *name);

static inline bool cir_is_comparator(const struct cir_element *e)
{
    return e->kind == CIR_PEAK || e->kind == CIR_TRIP;
}

static inline bool cir_is_source(const struct cir_element *e)
{
    return e->kind == CIR_VOLTAGE_SOURCE || e->kind == CIR_CURRENT_SOURCE;
}

#endif
