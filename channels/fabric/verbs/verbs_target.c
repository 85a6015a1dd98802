/*
 * How a node answers requests for links: the link gets a queue pair here that is only its target.
 * All of this is done by the connecting thread.
 */
#include <stdlib.h>
#include <string.h>

#include "../addresses.h"
#include "verbs_internal.h"

/* --- refusals --------------------------------------------------------------------------------- */

static void target_refuse(struct verbs_node *n, struct rdma_cm_id *id, enum loco_refusal why)
{
    struct verbs_hello h = verbs_hello_of(n);

    h.refusal = (uint16_t)why;
    rdma_reject(id, &h, sizeof h);
    rdma_destroy_id(id);
}

static void target_refuse_stranger(struct verbs_node *n, struct rdma_cm_id *id,
                                   const struct verbs_hello *h, enum loco_refusal why)
{
    pthread_mutex_lock(&n->verbs->control.lock);
    if (h->magic == VERBS_MAGIC)
        control_warn_of(&n->control, h->node, h->count, loco_refusal_of(why));
    else
        control_warn_of_program(&n->control);
    pthread_mutex_unlock(&n->verbs->control.lock);
    target_refuse(n, id, why);
}

/* --- targets ---------------------------------------------------------------------------------- */

static bool target_has_room(const struct verbs_node *n, uint32_t peer)
{
    unsigned count = 0;

    for (const struct verbs_end *t = n->targets; t; t = t->next)
        count += t->peer == peer;
    return count < VERBS_TARGETS_MAX;
}

/* Adds the end of a peer's link. Returns false if the connection whose key proved it has ended,
 * because none of its operations may arrive after that. */
static bool target_add(struct verbs_end *end, const struct loco_key *proven)
{
    struct verbs_node *n = end->node;
    struct loco_key key;

    pthread_mutex_lock(&n->verbs->control.lock);
    const bool there = !verbs_link_key(n, end->peer, &key) && !memcmp(&key, proven, sizeof key) &&
                       target_has_room(n, end->peer);
    if (there) {
        end->next = n->targets;
        n->targets = end;
    }
    pthread_mutex_unlock(&n->verbs->control.lock);
    return there;
}

static void target_accept(struct verbs_node *n, struct rdma_cm_id *id, uint32_t peer,
                          const struct loco_key *key)
{
    const struct verbs_hello h = verbs_hello_of(n);
    struct rdma_conn_param param = verbs_connect_parameters(n, &h);
    struct ibv_qp_init_attr attributes = {
        .qp_type = IBV_QPT_RC,
        .send_cq = n->of_targets,
        .recv_cq = n->of_targets,
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
    };
    struct verbs_end *end = malloc(sizeof *end);

    if (!end || rdma_create_qp(id, n->pd, &attributes)) {
        free(end);
        target_refuse(n, id, LOCO_UNKNOWN);
        return;
    }
    *end = (struct verbs_end){.node = n, .peer = peer, .id = id};
    id->context = end;
    verbs_connect_set_options(n, id);
    if (!target_add(end, key)) {
        rdma_destroy_qp(id);
        target_refuse(n, id, LOCO_UNKNOWN);
        free(end);
    } else if (rdma_accept(id, &param)) {
        verbs_target_drop(end); /* no event follows */
    }
}

void verbs_destroy_end(struct verbs_end *end)
{
    rdma_destroy_qp(end->id);
    rdma_destroy_id(end->id);
    free(end);
}

void verbs_target_drop(struct verbs_end *end)
{
    struct verbs_node *n = end->node;
    struct verbs_end **at = &n->targets;

    pthread_mutex_lock(&n->verbs->control.lock);
    while (*at && *at != end)
        at = &(*at)->next;
    const bool found = *at;
    if (found)
        *at = end->next;
    pthread_mutex_unlock(&n->verbs->control.lock);
    if (found)
        verbs_destroy_end(end);
}

/* --- requests --------------------------------------------------------------------------------- */

static bool hello_is_of_this_network(const struct verbs_node *n, const struct verbs_hello *h)
{
    return h->magic == VERBS_MAGIC && h->count == n->control.base.count &&
           h->node < n->control.base.count;
}

/* Whether the request comes from the address of its node. */
static bool request_is_at_home(const struct verbs_node *n, struct rdma_cm_id *id, uint32_t node)
{
    return loco_address_same_host(rdma_get_peer_addr(id), &n->control.addresses[node]);
}

/* The peer may be lost, or this node is about to leave. */
static bool request_has_key(struct verbs_node *n, uint32_t peer, struct loco_key *key)
{
    pthread_mutex_lock(&n->verbs->control.lock);
    const bool has = !atomic_load(&n->control.closing) && !verbs_link_key(n, peer, key);
    pthread_mutex_unlock(&n->verbs->control.lock);
    return has;
}

void verbs_on_request(struct verbs_node *n, struct rdma_cm_id *id, const struct verbs_hello *h)
{
    const struct loco_claim claim = verbs_claim_of_link(n, h->node, n->control.base.id, &h->nonce);
    struct loco_key key;

    if (!hello_is_of_this_network(n, h))
        target_refuse_stranger(n, id, h, LOCO_FOREIGN);
    else if (!request_is_at_home(n, id, h->node))
        target_refuse_stranger(n, id, h, LOCO_STRAY);
    else if (!request_has_key(n, h->node, &key))
        target_refuse(n, id, LOCO_UNKNOWN);
    else if (!loco_proves(&key, &claim, &h->proof))
        target_refuse_stranger(n, id, h, LOCO_UNPROVEN);
    else
        target_accept(n, id, h->node, &key);
}
