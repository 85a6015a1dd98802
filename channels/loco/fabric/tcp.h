/*
 * The tcp fabric: any machines that reach each other over IPv4 or IPv6, without an RDMA device.
 *
 * Each node listens on its address. Of each pair of nodes that a channel brings together, the node
 * with the higher id connects, and tries until the other is there. The links between two processes
 * share a connection, called a lane; more than 1024 links share several. In each process a service
 * thread, or a thread that waits, places what the peers of its nodes write, executes their reads
 * and atomics, and answers their flushes. Another thread reports events to the core.
 *
 * A write is done as soon as the kernel or the fabric has its bytes. It is placed
 * after all earlier writes of its link, word by word in the order of addresses, each aligned 8-byte
 * word by one store. A flush goes the same way and is echoed, so the echo says that the writes
 * before it are placed. The peer's process executes atomics. A node's operations on its own memory
 * are done by its CPU.
 *
 * The loss of a peer that ends in order, or whose process dies, is noticed at once, because the
 * peer's kernel closes its connections. A peer that falls silent (its machine or the cable fails,
 * or its process is stopped) is lost timeout_ms after it was last heard, or up to a quarter of that
 * later. A lost peer can no longer reach this node's memory. When it starts again under the same id
 * and address, it is connected again and peer_up is called again; links that were opened before
 * stay broken.
 *
 * A connection must come from the node's address, and prove that it is of this network:
 * docs/tcp.md says how. What goes over it afterwards is neither encrypted nor signed.
 */
#ifndef LOCO_TCP_H
#define LOCO_TCP_H

#include "fabric.h"
#include "language.h"

LOCO_DECLARATIONS

enum { LOCO_TCP_PORT = 18700, LOCO_TCP_TIMEOUT_MS = 2000 };

struct loco_tcp_config {
    /* By node id: each node's address, as numbers or as a host name. */
    const char *const *addresses;
    uint32_t address_count;

    /* Optional; 0 takes the default. */
    uint16_t port;       /* node i listens on port + i; default LOCO_TCP_PORT */
    unsigned timeout_ms; /* a silent peer is lost after this; default LOCO_TCP_TIMEOUT_MS */
    bool pinned;         /* the service thread runs on core `cpu` only */
    unsigned cpu;
    bool spin; /* the service thread looks for work without a pause, and takes a whole core */
    uint64_t room[4];
};

/*
 * Opens the fabric for any number of nodes of this process. The addresses are copied. Returns 0,
 * -EINVAL for a config out of range or a core that does not exist, or another negative errno. A
 * wrong address is found, and logged as a warning, when a node opens. Any thread.
 */
int loco_tcp_open(struct loco_fabric **fabric, const struct loco_tcp_config *config);

/* Ends the fabric. All its managers must be closed. */
void loco_tcp_close(struct loco_fabric *fabric);

LOCO_DECLARATIONS_END

#endif
