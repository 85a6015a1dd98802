/* The telling thread. It calls the core, and tells it in order what happened to the nodes. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"

struct control_told {
    struct control_told *next;
    struct control_node *node;
    enum control_news news;
    uint32_t peer; /* of CONTROL_FOREIGNER, a count of nodes */
    size_t size;
    unsigned char data[];
};

/* --- with the lock held ------------------------------------------------------------------- */

static struct control_told *tell_make(struct control_node *n, enum control_news news, uint32_t peer,
                                      size_t size)
{
    struct control_told *told = malloc(sizeof *told + size);

    if (told)
        *told = (struct control_told){.node = n, .news = news, .peer = peer, .size = size};
    return told;
}

struct control_told *control_told_new(struct control_node *n, enum control_news news, uint32_t peer)
{
    return tell_make(n, news, peer, 0);
}

void control_tell_loss(struct control_told *loss, bool left)
{
    loss->news = left ? CONTROL_LEFT : CONTROL_LOST;
    control_tell(loss);
}

void control_tell(struct control_told *told)
{
    struct control *ctl = told->node->control;

    *ctl->told_end = told;
    ctl->told_end = &told->next;
    pthread_cond_signal(&ctl->news);
}

static int tell_data(struct control_node *n, enum control_news news, uint32_t peer,
                     const void *data, size_t size)
{
    struct control_told *told = tell_make(n, news, peer, size);

    if (!told)
        return -ENOMEM;
    memcpy(told->data, data, size);
    control_tell(told);
    return 0;
}

int control_tell_message(struct control_connection *c, const void *message, size_t size)
{
    int rc = tell_data(c->end.node, CONTROL_SAID, c->peer->id, message, size);

    if (!rc)
        c->peer->untold += size;
    return rc;
}

void control_tell_foreigner(struct control_node *n, uint32_t count)
{
    tell_data(n, CONTROL_FOREIGNER, count, "", 0);
}

void control_warn(struct control_node *n, const char *format, ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tell_data(n, CONTROL_WARNING, 0, text, strlen(text) + 1);
}

/* --- the thread --------------------------------------------------------------------------- */

static void tell_core(const struct control_told *told)
{
    const struct loco_events *e = &told->node->base.events;

    switch (told->news) {
    case CONTROL_UP:
        e->peer_up(e->arg, told->peer);
        break;
    case CONTROL_SAID:
        e->message(e->arg, told->peer, told->data, told->size);
        break;
    case CONTROL_LOST:
    case CONTROL_LEFT:
        e->peer_lost(e->arg, told->peer, told->news == CONTROL_LEFT);
        break;
    case CONTROL_FOREIGNER:
        if (e->foreigner)
            e->foreigner(e->arg, told->peer);
        break;
    case CONTROL_WARNING:
        e->warning(e->arg, (const char *)told->data);
        break;
    case CONTROL_QUIET:
        break;
    }
}

/* Notes that the core was told. With the lock held. */
static void tell_done(struct control *ctl, const struct control_told *told)
{
    struct control_node *n = told->node;

    switch (told->news) {
    case CONTROL_SAID:
        n->peers[told->peer].untold -= told->size;
        break;
    case CONTROL_LOST:
    case CONTROL_LEFT:
        n->peers[told->peer].lost = false;
        control_wake(ctl); /* the peer may be called again */
        break;
    case CONTROL_QUIET:
        n->closed = true;
        pthread_cond_broadcast(&ctl->node_closed);
        break;
    default:
        break;
    }
}

static struct control_told *tell_take(struct control *ctl)
{
    struct control_told *told = ctl->told;

    ctl->told = told->next;
    if (!ctl->told)
        ctl->told_end = &ctl->told;
    return told;
}

void *control_telling_thread(void *arg)
{
    struct control *ctl = arg;

    pthread_mutex_lock(&ctl->lock);
    while (!ctl->stop_telling) {
        if (!ctl->told) {
            pthread_cond_wait(&ctl->news, &ctl->lock);
            continue;
        }
        struct control_told *told = tell_take(ctl);
        pthread_mutex_unlock(&ctl->lock);
        if (!atomic_load(&told->node->closing))
            tell_core(told);
        pthread_mutex_lock(&ctl->lock);
        tell_done(ctl, told);
        free(told);
    }
    pthread_mutex_unlock(&ctl->lock);
    return NULL;
}

void control_forget_told(struct control *ctl)
{
    while (ctl->told)
        free(tell_take(ctl));
}
