/*
 * The other ends of lanes: what peers write is placed, what they ask for is executed and answered,
 * one after the other. No more is heard while answers lie unsent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "tcp_internal.h"
#include "tcp_words.h"

/* --- links: with the fabric's lock held ------------------------------------------------------ */

static void add_target(struct tcp_far_lane *lane, uint32_t index, struct tcp_node *n,
                       struct tcp_peer *p)
{
    lane->targets[index] = (struct tcp_target){.node = n, .peer = p};
    lane->target_count++;
    p->target_count++;
}

static void drop_target(struct tcp_far_lane *lane, uint32_t index)
{
    struct tcp_target *t = &lane->targets[index];

    if (!t->node)
        return;
    t->peer->target_count--;
    lane->target_count--;
    *t = (struct tcp_target){0};
}

static void drop_lane(struct tcp_far_lane *lane)
{
    struct tcp_far_lane **at = &lane->tcp->far_lanes;

    for (uint32_t i = 0; i < TCP_LINKS_MAX; i++)
        drop_target(lane, i);
    while (*at != lane)
        at = &(*at)->next;
    *at = lane->next;
    if (lane->tcp->recent == lane)
        lane->tcp->recent = NULL;
    tcp_bury(lane->tcp, &lane->end);
}

void tcp_targets_drop(struct tcp_node *n, const struct tcp_peer *p)
{
    for (struct tcp_far_lane *lane = n->tcp->far_lanes, *next; lane; lane = next) {
        const unsigned before = lane->target_count;
        next = lane->next;
        for (uint32_t i = 0; i < TCP_LINKS_MAX; i++)
            if (lane->targets[i].node == n && lane->targets[i].peer == p)
                drop_target(lane, i);
        if (before && !lane->target_count)
            drop_lane(lane);
    }
}

/* --- requests ----------------------------------------------------------------------------- */

/* Of what a link asks for that is not there. */
static void answer_not_there(struct tcp_far_lane *lane, uint32_t link)
{
    const struct tcp_answer a = {.link = link, .size = TCP_NOT_THERE};

    memcpy(lane->output + lane->out, &a, sizeof a);
    lane->out += sizeof a;
}

/* Room for what an answer brings. */
static unsigned char *answer(struct tcp_far_lane *lane, uint32_t link, size_t size)
{
    const struct tcp_answer a = {.link = link, .size = (uint32_t)size};
    unsigned char *body = lane->output + lane->out + sizeof a;

    memcpy(lane->output + lane->out, &a, sizeof a);
    lane->out += sizeof a + size;
    return body;
}

static void answer_word(struct tcp_far_lane *lane, uint32_t link, uint64_t word)
{
    memcpy(answer(lane, link, sizeof word), &word, sizeof word);
}

/* Whether the place is memory that this node has given to its peers. */
static bool is_allowed(const struct tcp_node *n, const struct tcp_request *r)
{
    switch (r->operation) {
    case TCP_WRITE:
    case TCP_READ:
        return tcp_arena_has(&n->own, r->arena, r->offset, r->first);
    case TCP_FETCH_ADD:
    case TCP_COMPARE_SWAP:
        return tcp_arena_has(&n->own, r->arena, r->offset, sizeof(uint64_t)) &&
               r->offset % sizeof(uint64_t) == 0;
    default:
        return r->operation == TCP_FLUSH;
    }
}

static unsigned char *memory_of(const struct tcp_node *n, const struct tcp_request *r)
{
    return n->own.at[r->arena].base + r->offset;
}

uint64_t tcp_execute(uint64_t *word, const struct tcp_request *r)
{
    uint64_t old = r->first;

    if (r->operation == TCP_FETCH_ADD)
        return __atomic_fetch_add(word, r->first, __ATOMIC_SEQ_CST);
    __atomic_compare_exchange_n(word, &old, r->second, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return old;
}

/* A write's words are placed after those of earlier writes. The placed writes of a flush are seen
 * by everybody before its answer goes out. */
static void execute(struct tcp_far_lane *lane, const struct tcp_node *n,
                    const struct tcp_request *r, const unsigned char *data)
{
    switch (r->operation) {
    case TCP_WRITE:
        atomic_thread_fence(memory_order_release);
        tcp_place(memory_of(n, r), data, r->first);
        break;
    case TCP_READ:
        tcp_fetch(answer(lane, r->link, r->first), memory_of(n, r), r->first);
        break;
    case TCP_FLUSH:
        atomic_thread_fence(memory_order_seq_cst);
        answer(lane, r->link, 0);
        break;
    default:
        answer_word(lane, r->link, tcp_execute((uint64_t *)(void *)memory_of(n, r), r));
    }
}

/* Whose link it is; or, of a link that is not there, one of the same process. */
static const struct tcp_target *find_target(const struct tcp_far_lane *lane, uint32_t index)
{
    if (index < TCP_LINKS_MAX && lane->targets[index].node)
        return &lane->targets[index];
    for (uint32_t i = 0; i < TCP_LINKS_MAX; i++)
        if (lane->targets[i].node)
            return &lane->targets[i];
    return NULL;
}

static void refuse(const struct tcp_far_lane *lane, const struct tcp_request *r)
{
    pthread_mutex_lock(&lane->tcp->lock);
    const struct tcp_target *t = find_target(lane, r->link);
    if (t)
        tcp_warn(
            t->node,
            "node %u: node %u asked for memory that it was not given, or for what no node asks",
            t->node->base.id, t->peer->id);
    if (t && t->peer->connection)
        tcp_connection_end(t->peer->connection);
    pthread_mutex_unlock(&lane->tcp->lock);
}

static struct tcp_node *find_node(const struct tcp *t, uint32_t id)
{
    struct tcp_node *n = t->nodes;

    while (n && (n->base.id != id || n->leave_by))
        n = n->next;
    return n;
}

/* A further link. That of a peer which is lost, or of nobody, is not there. */
static bool open_target(struct tcp_far_lane *lane, uint32_t index, const unsigned char *data)
{
    struct tcp_greeting g;

    memcpy(&g, data, sizeof g);
    if (g.magic != TCP_MAGIC || g.version != TCP_VERSION || g.step != TCP_LINK ||
        lane->targets[index].node)
        return false;
    pthread_mutex_lock(&lane->tcp->lock);
    struct tcp_node *n = find_node(lane->tcp, g.to);
    struct tcp_peer *p = n ? tcp_admit_link(n, lane->end.fd, &g) : NULL;
    if (p)
        add_target(lane, index, n, p);
    pthread_mutex_unlock(&lane->tcp->lock);
    return true;
}

static void close_target(struct tcp_far_lane *lane, uint32_t index)
{
    pthread_mutex_lock(&lane->tcp->lock);
    drop_target(lane, index);
    pthread_mutex_unlock(&lane->tcp->lock);
}

/* Does what a whole request asks for. Returns false for what no node asks. */
static bool serve_request(struct tcp_far_lane *lane, const struct tcp_request *r,
                          const unsigned char *data)
{
    const struct tcp_target *t = &lane->targets[r->link];

    if (r->operation == TCP_BEGIN_LINK)
        return open_target(lane, r->link, data);
    if (r->operation == TCP_END_LINK) {
        close_target(lane, r->link);
        return true;
    }
    if (!t->node) {
        if (r->operation != TCP_WRITE)
            answer_not_there(lane, r->link);
        return true;
    }
    if (!is_allowed(t->node, r))
        return false;
    execute(lane, t->node, r, data);
    return true;
}

/* How many bytes come behind it. */
static size_t body_of(const struct tcp_request *r)
{
    return r->operation == TCP_WRITE || r->operation == TCP_BEGIN_LINK ? (size_t)r->first : 0;
}

/* Whether a node may say it at all; what it asks for is looked at when it is all here. */
static bool is_request(const struct tcp_request *r)
{
    switch (r->operation) {
    case TCP_WRITE:
    case TCP_READ:
        return r->link < TCP_LINKS_MAX && r->first <= TCP_PIECE;
    case TCP_BEGIN_LINK:
        return r->link < TCP_LINKS_MAX && r->first == sizeof(struct tcp_greeting);
    default:
        return r->link < TCP_LINKS_MAX && r->operation >= TCP_WRITE && r->operation <= TCP_END_LINK;
    }
}

/* Does what the input asks for as far as it is here, and answers have room. Returns false for what
 * no node asks. */
static bool work(struct tcp_far_lane *lane)
{
    struct tcp_request r;
    size_t at = 0;
    bool sound = true;

    while (sound && lane->in - at >= sizeof r &&
           sizeof lane->output - lane->out >= sizeof(struct tcp_answer) + TCP_PIECE) {
        memcpy(&r, lane->input + at, sizeof r);
        sound = is_request(&r);
        if (sound && lane->in - at - sizeof r < body_of(&r))
            break;
        sound = sound && serve_request(lane, &r, lane->input + at + sizeof r);
        if (!sound)
            refuse(lane, &r);
        at += sizeof r + (sound ? body_of(&r) : 0);
    }
    memmove(lane->input, lane->input + at, lane->in - at);
    lane->in -= at;
    return sound;
}

/* --- the connection ----------------------------------------------------------------------- */

/* Returns false when the connection is over. */
static bool send_answers(struct tcp_far_lane *lane)
{
    if (lane->out == 0)
        return true;
    ssize_t sent = send(lane->end.fd, lane->output, lane->out, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    lane->out -= (size_t)sent;
    memmove(lane->output, lane->output + sent, lane->out);
    return true;
}

/* Returns false when the connection is over. */
static bool receive(struct tcp_far_lane *lane)
{
    ssize_t got =
        recv(lane->end.fd, lane->input + lane->in, sizeof lane->input - lane->in, MSG_DONTWAIT);

    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    lane->in += (size_t)got;
    lane->tcp->recent = lane;
    return got > 0;
}

static void end_lane(struct tcp_far_lane *lane)
{
    pthread_mutex_lock(&lane->tcp->lock);
    drop_lane(lane);
    pthread_mutex_unlock(&lane->tcp->lock);
}

void tcp_far_lane_serve(struct tcp_far_lane *lane)
{
    bool going = lane->out > 0 ? send_answers(lane) : receive(lane), answered = true;

    while (going && answered && lane->out == 0) {
        going = work(lane);
        answered = lane->out > 0;
        going = going && send_answers(lane);
    }
    if (going)
        tcp_watch(lane->tcp, &lane->end, lane->out > 0 ? EPOLLOUT : EPOLLIN);
    else
        end_lane(lane);
}

int tcp_far_lane_new(struct tcp_node *n, struct tcp_peer *p, int fd)
{
    struct tcp_far_lane *lane = calloc(1, sizeof *lane);

    if (!lane)
        return -ENOMEM;
    lane->end = (struct tcp_end){.role = TCP_FAR_LANE, .fd = fd};
    lane->tcp = n->tcp;
    int rc = tcp_watch(n->tcp, &lane->end, EPOLLIN);
    if (rc) {
        free(lane);
        return rc;
    }
    lane->next = n->tcp->far_lanes;
    n->tcp->far_lanes = lane;
    add_target(lane, 0, n, p);
    return 0;
}

void tcp_far_lanes_free(struct tcp *t)
{
    while (t->far_lanes) {
        struct tcp_far_lane *lane = t->far_lanes;
        t->far_lanes = lane->next;
        close(lane->end.fd);
        free(lane);
    }
}
