/*
 * The tcp fabric: any machines that reach each other over IPv4 or IPv6, without an RDMA device.
 *
 * Each node has an address and listens there; of each pair that a channel brings together the node
 * with the higher id connects, and tries until the other is there. The links of a process to the
 * nodes of another share a connection, a lane; those of a node's second thread have a second one.
 * One service thread in each process, or whoever waits there, places what the peers of its nodes
 * write, executes their reads and atomics, and answers their flushes; another thread tells the core
 * what happened.
 *
 * A write is done as soon as the kernel has its bytes, or they are held (loco_hold). It is placed
 * word by word in the order of addresses, each aligned word of 8 bytes by one store, after all
 * earlier writes of its link. A flush goes the same way and is echoed, so it says that the writes
 * before it are placed. Atomics are executed by the peer's service thread. A node's operations on
 * its own memory are the processor's.
 *
 * A peer that ends in order, or whose process dies, is noticed at once: its kernel closes its
 * connections. One that falls silent (its machine, the cable, or a process that was stopped) is
 * lost timeout_ms after it was last heard, at most a quarter of that later. A lost peer cannot
 * reach this node's memory any more. One that starts again, under the same id and address, is
 * connected with again, and peer_up is said again; links that were opened before stay broken.
 *
 * A connection must come from the node's address, and prove that it is of this network:
 * docs/tcp.md says how. What goes over it afterwards is neither encrypted nor signed.
 */
#ifndef LOCO_TCP_H
#define LOCO_TCP_H

#include "../language.h"
#include "fabric.h"

LOCO_DECLARATIONS

enum { LOCO_TCP_PORT = 18700, LOCO_TCP_TIMEOUT_MS = 2000 };

struct loco_tcp_config {
    /* By node id: each node's address, in numbers or a name. */
    const char *const *addresses;
    uint32_t address_count;

    /* Optional; 0 takes the default. */
    uint16_t port;       /* node i listens on port + i; LOCO_TCP_PORT */
    unsigned timeout_ms; /* after which a silent peer is lost; LOCO_TCP_TIMEOUT_MS */
    bool pinned;         /* the service thread runs on the core `cpu` only */
    unsigned cpu;
    bool spin; /* it looks for work without a pause, and takes the whole core for that */
    uint64_t room[4];
};

/*
 * Opens the fabric, for any number of nodes of this process. The addresses are copied. Returns 0,
 * -EINVAL for a config that makes no sense or a core that is not there, or another negative errno.
 * What is wrong with an address is seen when a node opens, and said as a warning.
 */
int loco_tcp_open(struct loco_fabric **fabric, const struct loco_tcp_config *config);

/* Ends the fabric. Its managers are closed. */
void loco_tcp_close(struct loco_fabric *fabric);

LOCO_DECLARATIONS_END

#endif
