#include "ack.h"

#include <errno.h>

/* A link's oldest and youngest operations in flight lie between `done` and `posted`. */
static bool link_done(struct loco_link *link, uint64_t number)
{
    uint64_t posted = atomic_load_explicit(&link->posted, memory_order_relaxed);
    uint64_t done = atomic_load_explicit(&link->done, memory_order_acquire);

    return done >= number || done == posted;
}

/* Whether something that the ack may be about went over a link to the peer as it was before it
 * restarted, and was not done by then. */
static bool is_cut_off(const struct loco_ack *ack, const struct loco_link *link)
{
    for (; link->older && ack->epoch < link->epoch; link = link->older)
        if (!link_done(link->older, ack->number))
            return true;
    return false;
}

int loco_ack_query(const struct loco_ack *ack)
{
    if (ack->error)
        return ack->error;
    if (!ack->thread)
        return 1;

    const struct loco_manager *m = ack->thread->mgr;
    int state = 1;
    for (uint64_t rest = ack->peers; rest; rest &= rest - 1) {
        for (uint32_t node = (uint32_t)__builtin_ctzll(rest); node < m->count; node += 64) {
            struct loco_link *link = ack->thread->links[node];
            if (!link)
                continue;
            if (is_cut_off(ack, link))
                return -ECONNRESET;
            if (link_done(link, ack->number))
                continue;
            loco_poll_inline(link, m);
            if (link_done(link, ack->number))
                continue;
            if (loco_peer_lost(m, node))
                return -ECONNRESET;
            state = 0;
        }
    }
    return state;
}

int loco_ack_wait(const struct loco_ack *ack, uint64_t timeout_ns)
{
    int state = loco_ack_query(ack);
    if (state)
        return state < 0 ? state : 0;

    const struct loco_manager *m = ack->thread->mgr;
    struct loco_wait wait = loco_wait_for(m, timeout_ns);
    for (;;) {
        int rc = loco_relax(m, &wait);
        state = loco_ack_query(ack);
        if (state)
            return state < 0 ? state : 0;
        if (rc)
            return rc;
    }
}
