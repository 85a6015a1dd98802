/*
 * How a link connects to its peer's listener. The thread that opens the link does this, and waits
 * for the answer of the peer's connecting thread.
 */
#include <errno.h>
#include <poll.h>

#include "../host_time.h"
#include "verbs_internal.h"

enum {
    MS = 1000000,
    LOOK_MS = 100,   /* between two looks whether the link broke meanwhile */
    LINK_MS = 20000, /* the longest wait for a peer that is not lost */
};

static int link_await(struct verbs_link *l, enum rdma_cm_event_type expected, uint64_t until)
{
    struct pollfd fd = {.fd = l->channel->fd, .events = POLLIN};
    struct verbs_node *n = l->node;
    struct rdma_cm_event *event;

    while (poll(&fd, 1, loco_host_poll_ms(until, LOOK_MS)) < 1) {
        if (atomic_load(&l->broken))
            return -ECONNRESET;
        if (loco_host_clock(NULL) >= until)
            return -ETIMEDOUT;
    }
    if (rdma_get_cm_event(l->channel, &event))
        return -errno;
    enum rdma_cm_event_type type = event->event;
    int status = event->status;
    rdma_ack_cm_event(event);
    if (type == expected)
        return 0;
    if (type == RDMA_CM_EVENT_REJECTED)
        return -ECONNRESET; /* the peer has gone */
    pthread_mutex_lock(&n->verbs->control.lock);
    control_warn(&n->control, "node %u: a link to node %u: %s, status %d", n->control.base.id,
                 l->base.peer, rdma_event_str(type), status);
    pthread_mutex_unlock(&n->verbs->control.lock);
    return -EHOSTUNREACH;
}

/* Makes the queue pair with as many inline bytes as possible. Devices do not say how many they
 * take, and refuse a pair with more, so this tries fewer and fewer. *attributes receives the
 * result. */
static int link_make_pair(struct verbs_link *l, struct ibv_qp_init_attr *attributes)
{
    const struct ibv_qp_init_attr wanted = *attributes;

    for (uint32_t bytes = wanted.cap.max_inline_data;; bytes /= 2) {
        *attributes = wanted;
        attributes->cap.max_inline_data = bytes;
        if (!rdma_create_qp(l->id, l->node->pd, attributes))
            return 0;
        if (bytes == 0)
            return -errno;
    }
}

/* Adds the proof to a link's hello. */
static int link_prove(const struct verbs_link *l, struct verbs_hello *h)
{
    struct verbs_node *n = l->node;
    struct loco_key key;

    pthread_mutex_lock(&n->verbs->control.lock);
    int rc = verbs_link_key(n, l->base.peer, &key);
    pthread_mutex_unlock(&n->verbs->control.lock);
    if (!rc)
        rc = loco_nonce_new(&h->nonce);
    if (rc)
        return rc;
    const struct loco_claim claim =
        verbs_claim_of_link(n, n->control.base.id, l->base.peer, &h->nonce);
    h->proof = loco_prove(&key, &claim);
    return 0;
}

/* Makes the link's id, and finds its way to the peer. */
static int link_find_route(struct verbs_link *l, uint64_t until)
{
    struct verbs_node *n = l->node;

    l->channel = rdma_create_event_channel();
    if (!l->channel || rdma_create_id(l->channel, &l->id, l, RDMA_PS_TCP))
        return -errno;
    int rc = verbs_connect_resolve(n, l->id, l->base.peer);
    if (!rc)
        rc = link_await(l, RDMA_CM_EVENT_ADDR_RESOLVED, until);
    if (!rc && rdma_resolve_route(l->id, VERBS_RESOLVE_MS))
        rc = -errno;
    if (!rc)
        rc = link_await(l, RDMA_CM_EVENT_ROUTE_RESOLVED, until);
    if (!rc && l->id->verbs != n->device)
        rc = -EXDEV;
    return rc;
}

/* Connects the link's queue pair. From then on, the loss of the peer also breaks the queue pair; a
 * loss before that only marked the link as broken. */
static int link_establish(struct verbs_link *l, const struct verbs_hello *h, uint64_t until)
{
    struct verbs_node *n = l->node;
    struct rdma_conn_param param = verbs_connect_parameters(n, h);
    int rc = rdma_connect(l->id, &param) ? -errno : 0;

    if (!rc)
        rc = link_await(l, RDMA_CM_EVENT_ESTABLISHED, until);
    if (rc)
        return rc;
    pthread_mutex_lock(&n->verbs->control.lock);
    l->qp = l->id->qp;
    pthread_mutex_unlock(&n->verbs->control.lock);
    return atomic_load(&l->broken) ? -ECONNRESET : 0;
}

int verbs_link_connect(struct verbs_link *l, struct ibv_qp_init_attr *attributes, uint64_t until)
{
    struct verbs_hello h = verbs_hello_of(l->node);
    const uint64_t longest = loco_host_clock(NULL) + LINK_MS * (uint64_t)MS;
    int rc = link_prove(l, &h);

    until = until < longest ? until : longest;
    if (!rc)
        rc = link_find_route(l, until);
    if (!rc)
        rc = link_make_pair(l, attributes);
    if (!rc)
        rc = link_establish(l, &h, until);
    return rc;
}
