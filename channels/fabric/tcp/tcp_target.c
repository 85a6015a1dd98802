/*
 * Handles what a lane receives, in order: places writes, executes and answers reads, atomics and
 * flushes, and gives answers to the links that wait for them.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tcp_internal.h"
#include "tcp_words.h"

/* --- the other ends of links: with the fabric's lock held ------------------------------------ */

void tcp_target_add(struct tcp_lane *lane, uint16_t index, struct tcp_node *n,
                    struct control_peer *p)
{
    lane->targets[index] = (struct tcp_target){.node = n, .peer = p};
    p->target_count++;
}

static void target_drop(struct tcp_target *t)
{
    if (t->node)
        t->peer->target_count--;
    *t = (struct tcp_target){0};
}

void tcp_targets_drop(const struct tcp_node *n, const struct control_peer *p)
{
    struct tcp_lane *lane = p->target_count ? atomic_load(&n->tcp->lanes) : NULL;

    for (; lane; lane = lane->next)
        for (unsigned i = 0; i < TCP_LINKS_MAX; i++)
            if (lane->targets[i].node == n && lane->targets[i].peer == p)
                target_drop(&lane->targets[i]);
}

/* --- requests ----------------------------------------------------------------------------- */

/* Whether the request may be executed: its place must be in an arena of this node. */
static bool target_allows(const struct tcp_node *n, const struct tcp_request *r)
{
    switch (r->operation) {
    case TCP_WRITE:
    case TCP_READ:
        return tcp_arena_has(&n->own, r->arena, r->offset, r->size);
    case TCP_FETCH_ADD:
    case TCP_COMPARE_SWAP:
        return tcp_arena_has(&n->own, r->arena, r->offset, sizeof(uint64_t)) &&
               r->offset % sizeof(uint64_t) == 0;
    default:
        return r->operation == TCP_FLUSH;
    }
}

static unsigned char *target_memory(const struct tcp_node *n, const struct tcp_request *r)
{
    return n->own.at[r->arena].base + r->offset;
}

uint64_t tcp_execute(uint64_t *word, enum tcp_operation operation, const struct tcp_operands *o)
{
    uint64_t old = o->first;

    if (operation == TCP_FETCH_ADD)
        return __atomic_fetch_add(word, o->first, __ATOMIC_SEQ_CST);
    __atomic_compare_exchange_n(word, &old, o->second, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return old;
}

static void target_answer_atomic(const struct tcp_node *n, const struct tcp_request *r,
                                 const unsigned char *data, unsigned char *to)
{
    struct tcp_operands o = {0};

    memcpy(&o, data, r->size);
    const uint64_t old = tcp_execute((uint64_t *)(void *)target_memory(n, r), r->operation, &o);
    memcpy(to, &old, sizeof old);
}

static size_t target_answer_size(const struct tcp_request *r)
{
    switch (r->operation) {
    case TCP_READ:
        return r->size;
    case TCP_FETCH_ADD:
    case TCP_COMPARE_SWAP:
        return sizeof(uint64_t);
    default:
        return 0;
    }
}

/* With the lane's lock held. Before a flush is answered, every thread sees the writes that were
 * placed before it. */
static void target_answer(const struct tcp_node *n, const struct tcp_request *r,
                          const unsigned char *data, unsigned char *to)
{
    if (r->operation == TCP_READ)
        tcp_fetch(to, target_memory(n, r), r->size);
    else if (r->operation == TCP_FLUSH)
        atomic_thread_fence(memory_order_seq_cst);
    else
        target_answer_atomic(n, r, data, to);
}

/* Returns false when the peer has asked for more answers than a node may. */
static bool target_execute(struct tcp_lane *lane, const struct tcp_node *n,
                           const struct tcp_request *r, const unsigned char *data)
{
    pthread_mutex_lock(&lane->lock);
    unsigned char *to = tcp_lane_answer(lane, TCP_ANSWER, r->link, target_answer_size(r));
    if (to)
        target_answer(n, r, data, to);
    pthread_mutex_unlock(&lane->lock);
    return to;
}

/* Answers a request of a link that does not exist. */
static bool target_answer_not_there(struct tcp_lane *lane, const struct tcp_request *r)
{
    pthread_mutex_lock(&lane->lock);
    const bool had_room = tcp_lane_answer(lane, TCP_NOT_THERE, r->link, 0);
    pthread_mutex_unlock(&lane->lock);
    return had_room;
}

/* Places a write after all earlier writes. */
static inline void target_place(unsigned char *to, const unsigned char *data, size_t size)
{
    atomic_thread_fence(memory_order_release);
    tcp_place(to, data, size);
}

/* The target of that index. If there is none, any target of the lane, for the warning. */
static const struct tcp_target *target_find(const struct tcp_lane *lane, uint16_t index)
{
    if (index < TCP_LINKS_MAX && lane->targets[index].node)
        return &lane->targets[index];
    for (uint32_t i = 0; i < TCP_LINKS_MAX; i++)
        if (lane->targets[i].node)
            return &lane->targets[i];
    return NULL;
}

static void target_refuse(const struct tcp_lane *lane, const struct tcp_request *r)
{
    pthread_mutex_lock(&lane->tcp->control.lock);
    const struct tcp_target *t = target_find(lane, r->link);
    if (t)
        control_warn(
            &t->node->control,
            "node %u: node %u asked for memory that it was not given, or for what no node asks",
            t->node->control.base.id, t->peer->id);
    if (t && t->peer->connection)
        control_connection_end(t->peer->connection);
    pthread_mutex_unlock(&lane->tcp->control.lock);
}

static struct tcp_node *target_find_node(const struct tcp *t, uint32_t id)
{
    struct control_node *n = t->control.nodes;

    while (n && (n->base.id != id || n->leave_by))
        n = n->next;
    return (struct tcp_node *)n;
}

/* Opens another link of the lane. Returns false for a greeting that no node sends. A link of a lost
 * or unknown peer is ignored. */
static bool target_open(struct tcp_lane *lane, uint16_t index, const unsigned char *data)
{
    struct control_greeting g;

    memcpy(&g, data, sizeof g);
    if (g.magic != TCP_MAGIC || g.version != TCP_VERSION || g.step != CONTROL_LINK ||
        lane->targets[index].node)
        return false;
    pthread_mutex_lock(&lane->tcp->control.lock);
    struct tcp_node *n = target_find_node(lane->tcp, g.to);
    struct control_peer *p = n ? tcp_admit_link(n, lane->fd, &g) : NULL;
    if (p)
        tcp_target_add(lane, index, n, p);
    pthread_mutex_unlock(&lane->tcp->control.lock);
    return true;
}

static bool target_close(struct tcp_lane *lane, uint16_t index)
{
    pthread_mutex_lock(&lane->tcp->control.lock);
    target_drop(&lane->targets[index]);
    pthread_mutex_unlock(&lane->tcp->control.lock);
    return true;
}

static bool target_serve(struct tcp_lane *lane, const struct tcp_request *r,
                         const unsigned char *data)
{
    struct tcp_target *t = &lane->targets[r->link];

    if (!t->node)
        return r->operation == TCP_WRITE || target_answer_not_there(lane, r);
    if (!target_allows(t->node, r))
        return false;
    if (r->operation != TCP_WRITE)
        return target_execute(lane, t->node, r, data);
    t->last = *r;
    t->place = target_memory(t->node, r);
    target_place(t->place, data, r->size);
    return true;
}

/* Most requests are writes to the place of the link's last write, which was checked. If one is next
 * in the input, and whole, places it and returns its size; else returns 0. */
static inline size_t target_repeat(const struct tcp_lane *lane, const unsigned char *input,
                                   size_t size)
{
    struct tcp_request r;

    memcpy(&r, input, sizeof r);
    if (r.operation != TCP_WRITE || r.link >= TCP_LINKS_MAX || r.size > size - sizeof r)
        return 0;
    const struct tcp_target *t = &lane->targets[r.link];
    if (memcmp(input, &t->last, sizeof r) != 0) /* not &r: that stays in registers */
        return 0;
    target_place(t->place, input + sizeof r, r.size);
    return sizeof r + r.size;
}

/* Executes a whole request. Returns false for one that no node sends. */
static bool target_serve_request(struct tcp_lane *lane, const struct tcp_request *r,
                                 const unsigned char *data)
{
    switch (r->operation) {
    case TCP_ANSWER:
    case TCP_NOT_THERE:
        return tcp_lane_hear_answer(lane, r, data);
    case TCP_BEGIN_LINK:
        return target_open(lane, r->link, data);
    case TCP_END_LINK:
        return target_close(lane, r->link);
    default:
        return target_serve(lane, r, data);
    }
}

/* The bytes that follow the request. */
static size_t target_body_size(const struct tcp_request *r)
{
    return r->operation == TCP_READ ? 0 : r->size;
}

/* Whether the request itself is sound. Its place is checked when its data has arrived. */
static bool target_is_request(const struct tcp_request *r)
{
    if (r->link >= TCP_LINKS_MAX)
        return false;
    switch (r->operation) {
    case TCP_WRITE:
    case TCP_READ:
    case TCP_ANSWER:
        return r->size <= TCP_PIECE;
    case TCP_FETCH_ADD:
        return r->size == sizeof(uint64_t);
    case TCP_COMPARE_SWAP:
        return r->size == sizeof(struct tcp_operands);
    case TCP_BEGIN_LINK:
        return r->size == sizeof(struct control_greeting);
    case TCP_FLUSH:
    case TCP_END_LINK:
    case TCP_NOT_THERE:
        return r->size == 0;
    default:
        return false;
    }
}

/* Executes the whole requests in the input. Returns false for one that no node sends. */
static bool target_work(struct tcp_lane *lane)
{
    const size_t in = lane->in;
    struct tcp_request r;
    size_t at = 0, repeated;
    bool sound = true;

    while (sound && in - at >= sizeof r) {
        repeated = target_repeat(lane, lane->input + at, in - at);
        at += repeated;
        if (repeated)
            continue;
        memcpy(&r, lane->input + at, sizeof r);
        sound = target_is_request(&r);
        if (sound && in - at - sizeof r < target_body_size(&r))
            break;
        sound = sound && target_serve_request(lane, &r, lane->input + at + sizeof r);
        if (!sound)
            target_refuse(lane, &r);
        at += sizeof r + (sound ? target_body_size(&r) : 0);
    }
    memmove(lane->input, lane->input + at, in - at);
    lane->in = in - at;
    return sound;
}

/* --- the connection: with `serving` held ------------------------------------------------------ */

/* Receives and executes requests. Returns whether any bytes had come. A lane that failed, or that
 * the other end closed, breaks. */
static bool target_hear(struct tcp_lane *lane)
{
    ssize_t got =
        recv(lane->fd, lane->input + lane->in, sizeof lane->input - lane->in, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got > 0)
        lane->in += (size_t)got;
    if (got > 0 && target_work(lane))
        return true;
    tcp_lane_break(lane);
    return false;
}

void tcp_lane_serve(struct tcp_lane *lane)
{
    if (lane->fd < 0 || atomic_load_explicit(&lane->broken, memory_order_relaxed))
        return;
    target_hear(lane);
    if (atomic_load_explicit(&lane->owes, memory_order_relaxed))
        tcp_lane_send_answers(lane);
    const bool owes = atomic_load_explicit(&lane->owes, memory_order_relaxed);
    if (owes && !lane->owed)
        control_wake(
            &lane->tcp->control); /* if no other thread waits for room, the service thread does */
    lane->owed = owes;
}

void tcp_looks_serve(const struct tcp_looks *looks)
{
    for (unsigned i = 1; i < looks->count; i++)
        if (looks->at[i].revents)
            tcp_lane_serve(looks->lanes[i]);
}

static void looks_make_room(struct tcp_looks *looks)
{
    const unsigned room = looks->room ? 2 * looks->room : 4;
    struct pollfd *at = realloc(looks->at, room * sizeof *at);

    looks->at = at ? at : looks->at;
    struct tcp_lane **lanes = at ? realloc((void *)looks->lanes, room * sizeof *lanes) : NULL;
    if (!lanes)
        return;
    looks->lanes = lanes;
    looks->room = room;
}

/* A lane that owes answers is also polled for room to send them. */
static short looks_events(const struct tcp_lane *lane)
{
    return atomic_load_explicit(&lane->owes, memory_order_relaxed) ? POLLIN | POLLOUT : POLLIN;
}

void tcp_looks_gather(struct tcp_looks *looks, const struct tcp *t)
{
    looks->count = 0;
    if (!looks->room)
        looks_make_room(looks);
    if (looks->room)
        looks->at[looks->count++] = (struct pollfd){.fd = t->control.epoll, .events = POLLIN};
    for (struct tcp_lane *lane = atomic_load_explicit(&t->lanes, memory_order_acquire); lane;
         lane = lane->next) {
        if (lane->fd < 0 || atomic_load_explicit(&lane->broken, memory_order_relaxed))
            continue;
        if (looks->count == looks->room)
            looks_make_room(looks);
        if (looks->count == looks->room)
            return;
        looks->lanes[looks->count] = lane;
        looks->at[looks->count++] = (struct pollfd){.fd = lane->fd, .events = looks_events(lane)};
    }
}

void tcp_looks_free(struct tcp_looks *looks)
{
    free(looks->at);
    free((void *)looks->lanes);
}

/* A single lane needs no poll(): receiving from it costs no more. */
void tcp_serve_lanes(struct tcp *t)
{
    struct tcp_looks *looks = &t->looks;
    struct tcp_lane *first = atomic_load_explicit(&t->lanes, memory_order_acquire);

    if (!first)
        return;
    if (!first->next) {
        tcp_lane_serve(first);
        return;
    }
    tcp_looks_gather(looks, t);
    if (looks->count > 1 && poll(looks->at + 1, looks->count - 1, 0) > 0)
        tcp_looks_serve(looks);
}

static void target_end_lane(struct tcp_lane *lane)
{
    struct tcp *t = lane->tcp;

    pthread_mutex_lock(&t->control.lock);
    for (unsigned i = 0; i < TCP_LINKS_MAX; i++)
        target_drop(&lane->targets[i]);
    pthread_mutex_unlock(&t->control.lock);
    pthread_mutex_lock(&lane->lock);
    close(lane->fd);
    lane->fd = -1;
    pthread_mutex_unlock(&lane->lock);
}

/* Requests that came before a lane broke are still executed. */
void tcp_look_after_lanes(struct tcp *t)
{
    for (struct tcp_lane *lane = atomic_load(&t->lanes); lane; lane = lane->next) {
        if (lane->fd < 0)
            continue;
        if (!atomic_load(&lane->broken)) {
            tcp_lane_serve(lane);
            continue;
        }
        while (target_hear(lane))
            ;
        target_end_lane(lane);
    }
}
