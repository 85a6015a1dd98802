/*
 * How a node answers requests to connect: for a control connection, and for a link, which gets a
 * queue pair here that is only its target. All of this is done by the connecting thread.
 */
#include <stdlib.h>

#include "../addresses.h"
#include "verbs_internal.h"

/* --- refusals --------------------------------------------------------------------------------- */

/* Whether a refusal is to be logged, so that strangers cannot fill the log. With the lock held. */
static bool request_is_worth_saying(struct verbs_node *n)
{
    return n->refusals++ < VERBS_REFUSALS_SAID;
}

static void request_refuse_with(struct rdma_cm_id *id, struct verbs_hello h, enum loco_refusal why)
{
    h.refusal = (uint8_t)why;
    rdma_reject(id, &h, sizeof h);
    rdma_destroy_id(id);
}

/* Refuses a request, with a challenge or without one (NULL). */
static void request_refuse(struct verbs_node *n, struct rdma_cm_id *id,
                           const struct loco_nonce *challenge, enum loco_refusal why)
{
    struct verbs_hello h = verbs_hello_of(n, VERBS_FOR_CONTROL);

    if (challenge)
        h.nonce = *challenge;
    request_refuse_with(id, h, why);
}

/* With the lock held. */
static void request_warn(struct verbs_node *n, const struct verbs_hello *h, enum loco_refusal why)
{
    if (!request_is_worth_saying(n))
        return;
    if (h->magic == VERBS_MAGIC)
        verbs_warn(n, "node %u (of %u) met a node that says it is node %u of %u: %s", n->base.id,
                   n->base.count, h->node, h->count, loco_refusal_of(why));
    else
        verbs_warn(n, "node %u (of %u) met a program that is none of this version's nodes",
                   n->base.id, n->base.count);
}

static void request_refuse_stranger(struct verbs_node *n, struct rdma_cm_id *id,
                                    const struct verbs_hello *h, enum loco_refusal why)
{
    pthread_mutex_lock(&n->verbs->lock);
    request_warn(n, h, why);
    pthread_mutex_unlock(&n->verbs->lock);
    request_refuse(n, id, NULL, why);
}

/* --- for a control connection ----------------------------------------------------------------- */

/* The proof was right. The challenge is replaced, so that the proof cannot be used again. */
static void request_accept_control(struct verbs_node *n, struct rdma_cm_id *id,
                                   struct verbs_peer *p, const struct loco_nonce *nonce)
{
    const struct loco_claim answer =
        verbs_claim_of(n, LOCO_OF_ANSWER, n->base.id, p->id, nonce, &p->challenge);
    const struct loco_claim links =
        verbs_claim_of(n, LOCO_OF_LINKS, p->id, n->base.id, &p->challenge, nonce);
    struct verbs_hello h = verbs_hello_of(n, VERBS_FOR_CONTROL);
    struct rdma_conn_param param = verbs_connect_parameters(n, &h);
    struct verbs_connection *old = verbs_connection_of(p, n->verbs);

    h.proof = loco_prove(&n->key, &answer);
    int rc = loco_nonce_new(&p->challenge);
    /* If a connection was never established, the peer has given that attempt up. */
    if (old && !old->established)
        verbs_connection_drop(old);
    struct verbs_connection *c =
        rc || verbs_connection_of(p, n->verbs) ? NULL : verbs_connection_new(n, p);
    if (!c) {
        request_refuse(n, id, &p->challenge, LOCO_TAKEN);
        return;
    }
    c->end.id = id;
    c->proven = true;
    loco_key_between(&c->links, &n->key, &links);
    id->context = &c->end;
    verbs_connect_set_options(n, id);
    if (verbs_connection_make_pair(c)) {
        free(c);
        request_refuse(n, id, &p->challenge, LOCO_TAKEN);
        return;
    }
    verbs_connection_publish(c);
    if (rdma_accept(id, &param))
        verbs_connection_drop(c);
}

static void request_control(struct verbs_node *n, struct rdma_cm_id *id, struct verbs_peer *p,
                            const struct verbs_hello *h)
{
    const struct loco_claim claim =
        verbs_claim_of(n, LOCO_OF_REQUEST, p->id, n->base.id, &p->challenge, &h->nonce);

    if (h->asked != verbs_nonce_first_bytes(&p->challenge))
        request_refuse(n, id, &p->challenge, LOCO_PROVE);
    else if (!loco_proves(&n->key, &claim, &h->proof))
        request_refuse_stranger(n, id, h, LOCO_UNPROVEN);
    else
        request_accept_control(n, id, p, &h->nonce);
}

/* Refuses a node whose proof was right but whose number of nodes differs. Proves the refusal. */
static void request_refuse_foreigner(struct verbs_node *n, struct rdma_cm_id *id,
                                     const struct verbs_hello *theirs)
{
    const struct loco_claim answer =
        verbs_claim_of(n, LOCO_OF_ANSWER, n->base.id, theirs->node, &theirs->nonce, &n->challenge);
    struct verbs_hello h = verbs_hello_of(n, VERBS_FOR_CONTROL);

    pthread_mutex_lock(&n->verbs->lock);
    request_warn(n, theirs, LOCO_FOREIGN);
    verbs_note_foreigner(n, theirs->count);
    pthread_mutex_unlock(&n->verbs->lock);
    h.proof = loco_prove(&n->key, &answer);
    request_refuse_with(id, h, LOCO_FOREIGN);
}

/* Handles a request of a node with a different number of nodes. That node may have no entry among
 * the peers, so all such requests get the same challenge. The challenge is not replaced, because a
 * repeated request has no further effect. */
static void request_as_foreigner(struct verbs_node *n, struct rdma_cm_id *id,
                                 const struct verbs_hello *h)
{
    const struct loco_claim claim =
        loco_claim_of(LOCO_OF_REQUEST, h->node, n->base.id, h->count, &n->challenge, &h->nonce);

    if (h->asked != verbs_nonce_first_bytes(&n->challenge))
        request_refuse(n, id, &n->challenge, LOCO_PROVE);
    else if (!loco_proves(&n->key, &claim, &h->proof))
        request_refuse_stranger(n, id, h, LOCO_UNPROVEN);
    else
        request_refuse_foreigner(n, id, h);
}

/* --- for a link ------------------------------------------------------------------------------- */

static bool target_has_room(const struct verbs_peer *p)
{
    unsigned count = 0;

    for (const struct verbs_end *t = p->targets; t; t = t->next)
        count++;
    return count < VERBS_TARGETS_MAX;
}

/* Adds the end of a peer's link. Returns false if the peer is about to be lost, because none of its
 * operations may arrive after that. */
static bool target_add(struct verbs_end *end)
{
    struct verbs_peer *p = end->peer;

    pthread_mutex_lock(&end->node->verbs->lock);
    bool there = p->id == end->node->base.id || (p->connection && !p->connection->down);
    there = there && target_has_room(p);
    if (there) {
        end->next = p->targets;
        p->targets = end;
    }
    pthread_mutex_unlock(&end->node->verbs->lock);
    return there;
}

static void target_refuse(struct verbs_end *end)
{
    rdma_destroy_qp(end->id);
    request_refuse(end->node, end->id, NULL, LOCO_UNKNOWN);
    free(end);
}

static void target_accept(struct verbs_node *n, struct rdma_cm_id *id, struct verbs_peer *p)
{
    const struct verbs_hello h = verbs_hello_of(n, VERBS_FOR_LINK);
    struct rdma_conn_param param = verbs_connect_parameters(n, &h);
    struct ibv_qp_init_attr attributes = {
        .qp_type = IBV_QPT_RC,
        .send_cq = n->control,
        .recv_cq = n->control,
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
    };
    struct verbs_end *end = malloc(sizeof *end);

    if (!end || rdma_create_qp(id, n->pd, &attributes)) {
        free(end);
        request_refuse(n, id, NULL, LOCO_UNKNOWN);
        return;
    }
    *end = (struct verbs_end){.role = VERBS_TARGET, .node = n, .peer = p, .id = id};
    id->context = end;
    verbs_connect_set_options(n, id);
    if (!target_add(end))
        target_refuse(end);
    else if (rdma_accept(id, &param))
        verbs_target_drop(end); /* no event follows */
}

void verbs_target_drop(struct verbs_end *end)
{
    bool found = false;

    pthread_mutex_lock(&end->node->verbs->lock);
    for (struct verbs_end **at = &end->peer->targets; *at && !found; at = &(*at)->next) {
        found = *at == end;
        if (found) {
            *at = end->next;
            break;
        }
    }
    pthread_mutex_unlock(&end->node->verbs->lock);
    if (!found)
        return;
    verbs_destroy_id(end->id);
    free(end);
}

static void request_link(struct verbs_node *n, struct rdma_cm_id *id, struct verbs_peer *p,
                         const struct verbs_hello *h)
{
    const struct loco_claim claim = verbs_claim_of_link(n, p->id, n->base.id, &h->nonce);
    struct loco_key key;

    if (verbs_find_link_key(n, p->id, &key))
        request_refuse(n, id, NULL, LOCO_UNKNOWN);
    else if (!loco_proves(&key, &claim, &h->proof))
        request_refuse_stranger(n, id, h, LOCO_UNPROVEN);
    else
        target_accept(n, id, p);
}

/* --- requests --------------------------------------------------------------------------------- */

static bool request_is_closing(struct verbs_node *n)
{
    pthread_mutex_lock(&n->verbs->lock);
    bool closing = n->closing;
    pthread_mutex_unlock(&n->verbs->lock);
    return closing;
}

/* Whether the request comes from the address of that node. */
static bool request_is_at_home(const struct verbs_node *n, struct rdma_cm_id *id, uint32_t node)
{
    return loco_address_same_host(rdma_get_peer_addr(id), &n->addresses[node]);
}

static bool hello_is_of_this_network(const struct verbs_node *n, const struct verbs_hello *h)
{
    if (h->magic != VERBS_MAGIC || h->count != n->base.count || h->node >= n->base.count)
        return false;
    return h->purpose == VERBS_FOR_LINK ||
           (h->purpose == VERBS_FOR_CONTROL && h->node > n->base.id);
}

/* Whether the sender could be a peer, except for its number of nodes. */
static bool hello_is_foreign(const struct verbs_node *n, const struct verbs_hello *h)
{
    return h->magic == VERBS_MAGIC && h->purpose == VERBS_FOR_CONTROL &&
           h->count != n->base.count && h->node > n->base.id && h->node < h->count;
}

/* Whether the request comes from the address of any node of this network. */
static bool request_is_at_a_home(const struct verbs_node *n, struct rdma_cm_id *id)
{
    uint32_t node = 0;

    while (node < n->base.count && !request_is_at_home(n, id, node))
        node++;
    return node < n->base.count;
}

void verbs_on_request(struct verbs_node *n, struct rdma_cm_id *id, const struct verbs_hello *h)
{
    if (hello_is_foreign(n, h) && request_is_at_a_home(n, id)) {
        request_as_foreigner(n, id, h);
        return;
    }
    if (!hello_is_of_this_network(n, h)) {
        request_refuse_stranger(n, id, h, LOCO_FOREIGN);
        return;
    }
    struct verbs_peer *p = &n->peers[h->node];
    if (!request_is_at_home(n, id, p->id))
        request_refuse_stranger(n, id, h, LOCO_STRAY);
    else if (request_is_closing(n))
        request_refuse(n, id, &p->challenge, LOCO_TAKEN);
    else if (h->purpose == VERBS_FOR_CONTROL)
        request_control(n, id, p, h);
    else
        request_link(n, id, p, h);
}
