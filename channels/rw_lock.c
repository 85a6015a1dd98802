/*
 * The words at the host, each at a cache line of its own, are changed by atomics only:
 *
 *      GATE     bits 48 to 63: the writers' turn
 *               bits 1 to 47: counts the readers that came
 *               bit 0: SHUT: the writer whose turn it is shuts readers out
 *      LEFT     counts the readers that left, as GATE those that came
 *      TICKETS  the next writer's ticket; its lowest 16 bits are its turn
 *
 * A reader comes by a fetch-and-add. If the gate was open, it is in. Else it waits until the turn
 * is another one: the writer leaves by one fetch-and-add that opens the gate and passes on the
 * turn. A reader that came while the gate was shut counts as one that came before the next writer.
 *
 * A writer takes a ticket, waits for its turn, and shuts the gate, which tells it how many readers
 * came before. It is in once so many have left.
 *
 * A look at a word is a plain read, which may miss an atomic that is done, but not for ever. That
 * does no harm. The turn that a writer shuts the gate in was placed before, as the writer has seen
 * it; so no look of a reader that found the gate shut shows an earlier one. LEFT is never more than
 * it will be. What a try has seen is checked by its compare-and-swaps.
 *
 * ENDED, at each node, is not 0 once a participant was lost.
 */
#include "loco/rw_lock.h"

#include <errno.h>
#include <stdio.h>

#include "core.h"
#include "ended.h"
#include "loco/memory.h"
#include "thread_links.h"
#include "trace_internal.h"

enum { LINE = LOCO_CACHE_LINE / sizeof(uint64_t) };
enum { GATE = 0, LEFT = LINE, TICKETS = 2 * LINE, ENDED = 3 * LINE, WORDS = 4 * LINE };

static const uint64_t SHUT = 1, READER = 2, TURN = UINT64_C(1) << 48;

static uint64_t gate_turn(uint64_t gate)
{
    return gate / TURN;
}

static uint64_t ticket_turn(uint64_t ticket)
{
    return ticket * TURN / TURN;
}

static uint64_t gate_readers(uint64_t gate)
{
    return gate % TURN / READER;
}

static struct loco_manager *lock_manager(const struct loco_rw_lock *l)
{
    return l->words.channel.mgr;
}

static struct loco_atomic_word lock_word(const struct loco_rw_lock *l, size_t word)
{
    return loco_atomic_at(&l->words, l->host, word);
}

/* Looks at a word, for at most the time that `wait` has left and a look; NULL: without a limit. */
static int lock_look(const struct loco_rw_lock *l, size_t word, uint64_t *value,
                     const struct loco_wait *wait)
{
    const uint64_t time = wait ? loco_time_for_look(lock_manager(l), wait) : UINT64_MAX;
    int rc = loco_ended(&l->words, ENDED);

    return rc ? rc : loco_atomic_look(lock_word(l, word), value, time);
}

/* --- waiting -----------------------------------------------------------------------------------
 */

static bool gate_has_other_turn(uint64_t gate, uint64_t turn)
{
    return gate_turn(gate) != turn;
}

static bool gate_has_turn(uint64_t gate, uint64_t turn)
{
    return gate_turn(gate) == turn;
}

static bool all_have_left(uint64_t left, uint64_t readers)
{
    return gate_readers(left) == readers;
}

static int lock_wait(const struct loco_rw_lock *l, size_t word,
                     bool (*is)(uint64_t seen, uint64_t wanted), uint64_t wanted)
{
    struct loco_wait wait = {.until = UINT64_MAX};
    uint64_t seen;

    for (;;) {
        int rc = lock_look(l, word, &seen, NULL);
        if (rc || is(seen, wanted))
            return rc;
        if (loco_atomic_reach(lock_word(l, word)))
            loco_relax(lock_manager(l), &wait);
        else
            loco_accept_backoff_between_looks(lock_manager(l), &wait);
    }
}

/* --- coming and leaving ------------------------------------------------------------------------
 */

static int reader_come(struct loco_rw_lock *l)
{
    uint64_t gate;
    int rc = loco_ended(&l->words, ENDED);

    if (!rc)
        rc = loco_atomic_fetch_add(lock_word(l, GATE), READER, &gate);
    if (rc || !(gate & SHUT))
        return rc;
    return lock_wait(l, GATE, gate_has_other_turn, gate_turn(gate));
}

static int reader_try(struct loco_rw_lock *l, const struct loco_wait *wait)
{
    uint64_t gate, old;
    int rc = lock_look(l, GATE, &gate, wait);

    for (; !rc && !(gate & SHUT); gate = old) {
        rc = loco_atomic_compare_swap(lock_word(l, GATE), gate, gate + READER, &old);
        if (rc || old == gate)
            return rc;
    }
    return rc ? rc : -EBUSY;
}

/* The ticket's turn has come, or will. */
static int writer_shut(struct loco_rw_lock *l, uint64_t ticket)
{
    uint64_t gate;
    int rc = lock_wait(l, GATE, gate_has_turn, ticket_turn(ticket));

    if (!rc)
        rc = loco_atomic_fetch_add(lock_word(l, GATE), SHUT, &gate);
    return rc ? rc : lock_wait(l, LEFT, all_have_left, gate_readers(gate));
}

static int writer_come(struct loco_rw_lock *l)
{
    uint64_t ticket;
    int rc = loco_ended(&l->words, ENDED);

    if (!rc)
        rc = loco_atomic_fetch_add(lock_word(l, TICKETS), 1, &ticket);
    return rc ? rc : writer_shut(l, ticket);
}

/* Whether the lock is free: 1, 0, or an error. */
static int writer_look(struct loco_rw_lock *l, uint64_t *gate, uint64_t *ticket,
                       const struct loco_wait *wait)
{
    uint64_t left;
    int rc = lock_look(l, TICKETS, ticket, wait);

    if (!rc)
        rc = lock_look(l, GATE, gate, wait);
    if (!rc)
        rc = lock_look(l, LEFT, &left, wait);
    return rc ? rc
              : !(*gate & SHUT) && gate_turn(*gate) == ticket_turn(*ticket) &&
                    gate_readers(*gate) == gate_readers(left);
}

/* Takes the ticket whose turn it is, and shuts the gate if no reader has come since the look. Else
 * it passes on the turn. */
static int writer_try(struct loco_rw_lock *l, const struct loco_wait *wait)
{
    uint64_t gate, ticket, old;
    int rc = writer_look(l, &gate, &ticket, wait);

    if (rc <= 0)
        return rc ? rc : -EBUSY;
    rc = loco_atomic_compare_swap(lock_word(l, TICKETS), ticket, ticket + 1, &old);
    if (rc || old != ticket)
        return rc ? rc : -EBUSY;
    rc = loco_atomic_compare_swap(lock_word(l, GATE), gate, gate + SHUT, &old);
    if (rc || old == gate)
        return rc;
    rc = loco_atomic_fetch_add(lock_word(l, GATE), TURN, &old);
    return rc ? rc : -EBUSY;
}

/* Changes a word without waiting. On the link it comes behind the thread's writes to the host. */
static int lock_post_add(struct loco_rw_lock *l, size_t word, uint64_t add)
{
    uint64_t *unread = loco_mem_unread(lock_manager(l));

    return unread ? loco_atomic_post_fetch_add(lock_word(l, word), add, unread).error : -EPERM;
}

static int writer_settle(const struct loco_rw_lock *l, enum loco_fence fence, uint64_t timeout_ns)
{
    struct loco_manager *m = lock_manager(l);

    if (m->fabric->capabilities & LOCO_COHERENT)
        return 0; /* the release's own store comes after all before it */
    if (fence == LOCO_FENCE_THREAD)
        return loco_fence_thread_timed(m, timeout_ns);
    return fence == LOCO_FENCE_GLOBAL ? loco_fence_global_timed(m, timeout_ns) : 0;
}

/* --- the lock ----------------------------------------------------------------------------------
 */

/* Traces the end of a call. */
static int lock_taken(const struct loco_rw_lock *l, int rc)
{
    if (!rc)
        LOCO_TRACE(lock_acquire, lock_manager(l)->id, l->words.channel.name, l->host, 0);
    return rc;
}

int loco_rw_lock_read(struct loco_rw_lock *l)
{
    return loco_self(lock_manager(l)) ? lock_taken(l, reader_come(l)) : -EPERM;
}

int loco_rw_lock_write(struct loco_rw_lock *l)
{
    return loco_self(lock_manager(l)) ? lock_taken(l, writer_come(l)) : -EPERM;
}

int loco_rw_lock_try_read(struct loco_rw_lock *l)
{
    return loco_self(lock_manager(l)) ? lock_taken(l, reader_try(l, NULL)) : -EPERM;
}

int loco_rw_lock_try_write(struct loco_rw_lock *l)
{
    return loco_self(lock_manager(l)) ? lock_taken(l, writer_try(l, NULL)) : -EPERM;
}

static int lock_timed(struct loco_rw_lock *l,
                      int (*try)(struct loco_rw_lock *l, const struct loco_wait *wait),
                      uint64_t timeout_ns)
{
    const struct loco_manager *m = lock_manager(l);
    struct loco_wait wait = loco_wait_for(m, timeout_ns);

    if (!loco_self(m))
        return -EPERM;
    for (;;) {
        int rc = try(l, &wait);
        if (rc != -EBUSY)
            return lock_taken(l, rc);
        rc = loco_accept_backoff_between_looks(m, &wait);
        if (rc)
            return rc;
    }
}

int loco_rw_lock_read_timed(struct loco_rw_lock *l, uint64_t timeout_ns)
{
    return lock_timed(l, reader_try, timeout_ns);
}

int loco_rw_lock_write_timed(struct loco_rw_lock *l, uint64_t timeout_ns)
{
    return lock_timed(l, writer_try, timeout_ns);
}

static void lock_trace_release(const struct loco_rw_lock *l)
{
    LOCO_TRACE(lock_release, lock_manager(l)->id, l->words.channel.name, l->host, 0);
}

int loco_rw_lock_release_read(struct loco_rw_lock *l)
{
    if (!loco_self(lock_manager(l)))
        return -EPERM;
    lock_trace_release(l);
    return lock_post_add(l, LEFT, READER);
}

int loco_rw_lock_release_write(struct loco_rw_lock *l, enum loco_fence fence)
{
    return loco_rw_lock_release_write_timed(l, fence, UINT64_MAX);
}

int loco_rw_lock_release_write_timed(struct loco_rw_lock *l, enum loco_fence fence,
                                     uint64_t timeout_ns)
{
    if (!loco_self(lock_manager(l)))
        return -EPERM;
    int rc = writer_settle(l, fence, timeout_ns);
    if (rc == -ETIMEDOUT)
        return rc;
    lock_trace_release(l);
    const int left = lock_post_add(l, GATE, TURN - SHUT);
    return rc ? rc : left;
}

/* --- setup -------------------------------------------------------------------------------------
 */

int loco_rw_lock_init(struct loco_rw_lock *l, struct loco_manager *manager,
                      const struct loco_channel *parent, const char *name, uint32_t host,
                      struct loco_members members)
{
    char options[LOCO_OPTIONS_MAX];

    *l = (struct loco_rw_lock){.host = host};
    if (host >= manager->count)
        return -EINVAL;
    snprintf(options, sizeof options, "host=%u\n", host);
    return loco_atomic_words_init(&l->words, manager, parent, name, WORDS, members, options);
}

void loco_rw_lock_fini(struct loco_rw_lock *l)
{
    loco_atomic_array_fini(&l->words);
}
