/*
 * A lane is the connection of two processes, for all links between their nodes, in both
 * directions. One system call sends the requests of all these links, and costs as much as for one
 * request. TCP's own acknowledgements travel with what goes back.
 *
 * A request is put into the lane's output whole: it is never longer than the output has room for.
 * So no link waits for the rest of another link's request. What the kernel does not take at once
 * stays in the output, and is sent with the answers, which go into the same output. A thread waits
 * for room there only if its own link has much in it. It does not keep the lane's lock meanwhile.
 * While a thread holds (loco_hold), its writes stay in the output.
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

static bool lane_link_is_broken(const struct tcp_link *l)
{
    return atomic_load_explicit(&l->broken, memory_order_relaxed);
}

/* --- breaking: with the lane's lock held --------------------------------------------------- */

/* The answers to the link are dropped when they come. */
static void lane_forget_answers(struct tcp_lane *lane, const struct tcp_link *l)
{
    for (uint64_t i = lane->answered; i < lane->asked; i++) {
        struct tcp_pending *p = &lane->pending[i % TCP_DEPTH];
        if (p->link == l)
            p->link = NULL;
    }
}

/* The link breaks. The service thread reports it later. */
static void lane_fail_link(struct tcp_lane *lane, struct tcp_link *l)
{
    if (atomic_exchange(&l->broken, true))
        return;
    l->failed = true;
    lane_forget_answers(lane, l);
    atomic_store(&lane->failed, true);
    control_wake(&lane->tcp->control);
}

static void lane_fail(struct tcp_lane *lane)
{
    atomic_store(&lane->broken, true);
    for (struct tcp_link *l = lane->links; l; l = l->beside)
        lane_fail_link(lane, l);
    control_wake(&lane->tcp->control);
}

void tcp_lane_break(struct tcp_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    lane_fail(lane);
    pthread_mutex_unlock(&lane->lock);
}

void tcp_lane_forget(struct tcp_lane *lane, const struct tcp_link *l)
{
    pthread_mutex_lock(&lane->lock);
    lane_forget_answers(lane, l);
    pthread_mutex_unlock(&lane->lock);
}

/* --- sending: with the lane's lock held ----------------------------------------------------- */

static void lane_send_some(struct tcp_lane *lane)
{
    while (lane->sent < lane->out && !atomic_load(&lane->broken)) {
        ssize_t sent = send(lane->fd, lane->output + lane->sent, lane->out - lane->sent,
                            MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            lane_fail(lane);
        if (sent < 0)
            break;
        lane->sent += (size_t)sent;
    }
    if (lane->sent < lane->out)
        return;
    lane->begin += lane->out;
    lane->sent = lane->out = 0;
    atomic_store_explicit(&lane->held, false, memory_order_relaxed);
    atomic_store_explicit(&lane->owes, false, memory_order_relaxed);
}

/* Whether the kernel has all bytes of the lane up to this one. */
static bool lane_has_sent(const struct tcp_lane *lane, uint64_t up_to)
{
    return lane->begin + lane->sent >= up_to;
}

/* One turn of waiting until the kernel takes output. Meanwhile the thread serves the lane: the peer
 * may take nothing before this end has received from it. The wait ends, since within the time-out
 * the peer takes something or the link breaks. */
static int lane_wait_a_turn(struct tcp_lane *lane, const struct tcp_link *l, struct loco_wait *wait)
{
    pthread_mutex_unlock(&lane->lock);
    tcp_serve_in_wait(lane->tcp, lane);
    loco_host_relax(&l->node->control.base, wait);
    pthread_mutex_lock(&lane->lock);
    return lane_link_is_broken(l) ? -ECONNRESET : 0;
}

static uint64_t lane_posted(const struct tcp_lane *lane)
{
    return lane->begin + lane->out;
}

static void lane_move_to_front(struct tcp_lane *lane)
{
    memmove(lane->output, lane->output + lane->sent, lane->out - lane->sent);
    lane->begin += lane->sent;
    lane->out -= lane->sent;
    lane->sent = 0;
}

static bool lane_share_has_room(const struct tcp_lane *lane, struct tcp_share *share, size_t size)
{
    if (lane_has_sent(lane, share->end))
        share->unsent = 0;
    return share->unsent + size <= TCP_SHARE && lane->out + size <= TCP_BUFFER + TCP_SHARES;
}

bool tcp_lane_has_room(struct tcp_lane *lane, struct tcp_share *share, size_t size)
{
    if (lane->out + size <= TCP_BUFFER)
        return true;
    lane_send_some(lane);
    lane_move_to_front(lane);
    return lane->out + size <= TCP_BUFFER || lane_share_has_room(lane, share, size);
}

void tcp_lane_note(struct tcp_lane *lane, struct tcp_share *share, size_t size)
{
    if (lane_has_sent(lane, share->end))
        share->unsent = 0;
    share->unsent += size;
    share->end = lane_posted(lane);
}

void tcp_lane_send(struct tcp_lane *lane)
{
    lane_send_some(lane);
    if (lane->sent < lane->out && !atomic_exchange(&lane->owes, true))
        control_wake(&lane->tcp->control);
}

static size_t lane_answer_size(const struct tcp_pending *p)
{
    return sizeof(struct tcp_request) + p->size;
}

/* Whether the other end has room for one more answer. */
static bool lane_may_ask(const struct tcp_lane *lane, const struct tcp_pending *p)
{
    const size_t size = lane_answer_size(p), all = lane->awaited + size;
    const uint64_t count = lane->asked - lane->answered;

    if (count < TCP_DEPTH / 2 && all <= TCP_ANSWERS / 2)
        return true;
    return count < TCP_DEPTH && all <= TCP_ANSWERS && size <= TCP_SHARE &&
           atomic_load_explicit(&p->link->waiting, memory_order_relaxed) < TCP_SHARE_ASKED;
}

/* Waits for room for a request, and for its answer if it has one. */
static int lane_await_room(struct tcp_lane *lane, struct tcp_link *l, size_t size,
                           const struct tcp_pending *pending, uint64_t until)
{
    struct loco_wait wait = {.until = until};

    while (!lane_link_is_broken(l)) {
        if (tcp_lane_has_room(lane, &l->share, size) && (!pending || lane_may_ask(lane, pending)))
            return 0;
        if (tcp_now() >= until)
            return -ETIMEDOUT;
        if (lane_wait_a_turn(lane, l, &wait))
            break;
    }
    return -ECONNRESET;
}

/* The output has room for the request. */
static void lane_put(struct tcp_lane *lane, struct tcp_request r, const void *data, size_t size)
{
    memcpy(lane->output + lane->out, &r, sizeof r);
    lane->out += sizeof r;
    tcp_fetch(lane->output + lane->out, data, size);
    lane->out += size;
}

static int lane_post(struct tcp_lane *lane, struct tcp_link *l, struct tcp_request r,
                     const void *data, size_t size)
{
    lane_put(lane, r, data, size);
    tcp_lane_note(lane, &l->share, sizeof r + size);
    if (tcp_holds(lane->tcp) && r.operation == TCP_WRITE)
        atomic_store_explicit(&lane->held, true, memory_order_relaxed);
    else
        tcp_lane_send(lane);
    return lane_link_is_broken(l) ? -ECONNRESET : 0;
}

int tcp_lane_post(struct tcp_link *l, struct tcp_request r, const void *data, size_t size)
{
    struct tcp_lane *lane = atomic_load_explicit(&l->lane, memory_order_relaxed);
    int rc = lane_await_room(lane, l, sizeof r + size, NULL, UINT64_MAX);

    return rc ? rc : lane_post(lane, l, r, data, size);
}

/* --- asking: with the lane's lock held ------------------------------------------------------ */

int tcp_lane_ask(struct tcp_link *l, struct tcp_request r, const void *data, size_t size,
                 const struct tcp_pending *pending)
{
    struct tcp_lane *lane = atomic_load_explicit(&l->lane, memory_order_relaxed);
    int rc = lane_await_room(lane, l, sizeof r + size, pending, UINT64_MAX);

    if (rc)
        return rc;
    lane->pending[lane->asked++ % TCP_DEPTH] = *pending;
    lane->awaited += lane_answer_size(pending);
    atomic_fetch_add_explicit(&l->waiting, 1, memory_order_release);
    return lane_post(lane, l, r, data, size);
}

/* The newest of the link's operations before the first that waits for an answer. */
static uint64_t lane_done_until(const struct tcp_link *l)
{
    const struct tcp_lane *lane = atomic_load_explicit(&l->lane, memory_order_relaxed);

    for (uint64_t i = lane->answered; i < lane->asked; i++)
        if (lane->pending[i % TCP_DEPTH].link == l)
            return lane->pending[i % TCP_DEPTH].number;
    return l->number;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* Never lowers `done`: the link's thread may have held a newer write, which is done. */
static void lane_raise_done(struct tcp_link *l, uint64_t to)
{
    uint64_t from = atomic_load_explicit(&l->base.done, memory_order_relaxed);

    while (from < to && !atomic_compare_exchange_weak_explicit(
                            &l->base.done, &from, to, memory_order_release, memory_order_relaxed))
        ;
}

static void lane_finish(struct tcp_link *l, const struct tcp_pending *p)
{
    atomic_fetch_sub_explicit(&l->waiting, 1, memory_order_release);
    atomic_store_explicit(&l->base.flushed, p->sequence, memory_order_release);
    lane_raise_done(l, lane_done_until(l));
}

/* Whether `a` answers the oldest request. */
static bool lane_awaits(const struct tcp_lane *lane, const struct tcp_request *a)
{
    const struct tcp_pending *p = &lane->pending[lane->answered % TCP_DEPTH];

    return lane->answered < lane->asked && a->link == p->index &&
           (a->operation == TCP_NOT_THERE || a->size == p->size);
}

static void lane_take_answer(struct tcp_lane *lane, const struct tcp_request *a,
                             const unsigned char *body)
{
    const struct tcp_pending p = lane->pending[lane->answered++ % TCP_DEPTH];

    lane->awaited -= lane_answer_size(&p);
    if (!p.link)
        return;
    if (a->operation == TCP_NOT_THERE) {
        lane_fail_link(lane, p.link);
        return;
    }
    tcp_place(p.to, body, a->size);
    lane_finish(p.link, &p);
}

bool tcp_lane_hear_answer(struct tcp_lane *lane, const struct tcp_request *a,
                          const unsigned char *body)
{
    pthread_mutex_lock(&lane->lock);
    const bool sound = lane_awaits(lane, a);
    if (sound)
        lane_take_answer(lane, a, body);
    pthread_mutex_unlock(&lane->lock);
    return sound;
}

unsigned char *tcp_lane_answer(struct tcp_lane *lane, enum tcp_operation operation, uint16_t link,
                               size_t size)
{
    const struct tcp_request a = {
        .operation = (uint8_t)operation, .link = link, .size = (uint32_t)size};

    if (sizeof lane->output - lane->out < sizeof a + size)
        lane_move_to_front(lane);
    if (sizeof lane->output - lane->out < sizeof a + size)
        return NULL;
    memcpy(lane->output + lane->out, &a, sizeof a);
    lane->out += sizeof a + size;
    atomic_store_explicit(&lane->owes, true, memory_order_relaxed);
    return lane->output + lane->out - size;
}

void tcp_lane_send_answers(struct tcp_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    lane_send_some(lane);
    pthread_mutex_unlock(&lane->lock);
}

/* --- what a thread holds -------------------------------------------------------------------- */

void tcp_lanes_send_held(struct tcp *t)
{
    struct tcp_lane *lane = atomic_load_explicit(&t->lanes, memory_order_acquire);

    for (; lane; lane = lane->next) {
        if (!atomic_load_explicit(&lane->held, memory_order_relaxed))
            continue;
        pthread_mutex_lock(&lane->lock);
        tcp_lane_send(lane);
        pthread_mutex_unlock(&lane->lock);
    }
}

/* --- opening and closing --------------------------------------------------------------------- */

static bool lane_is_idle(struct tcp_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    const bool idle = lane->fd < 0 && !lane->links;
    pthread_mutex_unlock(&lane->lock);
    return idle;
}

/* An idle lane, or a new one. Lanes stay until the fabric closes, because other threads walk their
 * list without a lock; so an idle lane is used again. With the fabric's lock held. */
static struct tcp_lane *lane_find_idle(struct tcp *t)
{
    struct tcp_lane *lane = atomic_load(&t->lanes);

    while (lane && !lane_is_idle(lane))
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

static bool lane_is_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    return loco_address_same_host((const struct sockaddr *)a, b);
}

/* With the lane's lock held. */
static bool lane_leads_there(const struct tcp_lane *lane, const struct tcp_node *n, uint32_t peer,
                             uint64_t process)
{
    return lane->fd >= 0 && lane->process == process && !atomic_load(&lane->broken) &&
           lane_is_same_host(&lane->here, &n->control.addresses[n->control.base.id]) &&
           lane_is_same_host(&lane->there, &n->control.addresses[peer]);
}

unsigned tcp_lanes_count(const struct tcp_node *n, uint32_t peer, uint64_t process)
{
    unsigned count = 0;

    for (struct tcp_lane *lane = atomic_load(&n->tcp->lanes); lane; lane = lane->next) {
        pthread_mutex_lock(&lane->lock);
        count += lane_leads_there(lane, n, peer, process);
        pthread_mutex_unlock(&lane->lock);
    }
    return count;
}

/* The lowest free index; TCP_LINKS_MAX: there is none. */
static unsigned lane_find_index(const struct tcp_lane *lane)
{
    unsigned i = 0;

    while (i < TCP_LINKS_MAX && lane->indices[i / 64] >> i % 64 & 1)
        i++;
    return i;
}

static bool lane_suits(struct tcp_lane *lane, const struct tcp_link *l, uint64_t process)
{
    pthread_mutex_lock(&lane->lock);
    const bool yes = lane_leads_there(lane, l->node, l->base.peer, process) &&
                     lane_find_index(lane) < TCP_LINKS_MAX;
    pthread_mutex_unlock(&lane->lock);
    return yes;
}

struct tcp_lane *tcp_lane_find(const struct tcp_link *l, uint64_t process)
{
    struct tcp_lane *lane = atomic_load(&l->node->tcp->lanes);

    while (lane && !lane_suits(lane, l, process))
        lane = lane->next;
    return lane;
}

/* With the lane's lock held. */
static void lane_add_link(struct tcp_lane *lane, struct tcp_link *l)
{
    l->index = (uint16_t)lane_find_index(lane);
    lane->indices[l->index / 64] |= (uint64_t)1 << l->index % 64;
    l->beside = lane->links;
    lane->links = l;
    atomic_store(&l->lane, lane);
}

/* Begins a lane on this socket, which connects the node with the peer. With `serving` and the
 * fabric's lock held. */
static int lane_begin(const struct tcp_node *n, uint32_t peer, int fd, uint64_t process,
                      struct tcp_lane **made)
{
    struct tcp_lane *lane = lane_find_idle(n->tcp);

    if (!lane)
        return -ENOMEM;
    pthread_mutex_lock(&lane->lock);
    lane->here = n->control.addresses[n->control.base.id];
    lane->there = n->control.addresses[peer];
    lane->process = process;
    memset(lane->indices, 0, sizeof lane->indices);
    lane->in = lane->out = lane->sent = lane->awaited = 0;
    lane->asked = lane->answered = 0;
    atomic_store(&lane->broken, false);
    atomic_store(&lane->held, false);
    atomic_store(&lane->owes, false);
    lane->fd = fd;
    pthread_mutex_unlock(&lane->lock);
    *made = lane;
    control_wake(&n->tcp->control);
    return 0;
}

int tcp_lane_make(struct tcp_link *l, int fd, uint64_t process)
{
    struct tcp *t = l->node->tcp;
    struct tcp_lane *lane;

    pthread_mutex_lock(&t->serving);
    pthread_mutex_lock(&t->control.lock);
    int rc = lane_begin(l->node, l->base.peer, fd, process, &lane);
    if (!rc) {
        pthread_mutex_lock(&lane->lock);
        lane_add_link(lane, l);
        pthread_mutex_unlock(&lane->lock);
    }
    pthread_mutex_unlock(&t->control.lock);
    pthread_mutex_unlock(&t->serving);
    return rc;
}

int tcp_lane_take(struct tcp_node *n, struct control_peer *p, int fd)
{
    struct tcp_lane *lane;
    int rc = lane_begin(n, p->id, fd, p->connection->greet.process, &lane);

    if (!rc)
        tcp_target_add(lane, 0, n, p);
    return rc;
}

static void lane_free_index(struct tcp_lane *lane, uint16_t index)
{
    lane->indices[index / 64] &= ~((uint64_t)1 << index % 64);
}

static void lane_remove_link(struct tcp_lane *lane, const struct tcp_link *l)
{
    struct tcp_link **at = &lane->links;

    while (*at != l)
        at = &(*at)->beside;
    *at = l->beside;
}

int tcp_lane_join(struct tcp_lane *lane, struct tcp_link *l, const struct control_greeting *g,
                  uint64_t until)
{
    struct tcp_request r = {.operation = TCP_BEGIN_LINK, .size = sizeof *g};

    pthread_mutex_lock(&lane->lock);
    lane_add_link(lane, l);
    r.link = l->index;
    if (atomic_load(&lane->broken))
        atomic_store(&l->broken, true);
    int rc = lane_await_room(lane, l, sizeof r + sizeof *g, NULL, until);
    if (!rc)
        lane_post(lane, l, r, g, sizeof *g);
    if (rc == -ETIMEDOUT) {
        lane_remove_link(lane, l);
        lane_free_index(lane, l->index);
        atomic_store(&l->lane, NULL);
    }
    pthread_mutex_unlock(&lane->lock);
    return rc;
}

/* Tells the other end that the link is closed, which frees its index. If there is no room for that,
 * the index stays taken. */
static void lane_say_closed(struct tcp_lane *lane, struct tcp_link *l)
{
    const struct tcp_request r = {.operation = TCP_END_LINK, .link = l->index};

    if (!tcp_lane_has_room(lane, &l->share, sizeof r))
        return;
    lane_free_index(lane, l->index);
    lane_put(lane, r, NULL, 0);
    tcp_lane_send(lane);
}

void tcp_lane_leave(struct tcp_lane *lane, struct tcp_link *l)
{
    pthread_mutex_lock(&lane->lock);
    tcp_lane_collect(lane);
    lane_remove_link(lane, l);
    lane_forget_answers(lane, l);
    if (!atomic_load(&lane->broken))
        lane_say_closed(lane, l);
    pthread_mutex_unlock(&lane->lock);
}

void tcp_lanes_free(struct tcp *t)
{
    for (struct tcp_lane *lane = atomic_load(&t->lanes), *next; lane; lane = next) {
        next = lane->next;
        if (lane->fd >= 0)
            close(lane->fd);
        pthread_mutex_destroy(&lane->lock);
        free(lane);
    }
}

void tcp_tend_lanes(struct tcp *t)
{
    pthread_mutex_lock(&t->control.lock);
    for (struct tcp_lane *lane = atomic_load(&t->lanes); lane; lane = lane->next) {
        if (!atomic_exchange(&lane->failed, false))
            continue;
        pthread_mutex_lock(&lane->lock);
        for (struct tcp_link *l = lane->links; l; l = l->beside) {
            if (l->failed)
                tcp_link_failed(l);
            l->failed = false;
        }
        pthread_mutex_unlock(&lane->lock);
    }
    pthread_mutex_unlock(&t->control.lock);
}

void tcp_lanes_end(struct tcp *t, uint64_t process)
{
    for (struct tcp_lane *lane = atomic_load(&t->lanes); lane; lane = lane->next) {
        pthread_mutex_lock(&lane->lock);
        if (lane->fd >= 0 && lane->process == process)
            lane_fail(lane);
        pthread_mutex_unlock(&lane->lock);
    }
}
