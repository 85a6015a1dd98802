/*
 * A rest for a listener whose process has no file descriptors left. A waiting caller keeps the
 * listener ready, so without a rest the thread that serves it would try again and again.
 */
#ifndef LOCO_ACCEPT_BACKOFF_H
#define LOCO_ACCEPT_BACKOFF_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

static const uint64_t LOCO_REST_NS = 200000000;

struct loco_accept_backoff {
    uint64_t until; /* 0: it does not rest */
    bool told;      /* it was logged */
};

/* To be called when accept() has failed. Returns whether the listener is to rest. */
static inline bool loco_accept_backoff_begin(struct loco_accept_backoff *rest, int error,
                                             uint64_t now)
{
    if (error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM)
        return false;
    rest->until = now + LOCO_REST_NS;
    return true;
}

/* Returns whether the rest has just ended, so that the listener is to be tried again. */
static inline bool loco_accept_backoff_end(struct loco_accept_backoff *rest, uint64_t now)
{
    if (!rest->until || now < rest->until)
        return false;
    rest->until = 0;
    return true;
}

#endif
