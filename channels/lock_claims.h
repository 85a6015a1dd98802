/*
 * What a lock's nodes claim at its host, so that what a dead node leaves can be freed.
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
#ifndef LOCO_LOCK_CLAIMS_H
#define LOCO_LOCK_CLAIMS_H

#include "lock_gate.h"
#include "loco/memory.h"

/* A claim word is 0 (no ticket), ASKING, or a ticket + CLAIMED. */
enum { CLAIMED = 1, ASKING = 2 };

/* At a host, each word of a lock has a cache line of its own. The claims follow behind all the
 * locks: node by node, two words for each lock, and a new cache line for each node. */
enum { LINE = LOCO_CACHE_LINE / sizeof(uint64_t), WORDS = 2 * LINE };

/* The words that a host of so many locks has for them and for the claims. */
size_t loco_claims_and_locks(size_t locks, size_t nodes);

/* Writes this node's claim. It is placed before this thread's next step at the gate: the link, or
 * at the host the CPU, keeps the order. Does nothing at a local gate, as do the next three. */
void loco_claim_write(const struct gate *gate, uint64_t what);

/* Claims that this node is about to take a ticket. */
void loco_claim_begin(const struct gate *gate);

/* Waits until the newest claim is placed. */
void loco_claim_place(const struct gate *gate);

/* Withdraws a claim for which no ticket was taken. */
void loco_claim_end(const struct gate *gate);

/* Whether a participant of a network gate was lost. */
bool loco_gate_has_losses(const struct gate *gate);

/* Ends the turn of a dead node. Returns 1 when it did; 0 when there is none, or another thread was
 * faster; or an error. */
int loco_gate_free_from_dead(const struct gate *gate);

/* For a thread that waits after a member was lost. Returns -ECONNRESET if that is the host. If the
 * gate is `still` as at the last look, a dead node may be the reason. */
int loco_gate_check_losses(const struct gate *gate, bool still);

#endif
