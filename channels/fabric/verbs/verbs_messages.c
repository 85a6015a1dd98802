/*
 * The messages between the nodes of the verbs fabric: the keys of their arenas, the core's control
 * messages, goodbyes, and keep-alives.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_internal.h"

enum {
    FULL = (1 << VERBS_SENDS) - 1,
    RNR_TIMER = 12, /* 0.64 ms until a send is retried, by the specification's table */
};

/* --- messages on a connection --------------------------------------------------------------- *
 *
 * here    the first message, by the side that asked for the connection, when the other side has
 *         proven itself. The other side sends nothing before that
 * arena   where an arena is, and its key; before any control message that names it
 * core    a control message of the core
 * bye     the last message: the node leaves in order
 */

enum kind { HERE, ARENA, CORE, BYE };

struct wire {
    uint32_t kind;
    uint32_t size; /* of what follows */
};

struct wire_arena {
    uint32_t number, key;
    uint64_t base, size;
};

_Static_assert(sizeof(struct wire) == 8, "crosses the network");
_Static_assert(sizeof(struct wire_arena) == 24, "crosses the network");

enum { BUFFER = sizeof(struct wire) + VERBS_MESSAGE_MAX, LANDING = 64, PAGE = 4096 };

/* The kinds of operations that completions report. */
enum about { RECEIVED, SENT, ALIVE };

static uint64_t control_name(enum about about, uint32_t peer, unsigned index)
{
    return (uint64_t)peer << 32 | (uint64_t)index << 8 | about;
}

static unsigned char *control_receive_buffer(const struct verbs_node *n, unsigned index)
{
    return n->buffers + LANDING + index * (size_t)BUFFER;
}

static unsigned char *control_send_buffer(const struct verbs_node *n, uint32_t peer, unsigned index)
{
    return control_receive_buffer(n, VERBS_RECEIVES) +
           (peer * VERBS_SENDS + index) * (size_t)BUFFER;
}

void verbs_node_due(struct verbs_node *n)
{
    n->due = true;
    verbs_wake(n->verbs->wake_telling);
}

/* --- sending: with the lock held -------------------------------------------------------------- */

void verbs_connection_end(struct verbs_connection *c, enum ibv_wc_status status)
{
    if (c->status == IBV_WC_SUCCESS)
        c->status = status;
    c->down = true;
    verbs_node_due(c->end.node);
}

static void control_post_request(struct verbs_connection *c, struct ibv_send_wr *request)
{
    struct ibv_send_wr *bad;

    if (ibv_post_send(c->end.id->qp, request, &bad))
        verbs_connection_end(c, IBV_WC_GENERAL_ERR);
}

static void control_post_message(struct verbs_connection *c,
                                 const struct loco_send_queue_message *m)
{
    const struct verbs_node *n = c->end.node;
    unsigned index = (unsigned)__builtin_ctz(~c->busy);
    unsigned char *buffer = control_send_buffer(n, c->end.peer->id, index);
    struct ibv_sge part = {
        .addr = (uintptr_t)buffer, .length = (uint32_t)m->size, .lkey = n->buffers_mr->lkey};
    struct ibv_send_wr request = {.wr_id = control_name(SENT, c->end.peer->id, index),
                                  .sg_list = &part,
                                  .num_sge = 1,
                                  .opcode = IBV_WR_SEND};

    memcpy(buffer, m->data, m->size);
    c->busy |= 1u << index;
    control_post_request(c, &request);
}

static void control_send_unsent(struct verbs_connection *c)
{
    while (c->unsent.first && c->busy != FULL && !c->down) {
        control_post_message(c, c->unsent.first);
        loco_send_queue_take_off(&c->unsent);
    }
}

/* A peer that does not take its messages counts as lost. */
static void control_overrun(struct verbs_connection *c)
{
    verbs_warn(c->end.node, "node %u: node %u did not take %u MiB of control messages",
               c->end.node->base.id, c->end.peer->id, LOCO_SEND_QUEUE_MAX >> 20);
    verbs_connection_end(c, IBV_WC_SUCCESS);
}

static int control_post(struct verbs_connection *c, enum kind kind, const void *body, size_t size)
{
    const struct wire head = {.kind = kind, .size = (uint32_t)size};

    if (!loco_send_queue_has_room(&c->unsent, sizeof head + size, LOCO_SEND_QUEUE_MAX)) {
        control_overrun(c);
        return -ECONNRESET;
    }
    if (!loco_send_queue_add(&c->unsent, &head, sizeof head, body, size))
        return -ENOMEM;
    control_send_unsent(c);
    return 0;
}

void verbs_post_bye(struct verbs_connection *c)
{
    control_post(c, BYE, NULL, 0);
}

void verbs_post_arena(struct verbs_connection *c, uint32_t number)
{
    const struct verbs_arena *a = &c->end.node->own.at[number];
    const struct wire_arena w = {
        .number = number, .key = a->remote_key, .base = a->base, .size = a->size};

    if (control_post(c, ARENA, &w, sizeof w))
        verbs_connection_end(c, IBV_WC_GENERAL_ERR);
}

bool verbs_is_up(const struct verbs_connection *c)
{
    return c && c->established && !c->down;
}

int verbs_send(struct loco_node *base, uint32_t peer, const void *message, size_t size)
{
    struct verbs_node *n = (struct verbs_node *)base;
    int rc = -ECONNRESET;

    if (size > VERBS_MESSAGE_MAX)
        return -EMSGSIZE;
    pthread_mutex_lock(&n->verbs->lock);
    struct verbs_connection *c = n->peers[peer].connection;
    if (verbs_is_up(c))
        rc = control_post(c, CORE, message, size);
    pthread_mutex_unlock(&n->verbs->lock);
    return rc;
}

void verbs_establish(struct verbs_connection *c)
{
    struct verbs_node *n = c->end.node;

    if (c->established)
        return;
    c->established = true;
    c->end.peer->attempts = 0;
    c->arenas = calloc(1, sizeof *c->arenas);
    if (!c->arenas) {
        verbs_connection_end(c, IBV_WC_GENERAL_ERR);
        return;
    }
    c->arenas->next = n->arenas;
    n->arenas = c->arenas;
    if (c->active && control_post(c, HERE, NULL, 0))
        verbs_connection_end(c, IBV_WC_GENERAL_ERR);
    for (uint32_t i = 0; i < atomic_load(&n->own.count); i++)
        verbs_post_arena(c, i);
    verbs_node_due(n);
}

void verbs_post_alive(struct verbs_connection *c)
{
    struct ibv_send_wr request = {
        .wr_id = control_name(ALIVE, c->end.peer->id, 0),
        .opcode = IBV_WR_RDMA_WRITE,
        .wr.rdma = {.remote_addr = c->arenas->at[0].base, .rkey = c->arenas->at[0].remote_key},
    };

    c->alive_posted = true;
    control_post_request(c, &request);
}

/* --- receiving: the telling thread ------------------------------------------------------------ */

void verbs_announce(struct verbs_connection *c)
{
    struct verbs_node *n = c->end.node;
    struct ibv_qp_attr attributes = {.min_rnr_timer = RNR_TIMER};

    if (c->announced || n->closing)
        return;
    c->announced = true;
    ibv_modify_qp(c->end.id->qp, &attributes, IBV_QP_MIN_RNR_TIMER);
    n->base.events.peer_up(n->base.events.arg, c->end.peer->id);
}

/* Notes an arena of the peer. A peer sends each once, and its addresses must not wrap around. */
static bool control_learn_arena(struct verbs_connection *c, const unsigned char *body, size_t size)
{
    struct wire_arena w;

    if (size != sizeof w)
        return false;
    memcpy(&w, body, sizeof w);
    if (w.number >= VERBS_ARENAS_MAX || c->arenas->at[w.number].size || !w.size ||
        w.size > UINT64_MAX - w.base)
        return false;
    c->arenas->at[w.number] =
        (struct verbs_arena){.base = w.base, .size = w.size, .remote_key = w.key};
    return true;
}

/* Handles a message; returns false for one that no node sends. */
static bool control_handle(struct verbs_connection *c, const unsigned char *data, size_t size)
{
    struct verbs_node *n = c->end.node;
    const unsigned char *body = data + sizeof(struct wire);
    struct wire w;

    if (size < sizeof w)
        return false;
    memcpy(&w, data, sizeof w);
    if (w.size != size - sizeof w)
        return false;
    switch (w.kind) {
    case HERE:
        return w.size == 0;
    case ARENA:
        return control_learn_arena(c, body, w.size);
    case CORE:
        if (!n->closing)
            n->base.events.message(n->base.events.arg, c->end.peer->id, body, w.size);
        return true;
    case BYE:
        c->bye = true;
        return w.size == 0;
    default:
        return false;
    }
}

static void control_post_receive(struct verbs_node *n, unsigned index)
{
    struct ibv_sge part = {.addr = (uintptr_t)control_receive_buffer(n, index),
                           .length = BUFFER,
                           .lkey = n->buffers_mr->lkey};
    struct ibv_recv_wr request = {
        .wr_id = control_name(RECEIVED, 0, index), .sg_list = &part, .num_sge = 1};
    struct ibv_recv_wr *bad;

    ibv_post_srq_recv(n->receives, &request, &bad); /* never more than the queue has room for */
}

/* The connection that a message came over; NULL if the sender has not proven itself. At the side
 * that did not ask for the connection, the first message establishes it. */
static struct verbs_connection *control_find(struct verbs_node *n, uint32_t qp_number)
{
    struct verbs_connection *found = NULL;

    pthread_mutex_lock(&n->verbs->lock);
    for (uint32_t id = 0; id < n->base.count && !found; id++) {
        struct verbs_connection *c = n->peers[id].connection;
        if (c && c->proven && c->qp_number == qp_number)
            found = c;
    }
    if (found)
        verbs_establish(found);
    pthread_mutex_unlock(&n->verbs->lock);
    return found && found->arenas ? found : NULL;
}

static void control_on_received(struct verbs_node *n, const struct ibv_wc *wc)
{
    unsigned index = (unsigned)(wc->wr_id >> 8 & 0xff);
    struct verbs_connection *c = control_find(n, wc->qp_num);

    if (c && wc->status == IBV_WC_SUCCESS) {
        verbs_announce(c);
        bool good = control_handle(c, control_receive_buffer(n, index), wc->byte_len);
        if (c->bye || !good) {
            pthread_mutex_lock(&n->verbs->lock);
            if (!good)
                verbs_warn(n, "node %u: node %u sent what no node sends", n->base.id,
                           c->end.peer->id);
            verbs_connection_end(c, IBV_WC_SUCCESS);
            pthread_mutex_unlock(&n->verbs->lock);
        }
    }
    control_post_receive(n, index);
}

static void control_on_sent(struct verbs_node *n, const struct ibv_wc *wc)
{
    struct verbs_connection *c = n->peers[wc->wr_id >> 32].connection;

    if (!c)
        return;
    if (wc->status != IBV_WC_SUCCESS)
        verbs_connection_end(c, wc->status);
    else if ((wc->wr_id & 0xff) == ALIVE)
        c->alive_posted = false;
    else
        c->busy &= ~(1u << (wc->wr_id >> 8 & 0xff));
    control_send_unsent(c);
}

void verbs_drain(struct verbs_node *n)
{
    struct ibv_wc wc;

    while (ibv_poll_cq(n->control, 1, &wc) > 0) {
        if ((wc.wr_id & 0xff) == RECEIVED) {
            control_on_received(n, &wc);
            continue;
        }
        pthread_mutex_lock(&n->verbs->lock);
        control_on_sent(n, &wc);
        pthread_mutex_unlock(&n->verbs->lock);
    }
}

/* --- opening and closing ---------------------------------------------------------------------- */

static int control_register_buffers(struct verbs_node *n)
{
    size_t size = LANDING + (VERBS_RECEIVES + n->base.count * VERBS_SENDS) * (size_t)BUFFER;

    /* Whole pages, because the children of a fork may lose pages that are registered. */
    size = (size + PAGE - 1) / PAGE * PAGE;
    n->buffers = aligned_alloc(PAGE, size);
    if (!n->buffers)
        return -ENOMEM;
    return verbs_register(n, n->buffers, size, IBV_ACCESS_LOCAL_WRITE, &n->buffers_mr);
}

int verbs_control_open(struct verbs_node *n)
{
    struct ibv_srq_init_attr attributes = {.attr = {.max_wr = VERBS_RECEIVES, .max_sge = 1}};
    const unsigned entries = VERBS_RECEIVES + n->base.count * (VERBS_SENDS + 1);

    int rc = control_register_buffers(n);
    if (rc)
        return rc;
    n->channel = ibv_create_comp_channel(n->device);
    if (!n->channel)
        return -errno;
    n->control = ibv_create_cq(n->device, (int)entries, NULL, n->channel, 0);
    if (!n->control)
        return -errno;
    n->receives = ibv_create_srq(n->pd, &attributes);
    if (!n->receives)
        return -errno;
    for (unsigned i = 0; i < VERBS_RECEIVES; i++)
        control_post_receive(n, i);
    return ibv_req_notify_cq(n->control, 0) ? -EIO : 0;
}

void verbs_control_close(struct verbs_node *n)
{
    if (n->receives)
        ibv_destroy_srq(n->receives);
    if (n->control)
        ibv_destroy_cq(n->control);
    if (n->channel)
        ibv_destroy_comp_channel(n->channel);
    if (n->buffers_mr)
        ibv_dereg_mr(n->buffers_mr);
    free(n->buffers);
    while (n->notices) {
        struct verbs_notice *next = n->notices->next;
        free(n->notices);
        n->notices = next;
    }
}
