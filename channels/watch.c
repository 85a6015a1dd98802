/*
 * The watch's state says whose the items are:
 *
 *      FREE     the program's
 *      ARMED    the watch's, and nothing was found yet
 *      LOOKING  the watch's, and a thread looks at them
 *      FOUND    the program's once it takes them; the descriptor is readable
 *
 * A look that finds something makes the descriptor readable while it is still LOOKING. So whoever
 * takes the items finds what there is to read, and a watch that was taken is never readable.
 */
#include "loco/watch.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core.h"
#include "fabric/host_time.h"
#include "loco/thread.h"

enum { FREE, ARMED, LOOKING, FOUND };

/* --- looking -------------------------------------------------------------------------------- */

/* Both words are read as at some moment each, the pushes first. So entries are there if the queue
 * had some at the second read. */
static int poll_queue(const struct loco_shared_queue *q)
{
    uint64_t pushes, pops;

    if (atomic_load_explicit(&q->broken, memory_order_relaxed))
        return -ECONNRESET;
    int rc = loco_atomic_look(loco_atomic_of(&q->tail), &pushes, LOCO_LOOK_NS);
    if (!rc)
        rc = loco_atomic_look(loco_atomic_of(&q->head), &pops, LOCO_LOOK_NS);
    if (rc)
        return rc == -ETIMEDOUT ? 0 : rc;
    return (int64_t)(pushes - pops) > 0;
}

static int poll_look(const struct loco_poll_item *item)
{
    switch (item->event) {
    case LOCO_ACK_DONE:
        return loco_ack_query(item->of);
    case LOCO_MESSAGE:
        return loco_ringbuffer_look(item->of);
    case LOCO_ENTRY:
        return poll_queue(item->of);
    case LOCO_LOSS:
        return loco_channel_check(item->of) != 0;
    case LOCO_OTHER: {
        struct loco_pollable *other = (struct loco_pollable *)(uintptr_t)item->of;
        return other->look(other);
    }
    }
    return -EINVAL;
}

/* Sets the items' results; returns how many are not 0. */
static int poll_look_at_all(struct loco_poll_item *items, unsigned count)
{
    int found = 0;

    for (unsigned i = 0; i < count; i++) {
        items[i].result = poll_look(&items[i]);
        found += items[i].result != 0;
    }
    return found;
}

int loco_poll(const struct loco_manager *m, struct loco_poll_item *items, unsigned count,
              uint64_t timeout_ns)
{
    int found = poll_look_at_all(items, count);

    if (found)
        return found;
    struct loco_wait wait = loco_wait_for(m, timeout_ns);
    for (;;) {
        const int late = loco_relax(m, &wait);
        found = poll_look_at_all(items, count);
        if (found || late)
            return found ? found : late;
    }
}

/* --- a watch -------------------------------------------------------------------------------- */

int loco_watch_init(struct loco_watch *w, struct loco_manager *manager)
{
    *w = (struct loco_watch){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (w->fd < 0) {
        memset(w, 0, sizeof *w);
        return -errno;
    }
    w->mgr = manager;
    return 0;
}

void loco_watch_fini(struct loco_watch *w)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    if (!w->mgr)
        return;
    atomic_store_explicit(&w->stopping, true, memory_order_release);
    while (atomic_load_explicit(&w->running, memory_order_acquire) > 0)
        loco_relax(w->mgr, &wait);
    if (w->started)
        pthread_join(w->thread, NULL);
    close(w->fd);
    memset(w, 0, sizeof *w);
}

/* The items are LOOKING. */
static void watch_look(struct loco_watch *w)
{
    const uint64_t one = 1;

    w->found = poll_look_at_all(w->items, w->count);
    /* The descriptor's count is 0, so this write cannot fail. */
    bool told = w->found > 0 && write(w->fd, &one, sizeof one) == sizeof one;
    atomic_store_explicit(&w->state, told ? FOUND : ARMED, memory_order_release);
}

static void watch_rest(const struct loco_watch *w)
{
    struct loco_wait wait = loco_wait_for(w->mgr, LOCO_NAP_NS);

    wait.turns = LOCO_NAP_TURNS;
    loco_relax(w->mgr, &wait);
}

void loco_watch_run(struct loco_watch *w)
{
    atomic_fetch_add(&w->running, 1);
    while (!atomic_load_explicit(&w->stopping, memory_order_acquire)) {
        uint32_t armed = ARMED;
        if (atomic_compare_exchange_strong(&w->state, &armed, LOOKING))
            watch_look(w);
        watch_rest(w);
    }
    atomic_fetch_sub(&w->running, 1);
}

/* --- the watch's own thread ------------------------------------------------------------------ */

enum { NOT_YET = 1 };

static void *watch_thread(void *arg)
{
    struct loco_watch *w = arg;
    int rc = loco_thread_attach(w->mgr);

    atomic_store_explicit(&w->attached, rc, memory_order_release);
    if (!rc) {
        loco_watch_run(w);
        loco_thread_detach(w->mgr);
    }
    atomic_fetch_sub(&w->running, 1);
    return NULL;
}

int loco_watch_start(struct loco_watch *w)
{
    struct loco_wait wait = {.until = UINT64_MAX};
    int rc;

    atomic_store(&w->attached, NOT_YET);
    atomic_fetch_add(&w->running, 1);
    rc = -pthread_create(&w->thread, NULL, watch_thread, w);
    if (rc) {
        atomic_fetch_sub(&w->running, 1);
        return rc;
    }
    while ((rc = atomic_load_explicit(&w->attached, memory_order_acquire)) == NOT_YET)
        loco_relax(w->mgr, &wait);
    if (rc)
        pthread_join(w->thread, NULL);
    w->started = !rc;
    return rc;
}

/* --- arming and taking ------------------------------------------------------------------------ */

int loco_watch_arm(struct loco_watch *w, struct loco_poll_item *items, unsigned count)
{
    if (atomic_load_explicit(&w->state, memory_order_acquire) != FREE)
        return -EBUSY;
    w->items = items;
    w->count = count;
    watch_look(w);
    return 0;
}

int loco_watch_take(struct loco_watch *w)
{
    struct loco_wait wait = {.until = UINT64_MAX};
    uint64_t times;

    for (;;) {
        uint32_t state = ARMED;
        if (atomic_compare_exchange_strong(&w->state, &state, FREE) || state == FREE)
            return 0;
        if (state == FOUND)
            break;
        loco_relax(w->mgr, &wait);
    }
    /* An event loop may have read the descriptor itself. */
    if (read(w->fd, &times, sizeof times) < 0)
        times = 0; /* the event loop has read it already */
    atomic_store_explicit(&w->state, FREE, memory_order_release);
    return w->found;
}
