/*
 * The kvstore's operations. Each is a chain of steps; a step is taken when the network has
 * answered the one before it.
 *
 *      read        guess --> read slot --> judge       (unclear: look up, read slot, judge)
 *      update      lock --> look up --> write value and checksum --> release
 *      insert      lock --> look up --> write slot, not valid --> broadcast
 *                       --> all have it --> valid bit on --> release
 *      delete      lock --> look up --> valid bit off, placed --> broadcast
 *                       --> nobody has it --> release
 *
 * Why this is linearizable
 *
 * Each change has one moment: an insert when its valid bit is placed, a delete when the valid
 * bit's end is, an update when its checksum is. Each of these is one word. Locks put the
 * changes of one key in an order; between the moment of an insert and that of the delete
 * after it the key is "there", with the value of the newest checksum.
 *
 * A read's words are read one by one, in any order: word 0 of the slot at some moment, the
 * checksum at another. There are three ways to end.
 *
 *   Word 0 says: use c, valid; and the checksum fits the value, the key and c. The key was there
 *   when word 0 was read, and had this value when the checksum was. If the value is older than
 *   word 0, it is still the value, or it is that of the insert, whose valid bit came in between. If
 *   it is younger, it was written under the lock by an update that found the key there. So at the
 *   later, the former, or between them there was a moment with both, and it lies within the read.
 *   No value of another use or another key fits. So it does not matter why this slot was read: the
 *   index may have guessed it, or named an earlier use.
 *
 *   The index has no such key. A key that is there is in every index: an insert's moment comes
 *   after all have acknowledged, and no index loses it before the delete's moment. So the
 *   moment is the look-up. A guess that finds nothing is as good.
 *
 *   Word 0 says anything else. After a guess that means nothing: the slot may be another key's. So
 *   the key is looked up, and the slot that the index names is read. Let that be use c of slot s.
 *   (While the index changes, c may be the use after the key's. Then the key's was deleted, and all
 *   that follows holds of that.) Now the key is missing, though it may be there again by now. The
 *   paper has two cases, and places the read at the remote read when the counter fits and just
 *   after the delete when it does not. Neither is always right: while a read is stalled between
 *   its look-up and its remote read, the key may be deleted and inserted anew, in another slot;
 *   then it is there at the remote read, whether or not slot s has been used again. And the
 *   delete's moment may come before the read began, if only its broadcast was late at this
 *   node. What holds is this:
 *      - The insert of use c has not had its moment when word 0 is read (it says use c, not
 *        valid, or still an older use). Its lock is held, the key is missing: the moment is
 *        when word 0 is read.
 *      - Or a delete of use c has had its moment, D. The look-up found use c, so this node had
 *        not applied that delete yet, so the delete had not ended, so its lock was still held:
 *        from D until after the look-up nobody inserted the key. The read's moment is just
 *        after D or the beginning of the read, whichever is later. It is not after the look-up,
 *        or else D is, which is before word 0 was read; so it lies within the read; and no
 *        insert's moment lies between D and it.
 *   So a missing key needs no second look, and the algorithm stands as it is in the paper.
 *
 * What must be placed before what, and why it is
 *
 *   - an update's value before the release: else the next holder's writes could be overtaken.
 *     On the lock's own node by the link's order: the release is an atomic. Else by a fence.
 *   - an insert's slot before its valid bit: same link, a write before a write.
 *   - a delete's valid bit before the broadcast: else one node could see the key after another
 *     has missed it; and the slot's owner, who may use it again when he hears of the delete,
 *     could see its new use overwritten. By a fence.
 *   - everything before the operation ends: a release that is done has executed, behind all.
 *     One that hands its lock on ends without a release, and so behind a fence.
 *
 * A fence is a read of the slot that was written, on the link that wrote it: the pair fence,
 * without waiting in a call. A node's own slots are used without the network.
 */
#include "loco/kvstore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "fabric/words.h"
#include "kvstore_left.h"
#include "kvstore_locks.h"
#include "kvstore_slots.h"
#include "kvstore_tracker.h"
#include "loco/memory.h"
#include "thread_links.h"

/* How many operations are looked up together, so that their cache misses overlap. */
enum { BATCH = 16 };

/* How often one ticket is handed on within a window, and how many locks a window keeps in mind
 * for that. */
enum { HANDOVERS_MAX = 16, LASTS = 64 };

struct loco_kv_window {
    struct loco_kvstore *store;
    bool helps; /* with the tracker: there, a change of the serving thread costs nothing */
    struct loco_kv_op *ops;
    unsigned size;
    unsigned next;                   /* whom the next poll that finds nothing moves on, too */
    struct loco_kv_op *young[BATCH]; /* started, but not looked up */
    unsigned young_count;
    struct loco_kv_op *last[LASTS]; /* of those that want one lock, by the lock */
    void *memory;                   /* the operations' words and copies */
    size_t memory_size;
    struct loco_remote where;
};

static struct loco_kvstore *store_of(const struct loco_kv_op *op)
{
    return op->window->store;
}

static struct loco_manager *manager_of(const struct loco_kv_op *op)
{
    return store_of(op)->channel.mgr;
}

static uint64_t result_word(const struct loco_kv_op *op)
{
    return __atomic_load_n(op->word, __ATOMIC_ACQUIRE);
}

/* --- the chain ----------------------------------------------------------------------------- */

typedef bool step_fn(struct loco_kv_op *op, int error);

enum { LATER = false, ON = true };

/* What comes when `ack` is done. */
static bool then(struct loco_kv_op *op, step_fn *step, struct loco_ack ack)
{
    op->ack = ack;
    op->step = step;
    return ON;
}

static const struct loco_ack at_once;

static bool finish(struct loco_kv_op *op, int result)
{
    op->result = result;
    op->step = NULL;
    return ON;
}

/* Takes all the steps that can be taken. Whether the operation is done. */
static bool move_on(struct loco_kv_op *op)
{
    while (op->step) {
        int state = op->ack.thread || op->ack.error ? loco_ack_query(&op->ack) : 1;
        if (state == 0)
            return false;
        if (op->step(op, state < 0 ? state : 0) == LATER)
            return false;
    }
    return true;
}

/* --- slots, wherever they are --------------------------------------------------------------- */

static bool is_here(const struct loco_kv_op *op)
{
    return op->host == manager_of(op)->id;
}

static unsigned member_of(const struct loco_kv_op *op)
{
    return op->host - (op->host > manager_of(op)->id); /* all nodes but this one */
}

static size_t offset_of(const struct loco_kv_op *op, size_t within)
{
    return kv_slot_at(store_of(op)->slots, op->slot) + within;
}

static unsigned char *here(const struct loco_kv_op *op, size_t within)
{
    return (unsigned char *)store_of(op)->slots->region->memory + offset_of(op, within);
}

/* This CPU reads what it can reach by itself: what is here and what is not take the same way then,
 * and no branch is guessed wrong half of the time. */
static struct loco_ack slot_read(struct loco_kv_op *op, void *to, size_t size)
{
    const struct kv_slots *slots = store_of(op)->slots;
    const unsigned char *near = kv_slots_nearby(slots, op->host);

    if (!near)
        return loco_region_read(slots->region, member_of(op), offset_of(op, 0), to, size);
    loco_place_stores(); /* a read comes after the writes before it */
    loco_copy(to, near + offset_of(op, 0), size);
    atomic_thread_fence(memory_order_acquire);
    return at_once;
}

static int slot_write(struct loco_kv_op *op, size_t within, const void *from, size_t size)
{
    if (!is_here(op))
        return loco_region_write(store_of(op)->slots->region, member_of(op), offset_of(op, within),
                                 from, size)
            .error;
    atomic_thread_fence(memory_order_release);
    loco_copy(here(op, within), from, size);
    return 0;
}

static int write_state(struct loco_kv_op *op, bool valid)
{
    uint64_t state = kv_slot_state(op->counter, valid);

    return slot_write(op, 0, &state, sizeof state);
}

/* Then, when the writes to the slot are placed. */
static bool then_placed(struct loco_kv_op *op, step_fn *step)
{
    return then(op, step, is_here(op) ? at_once : slot_read(op, op->word, sizeof *op->word));
}

/* --- the index ------------------------------------------------------------------------------ */

static struct kv_place place_of(const struct loco_kv_op *op)
{
    return (struct kv_place){.host = op->host, .slot = op->slot, .counter = op->counter};
}

static bool set_place(struct loco_kv_op *op, struct kv_place place)
{
    op->host = place.host;
    op->slot = place.slot;
    op->counter = place.counter;
    return true;
}

static bool look_up(struct loco_kv_op *op)
{
    struct kv_place place;

    return kv_index_find(store_of(op)->index, op->hash, &place) && set_place(op, place);
}

static bool guess(struct loco_kv_op *op)
{
    struct kv_place place;

    return kv_index_guess(store_of(op)->index, op->hash, &place) && set_place(op, place);
}

static struct kv_change change_of(const struct loco_kv_op *op, enum kv_change_kind kind)
{
    return (struct kv_change){
        .kind = kind, .host = op->host, .slot = op->slot, .hash = op->hash, .counter = op->counter};
}

/* --- locks ----------------------------------------------------------------------------------- */

/*
 * Operations of one window that want the same lock stand behind one another, and only the first
 * takes a ticket. Who is done with the lock hands it to the one behind, a bounded number of times:
 * else each of them would wait for the other nodes in between, and to be polled in turn. It ends
 * then without a release, so what it wrote is placed before.
 */
static struct loco_kv_op **last_of(const struct loco_kv_op *op)
{
    return &op->window->last[(op->lock_index + op->lock_host) % LASTS];
}

static bool stand_behind(struct loco_kv_op *op)
{
    struct loco_kv_op **last = last_of(op), *before = *last;

    op->behind = NULL;
    op->handovers = 0;
    if (before && (before->lock_host != op->lock_host || before->lock_index != op->lock_index))
        return false; /* that place is taken: it goes alone */
    *last = op;
    if (before)
        before->behind = op;
    return before;
}

/* Takes the operation out of the line. Returns who stood behind it. */
static struct loco_kv_op *step_aside(struct loco_kv_op *op)
{
    struct loco_kv_op *behind = op->behind;

    if (*last_of(op) == op)
        *last_of(op) = NULL;
    op->behind = NULL;
    return behind;
}

/* The lock is not to be had, for the operation nor for who stands behind it. */
static bool fail(struct loco_kv_op *op, int error)
{
    while (op) {
        struct loco_kv_op *behind = step_aside(op);
        finish(op, error);
        op = behind;
    }
    return ON;
}

static step_fn judge_turn;
static bool release(struct loco_kv_op *op, int result);

/* Whether nothing happened for `ns`, counted from the first time that this is asked. */
static bool is_over(struct loco_kv_op *op, uint64_t ns)
{
    uint64_t now = loco_clock(manager_of(op));

    if (!op->since)
        op->since = now;
    return now - op->since > ns;
}

/* A lock that does not move, while a node is lost: that node has it. */
static bool is_orphaned(struct loco_kv_op *op, uint32_t serving)
{
    if (op->seen != serving)
        op->since = 0;
    op->seen = serving;
    return loco_channel_check(&store_of(op)->channel) && is_over(op, store_of(op)->config.owner_ns);
}

static step_fn update_locked, insert_locked, delete_locked;

static step_fn *const locked[] = {
    [LOCO_KV_INSERT] = insert_locked,
    [LOCO_KV_UPDATE] = update_locked,
    [LOCO_KV_DELETE] = delete_locked,
};

static bool wait_turn(struct loco_kv_op *op, uint64_t word)
{
    uint32_t serving = kv_lock_serving(word);

    if (serving == op->ticket)
        return op->left ? release(op, -ETIMEDOUT) : locked[op->kind](op, 0);
    if (is_orphaned(op, serving))
        return fail(op, -EOWNERDEAD);
    then(op, judge_turn, loco_atomic_post_load(kv_lock_word(op, store_of(op)), op->word));
    return LATER;
}

static bool judge_turn(struct loco_kv_op *op, int error)
{
    return error ? fail(op, error) : wait_turn(op, result_word(op));
}

static bool got_ticket(struct loco_kv_op *op, int error)
{
    if (error)
        return fail(op, error);
    uint64_t word = result_word(op);
    op->ticket = kv_lock_next(word);
    op->seen = kv_lock_serving(word);
    return wait_turn(op, word);
}

static bool take_ticket(struct loco_kv_op *op)
{
    struct loco_atomic_word lock = kv_lock_word(op, store_of(op));

    return then(op, got_ticket, loco_atomic_post_fetch_add(lock, KV_LOCK_TAKE, op->word));
}

static bool wait_behind(struct loco_kv_op *op, int error)
{
    (void)op;
    (void)error;
    return LATER;
}

static bool acquire(struct loco_kv_op *op)
{
    return stand_behind(op) ? then(op, wait_behind, at_once) : take_ticket(op);
}

static bool hands_over(const struct loco_kv_op *op)
{
    return op->behind && op->handovers < HANDOVERS_MAX;
}

static bool hand_over(struct loco_kv_op *op, int result)
{
    struct loco_kv_op *next = step_aside(op);

    next->ticket = op->ticket;
    next->handovers = op->handovers + 1;
    then(next, locked[next->kind], at_once);
    finish(op, result);
    move_on(next);
    return ON;
}

static bool released(struct loco_kv_op *op, int error)
{
    return finish(op, op->result ? op->result : error);
}

/* Is done with the lock, and ends with `result`. What it wrote is placed if it hands over, or is
 * on the lock's link. */
static bool release(struct loco_kv_op *op, int result)
{
    struct loco_atomic_word lock = kv_lock_word(op, store_of(op));

    if (hands_over(op))
        return hand_over(op, result);
    struct loco_kv_op *next = step_aside(op);
    op->result = result;
    then(op, released, loco_atomic_post_fetch_add(lock, kv_lock_release(op->ticket), op->word));
    if (next)
        take_ticket(next);
    return ON;
}

static bool release_now(struct loco_kv_op *op, int error)
{
    return release(op, error);
}

/* The same behind the writes to the slot. */
static bool release_placed(struct loco_kv_op *op)
{
    if (op->host == op->lock_host && !hands_over(op))
        return release(op, 0);
    return then_placed(op, release_now);
}

/* --- read ------------------------------------------------------------------------------------ */

static step_fn judge_read;

static bool read_slot(struct loco_kv_op *op)
{
    return then(op, judge_read, slot_read(op, op->copy, kv_slot_size(store_of(op)->slots)));
}

static bool read_again(struct loco_kv_op *op)
{
    if (is_over(op, store_of(op)->config.torn_ns))
        return finish(op, -EAGAIN);
    if (!look_up(op))
        return finish(op, -ENOENT);
    read_slot(op);
    return LATER; /* the rest of the value is on its way */
}

static bool judge_read(struct loco_kv_op *op, int error)
{
    if (error) /* of a place that was only guessed it says nothing */
        return op->counter ? finish(op, error) : read_again(op);
    enum kv_seen seen = kv_slot_judge(store_of(op)->slots, op->copy, op->hash, op->counter);
    if (op->left)
        return finish(op, -ETIMEDOUT);
    if (seen == KV_UNCLEAR)
        return read_again(op);
    return finish(op, seen == KV_PRESENT ? 0 : -ENOENT);
}

/* --- update ---------------------------------------------------------------------------------- */

static bool update_locked(struct loco_kv_op *op, int error)
{
    const struct kv_slots *slots = store_of(op)->slots;

    (void)error;
    if (!look_up(op))
        return release(op, -ENOENT);
    kv_slot_seal(slots, op->copy, op->hash, op->counter);
    int rc = slot_write(op, KV_VALUE_AT, op->value, kv_slot_size(slots) - KV_VALUE_AT);
    return rc ? release(op, rc) : release_placed(op);
}

/* --- insert ---------------------------------------------------------------------------------- */

static bool is_lost(const struct loco_kvstore *s, uint32_t host)
{
    int member = loco_channel_member(&s->channel, host);

    return member >= 0 && loco_member_lost(&s->channel.members[member]);
}

/* A slot for the value: where its lock is, if it may be there, or here, or anywhere. */
static int take_slot(struct loco_kv_op *op)
{
    const struct loco_kvstore *s = store_of(op);
    const struct loco_manager *m = s->channel.mgr;
    struct kv_place place;
    int rc = -ENOSPC;

    for (uint32_t i = 0; rc && i <= m->count; i++) {
        uint32_t host = i == 0 ? op->lock_host : (m->id + i - 1) % m->count;
        if (!is_lost(s, host))
            rc = kv_slots_take(s->slots, host, op->hash, &place);
    }
    if (rc)
        return rc;
    set_place(op, place);
    return 0;
}

static bool give_up_insert(struct loco_kv_op *op, int error)
{
    kv_slots_put(store_of(op)->slots, place_of(op));
    return release(op, error);
}

static bool insert_known(struct loco_kv_op *op, int error)
{
    (void)error;
    if (!kv_change_known(store_of(op), op->position))
        return LATER;
    int rc = write_state(op, true);
    return rc ? release(op, rc) : release_placed(op);
}

static bool insert_broadcast(struct loco_kv_op *op, int error)
{
    const struct kv_change added = change_of(op, KV_ADDED);
    int rc = kv_change_make(store_of(op), &added, &op->position);

    (void)error;
    if (rc == -EAGAIN)
        return op->left ? give_up_insert(op, -ETIMEDOUT) : LATER;
    return rc ? give_up_insert(op, rc) : then(op, insert_known, at_once);
}

static bool insert_locked(struct loco_kv_op *op, int error)
{
    const struct kv_slots *slots = store_of(op)->slots;

    (void)error;
    if (look_up(op))
        return release(op, -EEXIST);
    int rc = take_slot(op);
    if (rc)
        return release(op, rc);
    kv_slot_seal(slots, op->copy, op->hash, op->counter);
    rc = slot_write(op, 0, op->copy, kv_slot_size(slots));
    return rc ? give_up_insert(op, rc) : then(op, insert_broadcast, at_once);
}

/* --- delete ---------------------------------------------------------------------------------- */

static bool delete_known(struct loco_kv_op *op, int error)
{
    (void)error;
    return kv_change_known(store_of(op), op->position) ? release(op, 0) : LATER;
}

static bool delete_broadcast(struct loco_kv_op *op, int error)
{
    const struct kv_change removed = change_of(op, KV_REMOVED);
    int rc = kv_change_make(store_of(op), &removed, &op->position);

    /* `error`: the value was lost with its node. It is gone, and so shall be the key. */
    (void)error;
    if (rc == -EAGAIN)
        return LATER;
    return rc ? release(op, rc) : then(op, delete_known, at_once);
}

static bool delete_locked(struct loco_kv_op *op, int error)
{
    (void)error;
    if (!look_up(op))
        return release(op, -ENOENT);
    write_state(op, false);
    return then_placed(op, delete_broadcast);
}

/* --- windows --------------------------------------------------------------------------------- */

static void prefetch(const struct loco_kv_op *op)
{
    const struct loco_kvstore *s = store_of(op);
    const bool writes = op->kind != LOCO_KV_READ;

    kv_slot_prefetch(s->slots, op->host, op->slot, writes);
    if (writes)
        kv_index_prefetch_use(s->index, place_of(op));
}

/* Looks the young operations up, together, and sends them off. What writes looks again when
 * it has the lock; for it this only warms the caches. */
static void begin_young(struct loco_kv_window *w)
{
    const unsigned count = w->young_count;

    for (unsigned i = 0; i < count; i++) {
        struct loco_kv_op *op = w->young[i];
        if (guess(op))
            prefetch(op);
        else if (op->kind == LOCO_KV_READ)
            finish(op, -ENOENT);
    }
    for (unsigned i = 0; i < count; i++) {
        struct loco_kv_op *op = w->young[i];
        if (op->kind != LOCO_KV_READ) {
            acquire(op);
            move_on(op);
        } else if (op->step) {
            read_slot(op);
        }
    }
    w->young_count = 0;
}

static bool begin(struct loco_kv_op *op, int error)
{
    (void)error;
    begin_young(op->window);
    return ON;
}

static void start(struct loco_kv_op *op, enum loco_kv_kind kind, uint64_t key)
{
    struct loco_kv_window *w = op->window;
    const struct loco_kvstore *s = w->store;

    op->kind = kind;
    op->hash = kv_hash(key);
    kv_lock_find(op, s);
    op->since = 0;
    op->left = false;
    op->thread = loco_self(s->channel.mgr);
    op->flush = 0;
    kv_index_prefetch(s->index, op->hash);
    kv_slots_prefetch_home(s->slots, op->lock_host, op->hash, kind != LOCO_KV_READ);
    if (kind != LOCO_KV_READ)
        loco_atomic_prefetch(kv_lock_word(op, s));
    then(op, begin, at_once);
    w->young[w->young_count++] = op;
    if (w->young_count == BATCH)
        begin_young(w);
}

static void start_write(struct loco_kv_op *op, enum loco_kv_kind kind, uint64_t key,
                        const void *value)
{
    const struct loco_kvstore *s = store_of(op);

    if (value)
        memcpy(op->value, value, s->config.value_size);
    start(op, kind, key);
}

void loco_kv_start_read(struct loco_kv_op *op, uint64_t key)
{
    start(op, LOCO_KV_READ, key);
}

void loco_kv_start_insert(struct loco_kv_op *op, uint64_t key, const void *value)
{
    start_write(op, LOCO_KV_INSERT, key, value);
}

void loco_kv_start_update(struct loco_kv_op *op, uint64_t key, const void *value)
{
    start_write(op, LOCO_KV_UPDATE, key, value);
}

void loco_kv_start_delete(struct loco_kv_op *op, uint64_t key)
{
    start_write(op, LOCO_KV_DELETE, key, NULL);
}

bool loco_kv_poll(struct loco_kv_op *op)
{
    struct loco_kv_window *w = op->window;

    if (move_on(op))
        return true;
    /* It may wait for a lock that another operation of this window holds, ... */
    move_on(&w->ops[w->next]);
    w->next = w->next + 1 < w->size ? w->next + 1 : 0;
    /* ... or for a node that waits for this one's acknowledgement. */
    if (w->helps && op->kind != LOCO_KV_READ)
        loco_kvstore_serve(w->store);
    return false;
}

/* Whether what the operation wrote to its slot comes before what this thread will write: by then it
 * is placed, as far as it ever will be. */
static bool comes_after_writes(struct loco_kv_op *op)
{
    struct loco_manager *m = manager_of(op);
    struct loco_thread *self = loco_self(m);
    struct loco_link *link = loco_thread_link(op->thread, op->host);

    if (op->thread != self && link && !(m->fabric->capabilities & LOCO_COHERENT)) {
        if (!op->flush)
            op->flush = m->fabric->ops->flush(link);
        loco_poll_inline(link, m);
        if (atomic_load_explicit(&link->flushed, memory_order_acquire) < op->flush &&
            !loco_peer_lost(m, op->host))
            return false;
    }
    op->thread = self;
    op->flush = 0;
    return true;
}

bool kv_op_move_on(struct loco_kv_op *op)
{
    return comes_after_writes(op) && move_on(op);
}

static void lay_out(struct loco_kv_window *w, size_t pitch)
{
    for (unsigned i = 0; i < w->size; i++) {
        unsigned char *at = (unsigned char *)w->memory + i * pitch;
        w->ops[i].window = w;
        w->ops[i].word = (uint64_t *)(void *)at;
        w->ops[i].copy = at + sizeof(uint64_t);
        w->ops[i].value = w->ops[i].copy + KV_VALUE_AT;
    }
}

int loco_kv_window_open(struct loco_kv_window **window, struct loco_kvstore *store, unsigned size)
{
    struct loco_manager *m = store->channel.mgr;
    size_t pitch = sizeof(uint64_t) + kv_slot_size(store->slots);
    struct loco_kv_window *w = calloc(1, sizeof *w);

    if (!w)
        return -ENOMEM;
    w->store = store;
    w->helps = m->fabric->capabilities & LOCO_COHERENT;
    w->size = size;
    w->ops = calloc(size, sizeof *w->ops);
    w->memory_size = size * pitch;
    pthread_mutex_lock(&m->lock);
    int rc = w->ops ? loco_memory_cut(m, w->memory_size, &w->memory, &w->where) : -ENOMEM;
    pthread_mutex_unlock(&m->lock);
    if (rc) {
        free(w->ops);
        free(w);
        return rc;
    }
    lay_out(w, pitch);
    *window = w;
    return 0;
}

void loco_kv_window_close(struct loco_kv_window *w)
{
    if (!w)
        return;
    struct loco_manager *m = w->store->channel.mgr;
    pthread_mutex_lock(&m->lock);
    loco_memory_return(m, w->memory, w->memory_size, w->where);
    pthread_mutex_unlock(&m->lock);
    free(w->ops);
    free(w);
}

struct loco_kv_op *loco_kv_window_op(struct loco_kv_window *w, unsigned i)
{
    return &w->ops[i];
}
