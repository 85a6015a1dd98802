/*
 * How two processes of the shm fabric greet each other: each proves that it knows the network's
 * secret. Each function that handles a greeting returns whether the connection may stay.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>

#include "shm_internal.h"

static const char *greeting_reason(uint64_t reason)
{
    return reason == SHM_FOREIGN ? "another network" : "it does not know this network's secret";
}

/* Refuses the other process, and tells it why, so that its user learns of it, too. */
static bool greeting_refuse(struct shm_connection *c, uint32_t count, enum shm_reason reason)
{
    struct shm *s = c->shm;
    struct shm_node *n = shm_connection_node(s, c->own);
    char text[160];

    shm_greeting_send(c, (struct shm_greeting){.kind = SHM_REFUSAL, .reason = reason});
    if (c->called && !shm_peer_refused(c, false))
        return false;
    if (!n || !shm_is_worth_saying(s))
        return false;
    snprintf(text, sizeof text, "node %u (of %u) met a node that says it is node %u of %u: %s",
             c->own, s->count, c->other, count, greeting_reason(reason));
    shm_warn(n, text);
    return false;
}

/* Refuses a process that knows the secret but has a different number of nodes, and tells the core.
 * The core is not told of other refusals. */
static bool greeting_refuse_foreigner(struct shm_connection *c, uint32_t count)
{
    struct shm_node *n = shm_connection_node(c->shm, c->own);

    greeting_refuse(c, count, SHM_FOREIGN);
    if (n && n->base.events.foreigner)
        n->base.events.foreigner(n->base.events.arg, count);
    return false;
}

static bool greeting_on_refusal(struct shm_connection *c, const struct shm_greeting *g)
{
    struct shm *s = c->shm;
    struct shm_node *n = shm_connection_node(s, c->own);
    char text[160];

    if (!c->called || c->proven)
        return false;
    if (!shm_peer_refused(c, g->reason == SHM_ABSENT) || !n || !shm_is_worth_saying(s))
        return false;
    snprintf(text, sizeof text,
             "node %u (of %u) was refused by a node that says it is %u of %u: %s", c->own, s->count,
             g->from, g->count,
             g->reason == SHM_FOREIGN ? "another network" : "it has another secret");
    shm_warn(n, text);
    return false;
}

/* Watches the other process's life. In another PID namespace only its socket tells. With the lock
 * held. */
static void connection_watch_process(struct shm_connection *c)
{
    const int process = shm_process_at(c->fd);

    if (process == -ESRCH)
        shm_connection_end(c);
    if (process < 0)
        return;
    c->process_fd = process;
    shm_watch(c->shm, EPOLL_CTL_ADD, process, c, EPOLLIN);
}

/* The other process has proven itself: from now on its messages are accepted. */
static bool greeting_welcome(struct shm_connection *c, uint64_t process)
{
    struct shm *s = c->shm;

    pthread_mutex_lock(&s->lock);
    s->strangers -= shm_connection_is_stranger(c);
    c->proven = true;
    c->process = process;
    connection_watch_process(c);
    pthread_mutex_unlock(&s->lock);
    return true;
}

/* A caller says which node it is. The answer asks it for a proof. */
static bool greeting_on_hello(struct shm_connection *c, const struct shm_greeting *g)
{
    if (c->called || c->claim.purpose)
        return false;
    c->own = g->to;
    c->other = g->from;
    if (!shm_connection_node(c->shm, g->to)) {
        shm_greeting_send(c, (struct shm_greeting){.kind = SHM_REFUSAL, .reason = SHM_ABSENT});
        return false;
    }
    if (g->from <= g->to || g->from >= g->count)
        return greeting_refuse(c, g->count, SHM_FOREIGN);
    const struct loco_claim mine =
        loco_claim_of(SHM_OF_ANSWER, g->to, g->from, g->count, &g->nonce, &c->nonce);
    c->claim = loco_claim_of(SHM_OF_PROOF, g->from, g->to, g->count, &c->nonce, &g->nonce);
    shm_greeting_send(c, (struct shm_greeting){.kind = SHM_ANSWER,
                                               .nonce = c->nonce,
                                               .proof = loco_prove(&c->shm->key, &mine)});
    return true;
}

/* Another connection to the same process; NULL when there is none. */
static struct shm_connection *connection_other_to(const struct shm_connection *connection,
                                                  uint64_t process)
{
    struct shm_connection *c = connection->shm->connections;

    while (c && (c == connection || !c->proven || c->process != process))
        c = c->next;
    return c;
}

static bool greeting_on_answer(struct shm_connection *c, const struct shm_greeting *g)
{
    const struct shm *s = c->shm;

    if (!c->called || c->proven)
        return false;
    const struct loco_claim theirs =
        loco_claim_of(SHM_OF_ANSWER, c->other, c->own, s->count, &c->nonce, &g->nonce);
    const struct loco_claim mine =
        loco_claim_of(SHM_OF_PROOF, c->own, c->other, s->count, &g->nonce, &c->nonce);
    bool right = loco_proves(&s->key, &theirs, &g->proof);
    struct shm_connection *same = right ? connection_other_to(c, g->process) : NULL;
    if (same) {
        same->place = c->place;
        return false;
    }
    /* Sent even if their proof is wrong, so that the other process finds out and says so, too. */
    shm_greeting_send(
        c, (struct shm_greeting){.kind = SHM_PROOF, .proof = loco_prove(&s->key, &mine)});
    if (right && g->count == s->count)
        return greeting_welcome(c, g->process);
    return right ? greeting_refuse_foreigner(c, g->count)
                 : greeting_refuse(c, g->count, SHM_UNPROVEN);
}

static bool greeting_on_proof(struct shm_connection *c, const struct shm_greeting *g)
{
    const uint32_t count = c->claim.count;

    if (c->called || c->proven || !c->claim.purpose)
        return false;
    if (!loco_proves(&c->shm->key, &c->claim, &g->proof))
        return greeting_refuse(c, count, SHM_UNPROVEN);
    return count == c->shm->count ? greeting_welcome(c, g->process)
                                  : greeting_refuse_foreigner(c, count);
}

bool shm_greeting_hear(struct shm_connection *c, const struct shm_greeting *g)
{
    switch (g->kind) {
    case SHM_HELLO:
        return greeting_on_hello(c, g);
    case SHM_ANSWER:
        return greeting_on_answer(c, g);
    case SHM_PROOF:
        return greeting_on_proof(c, g);
    default:
        return greeting_on_refusal(c, g);
    }
}
