/*
 * A rest for a listener whose process has no file descriptor left. A caller that waits to be
 * accepted keeps the listener ready, so without a rest the thread that serves it would try over and
 * over.
 */
#ifndef LOCO_REST_H
#define LOCO_REST_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

static const uint64_t LOCO_REST_NS = 200000000;

struct loco_rest {
    uint64_t until; /* 0: it does not rest */
    bool told;      /* it was logged */
};

/* After accept() has failed. Returns whether the listener is to rest. */
static inline bool loco_rest_begin(struct loco_rest *rest, int error, uint64_t now)
{
    if (error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM)
        return false;
    rest->until = now + LOCO_REST_NS;
    return true;
}

/* Returns whether it has rested, and is to be tried again. */
static inline bool loco_rest_end(struct loco_rest *rest, uint64_t now)
{
    if (!rest->until || now < rest->until)
        return false;
    rest->until = 0;
    return true;
}

#endif
