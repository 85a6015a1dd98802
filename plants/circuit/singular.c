/*
 * Why a network is singular. The matrix turns some vector into 0. If currents of branches are in
 * it, these could flow round without any voltage: a loop of voltage sources and capacitors. Else it
 * has voltages of nodes, which nothing holds: these nodes float, or inductors and current sources
 * alone cut them off.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "configuration.h"

enum { NAMES_BYTES = 300 };

static void add_name(char *names, const char *name)
{
    const size_t used = strlen(names);

    if (used + strlen(name) + 8 < NAMES_BYTES)
        snprintf(names + used, NAMES_BYTES - used, "%s%s", used ? ", " : "", name);
}

static bool is_in(const double *vector, unsigned count, int unknown)
{
    double greatest = 0;

    for (unsigned i = 0; i < count; i++)
        greatest = fmax(greatest, fabs(vector[i]));
    return unknown >= 0 && fabs(vector[unknown]) > 1e-6 * greatest;
}

/* The elements whose currents are in the vector. The first of them in *first. */
static bool name_loop(const struct cir_network *n, const double *vector, char *names,
                      const struct cir_element **first)
{
    for (unsigned i = 0; i < n->netlist->element_count; i++)
        if (is_in(vector, n->unknown_count, n->positions[i].branch)) {
            const struct cir_element *e = &n->netlist->elements[i];
            add_name(names, e->name);
            *first = *first ? *first : e;
        }
    return *first != NULL;
}

/* The inductors and current sources with one end at a node of the vector and another elsewhere. */
static bool name_cut(const struct cir_network *n, const double *vector, char *names,
                     const struct cir_element **first)
{
    for (unsigned i = 0; i < n->netlist->element_count; i++) {
        const struct cir_element *e = &n->netlist->elements[i];
        if (e->kind != CIR_INDUCTOR && e->kind != CIR_CURRENT_SOURCE)
            continue;
        const double a =
            n->unknown_of_node[e->node[0]] < 0 ? 0 : vector[n->unknown_of_node[e->node[0]]];
        const double b =
            n->unknown_of_node[e->node[1]] < 0 ? 0 : vector[n->unknown_of_node[e->node[1]]];
        if (fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b)))
            continue;
        add_name(names, e->name);
        *first = *first ? *first : e;
    }
    return *first != NULL;
}

static const struct cir_element *name_floating(const struct cir_network *n, const double *vector,
                                               char *names)
{
    const struct cir_element *first = NULL;

    for (unsigned i = 0; i < n->netlist->node_count; i++)
        if (is_in(vector, n->unknown_count, n->unknown_of_node[i]))
            add_name(names, n->netlist->nodes[i]);
    for (unsigned i = 0; i < n->netlist->element_count; i++) {
        const struct cir_element *e = &n->netlist->elements[i];
        for (unsigned k = 0; k < 2 && e->kind != CIR_COUPLING; k++)
            if (!first && is_in(vector, n->unknown_count, n->unknown_of_node[e->node[k]]))
                first = e;
    }
    return first;
}

int cir_say_singular(const struct cir_maker *m, const struct cir_said *said)
{
    const struct cir_network *n = m->network;
    const struct cir_element *first = NULL;
    char names[NAMES_BYTES] = "";
    double *vector = m->solutions;

    cir_null_vector(&m->factors, vector);
    if (name_loop(n, vector, names, &first))
        return cir_refuse(said, first->at,
                          "%s form a loop without a resistance, whose current is not determined; "
                          "allowed: a resistance in it",
                          names);
    if (name_cut(n, vector, names, &first))
        return cir_refuse(said, first->at,
                          "%s alone cut a part of the circuit off, whose voltage is not "
                          "determined; allowed: a resistance across one of them",
                          names);
    first = name_floating(n, vector, names);
    return cir_refuse(said, first ? first->at : n->netlist->elements[0].at,
                      "nothing holds the voltage of %s; allowed: a path to node 0, such as a "
                      "resistance",
                      names);
}
