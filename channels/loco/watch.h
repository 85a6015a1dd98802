/*
 * Waiting for any of several things: in the library (loco_poll), or in a program's own event loop,
 * beside its sockets and timers (loco_watch).
 *
 * Network memory changes without a sound: no system call tells a node that a peer has written to
 * it. So something must look. loco_poll looks on the calling thread until something is there. A
 * watch has a thread that looks, and a descriptor for poll, epoll or io_uring, which becomes
 * readable when something is there:
 *
 *      loco_watch_arm      hands the watch the items to look at
 *      (the descriptor becomes readable)
 *      loco_watch_take     takes them back, with their results
 *
 * and again. The items, and the rings and windows that they name, belong to the watch from arm to
 * take: the program neither changes the items, nor receives from the rings, nor uses the windows.
 * It may take them back early.
 *
 * The thread rests about 0.1 ms between two looks, so the descriptor is about as late. While a
 * watch is there that takes a few percent of a core, and a tenth on a virtual machine. Who needs
 * less time calls loco_poll, which keeps a core busy.
 */
#ifndef LOCO_WATCH_H
#define LOCO_WATCH_H

#include <pthread.h>

#include "ack.h"
#include "channel.h"
#include "fabric/language.h"
#include "ringbuffer.h"
#include "shared_queue.h"

LOCO_DECLARATIONS

enum loco_event {
    LOCO_ACK_DONE, /* loco_ack_query says so */
    LOCO_MESSAGE,  /* loco_ringbuffer_receive would not return -EAGAIN */
    LOCO_ENTRY,    /* more entries were pushed than popped, counting those under way */
    LOCO_LOSS,     /* loco_channel_check: a member is lost */
    LOCO_OTHER,    /* what a loco_pollable looks for, as that of a kvstore's window */
};

/* One thing to wait for. */
struct loco_poll_item {
    enum loco_event event;
    const void *of; /* stays valid while it is waited for */
    /* 0: nothing yet; 1: it is there; or the negative errno that its own call returns, instead. */
    int result;
};

static inline struct loco_poll_item loco_poll_ack(const struct loco_ack *ack)
{
    const struct loco_poll_item item = {LOCO_ACK_DONE, ack, 0};
    return item;
}

/* At a receiver of the ring. */
static inline struct loco_poll_item loco_poll_message(const struct loco_ringbuffer *ring)
{
    const struct loco_poll_item item = {LOCO_MESSAGE, ring, 0};
    return item;
}

/* Where the queue's host is another node across a network, each look reads there. */
static inline struct loco_poll_item loco_poll_entry(const struct loco_shared_queue *queue)
{
    const struct loco_poll_item item = {LOCO_ENTRY, queue, 0};
    return item;
}

static inline struct loco_poll_item loco_poll_loss(const struct loco_channel *channel)
{
    const struct loco_poll_item item = {LOCO_LOSS, channel, 0};
    return item;
}

/* What something of another kind, or of the program's own, has: look() returns the item's result.
 * It must not wait. */
struct loco_pollable {
    int (*look)(struct loco_pollable *self);
};

static inline struct loco_poll_item loco_poll_other(const struct loco_pollable *pollable)
{
    const struct loco_poll_item item = {LOCO_OTHER, pollable, 0};
    return item;
}

/* Waits until an item has a result, for at most `timeout_ns` (UINT64_MAX: without a limit; 0 only
 * looks). Sets the result of each. Returns how many are not 0, or -ETIMEDOUT. Any attached thread.
 */
int loco_poll(const struct loco_manager *manager, struct loco_poll_item *items, unsigned count,
              uint64_t timeout_ns);

struct loco_watch {
    struct loco_manager *mgr;
    int fd; /* an eventfd, for the program's event loop; read by loco_watch_take */
    struct loco_poll_item *items;
    unsigned count;
    int found; /* how many items have a result */
    LOCO_ATOMIC(uint32_t) state;
    LOCO_ATOMIC(bool) stopping;
    LOCO_ATOMIC(unsigned) running; /* calls of loco_watch_run, and the watch's own thread */
    LOCO_ATOMIC(int) attached;     /* what loco_thread_attach returned to that */
    bool started;                  /* it has a thread of its own */
    pthread_t thread;
    uint64_t room[4];
};

/* Makes a watch without a thread. Returns 0 or a negative errno: -EMFILE and so on when there is no
 * descriptor. *watch must stay in its place. Any thread. */
int loco_watch_init(struct loco_watch *watch, struct loco_manager *manager);

/* Ends the watch's threads, and waits for them; then closes the descriptor. Does nothing on a
 * zeroed watch. Before loco_manager_close. */
void loco_watch_fini(struct loco_watch *watch);

/* Starts a thread that attaches, and looks. Returns 0 or an error of loco_thread_attach. Not on the
 * simulator, whose threads are fibers. */
int loco_watch_start(struct loco_watch *watch);

/* The body of such a thread, for an attached thread of the program, or a fiber. Returns once
 * loco_watch_fini is called. */
void loco_watch_run(struct loco_watch *watch);

/* Hands over the items. If one has a result already, the descriptor is readable at once. Returns 0,
 * or -EBUSY when the watch has items that were not taken back. Any attached thread. */
int loco_watch_arm(struct loco_watch *watch, struct loco_poll_item *items, unsigned count);

/* Takes the items back. Returns how many have a result: 0 when it is called before the descriptor
 * is readable. Waits for a look that is under way. The thread that armed, or one that
 * synchronises with it. */
int loco_watch_take(struct loco_watch *watch);

LOCO_DECLARATIONS_END

#endif
