/* A kvstore's tracker, on a fabric whose threads may be fibers; and keys whose host is known. */
#ifndef TESTS_UNIT_TRACKER_H
#define TESTS_UNIT_TRACKER_H

#include <string.h>

#include "channels/kvstore/kvstore_locks.h"
#include "tests/nodes.h"

struct tracker {
    struct node *n;
    struct loco_kvstore *kv;
    bool over;
};

static inline bool on_fibers(const struct node *n)
{
    return strcmp(n->fabric->ops->name, "sim") == 0;
}

static inline void tracker_fiber(void *arg)
{
    struct tracker *t = arg;

    loco_thread_attach(t->n->mgr);
    loco_kvstore_track(t->kv);
    loco_thread_detach(t->n->mgr);
    t->over = true;
}

static inline void tracker_begin(struct tracker *t, struct node *n, struct loco_kvstore *kv)
{
    *t = (struct tracker){.n = n, .kv = kv};
    if (on_fibers(n))
        CHECK(n, loco_sim_spawn(n->fabric, tracker_fiber, t) == 0);
    else
        CHECK(n, loco_kvstore_start_tracker(kv) == 0);
}

/* Stops the tracker, and waits for its end. */
static inline void tracker_end(struct tracker *t)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    loco_kvstore_stop(t->kv);
    while (on_fibers(t->n) && !t->over)
        loco_relax(t->n->mgr, &wait);
}

/* Returns a key whose lock is at `host`. */
static inline uint64_t key_at(const struct loco_kvstore *kv, uint32_t host)
{
    struct loco_kv_op op;

    for (uint64_t key = 0;; key++) {
        op.hash = kv_hash(key);
        kv_lock_find(&op, kv);
        if (op.lock_host == host)
            return key;
    }
}

#endif
