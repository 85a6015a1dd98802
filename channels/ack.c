#include "loco/ack.h"
#include "thread_links.h"

#include <errno.h>

enum state { DONE, IN_FLIGHT, LOST };

/* Whether the peer restarted while an operation of the ack was in flight to it: that operation went
 * over an older link, and was not done when the link was replaced. */
static bool ack_is_cut_off(const struct loco_ack *ack, const struct loco_link *link)
{
    for (; link->older && ack->epoch < link->epoch; link = link->older)
        if (!loco_link_done(link->older, ack->number))
            return true;
    return false;
}

static enum state ack_look(const struct loco_ack *ack, uint32_t node)
{
    const struct loco_manager *m = ack->thread->mgr;
    struct loco_link *link = loco_thread_link(ack->thread, node);

    if (!link)
        return DONE;
    if (ack_is_cut_off(ack, link))
        return LOST;
    if (loco_link_done(link, ack->number))
        return DONE;
    bool lost = loco_peer_lost(m, node); /* first: it may have been done before the loss */
    loco_poll_inline(link, m);
    if (loco_link_done(link, ack->number))
        return DONE;
    return lost ? LOST : IN_FLIGHT;
}

int loco_ack_query(const struct loco_ack *ack)
{
    int result = ack->error ? ack->error : 1;

    if (!ack->thread)
        return result;
    const uint32_t count = ack->thread->mgr->count;
    const bool all_groups = ack->group == LOCO_ALL_GROUPS;
    for (uint64_t rest = ack->peers; rest; rest &= rest - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(rest);
        uint32_t first = all_groups ? bit : 64 * ack->group + bit;
        for (uint32_t node = first; node < (all_groups ? count : first + 1); node += 64) {
            enum state state = ack_look(ack, node);
            if (state == IN_FLIGHT)
                return 0;
            if (state == LOST && result > 0)
                result = -ECONNRESET;
        }
    }
    return result;
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
