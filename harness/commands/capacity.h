/*
 * The shortest period of each loop that this machine holds: hiloco doctor --capacity.
 *
 * The scenario is run several times, in real time, for less than a second. A loop holds a period if
 * it misses no larger share of its steps than the scenario allows. All loops search at once, each
 * among multiples of its period, by bisection: a run tries one period of each. A last, longer run
 * tries what was found, and loops that do not hold it get the next longer period.
 */
#ifndef HIL_CAPACITY_H
#define HIL_CAPACITY_H

#include <stdio.h>

#include "commands.h"

/* Takes about 20 s. Prints a line for each loop, and one that sums them up. Returns an exit
 * status. */
int hil_capacity(const struct hil_arguments *arguments, const struct hil_scenario *scenario,
                 FILE *to);

#endif
