/*
 * Netlists: a circuit that ngspice simulates, in a process of its own which is a program as those
 * of program.h. docs/netlists.md says what a netlist declares.
 */
#ifndef HIL_NETLIST_H
#define HIL_NETLIST_H

#include "../provider.h"

extern const struct hil_provider hil_netlist_provider;

#endif
