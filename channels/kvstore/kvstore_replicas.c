/*
 * The kvstore's operations with replicas.
 *
 *      read        enter the view --> guess --> read first copy --> still in the view? --> judge
 *                       (unclear: look up, read first copy, judge)
 *      update      lock --> look up --> read first copy --> write each copy --> release
 *      insert      lock --> look up --> broadcast --> all have it --> read first copy
 *                       --> write each copy --> release
 *      delete      lock --> look up --> read first copy --> write each copy, not valid
 *                       --> broadcast --> nobody has it --> release
 *
 * kvstore_op.c argues why the store is linearizable. Two things differ here. An insert, an update
 * and a delete each take effect by one record (kvstore_record.h). And nodes are lost:
 *
 *   - While a view stays, all nodes read the same first copy of a slot, and writers write all
 * copies that they can reach, the first one last.
 *   - When a view is settled, no node reads or writes a lost node's memory any more, and nothing
 *     that a lost node wrote is on its way. The next copy is the first one now. It has all that was
 *     read at the old first copy, as that was written here before.
 *   - A write that cannot reach a copy can be seen only at the others, while some nodes may still
 *     read that copy. So it ends when the next view is settled.
 *   - The holder of a lock may lose a node that the others have not lost. It then releases the lock
 *     to nobody: the lock ends with the view.
 *   - A lost node may have left a write half done: its record is newer in later copies, or torn
 *     there. The next holder of the key's lock goes on from the first copy, and overwrites that
 *     record. If the first copy is lost before that, the lost node's write takes effect after all.
 *   - A lost node may have told only some nodes of an insert or a delete. So a node's index may
 * have a key that the slot does not have, and then the slot is right. The next insert of the key
 *     removes that entry from every index, and the half-done insert from all copies. What the lost
 *     node had told is applied before its loss is settled, and so before any of that.
 */
#include "kvstore_replicas.h"

#include <errno.h>
#include <string.h>

#include "kvstore_locks.h"
#include "kvstore_memory.h"
#include "kvstore_tracker.h"
#include "kvstore_view.h"

/* --- copies ---------------------------------------------------------------------------------- */

enum { NO_COPY = -1 };

static uint32_t copy_node(const struct loco_kv_op *op, uint32_t copy)
{
    return (op->host + copy) % kv_op_manager(op)->count;
}

static size_t copy_offset(const struct loco_kv_op *op, uint32_t copy)
{
    const struct kv_slots *s = kv_op_store(op)->slots;

    return ((size_t)copy * s->hosted + op->slot) * s->stride;
}

static bool copy_is_lost(const struct loco_kv_op *op, uint32_t copy)
{
    return kv_view_has_lost(kv_op_store(op)->view, copy_node(op, copy));
}

/* Returns the first copy that is not lost, or NO_COPY. */
static int copy_first(const struct loco_kv_op *op)
{
    const uint32_t replicas = kv_op_store(op)->slots->replicas;

    for (uint32_t copy = 0; copy <= replicas; copy++)
        if (!copy_is_lost(op, copy))
            return (int)copy;
    return NO_COPY;
}

/* Reads the slot's image from the first copy, and then takes `step`. Returns false if all copies
 * are lost. */
static bool copy_read(struct loco_kv_op *op, kv_step *step)
{
    const int first = copy_first(op);

    if (first == NO_COPY)
        return false;
    kv_memory_read(op, copy_node(op, (uint32_t)first), copy_offset(op, (uint32_t)first), op->image,
                   kv_slot_size(kv_op_store(op)->slots), step);
    return true;
}

static struct kv_newest copy_newest(const struct loco_kv_op *op)
{
    return kv_record_newest(op->image, kv_op_store(op)->slots->value_size);
}

/* Whether the record is the key's, in the use that the index has named; after a guess, in any. */
static bool copy_has_key(const struct loco_kv_op *op, const struct kv_newest *newest)
{
    return newest->value && newest->head.hash == op->hash && newest->head.state & 1 &&
           (!op->counter || newest->head.counter == op->counter);
}

/* --- read ------------------------------------------------------------------------------------ */

static bool read_later(struct loco_kv_op *op)
{
    kv_op_next(op, kv_replicas_read);
    return KV_LATER;
}

static kv_step read_judge;

static bool read_copy(struct loco_kv_op *op)
{
    op->once = false;
    return copy_read(op, read_judge) ? KV_ON : kv_op_finish(op, -ECONNRESET);
}

/* The guess was wrong. */
static bool read_surely(struct loco_kv_op *op)
{
    return kv_op_look_up(op) ? read_copy(op) : kv_op_finish(op, -ENOENT);
}

/* The other record was half-written. */
static bool read_once_more(struct loco_kv_op *op, const struct kv_newest *newest)
{
    if (kv_op_has_waited(op, kv_op_store(op)->config.torn_ns))
        return kv_op_finish(op, -EAGAIN);
    read_copy(op);
    op->once = newest->value;
    op->version = kv_record_version(&newest->head);
    return KV_LATER;
}

static bool read_judge(struct loco_kv_op *op, int error)
{
    if (op->left)
        return kv_op_finish(op, -ETIMEDOUT);
    if (error && error != -ECONNRESET)
        return kv_op_finish(op, error);
    if (error || kv_view_is_over(op)) {
        op->since = 0;
        return read_later(op);
    }
    const struct kv_newest newest = copy_newest(op);
    if (newest.alone &&
        !(op->once && newest.value && kv_record_version(&newest.head) == op->version))
        return read_once_more(op, &newest);
    if (!copy_has_key(op, &newest))
        return op->counter ? kv_op_finish(op, -ENOENT) : read_surely(op);
    memcpy(op->value, newest.value, kv_op_store(op)->config.value_size);
    return kv_op_finish(op, 0);
}

bool kv_replicas_read(struct loco_kv_op *op, int error)
{
    int rc = kv_view_enter(op);

    (void)error;
    if (rc == -EAGAIN)
        return read_later(op);
    if (rc)
        return kv_op_finish(op, rc);
    return kv_op_guess(op) ? read_copy(op) : kv_op_finish(op, -ENOENT);
}

/* --- with the key's lock --------------------------------------------------------------------- */

static kv_step look_done;

/* Reads the newest record, and goes on with `after`; with its error -ECONNRESET if all copies are
 * lost. */
static bool look(struct loco_kv_op *op, kv_step *after)
{
    op->after = after;
    return copy_read(op, look_done) ? KV_ON : after(op, -ECONNRESET);
}

/* Nobody else writes now, so a record that is torn stays torn. */
static bool look_done(struct loco_kv_op *op, int error)
{
    if (error == -ECONNRESET) { /* this node will hear of the loss, and then read the next copy */
        look(op, op->after);
        return KV_LATER;
    }
    const struct kv_newest newest = copy_newest(op);
    op->version = kv_record_version(&newest.head);
    return op->after(op, error);
}

static kv_step put_next;

/* Writes a record with the operation's value to all copies, and goes on with `after`; with its
 * error -ECONNRESET if all copies are lost. */
static bool put(struct loco_kv_op *op, bool valid, kv_step *after)
{
    const struct kv_slots *s = kv_op_store(op)->slots;
    const struct kv_record head = {
        .state = (op->version + 1) << 1 | valid, .counter = op->counter, .hash = op->hash};

    kv_record_seal(op->copy, s->value_size, &head);
    op->after = after;
    op->copies = s->replicas + 1;
    op->written = false;
    return kv_op_next(op, put_next);
}

static kv_step put_placed;

static bool put_next(struct loco_kv_op *op, int error)
{
    const size_t size = kv_record_size(kv_op_store(op)->slots->value_size);

    (void)error;
    while (op->copies > 0 && copy_is_lost(op, op->copies - 1))
        op->copies--;
    if (op->copies == 0)
        return op->after(op, op->written ? 0 : -ECONNRESET);
    const uint32_t copy = op->copies - 1;
    const size_t offset = copy_offset(op, copy) + (op->version + 1) % KV_RECORDS * size;
    int rc = kv_memory_write(op, copy_node(op, copy), offset, op->copy, size);
    return rc ? put_placed(op, rc)
              : kv_memory_then_placed(op, copy_node(op, copy), offset, put_placed);
}

static bool put_placed(struct loco_kv_op *op, int error)
{
    kv_op_next(op, put_next);
    if (error == -ECONNRESET)
        return KV_LATER; /* this node will hear of the loss, and then leave this copy out */
    if (error)
        return op->after(op, error);
    op->written = true;
    op->copies--;
    return KV_ON;
}

static bool release(struct loco_kv_op *op, int error)
{
    return kv_lock_release(op, error);
}

/* --- update ---------------------------------------------------------------------------------- */

static bool update_put(struct loco_kv_op *op, int error)
{
    const struct kv_newest newest = copy_newest(op);

    if (error || !copy_has_key(op, &newest))
        return kv_lock_release(op, error ? error : -ENOENT);
    return put(op, true, release);
}

bool kv_replicas_update(struct loco_kv_op *op, int error)
{
    (void)error;
    return kv_op_look_up(op) ? look(op, update_put) : kv_lock_release(op, -ENOENT);
}

/* --- insert ---------------------------------------------------------------------------------- */

static uint32_t insert_copies_at(const struct loco_kvstore *s, uint32_t host)
{
    uint32_t copies = 0;

    for (uint32_t i = 0; i <= s->slots->replicas; i++)
        copies += !kv_view_has_lost(s->view, (host + i) % s->channel.mgr->count);
    return copies;
}

/* Takes a slot for the value, where as many of its copies as possible are not lost: at the lock's
 * host, else here, else anywhere. */
static int insert_take_slot(struct loco_kv_op *op)
{
    const struct loco_kvstore *s = kv_op_store(op);
    const struct loco_manager *m = s->channel.mgr;
    struct kv_place place;

    for (uint32_t copies = s->slots->replicas + 1; copies > 0; copies--)
        for (uint32_t i = 0; i <= m->count; i++) {
            const uint32_t host = i == 0 ? op->lock_host : (m->id + i - 1) % m->count;
            if (insert_copies_at(s, host) == copies &&
                kv_slots_take(s->slots, host, op->hash, &place) == 0) {
                kv_op_set_place(op, place);
                return 0;
            }
        }
    return -ENOSPC;
}

static bool insert_put(struct loco_kv_op *op, int error)
{
    return error ? kv_lock_release(op, error) : put(op, true, release);
}

/* A node that was lost before it has acknowledged may be lost to this node only. It does not have
 * the key in its index, and could insert it, too. So the insert begins again, in a settled view. */
static bool insert_known(struct loco_kv_op *op, int error)
{
    (void)error;
    if (!kv_change_known(op))
        return KV_LATER;
    if (kv_view_is_over(op))
        return kv_lock_begin_again(op);
    return look(op, insert_put);
}

static bool insert_give_up(struct loco_kv_op *op, int error)
{
    kv_slots_put(kv_op_store(op)->slots, kv_op_place(op));
    return kv_lock_release(op, error);
}

static bool insert_broadcast(struct loco_kv_op *op, int error)
{
    int rc = kv_change_make(op, KV_ADDED);

    (void)error;
    if (rc == -EAGAIN)
        return op->left ? insert_give_up(op, -ETIMEDOUT) : KV_LATER;
    return rc ? insert_give_up(op, rc) : kv_op_next(op, insert_known);
}

static bool insert_new(struct loco_kv_op *op)
{
    int rc = insert_take_slot(op);

    return rc ? kv_lock_release(op, rc) : kv_op_next(op, insert_broadcast);
}

static bool insert_buried(struct loco_kv_op *op, int error)
{
    return error ? kv_lock_release(op, error) : insert_new(op);
}

/* If the index has the key, the slot decides: a node that died may have left the entry. Its insert
 * may be in later copies of the slot, which could become the first. So they are overwritten, before
 * the key gets another slot. The slot of a node that lives may be in use for another key; no insert
 * was left in it. */
static bool insert_unless_there(struct loco_kv_op *op, int error)
{
    const struct kv_newest newest = copy_newest(op);
    const struct loco_kvstore *s = kv_op_store(op);

    if (error)
        return kv_lock_release(op, error);
    if (copy_has_key(op, &newest))
        return kv_lock_release(op, -EEXIST);
    if (kv_view_has_lost(s->view, kv_slots_owner(s->slots, kv_op_place(op))))
        return put(op, false, insert_buried);
    return insert_new(op);
}

bool kv_replicas_insert(struct loco_kv_op *op, int error)
{
    (void)error;
    return kv_op_look_up(op) ? look(op, insert_unless_there) : insert_new(op);
}

/* --- delete ---------------------------------------------------------------------------------- */

static bool delete_known(struct loco_kv_op *op, int error)
{
    (void)error;
    return kv_change_known(op) ? kv_lock_release(op, 0) : KV_LATER;
}

/* A node that was lost meanwhile may be lost to this node only, and have a copy that others still
 * read: then the key is not deleted for all, and stays in the index. */
static bool delete_broadcast(struct loco_kv_op *op, int error)
{
    if (kv_view_is_over(op))
        return kv_lock_release(op, error);
    int rc = kv_change_make(op, KV_REMOVED);
    if (rc == -EAGAIN) {
        kv_op_next(op, delete_broadcast);
        return KV_LATER;
    }
    return rc ? kv_lock_release(op, rc) : kv_op_next(op, delete_known);
}

/* If all copies are lost for good, the key is deleted all the same. */
static bool delete_put(struct loco_kv_op *op, int error)
{
    const struct kv_newest newest = copy_newest(op);

    if (error == -ECONNRESET)
        return kv_view_is_over(op) ? kv_lock_begin_again(op) : delete_broadcast(op, 0);
    if (error || !copy_has_key(op, &newest))
        return kv_lock_release(op, error ? error : -ENOENT);
    return put(op, false, delete_broadcast);
}

bool kv_replicas_delete(struct loco_kv_op *op, int error)
{
    (void)error;
    return kv_op_look_up(op) ? look(op, delete_put) : kv_lock_release(op, -ENOENT);
}
