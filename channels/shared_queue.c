/*
 * Tickets count up for ever. Pushes take theirs from the word `tail` and pops from `head`, and pop
 * t takes what push t put in. Ticket t uses slot t modulo the capacity. A slot's turn word says
 * which operation may use the slot now:
 *
 *      2t        empty, for push t, which leaves it as 2t + 1
 *      2t + 1    full, for pop t, which leaves it as 2(t + capacity)
 *
 * Only the operation whose turn it is changes a slot; all others only look. An operation that waits
 * for ever takes its ticket by fetch-and-add and then waits for its turn. One with a time limit
 * must not hold a ticket when it gives up. So it looks first, and takes ticket t by a
 * compare-and-swap of head or tail from t to t + 1, only when the turn of t has come. If that
 * succeeds, the turn stays.
 *
 * Over a network an entry is two writes on one link, which are placed in order: the value with its
 * checksum, then the turn. A pop reads turn and value at once, and the words of one read come in
 * any order. The checksum covers the value and the turn; if it does not match, the slot is read
 * again. A pop passes the slot on when its read is done, so the next push's writes cannot reach
 * that read. The writes of a slot's earlier owners, over other links, are placed before a turn
 * comes: each owner saw the turn that the one before had written last.
 *
 * If this CPU can reach a slot, it reads the slot in order, the turn first. Where every CPU can
 * reach every slot (LOCO_COHERENT) there is no checksum.
 *
 * Linearizability. Push t takes effect when tail has passed t and head has passed t - capacity. Pop
 * t takes effect when head and tail have both passed t. Both moments lie between the operation's
 * begin and end, and follow the order of tickets. The queue's length is tail - head, limited to
 * 0 (pops wait) and the capacity (pushes wait). A try reads its own word first and the other word
 * second. Neither ever goes back. So a pop that finds head = h and then tail <= h knows that the
 * queue was empty at the second read. A push that finds tail = t and then head <= t - capacity
 * knows that it was full.
 */
#include "loco/shared_queue.h"

#include <errno.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core.h"
#include "loco/fabric/atomic_copy.h"
#include "queue_shape.h"
#include "thread_links.h"

enum {
    PAUSE_NS = 200, /* between two looks over a network */
    AT_ONCE = 256,  /* a pop reads a slot of at most this many bytes whole: it may be full */
};

/* --- slots ------------------------------------------------------------------------------ */

struct slot {
    uint64_t *direct; /* where this CPU may use the slot; else NULL */
    unsigned member;  /* without `direct`: the slot's place in that member's region */
    size_t offset;
};

static inline struct slot slot_of_ticket(const struct loco_shared_queue *q, uint64_t ticket)
{
    uint32_t slot = (uint32_t)ticket & (q->capacity - 1);
    uint32_t run = slot >> q->run_shift;
    uint32_t row = (uint32_t)(run * q->nodes_inverse >> q->nodes_shift); /* the run, at its node */
    uint32_t place = run - row * q->nodes;
    size_t offset = (slot - ((run - row) << q->run_shift)) * q->slot_size;
    unsigned char *direct = atomic_load_explicit(&q->direct[place], memory_order_relaxed);

    if (direct)
        return (struct slot){.direct = (uint64_t *)(void *)(direct + offset)};
    return (struct slot){.member = place - (place > q->here), .offset = offset};
}

static uint64_t slot_checksum(const struct loco_shared_queue *q, uint64_t turn, const void *entry)
{
    return XXH3_64bits(entry, q->entry_size) + turn * 0x9e3779b97f4a7c15u;
}

/* One operation. */
struct call {
    struct loco_shared_queue *queue;
    bool pops;
    uint64_t *block;       /* a mem_ref, for slots out of reach; NULL on coherent memory */
    bool given_up;         /* the call ended while the network still uses the block */
    struct loco_ack using; /* then: the operation that uses it */
    struct loco_wait wait;
    uint64_t ticket;
    struct slot slot;
};

static uint64_t call_time_for_look(const struct call *c)
{
    return loco_time_for_look(c->queue->channel.mgr, &c->wait);
}

/* Waits until `ack`, which uses the block, is done. After -ETIMEDOUT it still uses the block. */
static int call_wait_for_block(struct call *c, struct loco_ack ack)
{
    int rc = loco_ack_wait(&ack, call_time_for_look(c));

    if (rc == -ETIMEDOUT) {
        c->given_up = true;
        c->using = ack;
    }
    return rc;
}

static int slot_read(struct call *c, size_t size)
{
    struct loco_shared_queue *q = c->queue;

    return call_wait_for_block(
        c, loco_region_read(q->slots, c->slot.member, c->slot.offset, c->block, size));
}

/* Reads the whole slot into the block. Returns 1 when the entry is there, 0 when the slot has
 * another turn, or an error. A read may mix this turn's words with older ones once, and with newer
 * ones once, when another call has taken the entry. A third mixture means that something else wrote
 * there. */
static int slot_read_entry(struct call *c, uint64_t turn)
{
    const struct loco_shared_queue *q = c->queue;

    for (int tries = 0; tries < 3; tries++) {
        int rc = slot_read(c, queue_image_size(q));
        if (rc || c->block[TURN] != turn)
            return rc;
        if (c->block[SUM] == slot_checksum(q, turn, c->block + q->entry_at))
            return 1;
    }
    return -EBADMSG;
}

/* Whether the slot's turn has come: 1, 0 or an error. When a pop gets 1 for a slot out of reach,
 * the block holds the entry. */
static int slot_is_turn(struct call *c, uint64_t turn)
{
    if (c->slot.direct)
        return __atomic_load_n(&c->slot.direct[TURN], __ATOMIC_ACQUIRE) == turn;
    if (c->pops && queue_image_size(c->queue) <= AT_ONCE)
        return slot_read_entry(c, turn);
    int rc = slot_read(c, WORD);
    if (rc || c->block[TURN] != turn)
        return rc;
    return c->pops ? slot_read_entry(c, turn) : 1;
}

/* On coherent memory a slot is out of reach only before its node connects and after it is lost. An
 * empty read says which; 0: the node has connected just now. */
static int slot_why_out_of_reach(const struct call *c)
{
    const struct slot *s = &c->slot;
    uint64_t nothing;

    return loco_region_read(c->queue->slots, s->member, s->offset, &nothing, 0).error;
}

static int slot_write(struct loco_shared_queue *q, const struct slot *s, size_t word,
                      const void *from, size_t size, struct loco_ack *ack)
{
    *ack = loco_region_write(q->slots, s->member, s->offset + word * WORD, from, size);
    return ack->error;
}

/* Writes the slot's next turn, after all that this call wrote into the slot. */
static int slot_pass_on(struct loco_shared_queue *q, const struct slot *s, uint64_t turn)
{
    struct loco_ack ack;

    if (!s->direct)
        return slot_write(q, s, TURN, &turn, sizeof turn, &ack);
    __atomic_store_n(&s->direct[TURN], turn, __ATOMIC_RELEASE);
    loco_stored();
    return 0;
}

/* Composes the entry with its checksum as a slot holds them. */
static void slot_compose(const struct loco_shared_queue *q, uint64_t turn, const void *entry,
                         uint64_t *image)
{
    if (!q->coherent) {
        uint64_t sum = slot_checksum(q, turn, entry);
        loco_copy(&image[SUM], &sum, sizeof sum);
    }
    loco_copy(&image[q->entry_at], entry, q->entry_size);
}

/* Puts the entry into an empty slot, which becomes full. */
static int slot_put(struct call *c, uint64_t turn, const void *entry)
{
    struct loco_shared_queue *q = c->queue;
    const struct slot *s = &c->slot;
    size_t size = queue_image_size(q) - WORD;
    struct loco_ack ack = {0};
    int rc = 0;

    if (s->direct) {
        slot_compose(q, turn, entry, s->direct);
    } else {
        slot_compose(q, turn, entry, c->block);
        rc = slot_write(q, s, SUM, &c->block[SUM], size, &ack);
    }
    if (!rc)
        rc = slot_pass_on(q, s, turn);
    if (!rc && size > LOCO_INLINE_MAX)
        rc = call_wait_for_block(c, ack); /* the network reads the block until then */
    return rc == -ETIMEDOUT ? 0 : rc;
}

/* Takes the entry out of a full slot, which becomes empty. */
static int slot_take(struct loco_shared_queue *q, const struct slot *s, uint64_t turn, void *entry,
                     const uint64_t *block)
{
    if (s->direct)
        loco_copy(entry, &s->direct[q->entry_at], q->entry_size);
    else
        memcpy(entry, &block[q->entry_at], q->entry_size);
    return slot_pass_on(q, s, turn);
}

/* --- tickets ---------------------------------------------------------------------------- */

static int call_take_block(struct call *c)
{
    c->block = loco_mem_ref_take(c->queue->channel.mgr);
    return c->block ? 0 : -ENOBUFS;
}

/* The word that gives this operation its tickets, and the other one. */
static struct loco_atomic_word call_own_word(const struct call *c)
{
    return loco_atomic_of(c->pops ? &c->queue->head : &c->queue->tail);
}

static struct loco_atomic_word call_other_word(const struct call *c)
{
    return loco_atomic_of(c->pops ? &c->queue->tail : &c->queue->head);
}

static inline int call_begin(struct call *c, struct loco_shared_queue *q, bool pops,
                             uint64_t timeout_ns)
{
    c->queue = q;
    c->pops = pops;
    c->given_up = false;
    c->block = NULL;
    if (!loco_self(q->channel.mgr))
        return -EPERM;
    c->wait = loco_wait_for(q->channel.mgr, timeout_ns);
    return q->coherent ? 0 : call_take_block(c);
}

static inline void call_end(const struct call *c)
{
    if (!c->block)
        return;
    if (c->given_up)
        loco_mem_ref_put_after(c->queue->channel.mgr, c->block, c->using);
    else
        loco_mem_ref_put(c->queue->channel.mgr, c->block);
}

static int call_is_turn(struct call *c)
{
    if (atomic_load_explicit(&c->queue->broken, memory_order_relaxed))
        return -ECONNRESET;
    c->slot = slot_of_ticket(c->queue, c->ticket);
    int rc = c->slot.direct || c->block ? slot_is_turn(c, 2 * c->ticket + c->pops)
                                        : slot_why_out_of_reach(c);
    if (rc == -ECONNRESET) /* this may come before the call of queue_on_lost */
        atomic_store(&c->queue->broken, true);
    return rc;
}

/* Waits between two looks: PAUSE_NS where a look is traffic on a network. Returns 0 or -ETIMEDOUT.
 */
static int call_pause(struct call *c)
{
    const struct loco_manager *m = c->queue->channel.mgr;

    if (c->queue->coherent)
        return loco_relax(m, &c->wait);
    struct loco_wait little = loco_wait_for(m, PAUSE_NS);
    if (little.until > c->wait.until)
        little.until = c->wait.until;
    while (!loco_relax(m, &little))
        ;
    return little.until == c->wait.until ? -ETIMEDOUT : 0;
}

/* The call has its ticket, so it also waits for a slot's node that has not connected yet. */
static int call_wait_for_turn(struct call *c)
{
    int rc = call_is_turn(c);

    while (rc == 0 || rc == -ENOTCONN) {
        call_pause(c);
        rc = call_is_turn(c);
    }
    return rc < 0 ? rc : 0;
}

/* Takes a ticket, and waits for its turn without a limit. */
static int ticket_take_next(struct call *c)
{
    int rc = loco_atomic_fetch_add(call_own_word(c), 1, &c->ticket);

    return rc ? rc : call_wait_for_turn(c);
}

/* Whether there is no entry (or no room) for the call's ticket, which is the next to be taken: 1, 0
 * or an error. */
static int ticket_must_wait(const struct call *c)
{
    uint64_t other;
    int rc = loco_atomic_load_timed(call_other_word(c), &other, call_time_for_look(c));

    if (!c->pops)
        other += c->queue->capacity; /* pushes may be this far ahead of pops */
    return rc ? rc : (int64_t)(other - c->ticket) <= 0;
}

/* Takes a ticket only when its turn has come. With `tries` this does not wait, but returns -EAGAIN
 * if the queue is empty (or full, for a push). */
static int ticket_take_ready(struct call *c, bool tries)
{
    for (;;) {
        uint64_t old;
        int rc = loco_atomic_load_timed(call_own_word(c), &c->ticket, call_time_for_look(c));
        if (!rc)
            rc = call_is_turn(c);
        if (rc > 0) {
            rc = loco_atomic_compare_swap(call_own_word(c), c->ticket, c->ticket + 1, &old);
            if (rc || old == c->ticket)
                return rc;
            continue; /* another call took it */
        }
        if (!rc && tries)
            rc = ticket_must_wait(c);
        if (rc > 0)
            return -EAGAIN;
        if (!rc)
            rc = call_pause(c);
        if (rc)
            return rc;
    }
}

static int ticket_take(struct call *c, bool tries)
{
    return c->wait.until == UINT64_MAX && !tries ? ticket_take_next(c)
                                                 : ticket_take_ready(c, tries);
}

/* --- operations ------------------------------------------------------------------------- */

/* Ends a push: with rc 0 its ticket's turn has come, else `rc` says why not. */
static int queue_push_with(struct call *c, int rc, const void *entry)
{
    if (!rc)
        rc = slot_put(c, 2 * c->ticket + 1, entry);
    call_end(c);
    return rc;
}

static int queue_pop_with(struct call *c, int rc, void *entry)
{
    if (!rc)
        rc = slot_take(c->queue, &c->slot, 2 * (c->ticket + c->queue->capacity), entry, c->block);
    call_end(c);
    return rc;
}

static int queue_push(struct loco_shared_queue *q, const void *entry, uint64_t timeout_ns,
                      bool tries)
{
    struct call c;
    int rc = call_begin(&c, q, false, timeout_ns);

    return queue_push_with(&c, rc ? rc : ticket_take(&c, tries), entry);
}

static int queue_pop(struct loco_shared_queue *q, void *entry, uint64_t timeout_ns, bool tries)
{
    struct call c;
    int rc = call_begin(&c, q, true, timeout_ns);

    return queue_pop_with(&c, rc ? rc : ticket_take(&c, tries), entry);
}

/* --- coherent memory -------------------------------------------------------------------------
 *
 * The common case there, a turn that has come already, needs only the ticket, the entry and the
 * turn. In any other case the call goes on as over a network. */

/* The word that gives this thread its tickets, if it may take this short way; else NULL. */
static inline uint64_t *near_word(const struct loco_shared_queue *q,
                                  const struct loco_atomic_var *word, uint64_t timeout_ns)
{
    return q->coherent && timeout_ns == UINT64_MAX ? loco_atomic_reach(loco_atomic_of(word)) : NULL;
}

static inline uint64_t near_ticket(uint64_t *word)
{
    uint64_t ticket;

    loco_atomic_fetch_add((struct loco_atomic_word){.own = word}, 1, &ticket);
    return ticket;
}

/* The slot of the ticket; NULL when its turn has not come, or a participant was lost. */
static inline uint64_t *near_slot(const struct loco_shared_queue *q, uint64_t ticket, uint64_t turn)
{
    uint64_t *slot = slot_of_ticket(q, ticket).direct;

    if (!slot || __atomic_load_n(&slot[TURN], __ATOMIC_ACQUIRE) != turn)
        return NULL;
    return atomic_load_explicit(&q->broken, memory_order_relaxed) ? NULL : slot;
}

/* Prefetches the line of a later push. Two lines ahead, it arrives in time, and no pop is near it
 * yet. */
static inline void near_prefetch(const struct loco_shared_queue *q, uint64_t ticket)
{
    const struct slot later = slot_of_ticket(q, ticket + (UINT64_C(2) << q->run_shift));

    loco_atomic_prefetch((struct loco_atomic_word){.own = later.direct});
}

static inline void near_pass_on(uint64_t *slot, uint64_t turn)
{
    __atomic_store_n(&slot[TURN], turn, __ATOMIC_RELEASE);
    loco_stored();
}

/* Continue with a ticket whose turn has not come. Not inlined, as the common case needs no struct
 * call. */
__attribute__((noinline)) static int near_push_later(struct loco_shared_queue *q, const void *entry,
                                                     uint64_t ticket)
{
    struct call c;
    int rc = call_begin(&c, q, false, UINT64_MAX);

    c.ticket = ticket;
    return queue_push_with(&c, rc ? rc : call_wait_for_turn(&c), entry);
}

__attribute__((noinline)) static int near_pop_later(struct loco_shared_queue *q, void *entry,
                                                    uint64_t ticket)
{
    struct call c;
    int rc = call_begin(&c, q, true, UINT64_MAX);

    c.ticket = ticket;
    return queue_pop_with(&c, rc ? rc : call_wait_for_turn(&c), entry);
}

static inline int near_push(struct loco_shared_queue *q, uint64_t *tail, const void *entry)
{
    const uint64_t ticket = near_ticket(tail);
    uint64_t *slot = near_slot(q, ticket, 2 * ticket);

    if (!slot)
        return near_push_later(q, entry, ticket);
    near_prefetch(q, ticket);
    loco_copy(&slot[q->entry_at], entry, q->entry_size);
    near_pass_on(slot, 2 * ticket + 1);
    return 0;
}

static inline int near_pop(struct loco_shared_queue *q, uint64_t *head, void *entry)
{
    const uint64_t ticket = near_ticket(head);
    uint64_t *slot = near_slot(q, ticket, 2 * ticket + 1);

    if (!slot)
        return near_pop_later(q, entry, ticket);
    loco_copy(entry, &slot[q->entry_at], q->entry_size);
    near_pass_on(slot, 2 * (ticket + q->capacity));
    return 0;
}

int loco_shared_queue_push(struct loco_shared_queue *q, const void *entry, uint64_t timeout_ns)
{
    uint64_t *tail = near_word(q, &q->tail, timeout_ns);

    return tail ? near_push(q, tail, entry) : queue_push(q, entry, timeout_ns, false);
}

int loco_shared_queue_pop(struct loco_shared_queue *q, void *entry, uint64_t timeout_ns)
{
    uint64_t *head = near_word(q, &q->head, timeout_ns);

    return head ? near_pop(q, head, entry) : queue_pop(q, entry, timeout_ns, false);
}

int loco_shared_queue_try_push(struct loco_shared_queue *q, const void *entry)
{
    return queue_push(q, entry, UINT64_MAX, true);
}

int loco_shared_queue_try_pop(struct loco_shared_queue *q, void *entry)
{
    return queue_pop(q, entry, UINT64_MAX, true);
}
