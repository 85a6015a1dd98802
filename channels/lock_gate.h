/*
 * A gate of a lock: one thread at a time goes in. A gate works on two words:
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
 */
#ifndef LOCO_LOCK_GATE_H
#define LOCO_LOCK_GATE_H

#include "core.h"
#include "loco/ticket_lock.h"

enum state { GRANTED = 0, OPEN = 1, HELD = 2 }; /* two zeroed words are a free gate */

enum { STATE = 3, PASS = 4, HOLDER = 1 << 16 };

#define TICKET ((uint64_t)HOLDER << 16)

static inline uint64_t serving_turn(uint64_t serving)
{
    return serving & ~(TICKET - 1);
}

static inline uint32_t serving_holder(uint64_t serving)
{
    return (uint32_t)(serving % TICKET / HOLDER);
}

/* What an open gate becomes when the node goes in. */
static inline uint64_t serving_held_by(uint64_t open, uint32_t node)
{
    return open - OPEN + HELD + (uint64_t)node * HOLDER;
}

static inline uint64_t serving_without_holder(uint64_t serving)
{
    return serving - (uint64_t)serving_holder(serving) * HOLDER;
}

static inline unsigned serving_passes(uint64_t serving)
{
    return (unsigned)(serving % HOLDER / PASS);
}

static inline unsigned serving_state(uint64_t serving)
{
    return serving & STATE;
}

_Static_assert(LOCO_HANDOVER_MAX == (HOLDER - 1) / PASS, "the passes fill what the holder leaves");

/* now_serving once a thread has left: the next turn and passes, and the state that follows. */
static inline uint64_t serving_left(uint64_t after, unsigned handover)
{
    return after + (serving_passes(after) < handover ? OPEN : GRANTED);
}

struct gate {
    struct loco_manager *mgr;
    struct loco_ticket_lock *lock; /* of a network gate; NULL: the gate is local */
    struct loco_atomic_word next_ticket, now_serving;
    const uint64_t *near; /* now_serving, where this CPU can read it; else NULL */
    uint64_t *after;      /* the next now_serving, without a state; the thread that is in has it */
    unsigned handover;
    const struct loco_wait *wait; /* limits a look over the network; NULL: unlimited */
};

/* The time for a look over the network; UINT64_MAX: without a limit. */
uint64_t loco_gate_time_for_look(const struct gate *gate);

/* Looks at now_serving. Returns 0 or an error. */
int loco_gate_look(const struct gate *gate, uint64_t *serving);

/* Waits to go in. Returns 0 or an error. */
int loco_gate_enter(const struct gate *gate);

/* Goes in without waiting; ends the turn of a dead node first. Returns 0, -EBUSY, or an error. */
int loco_gate_try(const struct gate *gate);

#endif
