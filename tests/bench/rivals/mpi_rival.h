/* Functions that the OpenMPI rivals share: pinning a rank to its core, and a clock that costs as
 * much as bench_now(). */
#ifndef TESTS_BENCH_RIVALS_MPI_RIVAL_H
#define TESTS_BENCH_RIVALS_MPI_RIVAL_H

#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/run/clock.h"

static struct hil_clock rival_clock;

static inline uint64_t rival_now(void)
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#endif
    return hil_clock_now(&rival_clock);
}

/* Assigns the ranks to the two cores in turn: the even ranks are one "node", the odd ranks the
 * other. */
static inline void rival_begin(int *argc, char ***argv, const char *cpus, int *rank, int *ranks)
{
    int cpu[2];
    cpu_set_t set;

    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, ranks);
    if (sscanf(cpus, "%d,%d", &cpu[0], &cpu[1]) != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu[*rank % 2], &set);
    sched_setaffinity(0, sizeof set, &set);
    hil_clock_calibrate(&rival_clock);
}

#endif
