/*
 * Lanes: this end's connections to other processes, each for the links of many nodes. A system call
 * costs as much for the requests of all these links as for one.
 *
 * A request goes whole into the lane's output, and is no longer than that has room for, so links
 * that share a lane never wait for a part of one another's. Who posts waits until the kernel has
 * what it posted, without the lane's lock; while the thread holds (loco_hold), it is not sent.
 *
 * Two links of one pair of nodes, which are of different threads, are never on one lane.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../addresses.h"
#include "../host_time.h"
#include "tcp_internal.h"
#include "tcp_words.h"

static bool is_broken(const struct tcp_link *l)
{
    return atomic_load_explicit(&l->broken, memory_order_relaxed);
}

/* --- breaking: with the lane's lock held --------------------------------------------------- */

/* No answer of it lands any more. */
static void forget_answers(struct tcp_lane *lane, const struct tcp_link *l)
{
    for (uint64_t i = lane->answered; i < lane->asked; i++) {
        struct tcp_pending *p = &lane->pending[i % TCP_DEPTH];
        if (p->link == l)
            p->link = NULL;
    }
}

static bool has_live_link(const struct tcp_lane *lane)
{
    const struct tcp_link *l = lane->links;

    while (l && is_broken(l))
        l = l->beside;
    return l;
}

/* The service thread reports what failed. */
static void fail_link(struct tcp_lane *lane, struct tcp_link *l)
{
    if (atomic_exchange(&l->broken, true))
        return;
    l->failed = true;
    forget_answers(lane, l);
    atomic_store(&lane->failed, true);
    tcp_wake(lane->tcp);
}

static void fail_lane(struct tcp_lane *lane)
{
    atomic_store(&lane->broken, true);
    for (struct tcp_link *l = lane->links; l; l = l->beside)
        fail_link(lane, l);
}

void tcp_lane_lose(struct tcp_lane *lane, struct tcp_link *l)
{
    pthread_mutex_lock(&lane->lock);
    forget_answers(lane, l);
    lane->closed = true;
    if (!has_live_link(lane) && lane->fd >= 0) {
        atomic_store(&lane->broken, true);
        shutdown(lane->fd, SHUT_RDWR);
    }
    pthread_mutex_unlock(&lane->lock);
}

/* --- sending: with the lane's lock held ----------------------------------------------------- */

static void send_some(struct tcp_lane *lane)
{
    while (lane->sent < lane->out && !atomic_load(&lane->broken)) {
        ssize_t sent = send(lane->fd, lane->output + lane->sent, lane->out - lane->sent,
                            MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            fail_lane(lane);
        if (sent < 0)
            break;
        lane->sent += (size_t)sent;
    }
    if (lane->sent < lane->out)
        return;
    lane->begin += lane->out;
    lane->sent = lane->out = 0;
    atomic_store_explicit(&lane->held, false, memory_order_relaxed);
}

/* Whether the kernel has all bytes of the lane up to this one. */
static bool is_sent(const struct tcp_lane *lane, uint64_t up_to)
{
    return lane->begin + lane->sent >= up_to;
}

/* The peer takes it, or the link breaks, within the time-out. */
static int wait_a_turn(struct tcp_lane *lane, const struct tcp_link *l, struct loco_wait *wait)
{
    tcp_lane_receive(lane);
    if (is_broken(l))
        return -ECONNRESET;
    pthread_mutex_unlock(&lane->lock);
    loco_host_relax(&l->node->base, wait);
    pthread_mutex_lock(&lane->lock);
    return 0;
}

static int send_up_to(struct tcp_lane *lane, const struct tcp_link *l, uint64_t up_to)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    for (;;) {
        send_some(lane);
        if (is_broken(l))
            return -ECONNRESET;
        if (is_sent(lane, up_to))
            return 0;
        if (wait_a_turn(lane, l, &wait))
            return -ECONNRESET;
    }
}

static uint64_t posted(const struct tcp_lane *lane)
{
    return lane->begin + lane->out;
}

static bool has_room(struct tcp_lane *lane, size_t size)
{
    if (sizeof lane->output - lane->out >= size)
        return true;
    send_some(lane);
    memmove(lane->output, lane->output + lane->sent, lane->out - lane->sent);
    lane->begin += lane->sent;
    lane->out -= lane->sent;
    lane->sent = 0;
    return sizeof lane->output - lane->out >= size;
}

/* Waits for room for a request, and for its answer, which is one of so many. */
static int await_room(struct tcp_lane *lane, const struct tcp_link *l, size_t size,
                      unsigned answers)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    while (!is_broken(l)) {
        if (has_room(lane, size) && lane->asked - lane->answered + answers <= TCP_DEPTH)
            return 0;
        if (wait_a_turn(lane, l, &wait))
            break;
    }
    return -ECONNRESET;
}

static int post(struct tcp_lane *lane, const struct tcp_link *l, const struct tcp_request *r,
                const void *data, size_t size)
{
    memcpy(lane->output + lane->out, r, sizeof *r);
    lane->out += sizeof *r;
    tcp_fetch(lane->output + lane->out, data, size);
    lane->out += size;
    if (loco_context.holds && r->operation == TCP_WRITE) {
        atomic_store_explicit(&lane->held, true, memory_order_relaxed);
        return 0;
    }
    return send_up_to(lane, l, posted(lane));
}

int tcp_lane_post(struct tcp_link *l, const struct tcp_request *r, const void *data, size_t size)
{
    struct tcp_lane *lane = atomic_load_explicit(&l->lane, memory_order_relaxed);
    int rc = await_room(lane, l, sizeof *r + size, 0);

    return rc ? rc : post(lane, l, r, data, size);
}

/* --- asking: with the lane's lock held ------------------------------------------------------ */

int tcp_lane_ask(struct tcp_link *l, const struct tcp_request *r, const struct tcp_pending *pending)
{
    struct tcp_lane *lane = atomic_load_explicit(&l->lane, memory_order_relaxed);
    int rc = await_room(lane, l, sizeof *r, 1);

    if (rc)
        return rc;
    lane->pending[lane->asked++ % TCP_DEPTH] = *pending;
    atomic_fetch_add_explicit(&l->waiting, 1, memory_order_release);
    return post(lane, l, r, NULL, 0);
}

/* The newest of the link's operations before its first that waits for an answer. */
uint64_t tcp_lane_done(const struct tcp_link *l)
{
    const struct tcp_lane *lane = atomic_load_explicit(&l->lane, memory_order_relaxed);

    for (uint64_t i = lane->answered; i < lane->asked; i++)
        if (lane->pending[i % TCP_DEPTH].link == l)
            return lane->pending[i % TCP_DEPTH].number;
    return l->number;
}

/* --- answers: with the lane's lock held ----------------------------------------------------- */

static void finish(struct tcp_link *l, const struct tcp_pending *p)
{
    atomic_fetch_sub_explicit(&l->waiting, 1, memory_order_release);
    atomic_store_explicit(&l->base.flushed, p->sequence, memory_order_release);
    atomic_store_explicit(&l->base.done, tcp_lane_done(l), memory_order_release);
}

/* Returns false for what no node answers. */
static bool hear_answer(struct tcp_lane *lane, const struct tcp_answer *a,
                        const unsigned char *body)
{
    const struct tcp_pending p = lane->pending[lane->answered % TCP_DEPTH];

    if (lane->answered == lane->asked || a->link != p.index ||
        (a->size != p.size && a->size != TCP_NOT_THERE))
        return false;
    lane->answered++;
    if (!p.link)
        return true;
    if (a->size == TCP_NOT_THERE) {
        fail_link(lane, p.link);
        return true;
    }
    tcp_place(p.to, body, a->size);
    finish(p.link, &p);
    return true;
}

static size_t body_of(const struct tcp_answer *a)
{
    return a->size == TCP_NOT_THERE ? 0 : a->size;
}

/* Gives what has come to those that wait for it, whole answers only. */
static bool share_out(struct tcp_lane *lane)
{
    struct tcp_answer a;
    size_t at = 0;
    bool sound = true;

    while (sound && lane->in - at >= sizeof a) {
        memcpy(&a, lane->input + at, sizeof a);
        sound = body_of(&a) <= TCP_PIECE;
        if (!sound || lane->in - at - sizeof a < body_of(&a))
            break;
        sound = hear_answer(lane, &a, lane->input + at + sizeof a);
        at += sizeof a + body_of(&a);
    }
    memmove(lane->input, lane->input + at, lane->in - at);
    lane->in -= at;
    return sound;
}

void tcp_lane_receive(struct tcp_lane *lane)
{
    do {
        if (atomic_load(&lane->broken))
            return;
        ssize_t got =
            recv(lane->fd, lane->input + lane->in, sizeof lane->input - lane->in, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        lane->in += got > 0 ? (size_t)got : 0;
        if (got <= 0 || !share_out(lane))
            fail_lane(lane);
    } while (lane->answered < lane->asked);
}

/* --- what a thread holds -------------------------------------------------------------------- */

static void send_held(struct tcp_lane *lane)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    pthread_mutex_lock(&lane->lock);
    const uint64_t up_to = posted(lane);
    for (send_some(lane); !is_sent(lane, up_to) && has_live_link(lane); send_some(lane)) {
        tcp_lane_receive(lane);
        pthread_mutex_unlock(&lane->lock);
        loco_host_relax(NULL, &wait);
        pthread_mutex_lock(&lane->lock);
    }
    pthread_mutex_unlock(&lane->lock);
}

static void send_all_held(struct tcp *t)
{
    struct tcp_lane *lane = atomic_load_explicit(&t->lanes, memory_order_acquire);

    for (; lane; lane = lane->next)
        if (atomic_load_explicit(&lane->held, memory_order_relaxed))
            send_held(lane);
}

void tcp_hold(struct loco_node *node)
{
    (void)node;
    loco_context.holds++;
}

void tcp_release(struct loco_node *node)
{
    if (--loco_context.holds == 0)
        send_all_held(((struct tcp_node *)node)->tcp);
}

/* Who waits may wait for what is held to have been sent; and for what comes, which it may as well
 * receive itself. */
void tcp_relax(struct loco_node *node, struct loco_wait *wait)
{
    struct tcp *t = node ? ((struct tcp_node *)node)->tcp : NULL;

    if (t && loco_context.holds)
        send_all_held(t);
    if (t)
        tcp_serve_in_wait(t);
    loco_host_relax(node, wait);
}

/* --- opening and closing --------------------------------------------------------------------- */

static bool is_idle(struct tcp_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    const bool idle = lane->fd < 0;
    pthread_mutex_unlock(&lane->lock);
    return idle;
}

/* Lanes stay until the fabric closes, for other threads to look through: an idle one serves again.
 */
static struct tcp_lane *find_idle(struct tcp *t)
{
    struct tcp_lane *lane = atomic_load(&t->lanes);

    while (lane && !is_idle(lane))
        lane = lane->next;
    if (lane)
        return lane;
    lane = calloc(1, sizeof *lane);
    if (lane && tcp_init_lock(&lane->lock)) {
        free(lane);
        lane = NULL;
    }
    if (!lane)
        return NULL;
    lane->tcp = t;
    lane->fd = -1;
    lane->next = atomic_load(&t->lanes);
    atomic_store_explicit(&t->lanes, lane, memory_order_release);
    return lane;
}

static bool has_pair(const struct tcp_lane *lane, const struct tcp_link *of)
{
    const struct tcp_link *l = lane->links;

    while (l && (l->node != of->node || l->base.peer != of->base.peer))
        l = l->beside;
    return l;
}

static bool is_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    return loco_address_same_host((const struct sockaddr *)a, b);
}

static bool leads_there(const struct tcp_lane *lane, const struct tcp_link *l, uint64_t process)
{
    const struct sockaddr_storage *addresses = l->node->addresses;

    return lane->fd >= 0 && lane->process == process &&
           is_same_host(&lane->here, &addresses[l->node->base.id]) &&
           is_same_host(&lane->there, &addresses[l->base.peer]);
}

static bool suits(struct tcp_lane *lane, const struct tcp_link *l, uint64_t process)
{
    bool yes = false;

    pthread_mutex_lock(&lane->lock);
    if (leads_there(lane, l, process)) {
        tcp_lane_receive(lane); /* it may have been closed there */
        yes = !lane->closed && !atomic_load(&lane->broken) && lane->next_index < TCP_LINKS_MAX &&
              !has_pair(lane, l);
    }
    pthread_mutex_unlock(&lane->lock);
    return yes;
}

struct tcp_lane *tcp_lane_find(const struct tcp_link *l, uint64_t process)
{
    struct tcp_lane *lane = atomic_load(&l->node->tcp->lanes);

    while (lane && !suits(lane, l, process))
        lane = lane->next;
    return lane;
}

/* With the lock held. */
static void add_link(struct tcp_lane *lane, struct tcp_link *l)
{
    l->index = lane->next_index++;
    l->beside = lane->links;
    lane->links = l;
    atomic_store(&l->lane, lane);
}

int tcp_lane_make(struct tcp_link *l, int fd, uint64_t process)
{
    struct tcp_lane *lane = find_idle(l->node->tcp);

    if (!lane)
        return -ENOMEM;
    pthread_mutex_lock(&lane->lock);
    lane->here = l->node->addresses[l->node->base.id];
    lane->there = l->node->addresses[l->base.peer];
    lane->process = process;
    lane->next_index = 0;
    lane->closed = false;
    lane->in = lane->out = lane->sent = 0;
    lane->asked = lane->answered = 0;
    atomic_store(&lane->broken, false);
    atomic_store(&lane->held, false);
    lane->fd = fd;
    add_link(lane, l);
    pthread_mutex_unlock(&lane->lock);
    return 0;
}

int tcp_lane_join(struct tcp_lane *lane, struct tcp_link *l, const struct tcp_greeting *g)
{
    pthread_mutex_lock(&lane->lock);
    add_link(lane, l);
    const struct tcp_request r = {
        .operation = TCP_BEGIN_LINK, .link = l->index, .first = sizeof *g};
    if (atomic_load(&lane->broken))
        atomic_store(&l->broken, true);
    int rc = tcp_lane_post(l, &r, (const unsigned char *)g, sizeof *g);
    pthread_mutex_unlock(&lane->lock);
    return rc;
}

/* What has room is told; a lane without any link ends. */
static void say_closed(struct tcp_lane *lane, uint32_t index)
{
    const struct tcp_request r = {.operation = TCP_END_LINK, .link = index};

    if (sizeof lane->output - lane->out >= sizeof r) {
        memcpy(lane->output + lane->out, &r, sizeof r);
        lane->out += sizeof r;
    }
    send_some(lane);
}

void tcp_lane_leave(struct tcp_lane *lane, struct tcp_link *l)
{
    pthread_mutex_lock(&lane->lock);
    struct tcp_link **at = &lane->links;
    while (*at != l)
        at = &(*at)->beside;
    *at = l->beside;
    forget_answers(lane, l);
    say_closed(lane, l->index);
    if (!lane->links) {
        close(lane->fd);
        lane->fd = -1;
    }
    pthread_mutex_unlock(&lane->lock);
}

void tcp_lanes_free(struct tcp *t)
{
    for (struct tcp_lane *lane = atomic_load(&t->lanes), *next; lane; lane = next) {
        next = lane->next;
        pthread_mutex_destroy(&lane->lock);
        free(lane);
    }
}

void tcp_tend_lanes(struct tcp *t)
{
    for (struct tcp_lane *lane = atomic_load(&t->lanes); lane; lane = lane->next) {
        if (!atomic_exchange(&lane->failed, false))
            continue;
        pthread_mutex_lock(&lane->lock);
        for (struct tcp_link *l = lane->links; l; l = l->beside) {
            if (l->failed)
                tcp_link_failed(l->node, l->base.peer, l->arenas);
            l->failed = false;
        }
        pthread_mutex_unlock(&lane->lock);
    }
}
