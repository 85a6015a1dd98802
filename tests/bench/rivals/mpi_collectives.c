/*
 * Collective operations of 8 bytes by OpenMPI, between two ranks.
 *
 *      mpi_collectives barrier|broadcast|allgather SECONDS CPU,CPU
 *
 * Rank 0 prints the ns that each took: the first quartile of turns, as in bench.
 */
#include <string.h>

#include "mpi_rival.h"

enum { TURN = 2000, TURNS_MAX = 100000 };

static uint64_t count; /* of operations */
static int rank;

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The roots take turns, so that no root runs ahead of what has arrived. */
static void broadcast(void)
{
    uint64_t value = count++;

    MPI_Bcast(&value, 1, MPI_UINT64_T, (int)(count % 2), MPI_COMM_WORLD);
}

static void allgather(void)
{
    uint64_t mine = count++, all[2];

    MPI_Allgather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double values[TURNS_MAX];
    int ranks, more = 1;
    size_t turns = 0;

    if (argc != 4)
        return 2;
    rival_begin(&argc, &argv, argv[3], &rank, &ranks);
    void (*act)(void) = argv[1][0] == 'a'            ? allgather
                        : strcmp(argv[1], "barrier") ? broadcast
                                                     : barrier;
    uint64_t end = rival_now() + (uint64_t)(strtod(argv[2], NULL) * 1e9);
    for (int i = 0; i < TURN; i++)
        act();
    while (more && turns < TURNS_MAX) {
        uint64_t begin = rival_now();
        for (int i = 0; i < TURN; i++)
            act();
        uint64_t now = rival_now();
        values[turns++] = (double)(now - begin) / TURN;
        more = now < end;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    qsort(values, turns, sizeof values[0], by_value);
    if (rank == 0)
        printf("%.2f\n", values[(turns - 1) / 4]);
    MPI_Finalize();
}
