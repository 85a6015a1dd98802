/*
 * The same algorithm works twice: for this node's threads on two words of its own memory,
 * and for the nodes on two words at the lock's host. Here it is called a gate.
 *
 *      next_ticket   the ticket that the next to ask will get, in the high 32 bits
 *      now_serving   whose turn it is, in the high 32 bits; while it is HELD, by which node; how
 *                    often that turn has been passed; and a state:
 *
 *      GRANTED   the turn's ticket goes in without a further step. Nobody else may.
 *      OPEN      nobody is in: the turn's ticket, or whoever passes it, makes it HELD by a
 *                compare-and-swap, and is in.
 *      HELD      somebody is in.
 *
 * Whoever is in leaves by a plain write of now_serving. That is safe beside the others'
 * compare-and-swaps, even where the two are not atomic with one another: those expect OPEN,
 * which is not there while somebody is in, and one that fails writes nothing. Nor does an OPEN
 * come back: now_serving, as a number without the holder, only ever grows.
 *
 * A ticket that was taken by fetch-and-add must be waited for, so trying never does that: it
 * passes, where the gate is open; or takes, by compare-and-swap, the very ticket that is
 * GRANTED.
 *
 * Tickets wrap, by the wrap of 64 bits; they are only compared for equality and distance.
 *
 * A node that dies leaves a ticket, or the lock. So each node has words at the host for its claims.
 * A claim says ASKING from before the node takes a ticket, then which. Whoever waits, and knows of
 * a loss, looks whether the turn is of one that is gone:
 *
 *      HELD      now_serving says by whom
 *      else      tickets were taken up to beyond the turn, and none of those who live claims it or
 *                is ASKING
 *
 * and if so makes it the turn of the next, by a compare-and-swap of what it has looked at. Gone is
 * who can place nothing any more, at nobody: neither a late release nor late writes to what the
 * lock protects.
 *
 * The threads of a node claim over links of their own, on which nothing orders one thread's claim
 * behind the release of the thread before it. So a node has two words, and claims in turn: when it
 * comes back to a word, the ticket between was served, and so all that was done about the one
 * before is placed.
 */
#include "loco/ticket_lock.h"

#include <errno.h>
#include <stdlib.h>

#include "core.h"
#include "loco/memory.h"
#include "thread_links.h"
#include "trace_internal.h"

enum state { GRANTED = 0, OPEN = 1, HELD = 2 }; /* zeroed words are a gate that nobody uses */

enum { STATE = 3, PASS = 4, HOLDER = 1 << 16 };

#define TICKET ((uint64_t)HOLDER << 16)

static uint64_t turn_of(uint64_t serving)
{
    return serving & ~(TICKET - 1);
}

static uint32_t holder_of(uint64_t serving)
{
    return (uint32_t)(serving % TICKET / HOLDER);
}

/* An open gate that the node has gone in by. */
static uint64_t held_by(uint64_t open, uint32_t node)
{
    return open - OPEN + HELD + (uint64_t)node * HOLDER;
}

static uint64_t without_holder(uint64_t serving)
{
    return serving - (uint64_t)holder_of(serving) * HOLDER;
}

static unsigned passes_of(uint64_t serving)
{
    return (unsigned)(serving % HOLDER / PASS);
}

static unsigned state_of(uint64_t serving)
{
    return serving & STATE;
}

_Static_assert(LOCO_HANDOVER_MAX == (HOLDER - 1) / PASS, "the passes fill what the holder leaves");

/* What a claim says: 0, ASKING, or a ticket and CLAIMED. */
enum { CLAIMED = 1, ASKING = 2 };

struct gate {
    struct loco_manager *mgr;
    struct loco_ticket_lock *lock; /* whose network gate it is; NULL: a local one */
    struct loco_atomic_word next_ticket, now_serving;
    const uint64_t *near; /* now_serving in memory that this CPU reads; NULL: it is far */
    uint64_t *after;      /* who is in: the next turn and its passes, without a state */
    unsigned handover;
    const struct loco_wait *wait; /* of a look from afar that is given up; NULL: it is not */
};

/* --- a gate ---------------------------------------------------------------------------------- */

static int look(const struct gate *g, uint64_t *serving)
{
    if (!g->near)
        return loco_atomic_load_timed(g->now_serving, serving,
                                      g->wait ? loco_time_for_look(g->mgr, g->wait) : UINT64_MAX);
    *serving = __atomic_load_n(g->near, __ATOMIC_ACQUIRE);
    return 0;
}

/* Goes in where the gate is open, as it was `seen`. Returns 1, 0 when it is not so, or an
 * error. `after` is for who is in. */
static int go_in(const struct gate *g, uint64_t seen, uint64_t after)
{
    uint64_t old;

    if (state_of(seen) != OPEN)
        return 0;
    int rc = loco_atomic_compare_swap(g->now_serving, seen, held_by(seen, g->mgr->id), &old);
    if (rc || old != seen)
        return rc;
    *g->after = after;
    return 1;
}

static int pass(const struct gate *g, uint64_t seen)
{
    return go_in(g, seen, seen - OPEN + PASS);
}

/* Goes in if it is the ticket's turn; results as of go_in. */
static int go_in_by_turn(const struct gate *g, uint64_t ticket, uint64_t seen)
{
    if (turn_of(seen) != ticket)
        return 0;
    if (state_of(seen) != GRANTED)
        return go_in(g, seen, ticket + TICKET);
    *g->after = ticket + TICKET;
    return 1;
}

/*
 * How long to rest before the next poll. A poll takes the line away from whoever is in, so
 * where passing is allowed one that finds things moving is followed by a longer rest, up to a
 * limit, but by none that outlasts the passes that are left. From afar a poll is a round trip,
 * and so, at least, is the section of each ticket before this one. There is always a rest then:
 * nothing comes to this node when the lock changes hands. Nor does it when another hears of a loss.
 */
enum { REST_NS = 100, REST_MAX_NS = 1000, SECTION_NS = 16, FAR_SECTION_NS = 2000 };

static uint64_t rest_after(const struct gate *g, uint64_t ticket, uint64_t seen, uint64_t rest)
{
    const uint64_t before = (ticket - turn_of(seen)) / TICKET;
    const uint64_t passes_left = g->handover - passes_of(seen);

    if (!g->near)
        return before > 1 ? (before - 1) * FAR_SECTION_NS : REST_NS;
    if (!g->handover)
        return 0;
    if (before == 0 && rest > passes_left * SECTION_NS)
        return passes_left * SECTION_NS;
    return rest;
}

/* --- what the dead leave ---------------------------------------------------------------------- */

/* The words of locks that different nodes take lie on lines of their own, and so do the claims of
 * different nodes: a node's, for all locks of a host, lie together behind the locks. */
enum { LINE = LOCO_CACHE_LINE / sizeof(uint64_t), WORDS = 2 * LINE };

static size_t claims_of_node(size_t locks)
{
    return (2 * locks + LINE - 1) / LINE * LINE;
}

static size_t words_at_host(size_t locks, size_t nodes)
{
    return locks * WORDS + nodes * claims_of_node(locks);
}

static size_t claim_at(const struct loco_ticket_lock *l, uint32_t node, bool second)
{
    const size_t claims = l->count * WORDS + node * claims_of_node(l->count);

    return claims + 2 * (l->index / WORDS) + second;
}

/* Before this thread's next step at the gate, in the order of its link; at the host, in that of its
 * own stores. It fails only where that step fails, too. */
static void claim(const struct gate *g, uint64_t what)
{
    const struct loco_ticket_lock *l = g->lock;

    if (!l)
        return;
    const size_t at = claim_at(l, g->mgr->id, l->second);
    if (l->host == g->mgr->id)
        __atomic_store_n((uint64_t *)l->words->region->memory + at, what, __ATOMIC_RELEASE);
    else
        loco_atomic_write(loco_atomic_at(l->words, l->host, at), what);
}

static void begin_claim(const struct gate *g)
{
    if (g->lock)
        g->lock->second = !g->lock->second;
    claim(g, ASKING);
}

static int look_at_claim(const struct gate *g, uint32_t node, bool second, uint64_t *claimed)
{
    const struct loco_ticket_lock *l = g->lock;

    return loco_atomic_load(loco_atomic_at(l->words, l->host, claim_at(l, node, second)), claimed);
}

/* There is no ticket. The next use of the word must come after this one, as stores at the host do.
 */
static void end_claim(const struct gate *g)
{
    uint64_t placed;

    claim(g, 0);
    if (g->lock && g->lock->host != g->mgr->id)
        look_at_claim(g, g->mgr->id, g->lock->second, &placed);
}

/* Whether the node has the turn's ticket (1), may have it (ASKING), or has not (0); or an error. */
static int has_ticket(const struct gate *g, uint32_t node, uint64_t turn)
{
    uint64_t first, second;
    int rc = look_at_claim(g, node, false, &first);

    if (!rc)
        rc = look_at_claim(g, node, true, &second);
    if (rc)
        return rc;
    if (first == turn + CLAIMED || second == turn + CLAIMED)
        return 1;
    return first == ASKING || second == ASKING ? ASKING : 0;
}

/* How the gate is left open, or granted, once its next turn and passes are known. */
static uint64_t left_as(uint64_t after, unsigned handover)
{
    return after + (passes_of(after) < handover ? OPEN : GRANTED);
}

/* Whether one who lives has the turn's ticket, or may have it; or an error. */
static int lives_with_ticket(const struct gate *g, uint32_t node, uint64_t turn)
{
    return loco_atomic_gone(g->lock->words, node) ? 0 : has_ticket(g, node, turn);
}

/* Whether the turn's ticket is of one that is gone: 1, 0, or an error. */
static int is_turn_of_the_dead(const struct gate *g, uint64_t turn)
{
    const struct loco_channel *c = &g->lock->words->channel;
    uint64_t next;
    int rc = loco_atomic_load(g->next_ticket, &next);

    if (rc || next == turn)
        return rc; /* nobody has it yet */
    rc = lives_with_ticket(g, g->mgr->id, turn);
    for (unsigned m = 0; !rc && m < c->member_count; m++)
        rc = lives_with_ticket(g, c->members[m].node, turn);
    return rc < 0 ? rc : !rc;
}

/* What now_serving is to be after the dead one that holds the gate: 1; 0 where it is not dead; or
 * an error. */
static int after_dead_holder(const struct gate *g, uint64_t seen, uint64_t *after)
{
    const uint64_t turn = turn_of(seen);

    if (!loco_atomic_gone(g->lock->words, holder_of(seen)))
        return 0;
    int rc = has_ticket(g, holder_of(seen), turn);
    *after = rc == 1 ? turn + TICKET : without_holder(seen) - HELD + PASS;
    return rc < 0 ? rc : 1;
}

static int after_dead_turn(const struct gate *g, uint64_t seen, uint64_t *after)
{
    *after = turn_of(seen) + TICKET;
    return is_turn_of_the_dead(g, turn_of(seen));
}

/* Ends the turn of one that is gone. Returns 1 when it did, 0 when there is nothing to end, or an
 * error. Of several who try one succeeds. */
__attribute__((cold)) static int free_from_the_dead(const struct gate *g)
{
    uint64_t seen, after, old;
    int rc = look(g, &seen);

    if (rc)
        return rc;
    rc = state_of(seen) == HELD ? after_dead_holder(g, seen, &after)
                                : after_dead_turn(g, seen, &after);
    if (rc <= 0)
        return rc;
    rc = loco_atomic_compare_swap(g->now_serving, seen, left_as(after, g->handover), &old);
    return rc ? rc : old == seen;
}

static bool has_losses(const struct gate *g)
{
    return g->lock && loco_channel_check(&g->lock->words->channel);
}

/* A wait ends with the host. Other losses are looked into where nothing moves. */
__attribute__((cold)) static int go_on_after_losses(const struct gate *g, bool still)
{
    const struct loco_channel *c = &g->lock->words->channel;
    const int host = loco_channel_member(c, g->lock->host);

    if (host >= 0 && loco_member_lost(&c->members[host]))
        return -ECONNRESET;
    int rc = still ? free_from_the_dead(g) : 0;
    return rc < 0 ? rc : 0;
}

/* --- a gate, waited for ----------------------------------------------------------------------- */

/* An open gate is left to those who pass until it is seen the same twice: mostly the one who
 * left comes back, and has everything in its cache. */
static int wait_for_turn(const struct gate *g, uint64_t ticket)
{
    struct loco_wait wait = {0};
    uint64_t seen, before = 0, rest = REST_NS;

    for (;; before = seen) {
        int rc = look(g, &seen);
        if (!rc && (state_of(seen) != OPEN || seen == before))
            rc = go_in_by_turn(g, ticket, seen);
        const bool losses = !rc && has_losses(g);
        if (losses)
            rc = go_on_after_losses(g, seen == before);
        if (rc)
            return rc < 0 ? rc : 0;
        if (seen != before)
            wait.turns = 0; /* others were served: it is no time to sleep */
        rest = seen == before ? REST_NS : rest < REST_MAX_NS / 2 ? 2 * rest : REST_MAX_NS;
        uint64_t now = losses ? REST_MAX_NS : rest_after(g, ticket, seen, rest);
        wait.until = now ? loco_clock(g->mgr) + now : UINT64_MAX;
        while (!loco_relax(g->mgr, &wait) && now)
            ;
    }
}

/* What now_serving is, as far as can be said without the network: at the host, this node's own
 * last word may still be under way; elsewhere it is all there is to go by. */
static uint64_t guess(const struct gate *g)
{
    uint64_t seen = g->near ? __atomic_load_n(g->near, __ATOMIC_ACQUIRE) : *g->after;

    if (loco_atomic_reach(g->now_serving))
        return seen;
    return (int64_t)(*g->after - without_holder(seen)) > 0 ? *g->after : seen;
}

/* Passing first saves a ticket and the wait for it, if the gate is open; where that is a guess,
 * it is one that costs a round trip when wrong. */
static int enter(const struct gate *g)
{
    uint64_t ticket;
    int rc = pass(g, guess(g));

    if (rc)
        return rc < 0 ? rc : 0;
    begin_claim(g);
    rc = loco_atomic_fetch_add(g->next_ticket, TICKET, &ticket);
    if (rc) {
        end_claim(g);
        return rc;
    }
    claim(g, ticket + CLAIMED);
    return wait_for_turn(g, ticket);
}

/* Returns 0, -EBUSY, or an error. */
static int try_enter(const struct gate *g)
{
    uint64_t seen, old;
    int rc = look(g, &seen);

    if (!rc && state_of(seen) == GRANTED) {
        uint64_t ticket = turn_of(seen);
        begin_claim(g);
        rc = loco_atomic_compare_swap(g->next_ticket, ticket, ticket + TICKET, &old);
        if (rc || old != ticket) {
            end_claim(g);
            return rc ? rc : -EBUSY;
        }
        claim(g, ticket + CLAIMED);
        rc = go_in_by_turn(g, ticket, seen);
    } else if (!rc) {
        rc = pass(g, seen);
    }
    if (rc < 0)
        return rc;
    return rc ? 0 : -EBUSY;
}

/* As try_enter; from a turn of the dead it frees the gate first. */
static int try_enter_after_losses(const struct gate *g)
{
    int rc = try_enter(g);

    if (rc != -EBUSY || !has_losses(g))
        return rc;
    rc = free_from_the_dead(g);
    if (rc < 0)
        return rc;
    return rc ? try_enter(g) : -EBUSY;
}

static inline int leave(struct loco_atomic_word now_serving, uint64_t *after, unsigned handover)
{
    uint64_t *reached = loco_atomic_reach(now_serving);

    *after = left_as(*after, handover);
    if (!reached)
        return loco_atomic_write(now_serving, *after).error;
    __atomic_store_n(reached, *after, __ATOMIC_RELEASE);
    loco_stored();
    return 0;
}

/* Goes in by a gate that is open, and in this CPU's reach. What any other way in tries first, for
 * the price of the one atomic operation. */
static inline bool walk_in(uint64_t *serving, uint64_t *after, uint32_t node)
{
    uint64_t old, seen = __atomic_load_n(serving, __ATOMIC_ACQUIRE);

    if (state_of(seen) != OPEN)
        return false;
    loco_atomic_compare_swap((struct loco_atomic_word){.own = serving}, seen, held_by(seen, node),
                             &old);
    if (old != seen)
        return false;
    *after = seen - OPEN + PASS;
    return true;
}

/* --- the two gates of a lock ------------------------------------------------------------------ */

static struct loco_atomic_word local_serving(struct loco_ticket_lock *l)
{
    return (struct loco_atomic_word){.own = &l->local_serving};
}

static inline struct loco_atomic_word network_serving(const struct loco_ticket_lock *l)
{
    return loco_atomic_at(l->words, l->host, l->index + LINE);
}

static struct gate local_gate(struct loco_ticket_lock *l)
{
    return (struct gate){
        .mgr = l->words->channel.mgr,
        .next_ticket = {.own = &l->local_next},
        .now_serving = local_serving(l),
        .near = &l->local_serving,
        .after = &l->local_after,
        .handover = l->handover,
    };
}

static struct gate network_gate(struct loco_ticket_lock *l)
{
    struct loco_manager *m = l->words->channel.mgr;
    struct gate g = {
        .mgr = m,
        .lock = l,
        .next_ticket = loco_atomic_at(l->words, l->host, l->index),
        .now_serving = network_serving(l),
        .after = &l->after,
        .handover = l->handover,
    };

    g.near = loco_atomic_reach(g.now_serving);
    if (l->host == m->id)
        g.near = (const uint64_t *)l->words->region->memory + l->index + LINE;
    return g;
}

static int through_local(struct loco_ticket_lock *l, int (*through)(const struct gate *g))
{
    if (walk_in(&l->local_serving, &l->local_after, 0))
        return 0;
    const struct gate local = local_gate(l);
    return through(&local);
}

static int through_network(struct loco_ticket_lock *l, uint64_t *reached,
                           int (*through)(const struct gate *g), const struct loco_wait *wait)
{
    if (reached && walk_in(reached, &l->after, l->words->channel.mgr->id))
        return 0;
    struct gate network = network_gate(l);
    network.wait = wait;
    return through(&network);
}

static int acquire_with(struct loco_ticket_lock *l, int (*through)(const struct gate *g),
                        const struct loco_wait *wait)
{
    const struct loco_atomic_word serving = network_serving(l);

    /* On its way while the local gate is passed, and at once to be written. */
    loco_atomic_prefetch(serving);
    int rc = through_local(l, through);
    if (rc || l->kept)
        return rc;
    rc = through_network(l, loco_atomic_reach(serving), through, wait);
    if (rc)
        leave(local_serving(l), &l->local_after, l->handover);
    return rc;
}

static int acquire_traced(struct loco_ticket_lock *l, int (*through)(const struct gate *g),
                          const struct loco_wait *wait)
{
    const struct loco_channel *c = &l->words->channel;
    int rc = loco_self(c->mgr) ? acquire_with(l, through, wait) : -EPERM;

    if (!rc)
        LOCO_TRACE(lock_acquire, c->mgr->id, c->name, l->host, l->index / WORDS);
    return rc;
}

int loco_ticket_lock_acquire(struct loco_ticket_lock *l)
{
    return acquire_traced(l, enter, NULL);
}

int loco_ticket_lock_try(struct loco_ticket_lock *l)
{
    return acquire_traced(l, try_enter_after_losses, NULL);
}

/* One turn of a wait between two tries, which from afar ends by itself. */
static int rest_between_tries(struct loco_ticket_lock *l, struct loco_wait *wait)
{
    const struct loco_manager *m = l->words->channel.mgr;
    const uint64_t end = wait->until, again = loco_clock(m) + REST_NS;

    const struct gate network = network_gate(l);

    if ((!network.near || has_losses(&network)) && again < end)
        wait->until = again;
    int rc = loco_relax(m, wait);
    if (wait->until < end)
        rc = 0;
    wait->until = end;
    return rc;
}

int loco_ticket_lock_timed(struct loco_ticket_lock *l, uint64_t timeout_ns)
{
    const struct loco_channel *c = &l->words->channel;
    struct loco_wait wait = loco_wait_for(c->mgr, timeout_ns);

    for (;;) {
        int rc = acquire_traced(l, try_enter_after_losses, &wait);
        if (rc == -EBUSY)
            rc = rest_between_tries(l, &wait);
        else
            return rc;
        if (rc)
            return rc;
    }
}

/* A thread with a local ticket will come for the lock, so it may be kept for it. */
static bool may_keep(const struct loco_ticket_lock *l)
{
    return passes_of(l->after) < l->handover &&
           __atomic_load_n(&l->local_next, __ATOMIC_RELAXED) != turn_of(l->local_after);
}

static int settle(const struct loco_ticket_lock *l, enum loco_fence fence, bool on_link,
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
    const struct loco_atomic_word serving = network_serving(l);
    const bool keep = may_keep(l);

    if (!loco_self(c->mgr))
        return -EPERM;
    int rc = settle(l, fence, !keep && !loco_atomic_reach(serving), timeout_ns);
    if (rc == -ETIMEDOUT)
        return rc;
    LOCO_TRACE(lock_release, c->mgr->id, c->name, l->host, l->index / WORDS);

    l->kept = keep;
    if (keep) {
        l->after += PASS;
    } else {
        int left = leave(serving, &l->after, l->handover);
        rc = rc ? rc : left;
    }
    leave(local_serving(l), &l->local_after, l->handover);
    return rc;
}

/* --- setup -------------------------------------------------------------------------------- */

static void set_up(struct loco_ticket_lock *l, struct loco_atomic_array *words, uint32_t host,
                   size_t count, size_t index, unsigned handover)
{
    *l = (struct loco_ticket_lock){
        .words = words,
        .host = host,
        .count = count,
        .index = index * WORDS,
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
    if (count > SIZE_MAX / (WORDS * sizeof(uint64_t) + sizeof a->locks[0]) / (manager->count + 1))
        return -EINVAL;
    a->count = count;
    a->locks = aligned_alloc(_Alignof(struct loco_ticket_lock),
                             manager->count * count * sizeof a->locks[0]);
    if (!a->locks)
        return -ENOMEM;
    for (uint32_t host = 0; host < manager->count; host++)
        for (size_t i = 0; i < count; i++)
            set_up(&a->locks[host * count + i], &a->words, host, count, i, handover);
    int rc = loco_atomic_array_init(&a->words, manager, parent, name,
                                    words_at_host(count, manager->count), members, 0);
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
    struct loco_atomic_array *words = malloc(sizeof *words);
    if (!words)
        return -ENOMEM;
    int rc = loco_atomic_array_init(words, manager, parent, name, words_at_host(1, manager->count),
                                    members, 0);
    if (rc) {
        free(words);
        return rc;
    }
    set_up(l, words, host, 1, 0, handover);
    return 0;
}

void loco_ticket_lock_fini(struct loco_ticket_lock *l)
{
    if (l->words)
        loco_atomic_array_fini(l->words);
    free(l->words);
    *l = (struct loco_ticket_lock){0};
}
