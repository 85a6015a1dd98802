/*
 * The other end of a peer's link: what the peer writes is placed, what it asks for is executed and
 * answered, one after the other. No more is heard while answers lie unsent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "tcp_internal.h"
#include "tcp_words.h"

/* --- requests ----------------------------------------------------------------------------- */

static size_t room(const struct tcp_target *t)
{
    return sizeof t->output - t->out;
}

static void answer(struct tcp_target *t, uint64_t word)
{
    memcpy(t->output + t->out, &word, sizeof word);
    t->out += sizeof word;
}

static unsigned char *memory_of(const struct tcp_target *t)
{
    return t->end.node->own.at[t->at.arena].base + t->at.offset;
}

/* Each of these returns whether it got any further. */

static bool go_on_writing(struct tcp_target *t, const unsigned char *data, size_t size,
                          size_t *used)
{
    const size_t n = t->left < size ? t->left : size;

    *used = tcp_place(memory_of(t), data, n, n < t->left);
    t->at.offset += *used;
    t->left -= *used;
    return *used > 0;
}

static bool go_on_reading(struct tcp_target *t)
{
    const size_t n = t->left < room(t) ? t->left : tcp_whole_words(t->at.offset, room(t));

    tcp_fetch(t->output + t->out, memory_of(t), n);
    t->out += n;
    t->at.offset += n;
    t->left -= n;
    return n > 0;
}

/* Whether the place is memory that this node has given to its peers. */
static bool is_allowed(const struct tcp_target *t, const struct tcp_request *r)
{
    const struct tcp_arenas *own = &t->end.node->own;

    switch (r->operation) {
    case TCP_WRITE:
    case TCP_READ:
        return tcp_arena_has(own, r->arena, r->offset, r->first);
    case TCP_FETCH_ADD:
    case TCP_COMPARE_SWAP:
        return tcp_arena_has(own, r->arena, r->offset, sizeof(uint64_t)) &&
               r->offset % sizeof(uint64_t) == 0;
    default:
        return r->operation == TCP_FLUSH;
    }
}

/* A write's words are placed after those of earlier writes. */
static void begin_transfer(struct tcp_target *t)
{
    t->left = t->at.first;
    if (t->at.operation == TCP_WRITE)
        atomic_thread_fence(memory_order_release);
}

uint64_t tcp_execute(uint64_t *word, const struct tcp_request *r)
{
    uint64_t old = r->first;

    if (r->operation == TCP_FETCH_ADD)
        return __atomic_fetch_add(word, r->first, __ATOMIC_SEQ_CST);
    __atomic_compare_exchange_n(word, &old, r->second, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return old;
}

/* The placed writes of a flush are seen by everybody before its echo goes out. */
static void begin(struct tcp_target *t)
{
    if (t->at.operation == TCP_WRITE || t->at.operation == TCP_READ) {
        begin_transfer(t);
        return;
    }
    if (t->at.operation == TCP_FLUSH) {
        atomic_thread_fence(memory_order_seq_cst);
        answer(t, t->at.first);
        return;
    }
    answer(t, tcp_execute((uint64_t *)(void *)memory_of(t), &t->at));
}

/* Does what the input asks for as far as it is here, and answers have room. Returns false for what
 * no node asks. */
static bool work(struct tcp_target *t)
{
    size_t at = 0, used = 0;
    bool sound = true, moved = true;

    while (sound && moved) {
        const size_t here = t->in - at;
        used = 0;
        if (t->left > 0 && t->at.operation == TCP_WRITE) {
            moved = go_on_writing(t, t->input + at, here, &used);
        } else if (t->left > 0) {
            moved = go_on_reading(t);
        } else if (here < sizeof t->at || room(t) < sizeof(uint64_t)) {
            moved = false;
        } else {
            used = sizeof t->at;
            memcpy(&t->at, t->input + at, used);
            sound = is_allowed(t, &t->at);
            if (sound)
                begin(t);
        }
        at += used;
    }
    memmove(t->input, t->input + at, t->in - at);
    t->in -= at;
    return sound;
}

/* --- the connection ----------------------------------------------------------------------- */

static void refuse(struct tcp_target *t)
{
    struct tcp_node *n = t->end.node;

    pthread_mutex_lock(&n->tcp->lock);
    tcp_warn(n, "node %u: node %u asked for memory that it was not given, or for what no node asks",
             n->base.id, t->peer->id);
    if (t->peer->connection)
        tcp_connection_end(t->peer->connection);
    pthread_mutex_unlock(&n->tcp->lock);
    tcp_target_drop(t);
}

/* Returns false when the connection is over. */
static bool send_answers(struct tcp_target *t)
{
    if (t->out == 0)
        return true;
    ssize_t sent = send(t->end.fd, t->output, t->out, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    t->out -= (size_t)sent;
    memmove(t->output, t->output + sent, t->out);
    return true;
}

/* Returns false when the connection is over. */
static bool receive(struct tcp_target *t)
{
    ssize_t got = recv(t->end.fd, t->input + t->in, sizeof t->input - t->in, MSG_DONTWAIT);

    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    t->in += (size_t)got;
    return got > 0;
}

void tcp_target_serve(struct tcp_target *t)
{
    bool going = t->out > 0 ? send_answers(t) : receive(t), answered = true;

    while (going && answered && t->out == 0) {
        if (!work(t)) {
            refuse(t);
            return;
        }
        answered = t->out > 0;
        going = send_answers(t);
    }
    if (going)
        tcp_watch(t->end.node->tcp, &t->end, t->out > 0 ? EPOLLOUT : EPOLLIN);
    else
        tcp_target_drop(t);
}

int tcp_target_new(struct tcp_node *n, struct tcp_peer *p, int fd)
{
    struct tcp_target *t = calloc(1, sizeof *t);

    if (!t)
        return -ENOMEM;
    t->end = (struct tcp_end){.role = TCP_TARGET, .fd = fd, .node = n};
    int rc = tcp_watch(n->tcp, &t->end, EPOLLIN);
    if (rc) {
        free(t);
        return rc;
    }
    t->peer = p;
    t->next = p->targets;
    p->targets = t;
    p->target_count++;
    return 0;
}

void tcp_target_drop(struct tcp_target *t)
{
    for (struct tcp_target **at = &t->peer->targets; *at; at = &(*at)->next) {
        if (*at == t) {
            *at = t->next;
            t->peer->target_count--;
            break;
        }
    }
    tcp_bury(t->end.node->tcp, &t->end);
}
