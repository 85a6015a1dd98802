/*
 * The verbs fabric: RDMA by libibverbs and librdmacm, on RoCE v2 and InfiniBand, over reliable
 * connections.
 *
 * Each node has an address of an RDMA interface and listens there; of each pair that a channel
 * brings together the node with the higher id connects, and tries until the other is there. Each
 * thread has a queue pair of its own to each peer. Two threads in each process serve all its nodes:
 * one accepts and makes connections, one tells the core what happened.
 *
 * Arenas are registered memory, of huge pages where there are any, and live as long as their node.
 *
 * A peer that ends in order, or whose process dies, is noticed at once: its kernel says so. One
 * that falls silent (its machine, or the link to it) is noticed by the operations in flight, and
 * without any by a keep-alive each second; both give up after 1 + retry_count acknowledge time-outs
 * of 4.096 us * 2^timeout_exponent. With the defaults that is 2.1 s, so at most 3.2 s in all; a
 * device may stretch its time-outs up to fourfold. A lost peer cannot reach this node's memory any
 * more. One that starts again, under the same id and address, is connected with again, and peer_up
 * is said again; links that were opened before stay broken.
 *
 * A request for a connection must come from the node's address, and prove that it is of this
 * network: verbs_hello.h says how. RDMA itself neither encrypts nor signs.
 *
 * A fence is a read of 8 bytes of the peer's first arena. A write's acknowledgement says that the
 * peer's device has it; the bytes may still be on their way to memory, as posted writes of PCIe.
 * The device executes a connection's requests in order, and its reads of memory do not pass its
 * posted writes (PCI Express Base Specification, ordering rules). So the answer to the read says
 * that all writes before it are placed. A read of no bytes has no such answer: InfiniBand (C9-88)
 * has the device look at no key for it, and nothing has it look at memory. It does where a device
 * places writes before it acknowledges them, as soft-RoCE does.
 */
#ifndef LOCO_VERBS_H
#define LOCO_VERBS_H

#include "../language.h"
#include "fabric.h"

LOCO_DECLARATIONS

enum { LOCO_VERBS_PORT = 18515 };

struct loco_verbs_config {
    /* By node id: the address of each node's RDMA interface, in numbers or a name. It chooses the
     * device, and on RoCE the GID. */
    const char *const *addresses;
    uint32_t address_count;

    /* Optional; 0 takes the default. */
    uint16_t port;             /* node i listens on port + i; LOCO_VERBS_PORT */
    bool shared_completions;   /* one completion queue for each node, for a polling thread; else
                                  one for each link, polled inline */
    unsigned send_depth;       /* operations of one link in flight, up to a power of 2; 128 */
    unsigned timeout_exponent; /* as above; 16: 268 ms */
    unsigned retry_count;      /* as above, 1 to 7; 7 */
    unsigned traffic_class;    /* of RoCE's IP packets, DSCP and ECN; what the system says */
    bool flush_by_nothing;     /* the read that makes a fence is of no bytes, not of 8: see below */
    uint64_t room[4];
};

/*
 * Opens the fabric, for any number of nodes of this process. The addresses are copied. Returns 0,
 * -EINVAL for a config that makes no sense, -ENODEV where the kernel knows no RDMA device, or
 * another negative errno. What is wrong with a device or an address is seen when a node opens, and
 * said as a warning.
 */
int loco_verbs_open(struct loco_fabric **fabric, const struct loco_verbs_config *config);

/* Ends the fabric. Its managers are closed. */
void loco_verbs_close(struct loco_fabric *fabric);

LOCO_DECLARATIONS_END

#endif
