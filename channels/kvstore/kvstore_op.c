/*
 * The kvstore's operations. Each is a chain of steps; a step is taken when the network has
 * answered the one before it.
 *
 *      read        guess --> read slot --> judge       (unclear: look up, read slot, judge)
 *      update      lock --> look up --> write value and checksum --> release
 *      swap        lock --> look up --> read slot --> as an update, if the value is as expected
 *      insert      lock --> look up --> write slot, not valid --> broadcast
 *                       --> all have it --> valid bit on --> release
 *      delete      lock --> look up --> valid bit off, placed --> broadcast
 *                       --> nobody has it --> release
 *
 * Why this is linearizable
 *
 * Each change takes effect at one moment: an insert when the valid bit is placed, a delete when the
 * cleared bit is placed, an update when its checksum is placed. Each of these is one word. The lock
 * puts the changes of one key in an order. From the moment of an insert to the moment of the next
 * delete the key is "there", with the value of the newest checksum.
 *
 * A swap reads the slot while it holds the lock. So nobody changes the key between its read and its
 * write; and if the value is not as expected, the swap takes effect at its read.
 *
 * A read fetches the words of a slot one by one, in any order: word 0 at one moment, the checksum
 * at another. It ends in one of three ways.
 *
 *   The slot fits: word 0 says "use c, valid", and the checksum fits the value, the key and c. If
 *   the checksum was read first, the key had this value then, or the valid bit was still to come;
 *   then the value is the insert's, and the key had it when the valid bit was placed, before word 0
 *   was read. If word 0 was read first, the key had this value then, or an update placed it before
 *   the checksum was read; that update held the lock and found the key there. In each case the key
 *   had the value at a moment within the read, and there the read takes effect. No value of another
 *   use or another key fits. So it does not matter why this slot was read: the index may have
 *   guessed it, or named an earlier use.
 *
 *   The index does not have the key. A key that is there is in every index, since the moment of its
 *   insert comes after all nodes have acknowledged, and no index drops it before the moment of its
 *   delete. So the read takes effect at the look-up. A guess that finds nothing is as good.
 *
 *   The slot says anything else. After a guess that means nothing, as the slot may be another
 *   key's. So the key is looked up, and the slot that the index names is read. Let that be use c of
 *   slot s. (While the index changes, c may be a later use of the slot. Then the key's own use was
 *   deleted, and the second case below holds with that use in place of c.) The read says that the
 *   key is missing, though it may be there again by now. The paper has two cases: it places the
 *   read at the remote read when the counter fits, and just after the delete when it does not.
 *   Neither is always right. While a read is stalled between its look-up and its remote read, the
 *   key may be deleted and inserted anew in another slot. Then it is there at the remote read,
 *   whether or not slot s has been used again. And the delete may have taken effect before the read
 *   began, if only its broadcast was late at this node. What holds is this:
 *      - Either the insert of use c has not taken effect when word 0 is read (it says "use c, not
 *        valid", or an older use). Its lock is held, and the key is missing: the read takes effect
 *        when word 0 is read.
 *      - Or a delete of use c has taken effect, at moment D. The look-up found use c, so this node
 *        had not applied that delete, so the delete had not ended, so its lock was still held: from
 *        D until after the look-up nobody inserted the key. The read takes effect just after D or
 *        at its own beginning, whichever is later. That is before the look-up, unless D is after
 *        it; and D is before word 0 was read. So the moment lies within the read, and no insert's
 *        moment lies between D and it.
 *   So a missing key needs no second look, and the algorithm stands as it is in the paper.
 *
 * What must be placed before what, and why it is
 *
 *   - An update's value before the release: else it could be placed after the next holder's writes.
 *     If the slot is at the lock's host, the link keeps the order, as the release is an atomic.
 *     Else there is a fence.
 *   - An insert's slot before its valid bit: both are writes on the same link.
 *   - A delete's cleared bit before the broadcast: else one node could see the key after another
 *     has missed it. And the slot's owner, who may use the slot again once it hears of the delete,
 *     could see its new use overwritten. So there is a fence.
 *   - Everything before the operation ends: a release that is done has read the lock's word, after
 *     all other writes were placed. Its own new value may be placed later, but the next to take the
 *     lock takes it by an atomic, too. An operation that hands its lock on ends without a release,
 * and so after a fence.
 *
 * A fence is a read of the slot that was written, on the link that wrote it: the pair fence,
 * without waiting in a call. A node uses its own slots without the network.
 */
#include "../loco/kvstore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../loco/fabric/atomic_copy.h"
#include "../loco/memory.h"
#include "../thread_links.h"
#include "kvstore_left.h"
#include "kvstore_locks.h"
#include "kvstore_slots.h"
#include "kvstore_tracker.h"

/* --- the slot -------------------------------------------------------------------------------- */

static bool slot_is_here(const struct loco_kv_op *op)
{
    return op->host == kv_op_manager(op)->id;
}

static unsigned slot_member(const struct loco_kv_op *op)
{
    return op->host - (op->host > kv_op_manager(op)->id); /* all nodes but this one */
}

static size_t slot_offset(const struct loco_kv_op *op)
{
    return kv_slot_at(kv_op_store(op)->slots, op->slot);
}

/* Reads a slot that this CPU can reach, at whichever host it is: so own and remote slots take the
 * same path, without a branch that is mispredicted half of the time. Returns false if the CPU
 * cannot reach it. */
static inline bool slot_read_near(const struct loco_kv_op *op, void *to, size_t size)
{
    const unsigned char *near = kv_slots_nearby(kv_op_store(op)->slots, op->host);

    if (!near)
        return false;
    loco_place_stores(); /* a read comes after the writes before it */
    loco_copy(to, near + slot_offset(op), size);
    atomic_thread_fence(memory_order_acquire);
    return true;
}

/* Reads the slot's first `size` bytes, and sets the step that is taken then. */
static bool slot_read(struct loco_kv_op *op, void *to, size_t size, kv_step *step)
{
    struct loco_region *region = kv_op_store(op)->slots->region;

    if (slot_read_near(op, to, size))
        return kv_op_next(op, step);
    return kv_op_then(op, step,
                      loco_region_read(region, slot_member(op), slot_offset(op), to, size));
}

/* Posts a write. Returns 0 or an error of loco_region_write. */
static int slot_write(struct loco_kv_op *op, size_t within, const void *from, size_t size)
{
    struct loco_region *region = kv_op_store(op)->slots->region;
    const size_t offset = slot_offset(op) + within;

    op->wrote = op->host;
    op->thread = loco_self(kv_op_manager(op));
    if (!slot_is_here(op))
        return loco_region_write(region, slot_member(op), offset, from, size).error;
    atomic_thread_fence(memory_order_release);
    loco_copy((unsigned char *)region->memory + offset, from, size);
    return 0;
}

static int slot_write_state(struct loco_kv_op *op, bool valid)
{
    uint64_t state = kv_slot_state(op->counter, valid);

    return slot_write(op, 0, &state, sizeof state);
}

/* Sets the step that is taken when the operation's writes to the slot are placed. */
static bool slot_then_placed(struct loco_kv_op *op, kv_step *step)
{
    return slot_is_here(op) ? kv_op_next(op, step)
                            : slot_read(op, op->word, sizeof *op->word, step);
}

static bool slot_release(struct loco_kv_op *op, int error)
{
    return kv_lock_release(op, error);
}

/* The same with result 0, once the writes to the slot are placed. */
static bool slot_release_placed(struct loco_kv_op *op)
{
    if (op->host == op->lock_host && !kv_lock_hands_over(op))
        return kv_lock_release(op, 0);
    return slot_then_placed(op, slot_release);
}

bool kv_op_has_lost(const struct loco_kv_op *op, uint32_t node)
{
    const struct loco_channel *c = &kv_op_store(op)->channel;
    const int member = loco_channel_member(c, node);

    return member >= 0 && loco_member_lost(&c->members[member]);
}

/* --- read ------------------------------------------------------------------------------------ */

static kv_step read_judge;

static bool read_slot(struct loco_kv_op *op)
{
    return slot_read(op, op->copy, kv_slot_size(kv_op_store(op)->slots), read_judge);
}

static bool read_again(struct loco_kv_op *op)
{
    if (kv_op_has_waited(op, kv_op_store(op)->config.torn_ns))
        return kv_op_finish(op, -EAGAIN);
    if (!kv_op_look_up(op))
        return kv_op_finish(op, -ENOENT);
    read_slot(op);
    return KV_LATER; /* the rest of the value is still being written */
}

static bool read_judge(struct loco_kv_op *op, int error)
{
    if (error) /* if the place was only a guess, the error says nothing about the key */
        return op->counter ? kv_op_finish(op, error) : read_again(op);
    enum kv_seen seen = kv_slot_judge(kv_op_store(op)->slots, op->copy, op->hash, op->counter);
    if (op->left)
        return kv_op_finish(op, -ETIMEDOUT);
    if (seen == KV_UNCLEAR)
        return read_again(op);
    return kv_op_finish(op, seen == KV_PRESENT ? 0 : -ENOENT);
}

/* Reads the slot that was guessed. If this CPU can reach it, the read usually ends here. */
static void read_begin(struct loco_kv_op *op)
{
    if (slot_read_near(op, op->copy, kv_slot_size(kv_op_store(op)->slots)))
        read_judge(op, 0);
    else
        read_slot(op);
}

/* --- update ---------------------------------------------------------------------------------- */

static bool update_write(struct loco_kv_op *op)
{
    const struct kv_slots *slots = kv_op_store(op)->slots;

    kv_slot_seal(slots, op->copy, op->hash, op->counter);
    int rc = slot_write(op, KV_VALUE_AT, op->value, kv_slot_size(slots) - KV_VALUE_AT);
    return rc ? kv_lock_release(op, rc) : slot_release_placed(op);
}

static bool update_locked(struct loco_kv_op *op, int error)
{
    (void)error;
    return kv_op_look_up(op) ? update_write(op) : kv_lock_release(op, -ENOENT);
}

/* --- compare_swap ---------------------------------------------------------------------------- */

/* What the slot says holds until the lock is released. So a value that is not whole stays so: its
 * writer was lost. */
static bool swap_judge(struct loco_kv_op *op, int error)
{
    const struct loco_kvstore *s = kv_op_store(op);
    const size_t size = s->config.value_size;

    if (error)
        return kv_lock_release(op, error);
    const enum kv_seen seen = kv_slot_judge(s->slots, op->copy, op->hash, op->counter);
    if (seen != KV_PRESENT)
        return kv_lock_release(op, seen == KV_ABSENT ? -ENOENT : -EAGAIN);
    if (memcmp(op->value, op->expected, size) != 0)
        return kv_lock_release(op, -ECANCELED);
    memcpy(op->value, op->desired, size);
    return update_write(op);
}

static bool swap_locked(struct loco_kv_op *op, int error)
{
    (void)error;
    if (!kv_op_look_up(op))
        return kv_lock_release(op, -ENOENT);
    return slot_read(op, op->copy, kv_slot_size(kv_op_store(op)->slots), swap_judge);
}

/* --- insert ---------------------------------------------------------------------------------- */

/* Takes a slot for the value: at the lock's host if possible, else here, else anywhere. */
static int insert_take_slot(struct loco_kv_op *op)
{
    const struct loco_kvstore *s = kv_op_store(op);
    const struct loco_manager *m = s->channel.mgr;
    struct kv_place place;
    int rc = -ENOSPC;

    for (uint32_t i = 0; rc && i <= m->count; i++) {
        uint32_t host = i == 0 ? op->lock_host : (m->id + i - 1) % m->count;
        if (!kv_op_has_lost(op, host))
            rc = kv_slots_take(s->slots, host, op->hash, &place);
    }
    if (rc)
        return rc;
    kv_op_set_place(op, place);
    return 0;
}

static bool insert_give_up(struct loco_kv_op *op, int error)
{
    kv_slots_put(kv_op_store(op)->slots, kv_op_place(op));
    return kv_lock_release(op, error);
}

static bool insert_known(struct loco_kv_op *op, int error)
{
    (void)error;
    if (!kv_change_known(op))
        return KV_LATER;
    int rc = slot_write_state(op, true);
    return rc ? kv_lock_release(op, rc) : slot_release_placed(op);
}

static bool insert_broadcast(struct loco_kv_op *op, int error)
{
    int rc = kv_change_make(op, KV_ADDED);

    (void)error;
    if (rc == -EAGAIN)
        return op->left ? insert_give_up(op, -ETIMEDOUT) : KV_LATER;
    return rc ? insert_give_up(op, rc) : kv_op_next(op, insert_known);
}

static bool insert_locked(struct loco_kv_op *op, int error)
{
    const struct kv_slots *slots = kv_op_store(op)->slots;

    (void)error;
    if (kv_op_look_up(op))
        return kv_lock_release(op, -EEXIST);
    int rc = insert_take_slot(op);
    if (rc)
        return kv_lock_release(op, rc);
    kv_slot_seal(slots, op->copy, op->hash, op->counter);
    rc = slot_write(op, 0, op->copy, kv_slot_size(slots));
    return rc ? insert_give_up(op, rc) : kv_op_next(op, insert_broadcast);
}

/* --- delete ---------------------------------------------------------------------------------- */

static bool delete_known(struct loco_kv_op *op, int error)
{
    (void)error;
    return kv_change_known(op) ? kv_lock_release(op, 0) : KV_LATER;
}

static bool delete_broadcast(struct loco_kv_op *op, int error)
{
    int rc = kv_change_make(op, KV_REMOVED);

    (void)error; /* the value was lost with its host: the key is deleted all the same */
    if (rc == -EAGAIN)
        return KV_LATER;
    return rc ? kv_lock_release(op, rc) : kv_op_next(op, delete_known);
}

static bool delete_locked(struct loco_kv_op *op, int error)
{
    (void)error;
    if (!kv_op_look_up(op))
        return kv_lock_release(op, -ENOENT);
    slot_write_state(op, false);
    return slot_then_placed(op, delete_broadcast);
}

kv_step *kv_held_step(const struct loco_kv_op *op)
{
    static kv_step *const steps[] = {
        [LOCO_KV_INSERT] = insert_locked,
        [LOCO_KV_UPDATE] = update_locked,
        [LOCO_KV_DELETE] = delete_locked,
        [LOCO_KV_COMPARE_SWAP] = swap_locked,
    };

    return steps[op->kind];
}

/* --- starts ---------------------------------------------------------------------------------- */

static void window_prefetch(const struct loco_kv_op *op)
{
    const struct loco_kvstore *s = kv_op_store(op);
    const bool writes = op->kind != LOCO_KV_READ;

    kv_slot_prefetch(s->slots, op->host, op->slot, writes);
    if (writes)
        kv_index_prefetch_use(s->index, kv_op_place(op));
}

/* Looks up the young operations together, and begins them. A write looks up its key again under the
 * lock; here the look-up only warms the caches. */
static void window_begin_young(struct loco_kv_window *w)
{
    const unsigned count = w->young_count;

    for (unsigned i = 0; i < count; i++) {
        struct loco_kv_op *op = w->young[i];
        if (kv_op_guess(op))
            window_prefetch(op);
        else if (op->kind == LOCO_KV_READ)
            kv_op_finish(op, -ENOENT);
    }
    for (unsigned i = 0; i < count; i++) {
        struct loco_kv_op *op = w->young[i];
        if (op->kind != LOCO_KV_READ) {
            kv_lock_acquire(op);
            kv_op_take_steps(op);
        } else if (op->step) {
            read_begin(op);
        }
    }
    w->young_count = 0;
}

/* Begins one young read, because it is polled. The others stay young, as the lines that they
 * prefetch may still be on their way. So this read ends earlier, and its place in the window is
 * free for the next one. */
static void window_begin_read(struct loco_kv_window *w, struct loco_kv_op *op)
{
    unsigned i = 0;

    while (w->young[i] != op)
        i++;
    for (w->young_count--; i < w->young_count; i++)
        w->young[i] = w->young[i + 1];
    if (kv_op_guess(op))
        read_begin(op);
    else
        kv_op_finish(op, -ENOENT);
}

static bool op_begin(struct loco_kv_op *op, int error)
{
    struct loco_kv_window *w = op->window;

    (void)error;
    if (w->coherent && op->kind == LOCO_KV_READ)
        window_begin_read(w, op);
    else
        window_begin_young(w);
    return KV_ON;
}

/* Inlined, as the start of a read needs only half of it. */
__attribute__((always_inline)) static inline void op_start(struct loco_kv_op *op,
                                                           enum loco_kv_kind kind, uint64_t key)
{
    struct loco_kv_window *w = op->window;
    const struct loco_kvstore *s = w->store;

    op->kind = kind;
    op->hash = kv_hash(key);
    kv_lock_find(op, s);
    op->since = 0;
    op->left = false;
    op->unreported = true;
    op->thread = loco_self(s->channel.mgr);
    op->flush = 0;
    op->wrote = s->channel.mgr->id;
    if (!op->thread) {
        kv_op_finish(op, -EPERM);
        return;
    }
    kv_index_prefetch(s->index, op->hash);
    kv_slots_prefetch_homes(s->slots, op->lock_host, op->hash);
    if (kind != LOCO_KV_READ)
        loco_atomic_prefetch(kv_lock_word(op, s));
    kv_op_next(op, op_begin);
    w->young[w->young_count++] = op;
    if (w->young_count == KV_BATCH)
        window_begin_young(w);
}

static void op_start_write(struct loco_kv_op *op, enum loco_kv_kind kind, uint64_t key,
                           const void *value)
{
    const struct loco_kvstore *s = kv_op_store(op);

    if (value)
        memcpy(op->value, value, s->config.value_size);
    op_start(op, kind, key);
}

void loco_kv_start_read(struct loco_kv_op *op, uint64_t key)
{
    op_start(op, LOCO_KV_READ, key);
}

void loco_kv_start_insert(struct loco_kv_op *op, uint64_t key, const void *value)
{
    op_start_write(op, LOCO_KV_INSERT, key, value);
}

void loco_kv_start_update(struct loco_kv_op *op, uint64_t key, const void *value)
{
    op_start_write(op, LOCO_KV_UPDATE, key, value);
}

void loco_kv_start_delete(struct loco_kv_op *op, uint64_t key)
{
    op_start_write(op, LOCO_KV_DELETE, key, NULL);
}

void loco_kv_start_compare_swap(struct loco_kv_op *op, uint64_t key, const void *expected,
                                const void *desired)
{
    const size_t size = kv_op_store(op)->config.value_size;

    memcpy(op->expected, expected, size);
    memcpy(op->desired, desired ? desired : op->value, size);
    op_start(op, LOCO_KV_COMPARE_SWAP, key);
}
