#include "lock_gate.h"

#include <errno.h>

#include "lock_claims.h"

uint64_t loco_gate_time_for_look(const struct gate *g)
{
    return g->wait ? loco_time_for_look(g->mgr, g->wait) : UINT64_MAX;
}

int loco_gate_look(const struct gate *g, uint64_t *serving)
{
    if (!g->near)
        return loco_atomic_look(g->now_serving, serving, loco_gate_time_for_look(g));
    *serving = __atomic_load_n(g->near, __ATOMIC_ACQUIRE);
    return 0;
}

static int gate_is_in(const struct gate *g, uint64_t inside, uint64_t after)
{
    *g->after = after;
    if (g->lock)
        g->lock->inside = inside;
    return 1;
}

/* Goes in if the gate is open and still as it was `seen`; then sets *g->after. Returns 1 when in, 0
 * when not, or an error. */
static int gate_go_in(const struct gate *g, uint64_t seen, uint64_t after)
{
    const uint64_t held = serving_held_by(seen, g->mgr->id);
    uint64_t old;

    if (serving_state(seen) != OPEN)
        return 0;
    int rc = loco_atomic_compare_swap(g->now_serving, seen, held, &old);
    if (rc || old != seen)
        return rc;
    return gate_is_in(g, held, after);
}

static int gate_pass(const struct gate *g, uint64_t seen)
{
    return gate_go_in(g, seen, seen - OPEN + PASS);
}

/* Goes in if it is the ticket's turn. Returns as gate_go_in. */
static int gate_go_in_by_turn(const struct gate *g, uint64_t ticket, uint64_t seen)
{
    if (serving_turn(seen) != ticket)
        return 0;
    if (serving_state(seen) != GRANTED)
        return gate_go_in(g, seen, ticket + TICKET);
    return gate_is_in(g, seen, ticket + TICKET);
}

/*
 * How long to rest before the next poll, ns; 0: for one loco_relax.
 *
 * A poll takes the cache line away from the thread that is in. So where passing is allowed, the
 * rest grows with each poll that finds a change, but does not outlast the passes that are left: a
 * section takes SECTION_NS at least. Over a network a poll is a round trip, and each ticket before
 * this one takes at least that long. There the rest is never 0, as nothing wakes this node when the
 * lock changes hands.
 */
enum { REST_NS = 100, REST_MAX_NS = 1000, SECTION_NS = 32, FAR_SECTION_NS = 2000 };

static uint64_t gate_rest_ns(const struct gate *g, uint64_t ticket, uint64_t seen, uint64_t rest)
{
    const uint64_t before = (ticket - serving_turn(seen)) / TICKET;
    const uint64_t passes_left = g->handover - serving_passes(seen);

    if (!g->near)
        return before > 1 ? (before - 1) * FAR_SECTION_NS : REST_NS;
    if (!g->handover)
        return 0;
    if (before == 0 && rest > passes_left * SECTION_NS)
        return passes_left * SECTION_NS;
    return rest;
}

static void gate_rest(const struct gate *g, struct loco_wait *wait, uint64_t ns)
{
    wait->until = ns ? loco_clock(g->mgr) + ns : UINT64_MAX;
    while (!loco_relax(g->mgr, wait) && ns)
        ;
}

/* --- a gate, waited for ----------------------------------------------------------------------- */

/* A waiting thread goes into an open gate only after two looks without a change. Until then it
 * leaves the gate to threads that pass: mostly the one that has just left, whose cache is warm. */
static int gate_wait_for_turn(const struct gate *g, uint64_t ticket)
{
    struct loco_wait wait = {0};
    uint64_t seen, before = 0, rest = REST_NS;

    for (;; before = seen) {
        int rc = loco_gate_look(g, &seen);
        if (!rc && (serving_state(seen) != OPEN || seen == before))
            rc = gate_go_in_by_turn(g, ticket, seen);
        const bool losses = !rc && loco_gate_has_losses(g);
        if (losses)
            rc = loco_gate_check_losses(g, seen == before);
        if (rc)
            return rc < 0 ? rc : 0;
        if (seen != before)
            wait.turns = 0; /* the queue moves: too early to sleep */
        rest = seen == before ? REST_NS : rest < REST_MAX_NS / 2 ? 2 * rest : REST_MAX_NS;
        gate_rest(g, &wait, losses ? REST_MAX_NS : gate_rest_ns(g, ticket, seen, rest));
    }
}

/* The probable now_serving, without a look over the network. A node that is not the host guesses
 * that nobody came since it left itself. The host can read the word, but its own last write may
 * still be on its way through the network; then that write is the better guess. */
static uint64_t gate_guess(const struct gate *g)
{
    uint64_t seen = g->near ? __atomic_load_n(g->near, __ATOMIC_ACQUIRE) : *g->after;

    if (loco_atomic_reach(g->now_serving))
        return seen;
    return (int64_t)(*g->after - serving_without_holder(seen)) > 0 ? *g->after : seen;
}

/* Waits to go in. It tries to pass first: if the gate is open, that saves a ticket and its turn. A
 * wrong guess costs a round trip. */
int loco_gate_enter(const struct gate *g)
{
    uint64_t ticket;
    int rc = gate_pass(g, gate_guess(g));

    if (rc)
        return rc < 0 ? rc : 0;
    loco_claim_begin(g);
    rc = loco_atomic_fetch_add(g->next_ticket, TICKET, &ticket);
    if (rc) {
        loco_claim_end(g);
        return rc;
    }
    loco_claim_write(g, ticket + CLAIMED);
    return gate_wait_for_turn(g, ticket);
}

/* Goes in without waiting. Returns 0, -EBUSY, or an error. */
static int gate_try_once(const struct gate *g)
{
    uint64_t seen, old;
    int rc = loco_gate_look(g, &seen);

    if (!rc && serving_state(seen) == GRANTED) {
        uint64_t ticket = serving_turn(seen);
        loco_claim_begin(g);
        rc = loco_atomic_compare_swap(g->next_ticket, ticket, ticket + TICKET, &old);
        if (rc || old != ticket) {
            loco_claim_end(g);
            return rc ? rc : -EBUSY;
        }
        loco_claim_write(g, ticket + CLAIMED);
        if (g->handover)
            loco_claim_place(
                g); /* a release that hands over posts nothing that would come after it */
        rc = gate_go_in_by_turn(g, ticket, seen);
    } else if (!rc) {
        rc = gate_pass(g, seen);
    }
    if (rc < 0)
        return rc;
    return rc ? 0 : -EBUSY;
}

int loco_gate_try(const struct gate *g)
{
    int rc = gate_try_once(g);

    if (rc != -EBUSY || !loco_gate_has_losses(g))
        return rc;
    rc = loco_gate_free_from_dead(g);
    if (rc < 0)
        return rc;
    return rc ? gate_try_once(g) : -EBUSY;
}
