/*
 * How two processes of the shm fabric greet each other (control/greet.h): each proves that it knows
 * the network's secret. Each function that handles a greeting returns whether the connection may
 * stay.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>

#include "shm_internal.h"

/* --- refusals -----------------------------------------------------------------------------------
 */

static void greeting_warn(struct shm_connection *c, uint32_t id, uint32_t count, const char *why)
{
    struct shm_node *n = shm_find_node(c->shm, c->self.id);
    char text[160];

    if (!n || !shm_is_worth_saying(c->shm))
        return;
    snprintf(text, sizeof text, "node %u (of %u) met a node that says it is node %u of %u: %s",
             c->self.id, c->self.count, id, count, why);
    shm_warn(n, text);
}

/* Refuses a caller, and tells it why, so that its user learns of it, too. */
static bool greeting_refuse(struct shm_connection *c, enum loco_refusal why)
{
    greeting_warn(c, c->greet.other_id, c->greet.other_count, loco_refusal_of(why));
    control_greet_refuse(&c->greet, c->fd, why);
    return false;
}

/* The core is not told of other refusals. */
static void greeting_tell_foreigner(struct shm_connection *c, uint32_t count)
{
    struct shm_node *n = shm_find_node(c->shm, c->self.id);

    if (n && n->base.events.foreigner)
        n->base.events.foreigner(n->base.events.arg, count);
}

static bool greeting_on_refusal(struct shm_connection *c)
{
    const struct control_greeting *g = &c->greet.heard;
    const char *why = loco_refusal_by(g->refusal);

    if (shm_peer_refused(c, !why))
        greeting_warn(c, g->from, g->count, why);
    if (control_greet_is_foreign(&c->greet))
        greeting_tell_foreigner(c, g->count);
    return false;
}

static bool greeting_on_impostor(struct shm_connection *c)
{
    if (!c->greet.active)
        return greeting_refuse(c, LOCO_UNPROVEN);
    if (shm_peer_refused(c, false))
        greeting_warn(c, c->greet.other_id, c->greet.other_count, loco_refusal_of(LOCO_UNPROVEN));
    return false;
}

/* --- proofs -------------------------------------------------------------------------------------
 */

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

/* A caller says which node it is, and which it wants to meet. */
static bool greeting_on_hello(struct shm_connection *c)
{
    const struct control_greeting *g = &c->greet.heard;

    c->self.id = g->to;
    if (!shm_find_node(c->shm, g->to)) {
        control_greet_refuse(&c->greet, c->fd, LOCO_UNKNOWN);
        return false;
    }
    if (g->from <= g->to || g->from >= g->count)
        return greeting_refuse(c, LOCO_FOREIGN);
    return control_greet_challenge(&c->greet, c->fd);
}

/* An earlier connection to the same process; NULL when there is none. If both processes call each
 * other at once, at most one of them finds an earlier one, so the two do not both give up. */
static struct shm_connection *connection_before(const struct shm_connection *connection)
{
    struct shm_connection *c = connection->next;

    while (c && !(c->greet.proven && c->greet.process == connection->greet.process))
        c = c->next;
    return c;
}

/* The process that was called has proven itself. If this one is connected with it already, that
 * connection serves. */
static bool greeting_on_welcome(struct shm_connection *c)
{
    struct shm_connection *same = connection_before(c);

    pthread_mutex_lock(&c->shm->lock);
    c->shm->strangers--;
    if (same)
        same->place = c->place;
    else
        connection_watch_process(c);
    pthread_mutex_unlock(&c->shm->lock);
    return !same && c->greet.other_count == c->self.count;
}

/* A caller has proven itself: from now on its messages are accepted. */
static bool greeting_on_proof(struct shm_connection *c)
{
    if (c->greet.other_count != c->self.count) {
        greeting_tell_foreigner(c, c->greet.other_count);
        return greeting_refuse(c, LOCO_FOREIGN);
    }
    pthread_mutex_lock(&c->shm->lock);
    const bool welcomed = control_greet_welcome(&c->greet, c->fd);
    c->shm->strangers--;
    connection_watch_process(c);
    pthread_mutex_unlock(&c->shm->lock);
    return welcomed;
}

static bool greeting_handle(struct shm_connection *c, enum control_event event)
{
    switch (event) {
    case CONTROL_NOTHING:
        return true;
    case CONTROL_CALLED:
        return greeting_on_hello(c);
    case CONTROL_PROVEN:
        return c->greet.active ? greeting_on_welcome(c) : greeting_on_proof(c);
    case CONTROL_UNPROVEN:
        return greeting_on_impostor(c);
    case CONTROL_REFUSED:
        return greeting_on_refusal(c);
    default:
        return false;
    }
}

int shm_greet(struct shm_connection *c)
{
    const enum control_event event = control_greet_hear(&c->greet, c->fd);

    if (!greeting_handle(c, event))
        return -1;
    return event != CONTROL_NOTHING;
}
