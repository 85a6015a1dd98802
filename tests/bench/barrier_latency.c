/*
 * A complete libloco program, the second figure of the paper: it measures the latency of a
 * barrier. Build it against the library alone,
 *
 *      gcc -O2 -I. -o barrier_latency tests/bench/barrier_latency.c build/libloco.a -lxxhash
 *          -lsodium -pthread
 *
 * and start each node in a shell of its own; they meet in the directory, which need not
 * exist:
 *
 *      ./barrier_latency 0 2 /tmp/barrier
 *      ./barrier_latency 1 2 /tmp/barrier
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels/loco/loco.h"

enum { ITERATIONS = 1000000 };

static void check(int rc)
{
    if (rc == 0)
        return;
    fprintf(stderr, "%s\n", strerror(-rc));
    exit(1);
}

int main(int argc, char **argv)
{
    struct loco_fabric *fabric;
    struct loco_manager *manager;
    struct loco_barrier barrier;
    uint64_t sum = 0;

    if (argc != 4)
        return fprintf(stderr, "usage: %s NODE NODES DIRECTORY\n", argv[0]), 2;
    const struct loco_manager_config config = {
        .node = (uint32_t)atoi(argv[1]),
        .node_count = (uint32_t)atoi(argv[2]),
    };
    check(loco_shm_open(&fabric, argv[3]));
    check(loco_manager_open(&manager, fabric, &config));
    check(loco_barrier_init(&barrier, manager, NULL, "bar", LOCO_ALL));
    check(loco_manager_ready(manager, UINT64_MAX));
    for (int i = 0; i < ITERATIONS; i++) {
        uint64_t t0 = loco_clock(manager);
        check(loco_barrier_wait(&barrier));
        uint64_t t1 = loco_clock(manager);
        sum += t1 - t0;
    }
    printf("Avg latency: %.1f ns\n", (double)sum / ITERATIONS);
    loco_barrier_fini(&barrier);
    loco_manager_close(manager);
    loco_shm_close(fabric);
}
