/*
 * How the processes of a run on several machines learn where the nodes are, where all that they
 * know is the host of the first node: its process listens there, the others connect and register
 * their nodes, and when all nodes are there each learns the address of each. A process's address is
 * that from which it came.
 *
 * The connection stays. A process that comes back after its end registers again, and over it each
 * compares its clock with that of the first node.
 */
#ifndef HIL_RENDEZVOUS_H
#define HIL_RENDEZVOUS_H

#include <stddef.h>
#include <stdio.h>

#include "../../channels/loco/fabric/fabric.h"
#include "../run/machine_clock.h"
#include "../scenario/scenario.h"

enum { HIL_RENDEZVOUS_WHY = 1200 };

struct hil_rendezvous;

struct hil_rendezvous_config {
    const struct hil_scenario *scenario; /* its executors' nodes are this process's */
    struct loco_secret secret;
    unsigned wait_s;
    /* For each line about nodes that are waited for, or that are refused. */
    void (*say)(void *arg, const char *line);
    void *arg;
};

/* The place that HILOCO_RENDEZVOUS names, or that of the first of Slurm's hosts; NULL: none, or
 * -EINVAL after a line to `messages`. The text is this function's own. */
int hil_rendezvous_given(const char **place, FILE *messages);

/* The first host of a list of Slurm's such as "node[01-04,7],gpu". Returns 0, or -EINVAL. */
int hil_rendezvous_first_host(const char *list, char *host, size_t size);

/* Waits for all nodes, and puts their addresses into the scenario's system. Returns 0; -EPROTO when
 * another process has another scenario, -EEXIST when it has one of these nodes, -ETIMEDOUT, -EINTR
 * after a signal that ends runs, or another negative errno; `why` says more. */
int hil_rendezvous_meet(struct hil_rendezvous **rendezvous,
                        const struct hil_rendezvous_config *config, char why[HIL_RENDEZVOUS_WHY]);

/* The process with the first node serves the others from a thread. */
int hil_rendezvous_serve(struct hil_rendezvous *rendezvous);

/* Compares this machine's clock with the first node's. That of the first node's process is its own.
 * Returns 0 or a negative errno. */
int hil_rendezvous_clock(struct hil_rendezvous *rendezvous, struct hil_machine_clock *clock);

/* A child that is forked: it leaves the sockets to its parent. */
void hil_rendezvous_leave_to_parent(struct hil_rendezvous *rendezvous);

void hil_rendezvous_close(struct hil_rendezvous *rendezvous);

#endif
