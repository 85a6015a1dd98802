/*
 * Functions that litmus tests on the simulator share. One shot runs a small program at each node. A
 * test makes many shots with different seeds, and says which outcomes must be reached and which
 * must not.
 */
#ifndef TESTS_SIM_LITMUS_H
#define TESTS_SIM_LITMUS_H

#include "tests/nodes.h"

/* One run of a litmus test. Words of node n's region are X, Y...; results are a and b. */
struct shot {
    bool right; /* use the means that forbids the outcome */
    uint64_t a, b;
};

enum { X = 0, Y = 8, BIG = 64 };

struct place {
    struct node *node;
    struct shot *shot;
    struct loco_shared_region memory;
    struct loco_barrier barrier;
    uint64_t *words; /* this node's copy */
};

/* Called at each node. All nodes have arrived when open_place returns, and again when close_place
 * does. */
void open_place(struct place *place, struct node *node);
void close_place(struct place *place);

struct loco_ack put(struct place *place, uint32_t node, size_t at, uint64_t value);
struct loco_ack get(struct place *place, uint32_t node, size_t at, uint64_t *value);
void wait_for(struct place *place, struct loco_ack ack);

/* Reads one of this node's own words. */
uint64_t local(const struct place *place, size_t at);
void set_local(struct place *place, size_t at, uint64_t value);
void await_local(struct place *place, size_t at, uint64_t value);

/* Checks that the outcome is reached without the right means, and never with it. */
void reached_only_without(uint32_t nodes, void (*body)(struct node *node),
                          bool (*surprising)(const struct shot *shot));

/* Checks that an outcome that is always forbidden is never reached. */
void never_reached(uint32_t nodes, void (*body)(struct node *node),
                   bool (*surprising)(const struct shot *shot));

#endif
