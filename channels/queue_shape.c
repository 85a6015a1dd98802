/*
 * The setup of a shared_queue: where its entries lie, and which of them this CPU reaches.
 */
#include "queue_shape.h"

#include <errno.h>
#include <stdlib.h>

#include "core.h"

/* The member's place among all participants, in the order of their ids. */
static uint32_t queue_place(const struct loco_shared_queue *q, unsigned member)
{
    return member + (member >= q->here);
}

/* From now on this CPU uses the peer's slots directly, if it can reach them. */
static void queue_on_connect(struct loco_channel *c, uint32_t node)
{
    struct loco_shared_queue *q = (struct loco_shared_queue *)c;
    unsigned member = (unsigned)loco_channel_member(c, node);

    q->direct[queue_place(q, member)] = loco_region_direct(q->slots, member);
}

static void queue_on_lost(struct loco_channel *c, uint32_t node)
{
    struct loco_shared_queue *q = (struct loco_shared_queue *)c;

    atomic_store(&q->broken, true);
    q->direct[queue_place(q, (unsigned)loco_channel_member(c, node))] = NULL;
}

static const struct loco_channel_ops queue_ops = {.on_connect = queue_on_connect,
                                                  .on_lost = queue_on_lost};

static uint32_t queue_power_of_two(uint32_t at_least)
{
    uint32_t power = 1;

    while (power < at_least)
        power *= 2;
    return power;
}

static size_t queue_round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

/* Marks each of this node's slots as empty, for its first push. */
static void queue_make_empty(struct loco_shared_queue *q)
{
    unsigned char *memory = q->slots->memory;

    q->direct[q->here] = memory;
    for (uint64_t run = q->here; run < q->capacity >> q->run_shift; run += q->nodes)
        for (uint64_t i = 0; i < 1u << q->run_shift; i++, memory += q->slot_size)
            ((uint64_t *)(void *)memory)[TURN] = 2 * ((run << q->run_shift) + i);
}

/* Replaces a division: run / nodes is run * nodes_inverse >> nodes_shift, exactly, since
 * run * nodes < 2^nodes_shift. */
static void queue_invert_nodes(struct loco_shared_queue *q)
{
    q->nodes_shift = 32;
    while (q->nodes > UINT64_C(1) << (q->nodes_shift - 32))
        q->nodes_shift++;
    q->nodes_inverse = (UINT64_C(1) << q->nodes_shift) / q->nodes + 1;
}

/* On coherent memory the slots of a run of tickets fill a cache line. If successive tickets had
 * slots at different nodes, several lines would be in use at a time, and each would be in use for
 * longer. The price: nodes that push in turns share a line. If two nodes push and pop all the time,
 * a push and a pop together take 300 ns instead of 200. */
static uint32_t queue_run_shift(const struct loco_shared_queue *q)
{
    uint32_t shift = 0;

    while (q->coherent && q->slot_size << shift < LOCO_CACHE_LINE && 2u << shift <= q->capacity)
        shift++;
    return shift;
}

static int queue_set_shape(struct loco_shared_queue *q)
{
    const struct loco_manager *m = q->channel.mgr;

    q->nodes = q->channel.member_count + 1;
    while (q->here < q->channel.member_count && q->channel.members[q->here].node < m->id)
        q->here++;
    queue_invert_nodes(q);
    /* Without a checksum a small entry begins where the checksum would be. A large one does not: a
     * copy is faster if it is aligned to two words. */
    q->entry_at = SUM + 1;
    if (q->coherent && queue_image_size(q) < LOCO_CACHE_LINE)
        q->entry_at = SUM;
    /* Small slots share cache lines. Lines of their own would take several times the memory and be
     * no faster, since each operation waits for the line of head or tail anyway. */
    q->slot_size = queue_round_up(queue_image_size(q),
                                  queue_image_size(q) < LOCO_CACHE_LINE ? WORD : LOCO_CACHE_LINE);
    q->run_shift = queue_run_shift(q);
    if (queue_image_size(q) <= m->config.block_size)
        return 0;
    loco_log(m, LOCO_ERROR, "channel %s: an entry of %zu bytes needs a block_size of at least %zu",
             q->channel.name, q->entry_size, queue_image_size(q));
    return -EINVAL;
}

/* This node's share of the slots. */
static int queue_make_slots(struct loco_shared_queue *q)
{
    const size_t runs = queue_round_up(q->capacity >> q->run_shift, q->nodes) / q->nodes;
    const size_t size = (runs << q->run_shift) * q->slot_size;
    const int rc = loco_channel_region(&q->channel, "slots", size, &q->slots);

    if (rc == -ENOMEM)
        loco_log(q->channel.mgr, LOCO_ERROR,
                 "channel %s: %u entries of %zu bytes take %zu MiB at each of %u nodes",
                 q->channel.name, q->capacity, q->entry_size, size >> 20, q->nodes);
    if (!rc)
        queue_make_empty(q);
    return rc;
}

static int queue_make_words(struct loco_shared_queue *q, uint32_t host, struct loco_members members)
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
    if (capacity == 0 || capacity > CAPACITY_MAX || entry_size == 0 || entry_size > SIZE_MAX / 2)
        return -EINVAL;
    q->capacity = queue_power_of_two(capacity);
    q->direct = calloc(manager->count, sizeof *q->direct);
    if (!q->direct)
        return -ENOMEM;
    int rc = loco_channel_init(&q->channel, manager, parent, name, members, &queue_ops);
    if (!rc)
        loco_channel_agree_on(&q->channel, "host=%u\ncapacity=%u\nentry_size=%zu\n", host,
                              q->capacity, entry_size);
    if (!rc)
        rc = queue_set_shape(q);
    if (!rc)
        rc = queue_make_slots(q);
    if (!rc)
        rc = queue_make_words(q, host, members);
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
