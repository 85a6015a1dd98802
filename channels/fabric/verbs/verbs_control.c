/*
 * Control connections. Of each pair of nodes, the one with the higher id asks for one; the other
 * one answers in verbs_request.c. All of this is done by the connecting thread.
 */
#include <errno.h>
#include <stdlib.h>

#include "verbs_internal.h"

enum { PRIVATE_REJECT = 28 }; /* the status of a refusal by a program, not by its kernel */

void verbs_destroy_id(struct rdma_cm_id *id)
{
    if (id->qp)
        rdma_destroy_qp(id);
    rdma_destroy_id(id);
}

struct verbs_connection *verbs_connection_new(struct verbs_node *n, struct verbs_peer *p)
{
    struct verbs_connection *c = calloc(1, sizeof *c);

    if (c)
        c->end = (struct verbs_end){.role = VERBS_CONTROL, .node = n, .peer = p};
    return c;
}

int verbs_connection_make_pair(struct verbs_connection *c)
{
    struct verbs_node *n = c->end.node;
    struct ibv_qp_init_attr attributes = {
        .qp_type = IBV_QPT_RC,
        .send_cq = n->control,
        .recv_cq = n->control,
        .srq = n->receives,
        .cap = {.max_send_wr = VERBS_SENDS + 1, .max_send_sge = 1, .max_recv_sge = 1},
        .sq_sig_all = 1,
    };

    if (rdma_create_qp(c->end.id, n->pd, &attributes))
        return -errno;
    pthread_mutex_lock(&n->verbs->lock);
    c->qp_number = c->end.id->qp->qp_num;
    pthread_mutex_unlock(&n->verbs->lock);
    return 0;
}

void verbs_connection_publish(struct verbs_connection *c)
{
    struct verbs *v = c->end.node->verbs;

    pthread_mutex_lock(&v->lock);
    c->end.peer->connection = c;
    pthread_mutex_unlock(&v->lock);
}

struct verbs_connection *verbs_connection_of(const struct verbs_peer *p, struct verbs *v)
{
    pthread_mutex_lock(&v->lock);
    struct verbs_connection *c = p->connection;
    pthread_mutex_unlock(&v->lock);
    return c;
}

void verbs_connection_drop(struct verbs_connection *c)
{
    struct verbs_node *n = c->end.node;

    pthread_mutex_lock(&n->verbs->lock);
    bool told = c->established;
    if (told) {
        c->down = true; /* the telling thread handles the loss, and gives it back as dead */
        verbs_node_due(n);
    } else {
        c->end.peer->connection = NULL;
    }
    pthread_mutex_unlock(&n->verbs->lock);
    if (told)
        return;
    verbs_destroy_id(c->end.id);
    free(c);
}

void verbs_connection_start(struct verbs_node *n, struct verbs_peer *p)
{
    struct verbs_connection *c = verbs_connection_new(n, p);

    if (!c)
        return;
    c->active = true;
    if (loco_nonce_new(&c->nonce) ||
        rdma_create_id(n->verbs->channel, &c->end.id, &c->end, RDMA_PS_TCP)) {
        free(c);
        return;
    }
    verbs_connection_publish(c);
    if (verbs_connect_resolve(n, c->end.id, p->id))
        verbs_connection_drop(c);
}

/* Sends the request. The first one contains no challenge yet; its refusal contains one. */
static void connection_go_on(struct verbs_connection *c)
{
    struct verbs_node *n = c->end.node;
    const struct verbs_peer *p = c->end.peer;
    struct verbs_hello h = verbs_hello_of(n, VERBS_FOR_CONTROL);
    const struct loco_claim claim =
        verbs_claim_of(n, LOCO_OF_REQUEST, n->base.id, p->id, &p->demand, &c->nonce);
    struct rdma_conn_param param = verbs_connect_parameters(n, &h);

    h.asked = verbs_nonce_first_bytes(&p->demand);
    h.nonce = c->nonce;
    h.proof = loco_prove(&n->key, &claim);
    if (c->end.id->verbs != n->device || verbs_connection_make_pair(c) ||
        rdma_connect(c->end.id, &param))
        verbs_connection_drop(c);
}

int verbs_find_link_key(struct verbs_node *n, uint32_t peer, struct loco_key *key)
{
    const struct verbs_connection *c;
    int rc = 0;

    pthread_mutex_lock(&n->verbs->lock);
    c = n->peers[peer].connection;
    if (peer == n->base.id)
        *key = n->own_links;
    else if (c && c->proven && !c->down)
        *key = c->links;
    else
        rc = -ECONNRESET;
    pthread_mutex_unlock(&n->verbs->lock);
    return rc;
}

/* --- answers -------------------------------------------------------------------------------- */

void verbs_note_foreigner(struct verbs_node *n, uint32_t count)
{
    n->foreign_count = count;
    verbs_node_due(n);
}

/* Whether the peer that refused knows the secret but has a different number of nodes. */
static bool hello_proves_foreign(const struct verbs_connection *c, const struct verbs_hello *h)
{
    const struct verbs_node *n = c->end.node;
    const struct verbs_peer *p = c->end.peer;
    const struct loco_claim answer =
        loco_claim_of(LOCO_OF_ANSWER, p->id, n->base.id, h->count, &c->nonce, &p->demand);

    return h->refusal == LOCO_FOREIGN && h->count != n->base.count &&
           loco_proves(&n->key, &answer, &h->proof);
}

/* Any program may say anything. The right one may come later, so the peer is asked again, but not
 * as often. */
static bool connection_warns_once(struct verbs_peer *p)
{
    const bool first = !p->warned;

    p->warned = true;
    if (p->attempts < VERBS_PATIENCE)
        p->attempts = VERBS_PATIENCE;
    return first;
}

/* The request was refused, with a reason, or because no node listens there yet. */
static void connection_on_refusal(struct verbs_connection *c, int status,
                                  const struct verbs_hello *h)
{
    struct verbs_node *n = c->end.node;
    struct verbs_peer *p = c->end.peer;
    bool refused = status == PRIVATE_REJECT && h->magic == VERBS_MAGIC;
    const char *mismatch = refused ? loco_refusal_by(h->refusal) : NULL;

    pthread_mutex_lock(&n->verbs->lock);
    if (mismatch) {
        if (connection_warns_once(p))
            verbs_warn(n, "node %u (of %u) met a node that says it is node %u of %u: %s",
                       n->base.id, n->base.count, h->node, h->count, mismatch);
        if (hello_proves_foreign(c, h))
            verbs_note_foreigner(n, h->count);
    } else if (refused && h->refusal == LOCO_TAKEN && p->attempts == VERBS_PATIENCE) {
        verbs_warn(n, "node %u (of %u): node %u says that this place is taken", n->base.id,
                   n->base.count, p->id);
    }
    pthread_mutex_unlock(&n->verbs->lock);
    verbs_connection_drop(c);
    if (!refused)
        return;
    p->demand = h->nonce;
    if (h->refusal == LOCO_PROVE && p->eager) {
        p->eager = false;
        verbs_connection_start(n, p);
    }
}

/* The peer has accepted. Its messages are handled only if it has proven itself, too. */
static void connection_on_acceptance(struct verbs_connection *c, const struct verbs_hello *h)
{
    struct verbs_node *n = c->end.node;
    struct verbs_peer *p = c->end.peer;
    const uint32_t me = n->base.id;
    const struct loco_claim answer =
        verbs_claim_of(n, LOCO_OF_ANSWER, p->id, me, &c->nonce, &p->demand);
    const struct loco_claim links =
        verbs_claim_of(n, LOCO_OF_LINKS, me, p->id, &p->demand, &c->nonce);
    bool right = h->magic == VERBS_MAGIC && loco_proves(&n->key, &answer, &h->proof);

    pthread_mutex_lock(&n->verbs->lock);
    if (right) {
        loco_key_between(&c->links, &n->key, &links);
        c->proven = true;
        verbs_establish(c);
    } else if (connection_warns_once(p)) {
        verbs_warn(n,
                   "node %u (of %u): at node %u's address is a program that does not know this "
                   "network's secret",
                   me, n->base.count, p->id);
    }
    pthread_mutex_unlock(&n->verbs->lock);
    if (!right)
        verbs_connection_drop(c);
}

void verbs_connection_on_event(struct verbs_connection *c, const struct rdma_cm_event *e,
                               const struct verbs_hello *h)
{
    switch (e->event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
        if (rdma_resolve_route(c->end.id, VERBS_RESOLVE_MS))
            verbs_connection_drop(c);
        break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
        connection_go_on(c);
        break;
    case RDMA_CM_EVENT_ESTABLISHED:
        if (c->active)
            connection_on_acceptance(c, h);
        break; /* at the other side, its first message establishes the connection */
    case RDMA_CM_EVENT_REJECTED:
        connection_on_refusal(c, e->status, h);
        break;
    case RDMA_CM_EVENT_TIMEWAIT_EXIT:
        break;
    default:
        verbs_connection_drop(c);
    }
}
