/*
 * The messages between the nodes of the verbs fabric: the keys of their arenas, the core's control
 * messages, goodbyes, and keep-alives. One thread of each process, the telling thread, receives
 * them and calls the core.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "../host_time.h"
#include "verbs_internal.h"

enum {
    ALIVE_NS = 1000000000,    /* between keep-alives */
    FAREWELL_NS = 1000000000, /* the longest wait until the last messages are sent */
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

static void control_end(struct verbs_connection *c, enum ibv_wc_status status)
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
        control_end(c, IBV_WC_GENERAL_ERR);
}

static void control_post_message(struct verbs_connection *c, const struct loco_unsent_message *m)
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
        loco_unsent_take_off(&c->unsent);
    }
}

/* A peer that does not take its messages counts as lost. */
static void control_overrun(struct verbs_connection *c)
{
    verbs_warn(c->end.node, "node %u: node %u did not take %u MiB of control messages",
               c->end.node->base.id, c->end.peer->id, LOCO_UNSENT_MAX >> 20);
    control_end(c, IBV_WC_SUCCESS);
}

static int control_post(struct verbs_connection *c, enum kind kind, const void *body, size_t size)
{
    const struct wire head = {.kind = kind, .size = (uint32_t)size};

    if (!loco_unsent_has_room(&c->unsent, sizeof head + size, LOCO_UNSENT_MAX)) {
        control_overrun(c);
        return -ECONNRESET;
    }
    if (!loco_unsent_add(&c->unsent, &head, sizeof head, body, size))
        return -ENOMEM;
    control_send_unsent(c);
    return 0;
}

void verbs_post_arena(struct verbs_connection *c, uint32_t number)
{
    const struct verbs_arena *a = &c->end.node->own.at[number];
    const struct wire_arena w = {
        .number = number, .key = a->remote_key, .base = a->base, .size = a->size};

    if (control_post(c, ARENA, &w, sizeof w))
        control_end(c, IBV_WC_GENERAL_ERR);
}

static bool control_is_up(const struct verbs_connection *c)
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
    if (control_is_up(c))
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
        control_end(c, IBV_WC_GENERAL_ERR);
        return;
    }
    c->arenas->next = n->arenas;
    n->arenas = c->arenas;
    if (c->active && control_post(c, HERE, NULL, 0))
        control_end(c, IBV_WC_GENERAL_ERR);
    for (uint32_t i = 0; i < atomic_load(&n->own.count); i++)
        verbs_post_arena(c, i);
    verbs_node_due(n);
}

/* Posts a keep-alive: an empty write, which the peer's device answers by itself. */
static void control_post_alive(struct verbs_connection *c)
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

static void control_announce(struct verbs_connection *c)
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
        control_announce(c);
        bool good = control_handle(c, control_receive_buffer(n, index), wc->byte_len);
        if (c->bye || !good) {
            pthread_mutex_lock(&n->verbs->lock);
            if (!good)
                verbs_warn(n, "node %u: node %u sent what no node sends", n->base.id,
                           c->end.peer->id);
            control_end(c, IBV_WC_SUCCESS);
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
        control_end(c, wc->status);
    else if ((wc->wr_id & 0xff) == ALIVE)
        c->alive_posted = false;
    else
        c->busy &= ~(1u << (wc->wr_id >> 8 & 0xff));
    control_send_unsent(c);
}

static void control_drain(struct verbs_node *n)
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

/* --- the loss of a peer ----------------------------------------------------------------------- */

void verbs_link_failed(struct verbs_link *l, enum ibv_wc_status status)
{
    struct verbs_node *n = l->node;

    pthread_mutex_lock(&n->verbs->lock);
    struct verbs_connection *c = n->peers[l->base.peer].connection;
    if (l->base.peer == n->base.id) {
        n->own_loss = true;
        verbs_node_due(n);
    } else if (c && c->arenas == l->arenas) {
        control_end(c, status);
    }
    pthread_mutex_unlock(&n->verbs->lock);
}

/* After this, neither the peer's operations nor the answers to this node's operations change
 * memory. */
static void peer_cut_off(struct verbs_connection *c)
{
    struct verbs_node *n = c->end.node;
    struct verbs_peer *p = c->end.peer;
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};

    pthread_mutex_lock(&n->verbs->lock);
    verbs_links_break(n, c->arenas);
    while (p->targets) {
        struct verbs_end *end = p->targets;
        p->targets = end->next;
        ibv_modify_qp(end->id->qp, &error, IBV_QP_STATE);
        end->next = n->dead;
        n->dead = end;
    }
    pthread_mutex_unlock(&n->verbs->lock);
}

void verbs_give_up(struct verbs_connection *c)
{
    struct verbs_node *n = c->end.node;

    pthread_mutex_lock(&n->verbs->lock);
    c->end.peer->connection = NULL;
    loco_unsent_clear(&c->unsent);
    c->end.next = n->dead;
    n->dead = &c->end;
    pthread_mutex_unlock(&n->verbs->lock);
    verbs_wake(n->verbs->wake_connecting);
}

/* Logs the error of an operation that ended the connection, if one did. */
static void peer_explain(struct verbs_connection *c)
{
    if (c->status == IBV_WC_SUCCESS || c->status == IBV_WC_WR_FLUSH_ERR || c->bye)
        return;
    pthread_mutex_lock(&c->end.node->verbs->lock);
    verbs_warn(c->end.node, "node %u: an operation to node %u failed: %s", c->end.node->base.id,
               c->end.peer->id, ibv_wc_status_str(c->status));
    pthread_mutex_unlock(&c->end.node->verbs->lock);
}

/* Ends a connection, and tells the core. Messages that have arrived are handled first. After the
 * second drain no completion of its queue pair is left. */
static void peer_lose(struct verbs_connection *c)
{
    struct verbs_node *n = c->end.node;
    uint32_t peer = c->end.peer->id;

    peer_cut_off(c);
    control_drain(n);
    rdma_destroy_qp(c->end.id);
    control_drain(n);
    peer_explain(c);
    bool announced = c->announced, left = c->bye;
    verbs_give_up(c);
    if (announced)
        n->base.events.peer_lost(n->base.events.arg, peer, left);
}

static void peer_lose_self(struct verbs_node *n)
{
    n->own_loss_told = true;
    pthread_mutex_lock(&n->verbs->lock);
    verbs_links_break(n, &n->own);
    verbs_warn(n, "node %u: its RDMA device failed, or is gone", n->base.id);
    pthread_mutex_unlock(&n->verbs->lock);
    n->base.events.peer_lost(n->base.events.arg, n->base.id, false);
}

/* --- the telling thread ------------------------------------------------------------------ */

static void tell_keep_alive(struct verbs_node *n)
{
    uint64_t now = loco_host_clock(&n->base);

    if (now < n->alive_at)
        return;
    n->alive_at = now + ALIVE_NS;
    pthread_mutex_lock(&n->verbs->lock);
    for (uint32_t id = 0; id < n->base.count; id++) {
        struct verbs_connection *c = n->peers[id].connection;
        if (control_is_up(c) && !c->alive_posted)
            control_post_alive(c);
    }
    pthread_mutex_unlock(&n->verbs->lock);
}

static void tell_peers(struct verbs_node *n)
{
    for (uint32_t id = 0; id < n->base.count; id++) {
        pthread_mutex_lock(&n->verbs->lock);
        struct verbs_connection *c = n->peers[id].connection;
        bool established = c && c->established, down = established && c->down;
        pthread_mutex_unlock(&n->verbs->lock);
        if (established && !down)
            control_announce(c);
        if (down)
            peer_lose(c);
    }
    if (n->own_loss && !n->own_loss_told)
        peer_lose_self(n);
}

static void tell_notices(struct verbs_node *n)
{
    pthread_mutex_lock(&n->verbs->lock);
    struct verbs_notice *notice = n->notices;
    n->notices = NULL;
    pthread_mutex_unlock(&n->verbs->lock);
    while (notice) {
        struct verbs_notice *next = notice->next;
        n->base.events.warning(n->base.events.arg, notice->text);
        free(notice);
        notice = next;
    }
}

static void tell_of_foreigner(struct verbs_node *n)
{
    pthread_mutex_lock(&n->verbs->lock);
    uint32_t count = n->closing ? 0 : n->foreign_count;
    n->foreign_count = 0;
    pthread_mutex_unlock(&n->verbs->lock);
    if (count && n->base.events.foreigner)
        n->base.events.foreigner(n->base.events.arg, count);
}

/* Whether messages to a peer that is up are still on their way. */
static bool tell_speaking(struct verbs_node *n)
{
    bool any = false;

    pthread_mutex_lock(&n->verbs->lock);
    for (uint32_t id = 0; id < n->base.count; id++) {
        const struct verbs_connection *c = n->peers[id].connection;
        any |= control_is_up(c) && (c->busy || c->unsent.first);
    }
    pthread_mutex_unlock(&n->verbs->lock);
    return any;
}

static void tell_bye(struct verbs_node *n)
{
    static const struct timespec nap = {.tv_nsec = 100000};
    uint64_t until = loco_host_clock(&n->base) + FAREWELL_NS;

    pthread_mutex_lock(&n->verbs->lock);
    for (uint32_t id = 0; id < n->base.count; id++)
        if (control_is_up(n->peers[id].connection))
            control_post(n->peers[id].connection, BYE, NULL, 0);
    pthread_mutex_unlock(&n->verbs->lock);
    while (tell_speaking(n) && loco_host_clock(&n->base) < until) {
        control_drain(n);
        nanosleep(&nap, NULL);
    }
}

static void tell_leave(struct verbs_node *n)
{
    struct verbs *v = n->verbs;

    tell_bye(n);
    epoll_ctl(v->epoll, EPOLL_CTL_DEL, n->channel->fd, NULL);
    pthread_mutex_lock(&v->lock);
    n->quiet = true;
    pthread_mutex_unlock(&v->lock);
    verbs_wake(v->wake_connecting);
}

static void tell_serve(struct verbs_node *n)
{
    pthread_mutex_lock(&n->verbs->lock);
    bool closing = n->closing;
    pthread_mutex_unlock(&n->verbs->lock);
    if (closing) {
        tell_leave(n);
        return;
    }
    ibv_req_notify_cq(n->control, 0);
    control_drain(n);
    tell_peers(n);
    tell_keep_alive(n);
    tell_of_foreigner(n);
    tell_notices(n);
}

/* A node for which there is something to do; NULL when there is none. */
static struct verbs_node *tell_next_due(struct verbs *v)
{
    struct verbs_node *found = NULL;

    pthread_mutex_lock(&v->lock);
    for (struct verbs_node *n = v->nodes; n && !found; n = n->next)
        if (!n->quiet && (n->due || loco_host_clock(&n->base) >= n->alive_at))
            found = n;
    if (found)
        found->due = false;
    pthread_mutex_unlock(&v->lock);
    return found;
}

static void tell_on_channel(struct verbs_node *n)
{
    struct ibv_cq *cq;
    void *context;

    if (!ibv_get_cq_event(n->channel, &cq, &context))
        ibv_ack_cq_events(cq, 1);
    pthread_mutex_lock(&n->verbs->lock);
    n->due = true;
    pthread_mutex_unlock(&n->verbs->lock);
}

void *verbs_telling_thread(void *arg)
{
    struct verbs *v = arg;

    /* One event at a time, as serving one may free what another points to. */
    while (!__atomic_load_n(&v->stop, __ATOMIC_ACQUIRE)) {
        struct epoll_event event;
        uint64_t turns;
        int count = epoll_wait(v->epoll, &event, 1, ALIVE_NS / 1000000);
        if (count == 1 && event.data.ptr)
            tell_on_channel(event.data.ptr);
        else if (count == 1 && read(v->wake_telling, &turns, sizeof turns) < 0)
            continue;
        for (struct verbs_node *n = tell_next_due(v); n; n = tell_next_due(v))
            tell_serve(n);
    }
    return NULL;
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
