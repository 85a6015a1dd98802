#include "lock_claims.h"

#include <errno.h>

static size_t claims_per_node(size_t locks)
{
    return (2 * locks + LINE - 1) / LINE * LINE;
}

size_t loco_claims_and_locks(size_t locks, size_t nodes)
{
    return locks * WORDS + nodes * claims_per_node(locks);
}

static size_t claim_index(const struct loco_ticket_lock *l, uint32_t node, bool second)
{
    const size_t claims = l->count * WORDS + node * claims_per_node(l->count);

    return claims + 2 * (l->index / WORDS) + second;
}

/* An error is ignored, as the thread's next step is on the same link and returns it too. */
void loco_claim_write(const struct gate *g, uint64_t what)
{
    const struct loco_ticket_lock *l = g->lock;

    if (!l)
        return;
    const size_t at = claim_index(l, g->mgr->id, l->second);
    if (l->host == g->mgr->id)
        __atomic_store_n((uint64_t *)l->words->region->memory + at, what, __ATOMIC_RELEASE);
    else
        loco_atomic_write(loco_atomic_at(l->words, l->host, at), what);
}

void loco_claim_begin(const struct gate *g)
{
    if (g->lock)
        g->lock->second = !g->lock->second;
    loco_claim_write(g, ASKING);
}

static int claim_look(const struct gate *g, uint32_t node, bool second, uint64_t *claimed,
                      uint64_t timeout_ns)
{
    const struct loco_ticket_lock *l = g->lock;
    const size_t at = claim_index(l, node, second);

    return loco_atomic_look(loco_atomic_at(l->words, l->host, at), claimed, timeout_ns);
}

/* Waits until the newest claim is placed: at the host it is, and over a network this thread reads
 * the word back. */
void loco_claim_place(const struct gate *g)
{
    uint64_t placed;

    if (g->lock && g->lock->host != g->mgr->id)
        claim_look(g, g->mgr->id, g->lock->second, &placed, UINT64_MAX);
}

/* Withdraws a claim for which no ticket was taken. The next claim uses the same word again, as the
 * other word may have the claim of a ticket whose release is still on its way. The zero must be
 * placed before that next claim, which another thread may write over another link. */
void loco_claim_end(const struct gate *g)
{
    loco_claim_write(g, 0);
    loco_claim_place(g);
    if (g->lock)
        g->lock->second = !g->lock->second;
}

/* Whether the node has the turn's ticket: 1 yes, ASKING perhaps, 0 no; or an error. */
static int claim_has_ticket(const struct gate *g, uint32_t node, uint64_t turn)
{
    uint64_t first, second;
    int rc = claim_look(g, node, false, &first, loco_gate_time_for_look(g));

    if (!rc)
        rc = claim_look(g, node, true, &second, loco_gate_time_for_look(g));
    if (rc)
        return rc;
    if (first == turn + CLAIMED || second == turn + CLAIMED)
        return 1;
    return first == ASKING || second == ASKING ? ASKING : 0;
}

/* Whether the node counts as dead. Not if another participant does not answer in time. */
static bool gate_has_lost(const struct gate *g, uint32_t node)
{
    return loco_atomic_gone(g->lock->words, node, loco_gate_time_for_look(g));
}

/* As claim_has_ticket, but 0 for a dead node. */
static int claim_of_living(const struct gate *g, uint32_t node, uint64_t turn)
{
    return gate_has_lost(g, node) ? 0 : claim_has_ticket(g, node, turn);
}

/* Whether the turn's ticket belongs to a dead node: 1, 0, or an error. */
static int gate_is_turn_of_dead(const struct gate *g, uint64_t turn)
{
    const struct loco_channel *c = &g->lock->words->channel;
    uint64_t next;
    int rc = loco_atomic_look(g->next_ticket, &next, loco_gate_time_for_look(g));

    if (rc || next == turn)
        return rc; /* nobody has taken it yet */
    rc = claim_of_living(g, g->mgr->id, turn);
    for (unsigned m = 0; !rc && m < c->member_count; m++)
        rc = claim_of_living(g, c->members[m].node, turn);
    return rc < 0 ? rc : !rc;
}

/* For HELD: if the node that is in is dead, returns 1 and the next now_serving, without a state;
 * else 0 or an error. */
static int gate_after_dead_holder(const struct gate *g, uint64_t seen, uint64_t *after)
{
    const uint64_t turn = serving_turn(seen);

    if (!gate_has_lost(g, serving_holder(seen)))
        return 0;
    int rc = claim_has_ticket(g, serving_holder(seen), turn);
    *after = rc == 1 ? turn + TICKET : serving_without_holder(seen) - HELD + PASS;
    return rc < 0 ? rc : 1;
}

/* For OPEN and GRANTED: the same for the node whose turn it is. */
static int gate_after_dead_turn(const struct gate *g, uint64_t seen, uint64_t *after)
{
    *after = serving_turn(seen) + TICKET;
    return gate_is_turn_of_dead(g, serving_turn(seen));
}

__attribute__((cold)) int loco_gate_free_from_dead(const struct gate *g)
{
    uint64_t seen, after, old;
    int rc = loco_gate_look(g, &seen);

    if (rc)
        return rc;
    rc = serving_state(seen) == HELD ? gate_after_dead_holder(g, seen, &after)
                                     : gate_after_dead_turn(g, seen, &after);
    if (rc <= 0)
        return rc;
    rc = loco_atomic_compare_swap(g->now_serving, seen, serving_left(after, g->handover), &old);
    return rc ? rc : old == seen;
}

bool loco_gate_has_losses(const struct gate *g)
{
    return g->lock && loco_channel_check(&g->lock->words->channel);
}

__attribute__((cold)) int loco_gate_check_losses(const struct gate *g, bool still)
{
    const struct loco_channel *c = &g->lock->words->channel;
    const int host = loco_channel_member(c, g->lock->host);

    if (host >= 0 && loco_member_lost(&c->members[host]))
        return -ECONNRESET;
    int rc = still ? loco_gate_free_from_dead(g) : 0;
    return rc < 0 ? rc : 0;
}
