/*
 * Compares a circuit in the solver of circuits with the same file in ngspice: hiloco check
 * --against ngspice.
 */
#ifndef HIL_CHECK_AGAINST_H
#define HIL_CHECK_AGAINST_H

#include <stdio.h>

/* Prints a line for each signal. Returns an exit status. */
int hil_check_against(const char *oracle, const char *netlist, FILE *to, FILE *messages);

#endif
