/*
 * A lock is two gates. A thread goes through the local gate of its own node first. Then it goes
 * through the network gate at the lock's host, on behalf of its whole node. Both gates work alike,
 * on two words: the local gate's are in this node's memory, the network gate's in the host's.
 *
 *      next_ticket   the next ticket to be taken, in the high 32 bits
 *      now_serving   bits 32 to 63: the ticket whose turn it is
 *                    bits 16 to 31: the node that is in, while the state is HELD
 *                    bits 2 to 15: how often the present turn has been passed
 *                    bits 0 and 1: a state
 *
 * The states of now_serving, and who may change it:
 *
 *      GRANTED   The gate belongs to the turn's ticket: its owner is in as soon as it sees this.
 *      OPEN      Nobody is in. The owner of the turn's ticket goes in by a compare-and-swap to
 *                HELD. So may a thread without a ticket, which thereby passes the turn.
 *      HELD      A thread is in.
 *
 * Only the thread that is in (HELD, or GRANTED and its turn) leaves: it makes now_serving OPEN
 * while the turn may still be passed, else GRANTED. Where its CPU reaches the word, it stores it.
 * That is safe beside the compare-and-swaps of the others: these expect OPEN, so they fail while a
 * thread is in, and one that fails writes nothing. Through the fabric a write is as safe if atomics
 * that are done are placed (LOCO_ATOMICS_PLACED). Else it would not do: the compare-and-swap by
 * which the node went in, over another thread's link, might be placed after the write. So there the
 * thread adds the difference to what the word is, by an atomic. A value with OPEN never comes back:
 * without the holder, now_serving only grows. (Tickets wrap with the 64 bits. They are compared
 * only for equality and distance.)
 *
 * A look at the words over the network is a plain read. It may miss an atomic that is done, but not
 * for ever, and what it led to is decided by an atomic.
 *
 * A ticket that was taken by a fetch-and-add must be waited for. So a try never takes one that way:
 * it passes an open gate, or takes the very ticket that is GRANTED, by a compare-and-swap.
 *
 * A node may die with a ticket, or while it is in. So each node has claim words at the host. It
 * writes ASKING there before it takes a ticket, and then the ticket. A thread that waits, and knows
 * of a loss, looks whether the present turn belongs to a dead node:
 *
 *      HELD      now_serving says which node is in
 *      else      the turn's ticket was taken, and no living node claims it or is ASKING
 *
 * If so, the thread ends that turn, by a compare-and-swap from the value that it has looked at. A
 * node counts as dead only when nothing that it wrote can still arrive at any other node: no late
 * release, and no late write to what the lock protects.
 *
 * A node has two claim words for each lock, since its threads write claims over links of their own,
 * and nothing orders one thread's claim behind another thread's release. Successive claims
 * alternate between the two words. When a word is used again, the ticket in between has been
 * served, so all writes to the word for the ticket before that are placed: the thread that wrote
 * them has looked at the gate since then, or released it over the same link.
 */
#include "loco/ticket_lock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core.h"
#include "loco/memory.h"
#include "thread_links.h"
#include "trace_internal.h"

enum state { GRANTED = 0, OPEN = 1, HELD = 2 }; /* two zeroed words are a free gate */

enum { STATE = 3, PASS = 4, HOLDER = 1 << 16 };

#define TICKET ((uint64_t)HOLDER << 16)

static uint64_t serving_turn(uint64_t serving)
{
    return serving & ~(TICKET - 1);
}

static uint32_t serving_holder(uint64_t serving)
{
    return (uint32_t)(serving % TICKET / HOLDER);
}

/* What an open gate becomes when the node goes in. */
static uint64_t serving_held_by(uint64_t open, uint32_t node)
{
    return open - OPEN + HELD + (uint64_t)node * HOLDER;
}

static uint64_t serving_without_holder(uint64_t serving)
{
    return serving - (uint64_t)serving_holder(serving) * HOLDER;
}

static unsigned serving_passes(uint64_t serving)
{
    return (unsigned)(serving % HOLDER / PASS);
}

static unsigned serving_state(uint64_t serving)
{
    return serving & STATE;
}

_Static_assert(LOCO_HANDOVER_MAX == (HOLDER - 1) / PASS, "the passes fill what the holder leaves");

/* A claim word is 0 (no ticket), ASKING, or a ticket + CLAIMED. */
enum { CLAIMED = 1, ASKING = 2 };

struct gate {
    struct loco_manager *mgr;
    struct loco_ticket_lock *lock; /* of a network gate; NULL: the gate is local */
    struct loco_atomic_word next_ticket, now_serving;
    const uint64_t *near; /* now_serving, where this CPU can read it; else NULL */
    uint64_t *after;      /* the next now_serving, without a state; the thread that is in has it */
    unsigned handover;
    const struct loco_wait *wait; /* limits a look over the network; NULL: unlimited */
};

/* --- a gate ---------------------------------------------------------------------------------- */

static uint64_t gate_time_for_look(const struct gate *g)
{
    return g->wait ? loco_time_for_look(g->mgr, g->wait) : UINT64_MAX;
}

static int gate_look(const struct gate *g, uint64_t *serving)
{
    if (!g->near)
        return loco_atomic_look(g->now_serving, serving, gate_time_for_look(g));
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

/* --- claims, and what the dead leave ---------------------------------------------------------- */

/* At a host, each word of a lock has a cache line of its own. The claims follow behind all the
 * locks: node by node, two words for each lock, and a new cache line for each node. */
enum { LINE = LOCO_CACHE_LINE / sizeof(uint64_t), WORDS = 2 * LINE };

static size_t claims_per_node(size_t locks)
{
    return (2 * locks + LINE - 1) / LINE * LINE;
}

static size_t claims_and_locks(size_t locks, size_t nodes)
{
    return locks * WORDS + nodes * claims_per_node(locks);
}

static size_t claim_index(const struct loco_ticket_lock *l, uint32_t node, bool second)
{
    const size_t claims = l->count * WORDS + node * claims_per_node(l->count);

    return claims + 2 * (l->index / WORDS) + second;
}

/* Writes this node's claim. It is placed before this thread's next step at the gate: the link, or
 * at the host the CPU, keeps the order. An error is ignored, as that next step is on the same link
 * and returns it too. */
static void claim_write(const struct gate *g, uint64_t what)
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

static void claim_begin(const struct gate *g)
{
    if (g->lock)
        g->lock->second = !g->lock->second;
    claim_write(g, ASKING);
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
static void claim_place(const struct gate *g)
{
    uint64_t placed;

    if (g->lock && g->lock->host != g->mgr->id)
        claim_look(g, g->mgr->id, g->lock->second, &placed, UINT64_MAX);
}

/* Withdraws a claim for which no ticket was taken. The next claim uses the same word again, as the
 * other word may have the claim of a ticket whose release is still on its way. The zero must be
 * placed before that next claim, which another thread may write over another link. */
static void claim_end(const struct gate *g)
{
    claim_write(g, 0);
    claim_place(g);
    if (g->lock)
        g->lock->second = !g->lock->second;
}

/* Whether the node has the turn's ticket: 1 yes, ASKING perhaps, 0 no; or an error. */
static int claim_has_ticket(const struct gate *g, uint32_t node, uint64_t turn)
{
    uint64_t first, second;
    int rc = claim_look(g, node, false, &first, gate_time_for_look(g));

    if (!rc)
        rc = claim_look(g, node, true, &second, gate_time_for_look(g));
    if (rc)
        return rc;
    if (first == turn + CLAIMED || second == turn + CLAIMED)
        return 1;
    return first == ASKING || second == ASKING ? ASKING : 0;
}

/* now_serving once a thread has left: the next turn and passes, and the state that follows. */
static uint64_t serving_left(uint64_t after, unsigned handover)
{
    return after + (serving_passes(after) < handover ? OPEN : GRANTED);
}

/* Whether the node counts as dead. Not if another participant does not answer in time. */
static bool gate_has_lost(const struct gate *g, uint32_t node)
{
    return loco_atomic_gone(g->lock->words, node, gate_time_for_look(g));
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
    int rc = loco_atomic_look(g->next_ticket, &next, gate_time_for_look(g));

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

/* Ends the turn of a dead node. Returns 1 when it did; 0 when there is none, or another thread was
 * faster; or an error. */
__attribute__((cold)) static int gate_free_from_dead(const struct gate *g)
{
    uint64_t seen, after, old;
    int rc = gate_look(g, &seen);

    if (rc)
        return rc;
    rc = serving_state(seen) == HELD ? gate_after_dead_holder(g, seen, &after)
                                     : gate_after_dead_turn(g, seen, &after);
    if (rc <= 0)
        return rc;
    rc = loco_atomic_compare_swap(g->now_serving, seen, serving_left(after, g->handover), &old);
    return rc ? rc : old == seen;
}

static bool gate_has_losses(const struct gate *g)
{
    return g->lock && loco_channel_check(&g->lock->words->channel);
}

/* For a thread that waits after a member was lost. Returns -ECONNRESET if that is the host. If the
 * gate is `still` as at the last look, a dead node may be the reason. */
__attribute__((cold)) static int gate_check_losses(const struct gate *g, bool still)
{
    const struct loco_channel *c = &g->lock->words->channel;
    const int host = loco_channel_member(c, g->lock->host);

    if (host >= 0 && loco_member_lost(&c->members[host]))
        return -ECONNRESET;
    int rc = still ? gate_free_from_dead(g) : 0;
    return rc < 0 ? rc : 0;
}

/* --- a gate, waited for ----------------------------------------------------------------------- */

/* A waiting thread goes into an open gate only after two looks without a change. Until then it
 * leaves the gate to threads that pass: mostly the one that has just left, whose cache is warm. */
static int gate_wait_for_turn(const struct gate *g, uint64_t ticket)
{
    struct loco_wait wait = {0};
    uint64_t seen, before = 0, rest = REST_NS;

    for (;; before = seen) {
        int rc = gate_look(g, &seen);
        if (!rc && (serving_state(seen) != OPEN || seen == before))
            rc = gate_go_in_by_turn(g, ticket, seen);
        const bool losses = !rc && gate_has_losses(g);
        if (losses)
            rc = gate_check_losses(g, seen == before);
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
static int gate_enter(const struct gate *g)
{
    uint64_t ticket;
    int rc = gate_pass(g, gate_guess(g));

    if (rc)
        return rc < 0 ? rc : 0;
    claim_begin(g);
    rc = loco_atomic_fetch_add(g->next_ticket, TICKET, &ticket);
    if (rc) {
        claim_end(g);
        return rc;
    }
    claim_write(g, ticket + CLAIMED);
    return gate_wait_for_turn(g, ticket);
}

/* Goes in without waiting. Returns 0, -EBUSY, or an error. */
static int gate_try(const struct gate *g)
{
    uint64_t seen, old;
    int rc = gate_look(g, &seen);

    if (!rc && serving_state(seen) == GRANTED) {
        uint64_t ticket = serving_turn(seen);
        claim_begin(g);
        rc = loco_atomic_compare_swap(g->next_ticket, ticket, ticket + TICKET, &old);
        if (rc || old != ticket) {
            claim_end(g);
            return rc ? rc : -EBUSY;
        }
        claim_write(g, ticket + CLAIMED);
        if (g->handover)
            claim_place(g); /* a release that hands over posts nothing that would come after it */
        rc = gate_go_in_by_turn(g, ticket, seen);
    } else if (!rc) {
        rc = gate_pass(g, seen);
    }
    if (rc < 0)
        return rc;
    return rc ? 0 : -EBUSY;
}

/* The same, but ends the turn of a dead node first. */
static int gate_try_after_losses(const struct gate *g)
{
    int rc = gate_try(g);

    if (rc != -EBUSY || !gate_has_losses(g))
        return rc;
    rc = gate_free_from_dead(g);
    if (rc < 0)
        return rc;
    return rc ? gate_try(g) : -EBUSY;
}

/* `inside` is what now_serving is. It need not be known where the CPU reaches the word. */
static inline int gate_leave(struct loco_atomic_word now_serving, uint64_t *after,
                             unsigned handover, uint64_t inside)
{
    uint64_t *reached = loco_atomic_reach(now_serving);

    *after = serving_left(*after, handover);
    if (!reached)
        return loco_atomic_post_replace(now_serving, inside, *after);
    __atomic_store_n(reached, *after, __ATOMIC_RELEASE);
    loco_stored();
    return 0;
}

/* The fast way in, tried first: one atomic operation on an open gate that this CPU can reach. */
static inline bool gate_walk_in(uint64_t *serving, uint64_t *after, uint32_t node)
{
    uint64_t old, seen = __atomic_load_n(serving, __ATOMIC_ACQUIRE);

    if (serving_state(seen) != OPEN)
        return false;
    loco_atomic_compare_swap((struct loco_atomic_word){.own = serving}, seen,
                             serving_held_by(seen, node), &old);
    if (old != seen)
        return false;
    *after = seen - OPEN + PASS;
    return true;
}

/* --- the two gates of a lock ------------------------------------------------------------------ */

static struct loco_atomic_word lock_local_serving(struct loco_ticket_lock *l)
{
    return (struct loco_atomic_word){.own = &l->local_serving};
}

static inline struct loco_atomic_word lock_network_serving(const struct loco_ticket_lock *l)
{
    return loco_atomic_at(l->words, l->host, l->index + LINE);
}

static struct gate lock_local_gate(struct loco_ticket_lock *l)
{
    return (struct gate){
        .mgr = l->words->channel.mgr,
        .next_ticket = {.own = &l->local_next},
        .now_serving = lock_local_serving(l),
        .near = &l->local_serving,
        .after = &l->local_after,
        .handover = l->handover,
    };
}

static struct gate lock_network_gate(struct loco_ticket_lock *l)
{
    struct loco_manager *m = l->words->channel.mgr;
    struct gate g = {
        .mgr = m,
        .lock = l,
        .next_ticket = loco_atomic_at(l->words, l->host, l->index),
        .now_serving = lock_network_serving(l),
        .after = &l->after,
        .handover = l->handover,
    };

    g.near = loco_atomic_reach(g.now_serving);
    if (l->host == m->id)
        g.near = (const uint64_t *)l->words->region->memory + l->index + LINE;
    return g;
}

/* Go through one gate: fast if it is open, else by `through`, which is gate_enter or
 * gate_try_after_losses. */
static int lock_through_local(struct loco_ticket_lock *l, int (*through)(const struct gate *g))
{
    if (gate_walk_in(&l->local_serving, &l->local_after, 0))
        return 0;
    const struct gate local = lock_local_gate(l);
    return through(&local);
}

static int lock_through_network(struct loco_ticket_lock *l, uint64_t *reached,
                                int (*through)(const struct gate *g), const struct loco_wait *wait)
{
    if (reached && gate_walk_in(reached, &l->after, l->words->channel.mgr->id))
        return 0;
    struct gate network = lock_network_gate(l);
    network.wait = wait;
    return through(&network);
}

static int lock_acquire_with(struct loco_ticket_lock *l, int (*through)(const struct gate *g),
                             const struct loco_wait *wait)
{
    const struct loco_atomic_word serving = lock_network_serving(l);

    /* The word is fetched into the cache while this thread goes through the local gate. */
    loco_atomic_prefetch(serving);
    int rc = lock_through_local(l, through);
    if (rc || l->kept)
        return rc;
    rc = lock_through_network(l, loco_atomic_reach(serving), through, wait);
    if (rc)
        gate_leave(lock_local_serving(l), &l->local_after, l->handover, 0);
    return rc;
}

static int lock_acquire_traced(struct loco_ticket_lock *l, int (*through)(const struct gate *g),
                               const struct loco_wait *wait)
{
    const struct loco_channel *c = &l->words->channel;
    int rc = loco_self(c->mgr) ? lock_acquire_with(l, through, wait) : -EPERM;

    if (!rc)
        LOCO_TRACE(lock_acquire, c->mgr->id, c->name, l->host, l->index / WORDS);
    return rc;
}

int loco_ticket_lock_acquire(struct loco_ticket_lock *l)
{
    return lock_acquire_traced(l, gate_enter, NULL);
}

int loco_ticket_lock_try(struct loco_ticket_lock *l)
{
    return lock_acquire_traced(l, gate_try_after_losses, NULL);
}

/* Waits for a change before the next try, or for a short time where no change can be seen in this
 * node's memory. Returns 0, or -ETIMEDOUT when the wait's own time is over. */
static int lock_rest_between_tries(struct loco_ticket_lock *l, struct loco_wait *wait)
{
    const struct loco_manager *m = l->words->channel.mgr;
    const struct gate network = lock_network_gate(l);

    return !network.near || gate_has_losses(&network) ? loco_rest_between_looks(m, wait)
                                                      : loco_relax(m, wait);
}

int loco_ticket_lock_timed(struct loco_ticket_lock *l, uint64_t timeout_ns)
{
    const struct loco_channel *c = &l->words->channel;
    struct loco_wait wait = loco_wait_for(c->mgr, timeout_ns);

    for (;;) {
        int rc = lock_acquire_traced(l, gate_try_after_losses, &wait);
        if (rc != -EBUSY)
            return rc;
        rc = lock_rest_between_tries(l, &wait);
        if (rc)
            return rc;
    }
}

/* Whether the lock stays with this node: another of its threads has a local ticket, and the network
 * gate may still be passed once more. */
static bool lock_may_keep(const struct loco_ticket_lock *l)
{
    return serving_passes(l->after) < l->handover &&
           __atomic_load_n(&l->local_next, __ATOMIC_RELAXED) != serving_turn(l->local_after);
}

/* The fence of a release. `on_link`: the release itself is written to the host over this thread's
 * link, behind its other writes, so LOCO_FENCE_PAIR needs no waiting. */
static int lock_settle(const struct loco_ticket_lock *l, enum loco_fence fence, bool on_link,
                       uint64_t timeout_ns)
{
    struct loco_manager *m = l->words->channel.mgr;

    if (m->fabric->capabilities & LOCO_COHERENT)
        return 0; /* the release's own store comes after all before it */
    if (fence == LOCO_FENCE_PAIR && !on_link)
        return loco_fence_pair_timed(m, l->host, timeout_ns);
    if (fence == LOCO_FENCE_THREAD)
        return loco_fence_thread_timed(m, timeout_ns);
    return fence == LOCO_FENCE_GLOBAL ? loco_fence_global_timed(m, timeout_ns) : 0;
}

int loco_ticket_lock_release(struct loco_ticket_lock *l, enum loco_fence fence)
{
    return loco_ticket_lock_release_timed(l, fence, UINT64_MAX);
}

int loco_ticket_lock_release_timed(struct loco_ticket_lock *l, enum loco_fence fence,
                                   uint64_t timeout_ns)
{
    const struct loco_channel *c = &l->words->channel;
    const struct loco_atomic_word serving = lock_network_serving(l);
    const bool keep = lock_may_keep(l);

    if (!loco_self(c->mgr))
        return -EPERM;
    int rc = lock_settle(l, fence, !keep && !loco_atomic_reach(serving), timeout_ns);
    if (rc == -ETIMEDOUT)
        return rc;
    LOCO_TRACE(lock_release, c->mgr->id, c->name, l->host, l->index / WORDS);

    l->kept = keep;
    if (keep) {
        l->after += PASS;
    } else {
        int left = gate_leave(serving, &l->after, l->handover, l->inside);
        rc = rc ? rc : left;
    }
    gate_leave(lock_local_serving(l), &l->local_after, l->handover, 0);
    return rc;
}

/* --- setup -------------------------------------------------------------------------------- */

static void lock_set_up(struct loco_ticket_lock *l, struct loco_atomic_array *words, uint32_t host,
                        size_t count, size_t index, unsigned handover)
{
    *l = (struct loco_ticket_lock){
        .words = words,
        .host = host,
        .count = (uint32_t)count,
        .index = (uint32_t)(index * WORDS),
        .handover = (uint16_t)handover,
    };
}

int loco_ticket_lock_array_init(struct loco_ticket_lock_array *a, struct loco_manager *manager,
                                const struct loco_channel *parent, const char *name, size_t count,
                                struct loco_members members, unsigned handover)
{
    *a = (struct loco_ticket_lock_array){0};
    if (count == 0 || handover > LOCO_HANDOVER_MAX || manager->count > HOLDER)
        return -EINVAL;
    if (count > UINT32_MAX / WORDS ||
        count > SIZE_MAX / (WORDS * sizeof(uint64_t) + sizeof a->locks[0]) / (manager->count + 1))
        return -EINVAL;
    a->count = count;
    a->locks = aligned_alloc(_Alignof(struct loco_ticket_lock),
                             manager->count * count * sizeof a->locks[0]);
    if (!a->locks)
        return -ENOMEM;
    for (uint32_t host = 0; host < manager->count; host++)
        for (size_t i = 0; i < count; i++)
            lock_set_up(&a->locks[host * count + i], &a->words, host, count, i, handover);
    char options[LOCO_OPTIONS_MAX];
    snprintf(options, sizeof options, "handover=%u\n", handover);
    int rc = loco_atomic_words_init(&a->words, manager, parent, name,
                                    claims_and_locks(count, manager->count), members, options);
    if (rc) {
        free(a->locks);
        a->locks = NULL;
    }
    return rc;
}

void loco_ticket_lock_array_fini(struct loco_ticket_lock_array *a)
{
    loco_atomic_array_fini(&a->words);
    free(a->locks);
    *a = (struct loco_ticket_lock_array){0};
}

struct loco_ticket_lock *loco_ticket_lock_at(const struct loco_ticket_lock_array *a, uint32_t host,
                                             size_t index)
{
    return &a->locks[host * a->count + index];
}

int loco_ticket_lock_init(struct loco_ticket_lock *l, struct loco_manager *manager,
                          const struct loco_channel *parent, const char *name, uint32_t host,
                          struct loco_members members, unsigned handover)
{
    *l = (struct loco_ticket_lock){0};
    if (host >= manager->count || manager->count > HOLDER || handover > LOCO_HANDOVER_MAX)
        return -EINVAL;
    char options[LOCO_OPTIONS_MAX];
    struct loco_atomic_array *words = malloc(sizeof *words);
    if (!words)
        return -ENOMEM;
    snprintf(options, sizeof options, "host=%u\nhandover=%u\n", host, handover);
    int rc = loco_atomic_words_init(words, manager, parent, name,
                                    claims_and_locks(1, manager->count), members, options);
    if (rc) {
        free(words);
        return rc;
    }
    lock_set_up(l, words, host, 1, 0, handover);
    return 0;
}

void loco_ticket_lock_fini(struct loco_ticket_lock *l)
{
    if (l->words)
        loco_atomic_array_fini(l->words);
    free(l->words);
    *l = (struct loco_ticket_lock){0};
}
