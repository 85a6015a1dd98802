/*
 * The verbs fabric: RDMA by libibverbs and librdmacm, on RoCE v2 and InfiniBand, over reliable
 * connections.
 *
 * Each node listens on an address of an RDMA interface. Of each pair of nodes that a channel brings
 * together, the node with the higher id connects, and tries until the other is there. Each thread
 * has its own queue pair to each peer. Control messages go over TCP, between the same addresses and
 * ports. Three threads in each process serve all its nodes: one carries these messages, one accepts
 * links, and one reports events to the core.
 *
 * Arenas are registered memory, on huge pages if some are free, and live as long as their node.
 *
 * The loss of a peer that ends in order, or whose process dies, is noticed at once, because the
 * peer's kernel closes its connections. If the peer's machine or the link to it falls silent, the
 * operations in flight notice it: the device gives up after 1 + retry_count acknowledge time-outs
 * of 4.096 us * 2^timeout_exponent. With the defaults that is 2.1 s; a device may stretch its
 * time-outs up to fourfold. Without operations, and when the peer's process is stopped, the peer is
 * lost timeout_ms after it was last heard, or up to a quarter of that later. A lost peer can no
 * longer reach this node's memory. When it starts again under the same id and address, it is
 * connected again and peer_up is called again; links that were opened before stay broken.
 *
 * A connection must come from the node's address, and prove that it is of this network:
 * docs/meeting.md says how. A link proves that it belongs to such a connection. RDMA itself neither
 * encrypts nor signs.
 *
 * A fence is a read of 8 bytes of the peer's first arena. A write's acknowledgement says that the
 * peer's device has the write; its bytes may still be on their way to memory, as posted writes of
 * PCIe. The device executes a connection's requests in order, and its reads of memory do not pass
 * its posted writes (PCI Express Base Specification, ordering rules). So the answer to the read
 * says that all writes before it are placed. The answer to a read of no bytes does not say so: for
 * such a read InfiniBand (C9-88) does not make the device check the key, and nothing makes it
 * access memory. On a device that places writes before it acknowledges them, as soft-RoCE does, a
 * read of no bytes is enough (flush_by_nothing).
 */
#ifndef LOCO_VERBS_H
#define LOCO_VERBS_H

#include "fabric.h"
#include "language.h"

LOCO_DECLARATIONS

enum { LOCO_VERBS_PORT = 18515, LOCO_VERBS_TIMEOUT_MS = 3000 };

struct loco_verbs_config {
    /* By node id: the address of each node's RDMA interface, as numbers or as a host name. The
     * address determines the device, and on RoCE the GID. */
    const char *const *addresses;
    uint32_t address_count;

    /* Optional; 0 takes the default. */
    uint16_t port;             /* node i listens on port + i; default LOCO_VERBS_PORT */
    bool shared_completions;   /* one completion queue for each node, for a polling thread; default:
                                  one for each link, polled inline */
    unsigned send_depth;       /* operations of one link in flight, rounded up to a power of 2;
                                  default 128 */
    unsigned timeout_exponent; /* as above; default 16: 268 ms */
    unsigned retry_count;      /* as above, 1 to 7; default 7 */
    unsigned traffic_class;    /* of RoCE's IP packets: DSCP and ECN; default: the system's */
    bool flush_by_nothing;     /* a fence reads no bytes instead of 8: see above */
    uint64_t timeout_ms;       /* a silent peer is lost after this; default LOCO_VERBS_TIMEOUT_MS */
    uint64_t room[3];
};

/*
 * Opens the fabric for any number of nodes of this process. The addresses are copied. Returns 0,
 * -EINVAL for a config out of range, -ENODEV if the kernel knows no RDMA device, or another
 * negative errno. A wrong device or address is found, and logged as a warning, when a node opens.
 * Any thread.
 */
int loco_verbs_open(struct loco_fabric **fabric, const struct loco_verbs_config *config);

/* Ends the fabric. All its managers must be closed. */
void loco_verbs_close(struct loco_fabric *fabric);

LOCO_DECLARATIONS_END

#endif
