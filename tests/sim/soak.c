/*
 * soak: runs the workloads under chaos for as many seeds as asked, and says which seed of which
 * workload fails, if any does. mutants.sh relies on the exit status.
 */
#include "channels/loco-sim/command.h"
#include "tests/sim/workloads.h"

int main(int argc, char **argv)
{
    return loco_sim_main(argc, argv, workloads);
}
