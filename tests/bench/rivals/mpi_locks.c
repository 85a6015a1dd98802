/*
 * The paper's two lock benchmarks by OpenMPI's one-sided operations.
 *
 *      mpi_locks single    SECONDS CPU,CPU ...
 *      mpi_locks transfers SECONDS CPU,CPU ACCOUNTS WINDOWS
 *
 * Rank 0 prints the sections of all ranks a second, and the longest time, ns, from one section
 * of a rank to its next.
 *
 * single: one word, at rank 0, under its window's exclusive lock. transfers: the accounts are
 * spread over WINDOWS windows, in each of which every rank has an equal share with a lock of its
 * own; 341 windows are as many as the paper's set-up allowed.
 */
#include <string.h>

#include "mpi_rival.h"

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

struct bench {
    int rank, ranks;
    uint64_t per_share; /* accounts in one window at one rank */
    unsigned windows;
    MPI_Win *wins;
    uint64_t *shares;
    uint64_t random;
};

static void open_window(MPI_Win *win, uint64_t words)
{
    uint64_t *share;

    MPI_Win_allocate((MPI_Aint)(words * sizeof *share), sizeof *share, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &share, win);
    memset(share, 0, words * sizeof *share);
}

static void single_section(struct bench *b)
{
    MPI_Win win = b->wins[0];
    uint64_t word;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&word, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, win);
    MPI_Win_flush(0, win);
    word++;
    MPI_Put(&word, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, win);
    MPI_Win_unlock(0, win);
}

/* The place of an account. Its lock is that of the share in which it lies. */
struct account {
    unsigned lock; /* number among all locks; they are taken in this order */
    MPI_Win win;
    int rank;
    MPI_Aint at;
};

static struct account account_of(const struct bench *b, uint64_t number)
{
    uint64_t share = number / b->per_share;

    return (struct account){.lock = (unsigned)share,
                            .win = b->wins[share % b->windows],
                            .rank = (int)(share / b->windows),
                            .at = (MPI_Aint)(number % b->per_share)};
}

static void transfer(struct bench *b)
{
    const uint64_t accounts = b->per_share * b->windows * (uint64_t)b->ranks;
    struct account from = account_of(b, next_random(&b->random) % accounts);
    struct account to = account_of(b, next_random(&b->random) % accounts);
    struct account *first = from.lock < to.lock ? &from : &to;
    struct account *second = first == &from ? &to : &from;
    uint64_t amount = next_random(&b->random) % 100, had, has;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, first->rank, 0, first->win);
    if (first->lock != second->lock)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, second->rank, 0, second->win);
    MPI_Get(&had, 1, MPI_UINT64_T, from.rank, from.at, 1, MPI_UINT64_T, from.win);
    MPI_Win_flush(from.rank, from.win);
    had -= amount;
    MPI_Put(&had, 1, MPI_UINT64_T, from.rank, from.at, 1, MPI_UINT64_T, from.win);
    MPI_Win_flush(from.rank, from.win);
    MPI_Get(&has, 1, MPI_UINT64_T, to.rank, to.at, 1, MPI_UINT64_T, to.win);
    MPI_Win_flush(to.rank, to.win);
    has += amount;
    MPI_Put(&has, 1, MPI_UINT64_T, to.rank, to.at, 1, MPI_UINT64_T, to.win);
    if (first->lock != second->lock)
        MPI_Win_unlock(second->rank, second->win);
    MPI_Win_unlock(first->rank, first->win);
}

static void run(struct bench *b, double seconds, void (*section)(struct bench *b))
{
    uint64_t count = 0, total, longest = 0, longest_of_all;

    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t begin = rival_now(), end = begin + (uint64_t)(seconds * 1e9), before = begin;
    while (before < end) {
        section(b);
        count++;
        uint64_t now = hil_clock_now(&rival_clock);
        if (now - before > longest)
            longest = now - before;
        before = now;
    }
    MPI_Reduce(&count, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&longest, &longest_of_all, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (b->rank == 0)
        printf("%.0f %llu\n", (double)total / seconds, (unsigned long long)longest_of_all);
}

/* Touches all pages, so that no first access falls into the measurement. bench does the same. */
static void touch(struct bench *b)
{
    enum { PAGE_WORDS = 4096 / sizeof(uint64_t) };
    uint64_t word;

    for (unsigned w = 0; w < b->windows; w++) {
        for (int rank = 0; rank < b->ranks; rank++) {
            MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, b->wins[w]);
            for (uint64_t i = 0; i < b->per_share; i += PAGE_WORDS) {
                MPI_Get(&word, 1, MPI_UINT64_T, rank, (MPI_Aint)i, 1, MPI_UINT64_T, b->wins[w]);
                MPI_Win_flush(rank, b->wins[w]);
            }
            MPI_Win_unlock(rank, b->wins[w]);
        }
    }
}

int main(int argc, char **argv)
{
    struct bench b = {.windows = 1, .per_share = 1};

    if (argc < 4)
        return 2;
    rival_begin(&argc, &argv, argv[3], &b.rank, &b.ranks);
    bool transfers = strcmp(argv[1], "transfers") == 0;
    if (transfers && argc >= 6) {
        b.windows = (unsigned)atoi(argv[5]);
        b.per_share = (uint64_t)atoll(argv[4]) / b.windows / (unsigned)b.ranks;
    }
    b.wins = calloc(b.windows, sizeof(MPI_Win));
    b.random = 88172645463325252u + (uint64_t)b.rank * 7919;
    for (unsigned i = 0; i < b.windows; i++)
        open_window(&b.wins[i], b.per_share);
    MPI_Barrier(MPI_COMM_WORLD);
    touch(&b);
    run(&b, strtod(argv[2], NULL), transfers ? transfer : single_section);
    MPI_Barrier(MPI_COMM_WORLD);
    for (unsigned i = 0; i < b.windows; i++)
        MPI_Win_free(&b.wins[i]);
    MPI_Finalize();
}
