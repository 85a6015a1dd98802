/*
 * In a ring a message is a word of header and then its bytes. There is always a zero where the next
 * header will stand:
 *
 *      ... | header | bytes ...... | 0 | ...what is left of an earlier lap...
 *
 * The sender writes a message to each receiver by two writes, which a link places in order:
 *      1. its bytes and the zero behind them, whose words may arrive in any order;
 *      2. its header, one word.
 * A receiver that finds a header therefore finds the whole message, and a zero behind it until the
 * next header arrives. It never looks at what an earlier lap left, so nothing has to be cleared or
 * checksummed.
 *
 * (FaRM sends a message by one write. Its receiver clears the ring and watches the message's last
 * byte, which relies on a write being placed from its first byte to its last.)
 *
 * The sender keeps a copy of the ring. The first writes are read from it, perhaps late, so a
 * message stays there until every receiver has acknowledged it. Headers are not stored in the copy:
 * the zero in their place may still have to be read. Each header goes out inline.
 */
#include "loco/ringbuffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "loco/fabric/atomic_copy.h"
#include "loco/fence.h"
#include "thread_links.h"

enum { WORD = sizeof(uint64_t) };

/* A header is never zero, since a size is at least 1. The stamp comes from the position that the
 * header was made for; a wrong one shows that a stranger wrote into the ring. */
struct header {
    uint32_t size;
    uint32_t stamp;
};

/* Instead of a size: the next header is at the ring's beginning. */
#define WRAP UINT32_MAX

_Static_assert(sizeof(struct header) == WORD, "one word, so that it is never torn");

static uint32_t ring_stamp(uint64_t position)
{
    return (uint32_t)(position / WORD);
}

static size_t ring_frame_size(size_t size)
{
    return WORD + (size + WORD - 1) / WORD * WORD;
}

static size_t ring_offset(const struct loco_ringbuffer *rb, uint64_t position)
{
    return position & (rb->capacity - 1);
}

/* Whether position a is before b, even where positions have wrapped. */
static bool ring_before(uint64_t a, uint64_t b)
{
    return (int64_t)(a - b) < 0;
}

/* --- setup ------------------------------------------------------------------------------ */

static size_t ring_power_of_two(size_t at_least)
{
    size_t power = WORD;

    while (power && power < at_least)
        power *= 2;
    return power;
}

/* From now on this CPU writes the receiver's ring directly, if it can reach it. */
static void ring_on_connect(struct loco_channel *c, uint32_t node)
{
    struct loco_ringbuffer *rb = (struct loco_ringbuffer *)c;
    unsigned member = (unsigned)loco_channel_member(c, node);

    if (c->mgr->id == rb->sender)
        rb->direct[member] = loco_region_direct(rb->ring, member);
}

static void ring_on_lost(struct loco_channel *c, uint32_t node)
{
    ((struct loco_ringbuffer *)c)->direct[loco_channel_member(c, node)] = NULL;
}

static const struct loco_channel_ops ring_ops = {.on_connect = ring_on_connect,
                                                 .on_lost = ring_on_lost};

int loco_ringbuffer_init(struct loco_ringbuffer *rb, struct loco_manager *manager,
                         const struct loco_channel *parent, const char *name, uint32_t sender,
                         struct loco_members receivers, size_t capacity, size_t message_max)
{
    *rb = (struct loco_ringbuffer){.sender = sender,
                                   .capacity = ring_power_of_two(capacity),
                                   .message_max = message_max,
                                   .error = manager->id == sender ? 0 : -EINVAL};
    /* Even the longest message must find room in the end, whatever the position. A receiver may
     * have released nearly a quarter of the ring without telling, the end of a lap may be skipped,
     * and the next header needs its place. */
    if (message_max == 0 || message_max >= WRAP || ring_frame_size(message_max) > rb->capacity / 4)
        return -EINVAL;

    const struct loco_members sender_only = {.nodes = &rb->sender, .count = 1};
    struct loco_members members = manager->id == sender ? receivers : sender_only;
    rb->direct = calloc(manager->count, sizeof *rb->direct);
    if (!rb->direct)
        return -ENOMEM;
    int rc = loco_channel_init(&rb->channel, manager, parent, name, members, &ring_ops);
    if (!rc)
        loco_channel_agree_on(&rb->channel, "sender=%u\ncapacity=%zu\nmessage_max=%zu\n", sender,
                              (size_t)rb->capacity, message_max);
    if (!rc)
        rc = loco_channel_region(&rb->channel, "ring", rb->capacity, &rb->ring);
    if (!rc)
        rc = loco_sst_init(&rb->acks, manager, &rb->channel, "acks", members, sizeof rb->position);
    if (rc)
        loco_ringbuffer_fini(rb);
    else
        loco_channel_join(&rb->channel);
    return rc;
}

void loco_ringbuffer_fini(struct loco_ringbuffer *rb)
{
    loco_sst_fini(&rb->acks);
    loco_channel_fini(&rb->channel);
    free(rb->direct);
    rb->direct = NULL;
}

/* --- sending ---------------------------------------------------------------------------- */

static bool ring_member_lost(const struct loco_ringbuffer *rb, unsigned m)
{
    return loco_member_lost(&rb->channel.members[m]);
}

static uint64_t ring_acknowledged_by(const struct loco_ringbuffer *rb, unsigned m)
{
    const struct loco_owned_var *row = rb->acks.rows[1 + m];
    uint64_t acknowledged = 0;

    if (row) /* NULL until the receiver has joined */
        loco_owned_var_load(row, &acknowledged);
    return acknowledged;
}

bool loco_ringbuffer_acknowledged(const struct loco_ringbuffer *rb, uint64_t position)
{
    for (unsigned m = 0; m < rb->channel.member_count; m++)
        if (!ring_member_lost(rb, m) && ring_before(ring_acknowledged_by(rb, m), position))
            return false;
    return true;
}

int loco_ringbuffer_wait(const struct loco_ringbuffer *rb, uint64_t position, uint64_t timeout_ns)
{
    if (loco_ringbuffer_acknowledged(rb, position))
        return 0;

    struct loco_wait wait = loco_wait_for(rb->channel.mgr, timeout_ns);
    int late = 0;
    while (!late) {
        late = loco_relax(rb->channel.mgr, &wait);
        if (loco_ringbuffer_acknowledged(rb, position))
            return 0;
    }
    return late;
}

/* The position up to which every receiver that is not lost has acknowledged. */
static uint64_t ring_slowest(const struct loco_ringbuffer *rb)
{
    uint64_t first = rb->position;

    for (unsigned m = 0; m < rb->channel.member_count; m++) {
        uint64_t acknowledged = ring_member_lost(rb, m) ? first : ring_acknowledged_by(rb, m);
        if (ring_before(acknowledged, first))
            first = acknowledged;
    }
    return first;
}

static bool ring_has_room(struct loco_ringbuffer *rb, size_t size)
{
    if (size <= rb->capacity - (rb->position - rb->free_from))
        return true;
    rb->free_from = ring_slowest(rb);
    return size <= rb->capacity - (rb->position - rb->free_from);
}

static bool ring_all_connected(const struct loco_ringbuffer *rb)
{
    for (unsigned m = 0; m < rb->channel.member_count; m++)
        /* In this order: a member that was connected may be lost before the second look. */
        if ((!loco_member_connected(&rb->channel.members[m]) || !rb->acks.rows[1 + m]) &&
            !ring_member_lost(rb, m))
            return false;
    return true;
}

/* The calling thread goes on where another stopped. Nothing orders the links of two threads, so a
 * fence first places what the other one wrote, unless all of that is `settled`. Returns 0 or
 * -ETIMEDOUT. Any other error of the fence only tells of a lost node, which sending finds out by
 * itself. */
static int ring_change_thread(struct loco_ringbuffer *rb, bool settled, uint64_t timeout_ns)
{
    if (rb->thread && !settled &&
        loco_fence_global_timed(rb->channel.mgr, timeout_ns) == -ETIMEDOUT)
        return -ETIMEDOUT;
    rb->thread = loco_self(rb->channel.mgr);
    return 0;
}

static int ring_begin_send(struct loco_ringbuffer *rb, uint64_t timeout_ns)
{
    const struct loco_thread *self = loco_self(rb->channel.mgr);

    if (rb->thread == self && self)
        return rb->error;
    if (!self)
        return -EPERM;
    if (!ring_all_connected(rb))
        return -ENOTCONN;
    int rc = ring_change_thread(rb, loco_ringbuffer_acknowledged(rb, rb->position), timeout_ns);
    return rc ? rc : rb->error;
}

static int ring_write(struct loco_ringbuffer *rb, unsigned m, size_t offset, const void *from,
                      size_t size)
{
    int error = loco_region_write(rb->ring, m, offset, from, size).error;

    return error == -ECONNRESET ? 0 : error; /* sending to the others goes on */
}

/* The same two writes as stores of this CPU, which become visible in order. */
static void ring_publish_directly(struct loco_ringbuffer *rb, unsigned char *ring, size_t behind,
                                  const void *from, size_t from_size, uint64_t header)
{
    uint64_t *place = (uint64_t *)(void *)(ring + ring_offset(rb, rb->position));

    loco_copy(ring + behind, from, from_size);
    __atomic_store_n(place, header, __ATOMIC_RELEASE);
    loco_stored();
}

/* Writes to each receiver the part after the header's place, and then the header. */
static int ring_publish(struct loco_ringbuffer *rb, size_t behind, const void *from,
                        size_t from_size, uint32_t size)
{
    const struct header header = {.size = size, .stamp = ring_stamp(rb->position)};
    uint64_t word;

    memcpy(&word, &header, sizeof word);
    for (unsigned m = 0; m < rb->channel.member_count && !rb->error; m++) {
        unsigned char *ring = atomic_load_explicit(&rb->direct[m], memory_order_relaxed);
        if (ring) {
            ring_publish_directly(rb, ring, behind, from, from_size, word);
            continue;
        }
        rb->error = ring_write(rb, m, behind, from, from_size);
        if (!rb->error)
            rb->error = ring_write(rb, m, ring_offset(rb, rb->position), &word, sizeof word);
    }
    return rb->error;
}

/* Ends the lap: writes a zero at the ring's beginning, and a header that refers to it. */
static int ring_wrap(struct loco_ringbuffer *rb, size_t left)
{
    static const uint64_t none = 0;
    int rc = ring_publish(rb, 0, &none, sizeof none, WRAP);

    if (!rc)
        rb->position += left;
    return rc;
}

int loco_ringbuffer_send_limited(struct loco_ringbuffer *rb, const void *message, size_t size,
                                 uint64_t *position, uint64_t timeout_ns)
{
    static const uint64_t none = 0;
    int rc = ring_begin_send(rb, timeout_ns);

    if (rc)
        return rc;
    if (size == 0 || size > rb->message_max)
        return -EMSGSIZE;

    size_t frame = ring_frame_size(size);
    size_t left = rb->capacity - ring_offset(rb, rb->position);
    bool wraps = left < frame + WORD; /* the next header's place has to follow */
    if (!ring_has_room(rb, (wraps ? left : 0) + frame + WORD))
        return -EAGAIN;
    if (wraps)
        rc = ring_wrap(rb, left);
    if (rc)
        return rc;

    size_t behind = ring_offset(rb, rb->position) + WORD;
    unsigned char *source = (unsigned char *)rb->ring->memory + behind;
    memcpy(source + frame - 2 * WORD, &none, WORD); /* the message may not fill its last word */
    memcpy(source + frame - WORD, &none, WORD);
    memcpy(source, message, size);
    rc = ring_publish(rb, behind, source, frame, (uint32_t)size);
    if (rc)
        return rc;
    rb->position += frame;
    if (position)
        *position = rb->position;
    return 0;
}

int loco_ringbuffer_send(struct loco_ringbuffer *rb, const void *message, size_t size,
                         uint64_t *position)
{
    return loco_ringbuffer_send_limited(rb, message, size, position, UINT64_MAX);
}

int loco_ringbuffer_send_wait(struct loco_ringbuffer *rb, const void *message, size_t size,
                              uint64_t *position, uint64_t timeout_ns)
{
    int rc = loco_ringbuffer_send_limited(rb, message, size, position, timeout_ns);

    if (rc != -EAGAIN)
        return rc;
    struct loco_wait wait = loco_wait_for(rb->channel.mgr, timeout_ns);
    int late = 0;
    while (rc == -EAGAIN && !late) {
        late = loco_relax(rb->channel.mgr, &wait);
        rc = loco_ringbuffer_send_limited(rb, message, size, position, UINT64_MAX);
    }
    return rc == -EAGAIN ? late : rc;
}

/* --- receiving -------------------------------------------------------------------------- */

/* Whether this node knows where to answer. The sender may have reached it before that. */
static bool ring_may_tell(const struct loco_ringbuffer *rb)
{
    const struct loco_member *sender = &rb->acks.mine->channel.members[0];

    return atomic_load_explicit(&sender->incarnation, memory_order_relaxed);
}

/* Tells the sender up to where this receiver has released. */
static struct loco_ack ring_tell(struct loco_ringbuffer *rb, uint64_t timeout_ns)
{
    int rc = !loco_self(rb->channel.mgr) ? -EPERM : ring_may_tell(rb) ? 0 : -ENOTCONN;

    if (!rc && rb->thread != loco_self(rb->channel.mgr))
        rc = ring_change_thread(rb, false, timeout_ns);
    if (rc) {
        rb->idle = LOCO_RINGBUFFER_IDLE; /* the next look tries again */
        return (struct loco_ack){.error = rc};
    }
    loco_sst_store_mine(&rb->acks, &rb->released);
    struct loco_ack ack = loco_sst_push_broadcast(&rb->acks);
    if (!ack.error)
        rb->told = rb->released;
    rb->idle = 0;
    return ack;
}

/* Finds the message whose header stands at this node's position, if one is there. */
static int ring_look(const struct loco_ringbuffer *rb, struct loco_message *message)
{
    const unsigned char *ring = rb->ring->memory;
    uint64_t position = rb->position;
    struct header header;

    for (;;) {
        size_t offset = ring_offset(rb, position);
        uint64_t word = __atomic_load_n((const uint64_t *)(ring + offset), __ATOMIC_ACQUIRE);
        if (word == 0)
            return -EAGAIN;
        memcpy(&header, &word, sizeof header);
        if (header.stamp != ring_stamp(position))
            return -EBADMSG;
        size_t left = rb->capacity - offset;
        if (header.size == WRAP) {
            position += left;
            continue;
        }
        if (header.size == 0 || header.size > rb->message_max ||
            ring_frame_size(header.size) >= left)
            return -EBADMSG;
        *message = (struct loco_message){.data = ring + offset + WORD,
                                         .size = header.size,
                                         .position = position + ring_frame_size(header.size)};
        return 0;
    }
}

/* As ring_look, and takes the message. */
static int ring_take(struct loco_ringbuffer *rb, struct loco_message *message)
{
    int rc = ring_look(rb, message);

    if (!rc)
        rb->position = message->position;
    return rc;
}

int loco_ringbuffer_look(const struct loco_ringbuffer *rb)
{
    struct loco_message message;
    int rc = ring_look(rb, &message);

    if (rc == -EAGAIN && rb->channel.mgr->id == rb->sender)
        return -EINVAL;
    if (rc == -EAGAIN && loco_channel_check(&rb->channel)) {
        rc = ring_look(rb, &message); /* the sender may have sent and then left */
        rc = rc == -EAGAIN ? -ECONNRESET : rc;
    }
    return rc == -EAGAIN ? 0 : rc ? rc : 1;
}

static int ring_receive(struct loco_ringbuffer *rb, struct loco_message *message,
                        uint64_t timeout_ns)
{
    int rc = ring_take(rb, message);

    if (rc != -EAGAIN) {
        rb->idle = 0;
        return rc;
    }
    if (rb->channel.mgr->id == rb->sender)
        return -EINVAL;
    if (loco_channel_check(&rb->channel)) {
        rc = ring_take(rb, message); /* the sender may have sent and then left */
        return rc == -EAGAIN ? -ECONNRESET : rc;
    }
    if (rb->told != rb->released && ++rb->idle >= LOCO_RINGBUFFER_IDLE)
        ring_tell(rb, timeout_ns);
    return rc;
}

int loco_ringbuffer_receive(struct loco_ringbuffer *rb, struct loco_message *message)
{
    return ring_receive(rb, message, UINT64_MAX);
}

int loco_ringbuffer_receive_wait(struct loco_ringbuffer *rb, struct loco_message *message,
                                 uint64_t timeout_ns)
{
    int rc = ring_receive(rb, message, timeout_ns);

    if (rc != -EAGAIN)
        return rc;
    struct loco_wait wait = loco_wait_for(rb->channel.mgr, timeout_ns);
    int late = 0;
    while (rc == -EAGAIN && !late) {
        late = loco_relax(rb->channel.mgr, &wait);
        rc = ring_receive(rb, message, loco_time_left(rb->channel.mgr, &wait));
    }
    return rc == -EAGAIN ? late : rc;
}

void loco_ringbuffer_release(struct loco_ringbuffer *rb, uint64_t position)
{
    if (ring_before(rb->released, position))
        rb->released = position;
    if (rb->released - rb->told >= rb->capacity / 4)
        ring_tell(rb, UINT64_MAX);
}

struct loco_ack loco_ringbuffer_acknowledge(struct loco_ringbuffer *rb, uint64_t position)
{
    if (ring_before(rb->released, position))
        rb->released = position;
    return rb->told == rb->released ? (struct loco_ack){0} : ring_tell(rb, UINT64_MAX);
}
