/* Draws a circuit at random: as a netlist, and as the oracle has it. */
#ifndef TEST_CIRCUIT_DRAWN_H
#define TEST_CIRCUIT_DRAWN_H

#include <stddef.h>

#include "circuit_oracle.h"

struct drawn {
    char text[6000];
    size_t length;
    char names[ORACLE_ELEMENTS][8]; /* of the elements, as the netlist has them */
    struct oracle oracle;
    unsigned long long random;
    unsigned models, gates;
    int open_nodes; /* from here on nodes are inside a part of two ports; 0: there are none */
};

/* The same circuit for the same number. All its values have three digits. */
void draw_circuit(struct drawn *d, unsigned number);

#endif
