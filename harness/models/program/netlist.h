/*
 * Netlists: circuits simulated by ngspice in a separate process, which is a program as in
 * program.h. docs/netlists.md describes the declarations in a netlist.
 */
#ifndef HIL_NETLIST_H
#define HIL_NETLIST_H

#include "../provider/provider.h"

extern const struct hil_provider hil_netlist_provider;

#endif
