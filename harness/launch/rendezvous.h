/*
 * How the processes of a run on several machines learn each other's addresses when they only know
 * the host of the first node. The first node's process listens there; the others connect and
 * register their nodes. When all nodes have registered, every process gets the addresses of all
 * nodes. A process's address is the source address of its connection.
 *
 * The connection stays open. A restarted process registers again, and each process compares its
 * clock with the first node's over the connection.
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
    const struct hil_scenario *scenario; /* the nodes of its executors run in this process */
    struct loco_secret secret;
    unsigned wait_s;
    /* Called with each line about nodes that are missing or refused. */
    void (*say)(void *arg, const char *line);
    void *arg;
};

/* The place that HILOCO_RENDEZVOUS names, or else the first of Slurm's hosts; NULL: none. Returns
 * 0, or -EINVAL after a line to `messages`. The text is static. */
int hil_rendezvous_given(const char **place, FILE *messages);

/* The first host of a Slurm host list such as "node[01-04,7],gpu". Returns 0 or -EINVAL. */
int hil_rendezvous_first_host(const char *list, char *host, size_t size);

/* Waits for all nodes, and puts their addresses into the scenario's system. Returns 0; -EPROTO when
 * another process has another scenario, -EEXIST when it has one of these nodes, -ETIMEDOUT, -EINTR
 * after a signal that ends runs, or another negative errno; `why` gives the details. */
int hil_rendezvous_meet(struct hil_rendezvous **rendezvous,
                        const struct hil_rendezvous_config *config, char why[HIL_RENDEZVOUS_WHY]);

/* Asks the first node's process for the run's scenario, and waits until there is one. Stores it as
 * text, which the caller frees. config->scenario is not used. Returns 0, -ETIMEDOUT or another
 * negative errno; `why` gives the details. */
int hil_rendezvous_fetch(const struct hil_rendezvous_place *place,
                         const struct hil_rendezvous_config *config, char **text,
                         char why[HIL_RENDEZVOUS_WHY]);

/* Starts a thread that serves the other processes; only in the process with the first node. */
int hil_rendezvous_serve(struct hil_rendezvous *rendezvous);

/* Whether the first node's process has left, or its machine does not answer; then `why` says so. */
bool hil_rendezvous_is_lost(struct hil_rendezvous *rendezvous, char why[HIL_RENDEZVOUS_WHY]);

/* Compares this machine's clock with the first node's. In the first node's process they are the
 * same clock. Returns 0 or a negative errno. */
int hil_rendezvous_clock(struct hil_rendezvous *rendezvous, struct hil_machine_clock *clock);

void hil_rendezvous_close(struct hil_rendezvous *rendezvous);

#endif
