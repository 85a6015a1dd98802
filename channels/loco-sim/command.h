/*
 * The command line of a program that runs workloads on the simulator: `main` returns this function.
 * --help prints the options, and man loco-sim explains them.
 */
#ifndef LOCO_SIM_COMMAND_H
#define LOCO_SIM_COMMAND_H

#include "workload.h"

LOCO_DECLARATIONS

/* Runs what the arguments say of the workloads, a list that NULL ends. Returns main's exit status.
 */
int loco_sim_main(int argc, char **argv, const struct loco_sim_workload *const *workloads);

LOCO_DECLARATIONS_END

#endif
