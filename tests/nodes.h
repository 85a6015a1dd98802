/*
 * For tests: runs one body as each node of a network, on any fabric.
 *
 * A body may run in a process of its own, where the test framework's checks do not reach
 * the test; so bodies use CHECK, which prints and counts, and return the count.
 */
#ifndef TESTS_NODES_H
#define TESTS_NODES_H

#include <stdatomic.h>
#include <stdio.h>

#include "channels/loco/loco.h"

/* Counts what shows that a test moves; NULL where nobody looks. */
extern _Atomic uint64_t *test_moves;

static inline void test_moved(void)
{
    if (test_moves)
        atomic_fetch_add_explicit(test_moves, 1, memory_order_relaxed);
}

/* All but the first are on shm; on tcp where LOCO_TEST_FABRIC says so; or on verbs where
 * LOCO_TEST_ADDRESSES has the nodes' addresses, parted by commas. On the latter two, those that are
 * threads share a fabric, too. On tcp processes reach each other through LOCO_TEST_RELAY's address,
 * if there is one. */
enum where {
    ON_SIM,              /* fibers, virtual time */
    ON_THREADS,          /* a thread each; on shm with a fabric each, as processes have */
    ON_ONE_PROCESS,      /* a thread each, on one fabric */
    ON_PROCESSES,        /* a process each */
    ON_POLLED_PROCESSES, /* a process each, with a thread that looks for completions */
};

struct node {
    struct loco_manager *mgr;
    struct loco_fabric *fabric;
    uint32_t id, count;
    int failures;
    unsigned life; /* how often it has been restarted */
    enum where where;
    void *arg;
    char log[2048]; /* what the manager logged, a line each; read it by node_logged */
};

/* Whether the node's manager has logged the text. */
bool node_logged(const struct node *node, const char *text);

#define CHECK(node, condition)                                                                     \
    do {                                                                                           \
        test_moved();                                                                              \
        if (!(condition)) {                                                                        \
            (node)->failures++;                                                                    \
            fprintf(stderr, "%s:%d: node %u: %s\n", __FILE__, __LINE__, (node)->id, #condition);   \
        }                                                                                          \
    } while (0)

/*
 * Ends the node's present life, which is no orderly leave in a process or on the sim. It does not
 * return in a process: the body begins again in another. Elsewhere the body ends its channels,
 * and calls node_return.
 */
void node_die(struct node *node);

/* Ends the node's process for good, without an orderly leave. */
_Noreturn void node_end(struct node *node);

/* Opens the node anew: n->life is one more. */
void node_return(struct node *node);

/* Returns the failures of all the nodes. */
int run_nodes(enum where where, uint32_t count, void (*body)(struct node *node), void *arg);

/* The same on the sim, with a latency and a jitter on every link. */
int run_sim_nodes(uint64_t seed, uint64_t latency_ns, uint64_t jitter_ns, uint32_t count,
                  void (*body)(struct node *node), void *arg);

/* The same on the sim, under chaos. Prints the seed when anything fails. */
int run_chaos_nodes(uint64_t seed, enum loco_sim_chaos chaos, uint32_t count,
                    void (*body)(struct node *node), void *arg);

/* Whether the nodes are on verbs; on tcp. */
bool on_verbs(void);
bool on_tcp(void);

/*
 * How much to do: `full`, or on an emulated machine, which takes fifty times longer for each
 * operation, what still shows the same. LOCO_TEST_EMULATED says that this is one; it is the one
 * place where tests go by that.
 */
uint64_t effort(uint64_t full, uint64_t emulated);

/* Opens verbs on the addresses of LOCO_TEST_ADDRESSES. */
int open_verbs(struct loco_fabric **fabric, struct loco_verbs_config config);

/* A loopback address that only nodes of this test use. */
const char *own_loopback(void);

/* Opens tcp on these, or on that one. */
int open_tcp(struct loco_fabric **fabric, struct loco_tcp_config config);

/* Of one wait, which takes milliseconds, on a busy emulated machine too. */
static const uint64_t TEST_TIMEOUT = 60000000000u;

/* Waits for a condition; AWAIT(node, condition, meanwhile) does something at each turn. */
#define AWAIT(node, condition, ...)                                                                \
    do {                                                                                           \
        struct loco_wait await = loco_wait_for((node)->mgr, TEST_TIMEOUT);                         \
        while (!(condition)) {                                                                     \
            __VA_ARGS__;                                                                           \
            if (loco_relax((node)->mgr, &await)) {                                                 \
                CHECK(node, !"in time: " #condition);                                              \
                break;                                                                             \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* How many descriptors this process has open, more or less a fixed few. */
unsigned open_descriptors(void);

#endif
