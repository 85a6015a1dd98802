/*
 * How the nodes of the verbs fabric connect. Each node listens. Of each pair, the node with the
 * higher id asks for a control connection. Each link, too, connects to its peer's listener, where
 * it gets a queue pair that is only its target. verbs_hello.h says how both prove themselves.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../addresses.h"
#include "../host_time.h"
#include "verbs_internal.h"

enum {
    MS = 1000000,
    RETRY_MS = 100, /* between attempts to reach a peer that is not there yet */
    RESOLVE_MS = 2000,
    LINK_MS = 20000,
    BACKLOG = 1024,
    AT_ONCE = 64,  /* events that are handled before the nodes are looked after */
    PATIENCE = 50, /* after so many attempts they become rarer, and an id in use is logged */
    RETRY_LATER_MS = 1000,
    PRIVATE_REJECT = 28,  /* the status of a refusal by a program, not by its kernel */
    RETRY_COUNT = 7,      /* default: retries after acknowledge time-outs */
    TIMEOUT_EXPONENT = 16 /* default: the length of such a time-out */
};

/* --- the data of a request to connect --------------------------------------------------- */

static struct verbs_hello hello_of(const struct verbs_node *n, enum verbs_purpose purpose)
{
    return (struct verbs_hello){.magic = VERBS_MAGIC,
                                .version = VERBS_VERSION,
                                .purpose = (uint8_t)purpose,
                                .node = n->base.id,
                                .count = n->base.count};
}

/* The hello that came with an event; all zero if its sender is not a node of this version. */
static struct verbs_hello hello_from(const struct rdma_cm_event *e)
{
    struct verbs_hello h = {0};

    if (e->param.conn.private_data && e->param.conn.private_data_len >= sizeof h)
        memcpy(&h, e->param.conn.private_data, sizeof h);
    return h.magic == VERBS_MAGIC && h.version == VERBS_VERSION ? h : (struct verbs_hello){0};
}

static uint64_t nonce_first_bytes(const struct loco_nonce *nonce)
{
    uint64_t first;

    memcpy(&first, nonce->bytes, sizeof first);
    return first;
}

static struct loco_claim claim_of(const struct verbs_node *n, uint32_t purpose, uint32_t from,
                                  uint32_t to, const struct loco_nonce *asked,
                                  const struct loco_nonce *given)
{
    return loco_claim_of(purpose, from, to, n->base.count, asked, given);
}

/* A link's proof contains no challenge, because its key is valid for one control connection only.
 */
static struct loco_claim claim_of_link(const struct verbs_node *n, uint32_t from, uint32_t to,
                                       const struct loco_nonce *given)
{
    return claim_of(n, LOCO_OF_LINK, from, to, &(struct loco_nonce){{0}}, given);
}

/* Asks for as many reads and atomics in flight as both devices can, and for infinite retries of
 * control messages that find no free buffer at the peer. */
static struct rdma_conn_param connect_parameters(const struct verbs_node *n,
                                                 const struct verbs_hello *h)
{
    unsigned retries = n->verbs->config.retry_count;

    return (struct rdma_conn_param){
        .private_data = h,
        .private_data_len = sizeof *h,
        .responder_resources = RDMA_MAX_RESP_RES,
        .initiator_depth = RDMA_MAX_INIT_DEPTH,
        .retry_count = (uint8_t)(retries ? retries : RETRY_COUNT),
        .rnr_retry_count = 7,
    };
}

/* A kernel that does not know an option ignores it. Without the first a silent peer is noticed
 * later.
 */
static void connect_set_options(const struct verbs_node *n, struct rdma_cm_id *id)
{
    const struct loco_verbs_config *config = &n->verbs->config;
    uint8_t timeout = TIMEOUT_EXPONENT, class = (uint8_t)config->traffic_class;

    if (config->timeout_exponent)
        timeout = (uint8_t)config->timeout_exponent;
    rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout);
    if (class)
        rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &class, sizeof class);
}

static struct sockaddr_storage connect_address(const struct verbs_node *n, uint32_t id,
                                               bool listening)
{
    const uint16_t port = n->verbs->config.port ? n->verbs->config.port : LOCO_VERBS_PORT;

    return loco_address_with_port(&n->addresses[id], listening ? (uint16_t)(port + id) : 0);
}

static int connect_resolve(const struct verbs_node *n, struct rdma_cm_id *id, uint32_t peer)
{
    struct sockaddr_storage from = connect_address(n, n->base.id, false);
    struct sockaddr_storage to = connect_address(n, peer, true);

    connect_set_options(n, id);
    return rdma_resolve_addr(id, (struct sockaddr *)&from, (struct sockaddr *)&to, RESOLVE_MS)
               ? -errno
               : 0;
}

/* --- the listener ----------------------------------------------------------------------- */

int verbs_bind(struct verbs_node *n)
{
    struct sockaddr_storage a = connect_address(n, n->base.id, true);
    struct rdma_cm_id *id;

    if (rdma_create_id(n->verbs->channel, &id, &n->listener, RDMA_PS_TCP))
        return -errno;
    int rc = rdma_bind_addr(id, (struct sockaddr *)&a) ? -errno : 0;
    if (!rc && !id->verbs)
        rc = -ENODEV;
    if (rc) {
        rdma_destroy_id(id);
        return rc;
    }
    n->listener = (struct verbs_end){.role = VERBS_LISTENER, .node = n, .id = id};
    n->device = id->verbs;
    return 0;
}

int verbs_listen(struct verbs_node *n)
{
    return rdma_listen(n->listener.id, BACKLOG) ? -errno : 0;
}

/* --- control connections ---------------------------------------------------------------- */

static void connect_destroy_id(struct rdma_cm_id *id)
{
    if (id->qp)
        rdma_destroy_qp(id);
    rdma_destroy_id(id);
}

static struct verbs_connection *connection_new(struct verbs_node *n, struct verbs_peer *p)
{
    struct verbs_connection *c = calloc(1, sizeof *c);

    if (c)
        c->end = (struct verbs_end){.role = VERBS_CONTROL, .node = n, .peer = p};
    return c;
}

static int connection_make_pair(struct verbs_connection *c)
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

static void connection_publish(struct verbs_connection *c)
{
    struct verbs *v = c->end.node->verbs;

    pthread_mutex_lock(&v->lock);
    c->end.peer->connection = c;
    pthread_mutex_unlock(&v->lock);
}

static struct verbs_connection *connection_of(const struct verbs_peer *p, struct verbs *v)
{
    pthread_mutex_lock(&v->lock);
    struct verbs_connection *c = p->connection;
    pthread_mutex_unlock(&v->lock);
    return c;
}

/* Drops a connection that failed, or that ended. */
static void connection_drop(struct verbs_connection *c)
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
    connect_destroy_id(c->end.id);
    free(c);
}

static void connection_start(struct verbs_node *n, struct verbs_peer *p)
{
    struct verbs_connection *c = connection_new(n, p);

    if (!c)
        return;
    c->active = true;
    if (loco_nonce_new(&c->nonce) ||
        rdma_create_id(n->verbs->channel, &c->end.id, &c->end, RDMA_PS_TCP)) {
        free(c);
        return;
    }
    connection_publish(c);
    if (connect_resolve(n, c->end.id, p->id))
        connection_drop(c);
}

/* Sends the request. The first one contains no challenge yet; its refusal contains one. */
static void connection_go_on(struct verbs_connection *c)
{
    struct verbs_node *n = c->end.node;
    const struct verbs_peer *p = c->end.peer;
    struct verbs_hello h = hello_of(n, VERBS_FOR_CONTROL);
    const struct loco_claim claim =
        claim_of(n, LOCO_OF_REQUEST, n->base.id, p->id, &p->demand, &c->nonce);
    struct rdma_conn_param param = connect_parameters(n, &h);

    h.asked = nonce_first_bytes(&p->demand);
    h.nonce = c->nonce;
    h.proof = loco_prove(&n->key, &claim);
    if (c->end.id->verbs != n->device || connection_make_pair(c) || rdma_connect(c->end.id, &param))
        connection_drop(c);
}

/* Whether a refusal is to be logged, so that strangers cannot fill the log. With the lock held. */
static bool connect_is_worth_saying(struct verbs_node *n)
{
    return n->refusals++ < VERBS_REFUSALS_SAID;
}

/* Lets the telling thread tell the core of a peer that knows the secret but has a different number
 * of nodes. With the lock held. */
static void connect_note_foreigner(struct verbs_node *n, uint32_t count)
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
        p->foreign = true;
        verbs_warn(n, "node %u (of %u) met a node that says it is node %u of %u: %s", n->base.id,
                   n->base.count, h->node, h->count, mismatch);
        if (hello_proves_foreign(c, h))
            connect_note_foreigner(n, h->count);
    } else if (refused && h->refusal == LOCO_TAKEN && p->attempts == PATIENCE) {
        verbs_warn(n, "node %u (of %u): node %u says that this place is taken", n->base.id,
                   n->base.count, p->id);
    }
    pthread_mutex_unlock(&n->verbs->lock);
    connection_drop(c);
    if (!refused)
        return;
    p->demand = h->nonce;
    if (h->refusal == LOCO_PROVE && p->eager) {
        p->eager = false;
        connection_start(n, p);
    }
}

/* The peer has accepted. Its messages are handled only if it has proven itself, too. */
static void connection_on_acceptance(struct verbs_connection *c, const struct verbs_hello *h)
{
    struct verbs_node *n = c->end.node;
    struct verbs_peer *p = c->end.peer;
    const uint32_t me = n->base.id;
    const struct loco_claim answer = claim_of(n, LOCO_OF_ANSWER, p->id, me, &c->nonce, &p->demand);
    const struct loco_claim links = claim_of(n, LOCO_OF_LINKS, me, p->id, &p->demand, &c->nonce);
    bool right = h->magic == VERBS_MAGIC && loco_proves(&n->key, &answer, &h->proof);

    pthread_mutex_lock(&n->verbs->lock);
    if (right) {
        loco_key_between(&c->links, &n->key, &links);
        c->proven = true;
        verbs_establish(c);
    } else {
        p->foreign = true;
        verbs_warn(n,
                   "node %u (of %u): at node %u's address is a program that does not know this "
                   "network's secret",
                   me, n->base.count, p->id);
    }
    pthread_mutex_unlock(&n->verbs->lock);
    if (!right)
        connection_drop(c);
}

/* --- requests --------------------------------------------------------------------------- */

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
    struct verbs_hello h = hello_of(n, VERBS_FOR_CONTROL);

    if (challenge)
        h.nonce = *challenge;
    request_refuse_with(id, h, why);
}

/* With the lock held. */
static void request_warn(struct verbs_node *n, const struct verbs_hello *h, enum loco_refusal why)
{
    if (!connect_is_worth_saying(n))
        ;
    else if (h->magic == VERBS_MAGIC)
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

/* The proof was right. The challenge is replaced, so that the proof cannot be used again. */
static void request_accept_control(struct verbs_node *n, struct rdma_cm_id *id,
                                   struct verbs_peer *p, const struct loco_nonce *nonce)
{
    const struct loco_claim answer =
        claim_of(n, LOCO_OF_ANSWER, n->base.id, p->id, nonce, &p->challenge);
    const struct loco_claim links =
        claim_of(n, LOCO_OF_LINKS, p->id, n->base.id, &p->challenge, nonce);
    struct verbs_hello h = hello_of(n, VERBS_FOR_CONTROL);
    struct rdma_conn_param param = connect_parameters(n, &h);
    struct verbs_connection *old = connection_of(p, n->verbs);

    h.proof = loco_prove(&n->key, &answer);
    int rc = loco_nonce_new(&p->challenge);
    /* If a connection was never established, the peer has given that attempt up. */
    if (old && !old->established)
        connection_drop(old);
    struct verbs_connection *c = rc || connection_of(p, n->verbs) ? NULL : connection_new(n, p);
    if (!c) {
        request_refuse(n, id, &p->challenge, LOCO_TAKEN);
        return;
    }
    c->end.id = id;
    c->proven = true;
    loco_key_between(&c->links, &n->key, &links);
    id->context = &c->end;
    connect_set_options(n, id);
    if (connection_make_pair(c)) {
        free(c);
        request_refuse(n, id, &p->challenge, LOCO_TAKEN);
        return;
    }
    connection_publish(c);
    if (rdma_accept(id, &param))
        connection_drop(c);
}

static void request_control(struct verbs_node *n, struct rdma_cm_id *id, struct verbs_peer *p,
                            const struct verbs_hello *h)
{
    const struct loco_claim claim =
        claim_of(n, LOCO_OF_REQUEST, p->id, n->base.id, &p->challenge, &h->nonce);

    if (h->asked != nonce_first_bytes(&p->challenge))
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
        claim_of(n, LOCO_OF_ANSWER, n->base.id, theirs->node, &theirs->nonce, &n->challenge);
    struct verbs_hello h = hello_of(n, VERBS_FOR_CONTROL);

    pthread_mutex_lock(&n->verbs->lock);
    request_warn(n, theirs, LOCO_FOREIGN);
    connect_note_foreigner(n, theirs->count);
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

    if (h->asked != nonce_first_bytes(&n->challenge))
        request_refuse(n, id, &n->challenge, LOCO_PROVE);
    else if (!loco_proves(&n->key, &claim, &h->proof))
        request_refuse_stranger(n, id, h, LOCO_UNPROVEN);
    else
        request_refuse_foreigner(n, id, h);
}

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
    const struct verbs_hello h = hello_of(n, VERBS_FOR_LINK);
    struct rdma_conn_param param = connect_parameters(n, &h);
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
    connect_set_options(n, id);
    if (target_add(end))
        rdma_accept(id, &param); /* if this fails, an event follows */
    else
        target_refuse(end);
}

static bool connect_is_closing(struct verbs_node *n)
{
    pthread_mutex_lock(&n->verbs->lock);
    bool closing = n->closing;
    pthread_mutex_unlock(&n->verbs->lock);
    return closing;
}

/* Finds the key that proves links between this node and the peer. Returns 0, or -ECONNRESET if
 * there is no control connection. */
static int connect_find_key(struct verbs_node *n, uint32_t peer, struct loco_key *key)
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

static void request_link(struct verbs_node *n, struct rdma_cm_id *id, struct verbs_peer *p,
                         const struct verbs_hello *h)
{
    const struct loco_claim claim = claim_of_link(n, p->id, n->base.id, &h->nonce);
    struct loco_key key;

    if (connect_find_key(n, p->id, &key))
        request_refuse(n, id, NULL, LOCO_UNKNOWN);
    else if (!loco_proves(&key, &claim, &h->proof))
        request_refuse_stranger(n, id, h, LOCO_UNPROVEN);
    else
        target_accept(n, id, p);
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

static void connect_on_request(struct verbs_node *n, struct rdma_cm_id *id,
                               const struct verbs_hello *h)
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
    else if (connect_is_closing(n))
        request_refuse(n, id, &p->challenge, LOCO_TAKEN);
    else if (h->purpose == VERBS_FOR_CONTROL)
        request_control(n, id, p, h);
    else
        request_link(n, id, p, h);
}

/* --- events ----------------------------------------------------------------------------------- */

/* Drops this side's end of a peer's link, unless that was done already. */
static void target_drop(struct verbs_end *end)
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
    connect_destroy_id(end->id);
    free(end);
}

/* The node's device is gone. Marks all its connections, and that to itself, as lost. With the lock
 * held. */
static void device_lose(struct verbs_node *n)
{
    n->own_loss = true;
    for (uint32_t id = 0; id < n->base.count; id++)
        if (n->peers[id].connection && n->peers[id].connection->established)
            n->peers[id].connection->down = true;
    verbs_node_due(n);
}

static void connection_on_event(struct verbs_connection *c, const struct rdma_cm_event *e,
                                const struct verbs_hello *h)
{
    switch (e->event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
        if (rdma_resolve_route(c->end.id, RESOLVE_MS))
            connection_drop(c);
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
        connection_drop(c);
    }
}

static void connect_on_event(struct rdma_cm_event *event)
{
    struct rdma_cm_event e = *event;
    const struct verbs_hello h = hello_from(event);
    struct verbs_end *end = e.listen_id ? e.listen_id->context : e.id->context;

    rdma_ack_cm_event(event);
    if (e.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
        connect_on_request(end->node, e.id, &h);
    } else if (end->role == VERBS_CONTROL) {
        connection_on_event((struct verbs_connection *)end, &e, &h);
    } else if (end->role == VERBS_TARGET) {
        if (e.event != RDMA_CM_EVENT_ESTABLISHED && e.event != RDMA_CM_EVENT_TIMEWAIT_EXIT)
            target_drop(end);
    } else if (e.event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
        pthread_mutex_lock(&end->node->verbs->lock);
        device_lose(end->node);
        pthread_mutex_unlock(&end->node->verbs->lock);
    }
}

static void device_on_event(struct verbs *v, struct verbs_device *d)
{
    struct ibv_async_event event;

    if (ibv_get_async_event(d->context, &event)) {
        d->failed = errno != EAGAIN;
        return;
    }
    enum ibv_event_type type = event.event_type;
    ibv_ack_async_event(&event);
    pthread_mutex_lock(&v->lock);
    for (struct verbs_node *n = v->nodes; n; n = n->next) {
        if (n->device != d->context)
            continue;
        if (type == IBV_EVENT_DEVICE_FATAL)
            device_lose(n);
        if (type == IBV_EVENT_DEVICE_FATAL || type == IBV_EVENT_PORT_ERR)
            verbs_warn(n, "node %u: RDMA device %s says: %s", n->base.id,
                       ibv_get_device_name(d->context->device), ibv_event_type_str(type));
    }
    pthread_mutex_unlock(&v->lock);
}

/* --- the connecting thread --------------------------------------------------------------- */

static void connect_bury(struct verbs_node *n)
{
    pthread_mutex_lock(&n->verbs->lock);
    struct verbs_end *dead = n->dead;
    n->dead = NULL;
    pthread_mutex_unlock(&n->verbs->lock);
    while (dead) {
        struct verbs_end *next = dead->next;
        connect_destroy_id(dead->id);
        free(dead); /* its struct verbs_end is the first member of the allocation */
        dead = next;
    }
}

/* Tries to reach the peers that this node connects to. Returns whether any is still missing. */
static bool connect_peers(struct verbs_node *n)
{
    uint64_t now = loco_host_clock(&n->base);
    bool missing = false;

    for (uint32_t id = 0; id < n->base.id; id++) {
        struct verbs_peer *p = &n->peers[id];
        if (!p->asked || connection_of(p, n->verbs) || p->foreign)
            continue;
        missing = true;
        if (p->try_at > now)
            continue;
        bool patient = ++p->attempts > PATIENCE;
        p->eager = true;
        p->try_at = now + (patient ? RETRY_LATER_MS : RETRY_MS) * (uint64_t)MS;
        connection_start(n, p);
    }
    return missing;
}

int verbs_meet(struct loco_node *base, uint32_t peer)
{
    struct verbs_node *n = (struct verbs_node *)base;

    pthread_mutex_lock(&n->verbs->lock);
    n->peers[peer].asked = true;
    pthread_mutex_unlock(&n->verbs->lock);
    if (peer < base->id)
        verbs_wake(n->verbs->wake_connecting);
    return 0;
}

/* Closes the remaining connections of a node whose peers know that it leaves. */
static void connect_shut_node(struct verbs_node *n)
{
    for (uint32_t id = 0; id < n->base.count; id++) {
        struct verbs_peer *p = &n->peers[id];
        while (p->targets)
            target_drop(p->targets);
        if (p->connection)
            verbs_give_up(p->connection);
    }
    connect_bury(n);
    connect_destroy_id(n->listener.id);
}

static void connect_unlink_node(struct verbs *v, struct verbs_node *n)
{
    pthread_mutex_lock(&v->lock);
    for (struct verbs_node **at = &v->nodes; *at; at = &(*at)->next) {
        if (*at == n) {
            *at = n->next;
            break;
        }
    }
    n->closed = true;
    pthread_cond_broadcast(&v->node_closed);
    pthread_mutex_unlock(&v->lock);
}

/* Connects missing peers, and ends the nodes that are to close. Only this thread removes nodes from
 * the list, and others add at its head, so it may walk on after it has released the lock. Returns
 * how long to wait for events, in ms; -1: for ever. */
static int connect_tend_nodes(struct verbs *v)
{
    bool missing = false;

    pthread_mutex_lock(&v->lock);
    struct verbs_node *n = v->nodes;
    while (n) {
        struct verbs_node *after = n->next;
        bool closing = n->closing, quiet = n->quiet;
        pthread_mutex_unlock(&v->lock);
        connect_bury(n);
        if (!closing)
            missing |= connect_peers(n);
        if (quiet) {
            connect_shut_node(n);
            connect_unlink_node(v, n);
        }
        n = after;
        pthread_mutex_lock(&v->lock);
    }
    pthread_mutex_unlock(&v->lock);
    return missing ? RETRY_MS / 4 : -1;
}

void *verbs_connecting_thread(void *arg)
{
    struct verbs *v = arg;
    uint64_t turns;

    while (!__atomic_load_n(&v->stop, __ATOMIC_ACQUIRE)) {
        int wait = connect_tend_nodes(v);
        struct pollfd fds[2 + VERBS_DEVICES_MAX] = {{.fd = v->wake_connecting, .events = POLLIN},
                                                    {.fd = v->channel->fd, .events = POLLIN}};
        pthread_mutex_lock(&v->lock);
        unsigned devices = v->device_count;
        pthread_mutex_unlock(&v->lock);
        for (unsigned i = 0; i < devices; i++)
            fds[2 + i] =
                (struct pollfd){.fd = v->devices[i].failed ? -1 : v->devices[i].context->async_fd,
                                .events = POLLIN};
        if (poll(fds, 2 + devices, wait) < 1)
            continue;
        if (fds[0].revents && read(v->wake_connecting, &turns, sizeof turns) < 0)
            continue;
        struct rdma_cm_event *event;
        for (int i = 0; i < AT_ONCE && !rdma_get_cm_event(v->channel, &event); i++)
            connect_on_event(event);
        for (unsigned i = 0; i < devices; i++)
            if (fds[2 + i].revents)
                device_on_event(v, &v->devices[i]);
    }
    return NULL;
}

/* --- links: the thread that opens one --------------------------------------------------------- */

static int link_await(struct verbs_link *l, enum rdma_cm_event_type expected, uint64_t until)
{
    struct pollfd fd = {.fd = l->channel->fd, .events = POLLIN};
    struct verbs_node *n = l->node;
    struct rdma_cm_event *event;

    while (poll(&fd, 1, RETRY_MS) < 1) {
        if (atomic_load(&l->broken))
            return -ECONNRESET;
        if (loco_host_clock(&n->base) >= until)
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
    pthread_mutex_lock(&n->verbs->lock);
    verbs_warn(n, "node %u: a link to node %u: %s, status %d", n->base.id, l->base.peer,
               rdma_event_str(type), status);
    pthread_mutex_unlock(&n->verbs->lock);
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
    const struct verbs_node *n = l->node;
    struct loco_key key;
    int rc = connect_find_key(l->node, l->base.peer, &key);

    if (!rc)
        rc = loco_nonce_new(&h->nonce);
    if (rc)
        return rc;
    const struct loco_claim claim = claim_of_link(n, n->base.id, l->base.peer, &h->nonce);
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
    int rc = connect_resolve(n, l->id, l->base.peer);
    if (!rc)
        rc = link_await(l, RDMA_CM_EVENT_ADDR_RESOLVED, until);
    if (!rc && rdma_resolve_route(l->id, RESOLVE_MS))
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
    struct rdma_conn_param param = connect_parameters(n, h);
    int rc = rdma_connect(l->id, &param) ? -errno : 0;

    if (!rc)
        rc = link_await(l, RDMA_CM_EVENT_ESTABLISHED, until);
    if (rc)
        return rc;
    pthread_mutex_lock(&n->verbs->lock);
    l->qp = l->id->qp;
    pthread_mutex_unlock(&n->verbs->lock);
    return atomic_load(&l->broken) ? -ECONNRESET : 0;
}

int verbs_link_connect(struct verbs_link *l, struct ibv_qp_init_attr *attributes)
{
    struct verbs_hello h = hello_of(l->node, VERBS_FOR_LINK);
    const uint64_t until = loco_host_clock(&l->node->base) + LINK_MS * (uint64_t)MS;
    int rc = link_prove(l, &h);

    if (!rc)
        rc = link_find_route(l, until);
    if (!rc)
        rc = link_make_pair(l, attributes);
    if (!rc)
        rc = link_establish(l, &h, until);
    return rc;
}
