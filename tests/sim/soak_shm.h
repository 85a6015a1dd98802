/* What the workloads of soak-shm share. */
#ifndef TESTS_SIM_SOAK_SHM_H
#define TESTS_SIM_SOAK_SHM_H

#include "tests/nodes.h"
#include "tests/sim/workloads.h"

extern const struct loco_sim_workload quick_puts, owner_dies, workload_tcp_holds,
    workload_tcp_losses;

/* Nodes 0 and 1 run on CPUs of their own. On a busy machine the scheduler may otherwise keep both
 * on one. If the process may use only one CPU, they stay there. */
void run_on_own_cpu(const struct node *n);

#endif
