/*
 * Tickets count up, without end: tail gives those of pushes, head those of pops, and pop t
 * takes what push t put in. Ticket t is for slot t modulo the capacity, and a slot's turn
 * word says whom it is for:
 *
 *      2t        empty, for push t
 *      2t + 1    full, for pop t, who leaves it as 2(t + capacity)
 *
 * Only the operation whose turn it is changes the slot. So nothing in a slot races but
 * looking, and there is no ticket that must be given back: on a full or empty queue the forms
 * with a time limit do not take one. They look first, and then move head or tail from t to
 * t + 1 by compare-and-swap: where that succeeds the turn has come and stays.
 *
 * Network memory. An entry is two writes on one link, which are placed in order: the value
 * with its checksum, then the turn. A slot is read at once, turn and value, and the words of
 * a read come in any order; so the checksum, which is over value and turn, says whether the
 * value is the one of this turn. If not, it is read again. Slots that this CPU may use itself it
 * reads in order, the turn first; where all may (LOCO_COHERENT) nobody needs the checksum.
 * Who pops passes the slot on when its read is done, so what the next push writes does not
 * reach it. All that a slot's earlier owners wrote is placed when a turn comes, whatever links
 * it went over: each owner saw the turn that the one before had written last.
 *
 * Linearizability. Push t takes effect when tail has passed t and head has passed
 * t - capacity, pop t when head and tail have both passed t; each lies between the
 * operation's begin and end, and both follow the order of tickets. The queue's length is then
 * tail - head, but at least 0 (pops wait) and at most the capacity (pushes wait). A try
 * reads first its own word and then the other's. Head and tail never go back; so when a pop
 * finds head = h and then tail <= h, the queue is empty at that second moment; and when a
 * push finds tail = t and then head <= t - capacity, it is full.
 */
#include "loco/shared_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core.h"
#include "fabric/words.h"
#include "thread_links.h"

/* The words of a slot, before the entry; what crosses the network. */
enum { TURN, SUM, WORD = sizeof(uint64_t) };

enum {
    PAUSE_NS = 200, /* between two looks over a network */
    AT_ONCE = 256,  /* a slot of at most this many bytes is read whole, in case it is full */
};

/* --- setup ------------------------------------------------------------------------------ */

/* A member's place among all the nodes, in the order of their ids. */
static uint32_t place_of(const struct loco_shared_queue *q, unsigned member)
{
    return member + (member >= q->here);
}

/* From here on this CPU uses the peer's slots itself, where it can reach them. */
static void on_connect(struct loco_channel *c, uint32_t node)
{
    struct loco_shared_queue *q = (struct loco_shared_queue *)c;
    unsigned member = (unsigned)loco_channel_member(c, node);

    q->direct[place_of(q, member)] = loco_region_direct(q->slots, member);
}

static void on_lost(struct loco_channel *c, uint32_t node)
{
    struct loco_shared_queue *q = (struct loco_shared_queue *)c;

    atomic_store(&q->broken, true);
    q->direct[place_of(q, (unsigned)loco_channel_member(c, node))] = NULL;
}

static const struct loco_channel_ops queue_ops = {.on_connect = on_connect, .on_lost = on_lost};

static uint32_t power_of_two(uint32_t at_least)
{
    uint32_t power = 1;

    while (power < at_least)
        power *= 2;
    return power;
}

static size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

static size_t image_size(const struct loco_shared_queue *q)
{
    return q->entry_at * WORD + q->entry_size;
}

/* This node's slots are empty, each for its first push. */
static void make_empty(struct loco_shared_queue *q)
{
    unsigned char *memory = q->slots->memory;

    q->direct[q->here] = memory;
    for (uint64_t slot = q->here; slot < q->capacity; slot += q->nodes, memory += q->slot_size)
        ((uint64_t *)(void *)memory)[TURN] = 2 * slot;
}

/* So that slot * nodes_inverse >> nodes_shift is slot / nodes: exactly, as slot * nodes is below
 * 2^nodes_shift. */
static void invert_nodes(struct loco_shared_queue *q)
{
    q->nodes_shift = 32;
    while (q->nodes > UINT64_C(1) << (q->nodes_shift - 32))
        q->nodes_shift++;
    q->nodes_inverse = (UINT64_C(1) << q->nodes_shift) / q->nodes + 1;
}

static int set_shape(struct loco_shared_queue *q)
{
    const struct loco_manager *m = q->channel.mgr;

    q->nodes = q->channel.member_count + 1;
    while (q->here < q->channel.member_count && q->channel.members[q->here].node < m->id)
        q->here++;
    invert_nodes(q);
    /* A small entry is in the place of the checksum, where nobody needs that; a large one is copied
     * faster from where it is aligned to two words. */
    q->entry_at = SUM + 1;
    if (q->coherent && image_size(q) < LOCO_CACHE_LINE)
        q->entry_at = SUM;
    /* A small slot does not get a line of its own: that takes several times the memory, and is no
     * faster, since whoever takes a ticket waits for the line with the tickets. */
    q->slot_size =
        round_up(image_size(q), image_size(q) < LOCO_CACHE_LINE ? WORD : LOCO_CACHE_LINE);
    if (image_size(q) <= m->config.block_size)
        return 0;
    loco_log(m, LOCO_ERROR, "channel %s: an entry of %zu bytes needs a block_size of at least %zu",
             q->channel.name, q->entry_size, image_size(q));
    return -EINVAL;
}

/* This node's share of the slots. */
static int make_slots(struct loco_shared_queue *q)
{
    const size_t size = round_up(q->capacity, q->nodes) / q->nodes * q->slot_size;
    const int rc = loco_channel_region(&q->channel, "slots", size, &q->slots);

    if (rc == -ENOMEM)
        loco_log(q->channel.mgr, LOCO_ERROR,
                 "channel %s: %u entries of %zu bytes take %zu MiB at each of %u nodes",
                 q->channel.name, q->capacity, q->entry_size, size >> 20, q->nodes);
    if (!rc)
        make_empty(q);
    return rc;
}

static int make_words(struct loco_shared_queue *q, uint32_t host, struct loco_members members)
{
    struct loco_manager *m = q->channel.mgr;
    int rc = loco_atomic_var_init(&q->head, m, &q->channel, "head", host, members, 0);

    if (rc)
        return rc;
    return loco_atomic_var_init(&q->tail, m, &q->channel, "tail", host, members, 0);
}

int loco_shared_queue_init(struct loco_shared_queue *q, struct loco_manager *manager,
                           const struct loco_channel *parent, const char *name, uint32_t host,
                           struct loco_members members, uint32_t capacity, size_t entry_size)
{
    enum { CAPACITY_MAX = 1 << 30 };

    *q = (struct loco_shared_queue){
        .entry_size = entry_size,
        .coherent = manager->fabric->capabilities & LOCO_COHERENT,
    };
    if (capacity == 0 || capacity > CAPACITY_MAX || entry_size == 0)
        return -EINVAL;
    q->capacity = power_of_two(capacity);
    q->direct = calloc(manager->count, sizeof *q->direct);
    if (!q->direct)
        return -ENOMEM;
    int rc = loco_channel_init(&q->channel, manager, parent, name, members, &queue_ops);
    if (rc) {
        free(q->direct);
        return rc;
    }
    rc = set_shape(q);
    if (!rc)
        rc = make_slots(q);
    if (!rc)
        rc = make_words(q, host, members);
    if (rc)
        loco_shared_queue_fini(q);
    else
        loco_channel_join(&q->channel);
    return rc;
}

void loco_shared_queue_fini(struct loco_shared_queue *q)
{
    loco_atomic_var_fini(&q->tail);
    loco_atomic_var_fini(&q->head);
    loco_channel_fini(&q->channel);
    free(q->direct);
    q->direct = NULL;
}

/* --- slots ------------------------------------------------------------------------------ */

struct slot {
    uint64_t *direct; /* where this CPU may use it; else NULL, and: */
    unsigned member;
    size_t offset;
};

static struct slot slot_of(const struct loco_shared_queue *q, uint64_t ticket)
{
    uint32_t slot = (uint32_t)ticket & (q->capacity - 1);
    uint32_t row = (uint32_t)(slot * q->nodes_inverse >> q->nodes_shift);
    uint32_t place = slot - row * q->nodes;
    size_t offset = row * q->slot_size;
    unsigned char *direct = atomic_load_explicit(&q->direct[place], memory_order_relaxed);

    if (direct)
        return (struct slot){.direct = (uint64_t *)(void *)(direct + offset)};
    return (struct slot){.member = place - (place > q->here), .offset = offset};
}

static uint64_t checksum(const struct loco_shared_queue *q, uint64_t turn, const void *entry)
{
    return XXH3_64bits(entry, q->entry_size) + turn * 0x9e3779b97f4a7c15u;
}

/* One operation. */
struct call {
    struct loco_shared_queue *queue;
    bool pops;
    bool given_up;         /* a wait for what uses the block ... */
    struct loco_ack using; /* ... which is this */
    uint64_t *block;       /* a mem_ref; NULL: none was needed so far */
    struct loco_wait wait;
    uint64_t ticket;
    struct slot slot;
};

static uint64_t time_for_look(const struct call *c)
{
    return loco_time_for_look(c->queue->channel.mgr, &c->wait);
}

/* Waits for what uses the block. Given up, it goes on using it. */
static int wait_for_block(struct call *c, struct loco_ack ack)
{
    int rc = loco_ack_wait(&ack, time_for_look(c));

    if (rc == -ETIMEDOUT) {
        c->given_up = true;
        c->using = ack;
    }
    return rc;
}

static int read_slot(struct call *c, size_t size)
{
    struct loco_shared_queue *q = c->queue;

    return wait_for_block(
        c, loco_region_read(q->slots, c->slot.member, c->slot.offset, c->block, size));
}

/* Reads the whole slot into the block: 1 when it is all of this turn, 0 when it is not. A first
 * mixture may be with what was there before the turn's value, a second one with what came
 * after it, when somebody else has taken it; a third has no excuse. */
static int read_entry(struct call *c, uint64_t turn)
{
    const struct loco_shared_queue *q = c->queue;

    for (int tries = 0; tries < 3; tries++) {
        int rc = read_slot(c, image_size(q));
        if (rc || c->block[TURN] != turn)
            return rc;
        if (c->block[SUM] == checksum(q, turn, c->block + q->entry_at))
            return 1;
    }
    return -EBADMSG;
}

/* Whether the slot's turn has come: 1, 0 or an error. With the turn of a full slot far away,
 * the block has the entry. */
static int is_turn(struct call *c, uint64_t turn)
{
    if (c->slot.direct)
        return __atomic_load_n(&c->slot.direct[TURN], __ATOMIC_ACQUIRE) == turn;
    if (c->pops && image_size(c->queue) <= AT_ONCE)
        return read_entry(c, turn);
    int rc = read_slot(c, WORD);
    if (rc || c->block[TURN] != turn)
        return rc;
    return c->pops ? read_entry(c, turn) : 1;
}

static int write_slot(struct loco_shared_queue *q, const struct slot *s, size_t word,
                      const void *from, size_t size, struct loco_ack *ack)
{
    *ack = loco_region_write(q->slots, s->member, s->offset + word * WORD, from, size);
    return ack->error;
}

/* Passes the slot on, behind all that was written into it. */
static int pass_on(struct loco_shared_queue *q, const struct slot *s, uint64_t turn)
{
    struct loco_ack ack;

    if (!s->direct)
        return write_slot(q, s, TURN, &turn, sizeof turn, &ack);
    __atomic_store_n(&s->direct[TURN], turn, __ATOMIC_RELEASE);
    loco_stored();
    return 0;
}

/* The entry with its checksum, as it stands in a slot. */
static void compose(const struct loco_shared_queue *q, uint64_t turn, const void *entry,
                    uint64_t *image)
{
    if (!q->coherent) {
        uint64_t sum = checksum(q, turn, entry);
        loco_copy(&image[SUM], &sum, sizeof sum);
    }
    loco_copy(&image[q->entry_at], entry, q->entry_size);
}

/* Puts the entry into an empty slot, which becomes full. */
static int put(struct call *c, uint64_t turn, const void *entry)
{
    struct loco_shared_queue *q = c->queue;
    const struct slot *s = &c->slot;
    size_t size = image_size(q) - WORD;
    struct loco_ack ack = {0};
    int rc = 0;

    if (s->direct) {
        compose(q, turn, entry, s->direct);
    } else {
        compose(q, turn, entry, c->block);
        rc = write_slot(q, s, SUM, &c->block[SUM], size, &ack);
    }
    if (!rc)
        rc = pass_on(q, s, turn);
    if (!rc && size > LOCO_INLINE_MAX)
        rc = wait_for_block(c, ack); /* until then it is being read */
    return rc == -ETIMEDOUT ? 0 : rc;
}

/* Takes the entry out of a full slot, which becomes empty. */
static int take(struct loco_shared_queue *q, const struct slot *s, uint64_t turn, void *entry,
                const uint64_t *block)
{
    if (s->direct)
        loco_copy(entry, &s->direct[q->entry_at], q->entry_size);
    else
        memcpy(entry, &block[q->entry_at], q->entry_size);
    return pass_on(q, s, turn);
}

/* --- tickets ---------------------------------------------------------------------------- */

static int take_block(struct call *c)
{
    c->block = loco_mem_ref_take(c->queue->channel.mgr);
    return c->block ? 0 : -ENOBUFS;
}

/* The word that gives the operation's tickets, and the other one. */
static struct loco_atomic_word own_word(const struct call *c)
{
    return loco_atomic_of(c->pops ? &c->queue->head : &c->queue->tail);
}

static struct loco_atomic_word other_word(const struct call *c)
{
    return loco_atomic_of(c->pops ? &c->queue->tail : &c->queue->head);
}

static inline int begin(struct call *c, struct loco_shared_queue *q, bool pops, uint64_t timeout_ns)
{
    c->queue = q;
    c->pops = pops;
    c->given_up = false;
    c->block = NULL;
    if (!loco_self(q->channel.mgr))
        return -EPERM;
    c->wait = loco_wait_for(q->channel.mgr, timeout_ns);
    return q->coherent ? 0 : take_block(c);
}

static inline void end(const struct call *c)
{
    if (!c->block)
        return;
    if (c->given_up)
        loco_mem_ref_put_after(c->queue->channel.mgr, c->block, c->using);
    else
        loco_mem_ref_put(c->queue->channel.mgr, c->block);
}

static int is_my_turn(struct call *c)
{
    if (atomic_load_explicit(&c->queue->broken, memory_order_relaxed))
        return -ECONNRESET;
    c->slot = slot_of(c->queue, c->ticket);
    if (!c->slot.direct && !c->block && take_block(c))
        return -ENOBUFS;
    int rc = is_turn(c, 2 * c->ticket + c->pops);
    if (rc == -ECONNRESET) /* this thread may know before on_lost does: then it stays so */
        atomic_store(&c->queue->broken, true);
    return rc;
}

/* Between two looks. Over a network each look is traffic, and there is time between them. */
static int pause_call(struct call *c)
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

static int wait_for_turn(struct call *c)
{
    int rc = 0;

    while (!rc && !(rc = is_my_turn(c)))
        rc = pause_call(c);
    return rc < 0 ? rc : 0;
}

/* Takes a ticket, and waits for its turn for ever. */
static int take_next(struct call *c)
{
    int rc = loco_atomic_fetch_add(own_word(c), 1, &c->ticket);

    return rc ? rc : wait_for_turn(c);
}

/* Whether there is nothing to pop, or no room: with the first ticket that is free. */
static int must_wait(const struct call *c)
{
    uint64_t other;
    int rc = loco_atomic_load_timed(other_word(c), &other, time_for_look(c));

    if (!c->pops)
        other += c->queue->capacity; /* by so much may pushes be ahead of pops */
    return rc ? rc : (int64_t)(other - c->ticket) <= 0;
}

/* Takes a ticket whose turn has come; else none. -EAGAIN: there is none to be had. */
static int take_ready(struct call *c, bool tries)
{
    for (;;) {
        uint64_t old;
        int rc = loco_atomic_load_timed(own_word(c), &c->ticket, time_for_look(c));
        if (!rc)
            rc = is_my_turn(c);
        if (rc > 0) {
            rc = loco_atomic_compare_swap(own_word(c), c->ticket, c->ticket + 1, &old);
            if (rc || old == c->ticket)
                return rc;
            continue; /* somebody else got it */
        }
        if (!rc && tries)
            rc = must_wait(c);
        if (rc > 0)
            return -EAGAIN;
        if (!rc)
            rc = pause_call(c);
        if (rc)
            return rc;
    }
}

static int take_ticket(struct call *c, bool tries)
{
    return c->wait.until == UINT64_MAX && !tries ? take_next(c) : take_ready(c, tries);
}

/* --- operations ------------------------------------------------------------------------- */

/* With a ticket whose turn has come, unless `rc` says why not. */
static int push_with(struct call *c, int rc, const void *entry)
{
    if (!rc)
        rc = put(c, 2 * c->ticket + 1, entry);
    end(c);
    return rc;
}

static int pop_with(struct call *c, int rc, void *entry)
{
    if (!rc)
        rc = take(c->queue, &c->slot, 2 * (c->ticket + c->queue->capacity), entry, c->block);
    end(c);
    return rc;
}

static int push(struct loco_shared_queue *q, const void *entry, uint64_t timeout_ns, bool tries)
{
    struct call c;
    int rc = begin(&c, q, false, timeout_ns);

    return push_with(&c, rc ? rc : take_ticket(&c, tries), entry);
}

static int pop(struct loco_shared_queue *q, void *entry, uint64_t timeout_ns, bool tries)
{
    struct call c;
    int rc = begin(&c, q, true, timeout_ns);

    return pop_with(&c, rc ? rc : take_ticket(&c, tries), entry);
}

/* --- where all is in this CPU's reach ------------------------------------------------------- */

/* What is common there, a turn that has come already, needs no more than the ticket, the entry and
 * the turn. All else goes on with the ticket as the others do. */

static inline bool is_near(const struct loco_shared_queue *q)
{
    return q->coherent && loco_self(q->channel.mgr);
}

/* The slot of the ticket; NULL: it is not its turn, or a participant was lost. */
static inline uint64_t *ready_slot(const struct loco_shared_queue *q, uint64_t ticket,
                                   uint64_t turn)
{
    uint64_t *slot = slot_of(q, ticket).direct;

    if (!slot || __atomic_load_n(&slot[TURN], __ATOMIC_ACQUIRE) != turn)
        return NULL;
    return atomic_load_explicit(&q->broken, memory_order_relaxed) ? NULL : slot;
}

static inline void pass_near(uint64_t *slot, uint64_t turn)
{
    __atomic_store_n(&slot[TURN], turn, __ATOMIC_RELEASE);
    loco_stored();
}

/* With a ticket whose turn is still to come. */
static int push_later(struct loco_shared_queue *q, const void *entry, uint64_t ticket)
{
    struct call c;
    int rc = begin(&c, q, false, UINT64_MAX);

    c.ticket = ticket;
    return push_with(&c, rc ? rc : wait_for_turn(&c), entry);
}

static int pop_later(struct loco_shared_queue *q, void *entry, uint64_t ticket)
{
    struct call c;
    int rc = begin(&c, q, true, UINT64_MAX);

    c.ticket = ticket;
    return pop_with(&c, rc ? rc : wait_for_turn(&c), entry);
}

static int push_near(struct loco_shared_queue *q, const void *entry)
{
    uint64_t ticket;
    int rc = loco_atomic_fetch_add(loco_atomic_of(&q->tail), 1, &ticket);

    if (rc)
        return rc;
    uint64_t *slot = ready_slot(q, ticket, 2 * ticket);
    if (!slot)
        return push_later(q, entry, ticket);
    loco_copy(&slot[q->entry_at], entry, q->entry_size);
    pass_near(slot, 2 * ticket + 1);
    return 0;
}

static int pop_near(struct loco_shared_queue *q, void *entry)
{
    uint64_t ticket;
    int rc = loco_atomic_fetch_add(loco_atomic_of(&q->head), 1, &ticket);

    if (rc)
        return rc;
    uint64_t *slot = ready_slot(q, ticket, 2 * ticket + 1);
    if (!slot)
        return pop_later(q, entry, ticket);
    loco_copy(entry, &slot[q->entry_at], q->entry_size);
    pass_near(slot, 2 * (ticket + q->capacity));
    return 0;
}

int loco_shared_queue_push(struct loco_shared_queue *q, const void *entry, uint64_t timeout_ns)
{
    if (timeout_ns == UINT64_MAX && is_near(q))
        return push_near(q, entry);
    return push(q, entry, timeout_ns, false);
}

int loco_shared_queue_pop(struct loco_shared_queue *q, void *entry, uint64_t timeout_ns)
{
    if (timeout_ns == UINT64_MAX && is_near(q))
        return pop_near(q, entry);
    return pop(q, entry, timeout_ns, false);
}

int loco_shared_queue_try_push(struct loco_shared_queue *q, const void *entry)
{
    return push(q, entry, UINT64_MAX, true);
}

int loco_shared_queue_try_pop(struct loco_shared_queue *q, void *entry)
{
    return pop(q, entry, UINT64_MAX, true);
}
