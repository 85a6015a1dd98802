#include "loco/manager.h"

#include <errno.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "fabric/by_node_make.h"
#include "loco/fence.h"
#include "loco/thread.h"
#include "room.h"
#include "thread_links.h"
#include "trace_internal.h"

static _Atomic bool slots_taken[LOCO_MANAGERS_MAX];

/* Searches from after the slot that was given last, as earlier slots are likely to be taken. */
static int manager_take_slot(unsigned *slot)
{
    static _Atomic unsigned next;

    for (unsigned i = 0; i < LOCO_MANAGERS_MAX; i++) {
        *slot = atomic_fetch_add(&next, 1) % LOCO_MANAGERS_MAX;
        if (!atomic_exchange(&slots_taken[*slot], true))
            return 0;
    }
    return -ENOSPC;
}

void loco_log(const struct loco_manager *m, enum loco_level level, const char *format, ...)
{
    char line[512];
    va_list args;

    if (!m->config.log)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    m->config.log(m->config.log_arg, level, line);
}

/* --- events of the fabric ---------------------------------------------------------- */

static void manager_on_peer_up(void *arg, uint32_t peer)
{
    struct loco_manager *m = arg;

    pthread_mutex_lock(&m->lock);
    struct loco_peer *p = loco_by_node_make(&m->peers, peer);
    if (p) {
        p->up = true;
        if (m->channel_error == -ECONNRESET) /* perhaps the peer lost during setup is back */
            m->channel_error = 0;
        LOCO_TRACE(peer_join, m->id, peer);
        loco_channels_peer_up(p, peer);
    } else {
        m->error = -ENOMEM;
    }
    pthread_mutex_unlock(&m->lock);
}

static void manager_on_message(void *arg, uint32_t peer, const void *message, size_t size)
{
    struct loco_manager *m = arg;

    pthread_mutex_lock(&m->lock);
    loco_channels_message(m, peer, message, size);
    pthread_mutex_unlock(&m->lock);
}

static void manager_on_peer_lost(void *arg, uint32_t peer, bool left)
{
    struct loco_manager *m = arg;

    pthread_mutex_lock(&m->lock);
    struct loco_peer *p = loco_by_node_find(&m->peers, peer); /* there: it was up */
    p->up = false;
    p->linked = false;
    atomic_store_explicit(&p->left, left, memory_order_release); /* before any sees the loss */
    LOCO_TRACE(peer_lost, m->id, peer, left);
    /* The channels first: a thread that sees `lost` finds that the channels know of it, too. */
    loco_channels_mark_lost(p, peer);
    loco_channels_peer_lost(m, peer, left);
    atomic_fetch_add_explicit(&m->fabric->lost, 1, memory_order_release);
    atomic_store_explicit(&p->lost, true, memory_order_release);
    pthread_mutex_unlock(&m->lock);
}

static void manager_on_foreigner(void *arg, uint32_t count)
{
    struct loco_manager *m = arg;

    pthread_mutex_lock(&m->lock);
    m->foreign_count = count;
    m->error = m->error ? m->error : -EPROTO;
    pthread_mutex_unlock(&m->lock);
}

static void manager_on_warning(void *arg, const char *text)
{
    loco_log(arg, LOCO_WARNING, "%s", text);
}

/* --- open, ready, close ------------------------------------------------------------- */

static bool manager_config_makes_sense(const struct loco_manager_config *c)
{
    return c->node < c->node_count && c->node_count <= INT32_MAX && c->arena_size <= SIZE_MAX / 2 &&
           c->block_size <= UINT32_MAX && c->block_count <= UINT32_MAX &&
           c->completions <= LOCO_POLLED && loco_room_is_empty(c->room, sizeof c->room);
}

static void manager_set_defaults(struct loco_manager_config *c)
{
    if (!c->arena_size)
        c->arena_size = (size_t)64 << 20;
    if (!c->block_size)
        c->block_size = 4096;
    if (!c->block_count)
        c->block_count = 256;
}

static int manager_init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t recursive;
    int rc = pthread_mutexattr_init(&recursive);

    if (rc)
        return -rc;
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    rc = pthread_mutex_init(lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    return -rc;
}

static void manager_free_nothing(void *channel)
{
    (void)channel;
}

static void manager_free_peers(struct loco_manager *m)
{
    loco_each_entry (&m->peers, node) {
        struct loco_peer *peer = loco_by_node_find(&m->peers, node);
        tdestroy(peer->channels, manager_free_nothing);
    }
    loco_by_node_free(&m->peers);
}

/* Makes a manager that has no node yet. */
static int manager_make(struct loco_manager **made, struct loco_fabric *fabric,
                        const struct loco_manager_config *config)
{
    struct loco_manager *m = calloc(1, sizeof *m);

    if (!m)
        return -ENOMEM;
    m->fabric = fabric;
    m->id = config->node;
    m->count = config->node_count;
    m->config = *config;
    m->config.secret = (struct loco_secret){0}; /* it is not kept */
    manager_set_defaults(&m->config);

    int rc = manager_init_lock(&m->lock);
    if (rc)
        goto free_manager;
    rc = manager_take_slot(&m->slot);
    if (rc)
        goto destroy_lock;
    rc = loco_by_node_init(&m->peers, m->count, sizeof(struct loco_peer));
    if (rc)
        goto give_slot_back;
    *made = m;
    return 0;

give_slot_back:
    atomic_store(&slots_taken[m->slot], false);
destroy_lock:
    pthread_mutex_destroy(&m->lock);
free_manager:
    free(m);
    return rc;
}

/* Frees a manager whose node is closed, or was never opened. */
static void manager_free(struct loco_manager *m)
{
    tdestroy(m->channels, manager_free_nothing);
    loco_memory_free(m);
    manager_free_peers(m);
    atomic_store(&slots_taken[m->slot], false);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static int manager_open_node(struct loco_manager *m, struct loco_secret secret)
{
    const struct loco_events events = {
        .peer_up = manager_on_peer_up,
        .message = manager_on_message,
        .peer_lost = manager_on_peer_lost,
        .foreigner = manager_on_foreigner,
        .warning = manager_on_warning,
        .arg = m,
    };

    /* The events take this lock too, so none of them runs before m->node is set. */
    pthread_mutex_lock(&m->lock);
    int rc = m->fabric->ops->node_open(m->fabric, m->id, m->count, secret, &events, &m->node);
    pthread_mutex_unlock(&m->lock);
    return rc;
}

int loco_manager_open(struct loco_manager **manager, struct loco_fabric *fabric,
                      const struct loco_manager_config *config)
{
    struct loco_manager *m;

    if (!manager_config_makes_sense(config))
        return -EINVAL;
    int rc = manager_make(&m, fabric, config);
    if (rc)
        return rc;
    rc = manager_open_node(m, config->secret);
    if (rc)
        goto free_manager;
    rc = loco_thread_attach(m);
    if (rc)
        goto close_node;
    *manager = m;
    return 0;

close_node: /* without the lock, which the node's last events take */
    fabric->ops->node_close(m->node);
free_manager:
    manager_free(m);
    return rc;
}

int loco_manager_lock(struct loco_manager *m, const struct loco_wait *wait)
{
    struct loco_wait turn = loco_wait_for(m, loco_time_for_look(m, wait));

    while (pthread_mutex_trylock(&m->lock))
        if (loco_relax(m, &turn))
            return -ETIMEDOUT;
    return 0;
}

/* The time is over. Logs why, unless the caller only asked. */
static int manager_give_up(struct loco_manager *m, const struct loco_wait *wait, bool only_asked)
{
    if (only_asked)
        return -ETIMEDOUT;
    if (loco_manager_lock(m, wait)) {
        loco_log(m, LOCO_ERROR, "node %u: a link is being opened, and its peer does not answer",
                 m->id);
        return -ETIMEDOUT;
    }
    loco_channels_explain_unready(m);
    pthread_mutex_unlock(&m->lock);
    return -ETIMEDOUT;
}

int loco_manager_ready(struct loco_manager *m, uint64_t timeout_ns)
{
    struct loco_wait wait = loco_wait_for(m, timeout_ns);

    for (;;) {
        if (loco_manager_lock(m, &wait))
            return manager_give_up(m, &wait, !timeout_ns);
        int rc = m->error ? m->error : m->channel_error;
        bool ready = m->unready == 0;
        pthread_mutex_unlock(&m->lock);
        if (rc || ready)
            return rc;
        if (loco_relax(m, &wait))
            return manager_give_up(m, &wait, !timeout_ns);
    }
}

void loco_manager_poll(struct loco_manager *m)
{
    if (m->fabric->capabilities & LOCO_COHERENT)
        return; /* nothing is ever outstanding */
    loco_each_thread (m, t)
        loco_each_entry (&t->links, node) {
            struct loco_link *link = loco_thread_link(t, node);
            if (link)
                m->fabric->ops->poll(link);
        }
}

static void manager_free_threads(struct loco_manager *m)
{
    struct loco_thread *next = atomic_load(&m->threads);

    atomic_store(&m->threads, NULL);
    while (next) {
        struct loco_thread *t = next;
        next = t->next;
        loco_thread_free(t);
    }
}

void loco_manager_close(struct loco_manager *m)
{
    loco_manager_close_timed(m, UINT64_MAX);
}

int loco_manager_close_timed(struct loco_manager *m, uint64_t timeout_ns)
{
    if (!m)
        return 0;
    /* So that the peers hear of the leave only after the last write. */
    if (loco_fence_global_timed(m, timeout_ns) == -ETIMEDOUT)
        return -ETIMEDOUT;
    manager_free_threads(m);
    if (loco_context.table)
        loco_context.table[m->slot] = NULL;
    m->fabric->ops->node_close(m->node);
    manager_free(m);
    return 0;
}

struct loco_wait loco_wait_for(const struct loco_manager *m, uint64_t timeout_ns)
{
    if (timeout_ns == UINT64_MAX) /* saves reading the clock */
        return (struct loco_wait){.until = UINT64_MAX};
    const uint64_t now = loco_clock(m);
    return (struct loco_wait){.until =
                                  timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX};
}

uint64_t loco_time_left(const struct loco_manager *m, const struct loco_wait *wait)
{
    if (wait->until == UINT64_MAX)
        return UINT64_MAX;
    const uint64_t now = loco_clock(m);
    return now < wait->until ? wait->until - now : 0;
}

uint64_t loco_time_for_look(const struct loco_manager *m, const struct loco_wait *wait)
{
    const uint64_t left = loco_time_left(m, wait);

    return left < UINT64_MAX - LOCO_LOOK_NS ? left + LOCO_LOOK_NS : left;
}

int loco_accept_backoff_between_looks(const struct loco_manager *m, struct loco_wait *wait)
{
    enum { REST_NS = 100 };
    const uint64_t end = wait->until, again = loco_clock(m) + REST_NS;

    if (again < end)
        wait->until = again;
    int rc = loco_relax(m, wait);
    if (wait->until < end)
        rc = 0;
    wait->until = end;
    return rc;
}
