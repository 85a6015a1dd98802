/*
 * The telling thread of a process: it receives the messages of all its nodes' peers, and calls the
 * core. It ends the connections of peers that are lost.
 */
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "../host_time.h"
#include "verbs_internal.h"

enum {
    ALIVE_NS = 1000000000,    /* between keep-alives */
    FAREWELL_NS = 1000000000, /* the longest wait until the last messages are sent */
};

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
        verbs_connection_end(c, status);
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
    loco_send_queue_clear(&c->unsent);
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
    verbs_drain(n);
    rdma_destroy_qp(c->end.id);
    verbs_drain(n);
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
        if (verbs_is_up(c) && !c->alive_posted)
            verbs_post_alive(c);
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
            verbs_announce(c);
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
        any |= verbs_is_up(c) && (c->busy || c->unsent.first);
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
        if (verbs_is_up(n->peers[id].connection))
            verbs_post_bye(n->peers[id].connection);
    pthread_mutex_unlock(&n->verbs->lock);
    while (tell_speaking(n) && loco_host_clock(&n->base) < until) {
        verbs_drain(n);
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
    verbs_drain(n);
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
