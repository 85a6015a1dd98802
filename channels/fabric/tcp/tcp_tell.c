/* The telling thread. It calls the core, and tells it in order what happened to the nodes. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tcp_internal.h"

/* --- with the lock held ------------------------------------------------------------------- */

static struct tcp_told *tell_make(struct tcp_node *n, enum tcp_news news, uint32_t peer,
                                  size_t size)
{
    struct tcp_told *told = malloc(sizeof *told + size);

    if (told)
        *told = (struct tcp_told){.node = n, .news = news, .peer = peer, .size = size};
    return told;
}

struct tcp_told *tcp_told_new(struct tcp_node *n, enum tcp_news news, uint32_t peer)
{
    return tell_make(n, news, peer, 0);
}

void tcp_tell(struct tcp_told *told)
{
    struct tcp *t = told->node->tcp;

    *t->told_end = told;
    t->told_end = &told->next;
    pthread_cond_signal(&t->news);
}

static int tell_data(struct tcp_node *n, enum tcp_news news, uint32_t peer, const void *data,
                     size_t size)
{
    struct tcp_told *told = tell_make(n, news, peer, size);

    if (!told)
        return -ENOMEM;
    memcpy(told->data, data, size);
    tcp_tell(told);
    return 0;
}

int tcp_tell_message(struct tcp_connection *c, const void *message, size_t size)
{
    int rc = tell_data(c->end.node, TCP_SAID, c->peer->id, message, size);

    if (!rc)
        c->peer->untold += size;
    return rc;
}

void tcp_tell_foreigner(struct tcp_node *n, uint32_t count)
{
    tell_data(n, TCP_FOREIGN, count, "", 0);
}

void tcp_warn(struct tcp_node *n, const char *format, ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tell_data(n, TCP_WARNING, 0, text, strlen(text) + 1);
}

/* --- the thread --------------------------------------------------------------------------- */

static void tell_core(const struct tcp_told *told)
{
    const struct loco_events *e = &told->node->base.events;

    switch (told->news) {
    case TCP_UP:
        e->peer_up(e->arg, told->peer);
        break;
    case TCP_SAID:
        e->message(e->arg, told->peer, told->data, told->size);
        break;
    case TCP_LOST:
    case TCP_LEFT:
        e->peer_lost(e->arg, told->peer, told->news == TCP_LEFT);
        break;
    case TCP_FOREIGN:
        if (e->foreigner)
            e->foreigner(e->arg, told->peer);
        break;
    case TCP_WARNING:
        e->warning(e->arg, (const char *)told->data);
        break;
    case TCP_QUIET:
        break;
    }
}

/* Notes that the core was told. With the lock held. */
static void tell_done(struct tcp *t, const struct tcp_told *told)
{
    struct tcp_node *n = told->node;

    switch (told->news) {
    case TCP_SAID:
        n->peers[told->peer].untold -= told->size;
        break;
    case TCP_LOST:
    case TCP_LEFT:
        n->peers[told->peer].lost = false;
        tcp_wake(t); /* the peer may be called again */
        break;
    case TCP_QUIET:
        n->closed = true;
        pthread_cond_broadcast(&t->node_closed);
        break;
    default:
        break;
    }
}

static struct tcp_told *tell_take(struct tcp *t)
{
    struct tcp_told *told = t->told;

    t->told = told->next;
    if (!t->told)
        t->told_end = &t->told;
    return told;
}

void *tcp_telling_thread(void *arg)
{
    struct tcp *t = arg;

    pthread_mutex_lock(&t->lock);
    while (!t->stop_telling) {
        if (!t->told) {
            pthread_cond_wait(&t->news, &t->lock);
            continue;
        }
        struct tcp_told *told = tell_take(t);
        pthread_mutex_unlock(&t->lock);
        if (!atomic_load(&told->node->closing))
            tell_core(told);
        pthread_mutex_lock(&t->lock);
        tell_done(t, told);
        free(told);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

void tcp_forget_told(struct tcp *t)
{
    while (t->told)
        free(tell_take(t));
}
