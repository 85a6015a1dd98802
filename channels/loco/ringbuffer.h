/*
 * ringbuffer: one node sends, any number of nodes receive. A broadcast of messages of mixed
 * sizes: each receiver gets every message, whole and in order.
 *
 * Each receiver has a ring of its own, in its own memory, which the sender writes one-sided;
 * so receiving is looking at local memory, and a message is read where it lies. A receiver
 * acknowledges by its row of an SST, and the sender overwrites only what all have
 * acknowledged.
 *
 *      sender      loco_ringbuffer_send          when a receiver is too far behind: -EAGAIN
 *                  loco_ringbuffer_acknowledged  whether all have consumed up to a position
 *      receiver    loco_ringbuffer_receive       the next message, in place
 *                  loco_ringbuffer_release       it is not looked at any more; or
 *                  loco_ringbuffer_acknowledge   the same, and the sender hears of it now
 *
 * A position counts the bytes that went through the ring; a message's position is where it
 * ends. Positions may wrap: they are compared by their signed difference.
 *
 * A receiver that is lost is waited for no longer, and sending to the others goes on. When
 * the sender is lost, what it had sent whole is still received. Neither is taken back when it
 * restarts: it takes part again when all have constructed the ring anew.
 *
 * Threads: one thread at a time sends, and one at a time receives, on each node. A change of
 * the thread costs a global fence, unless everything sent has been acknowledged.
 * Order: who receives a message also sees what the sender placed (fenced) before sending it;
 * who learns of an acknowledgement, what the receiver placed before acknowledging.
 */
#ifndef LOCO_RINGBUFFER_H
#define LOCO_RINGBUFFER_H

#include "language.h"
#include "sst.h"

LOCO_DECLARATIONS

struct loco_ringbuffer {
    struct loco_channel channel;
    struct loco_sst acks; /* a row of each receiver: the position up to which it has released */
    struct loco_region *ring;
    uint32_t sender;
    size_t capacity;    /* of the ring, bytes; a power of two */
    size_t message_max; /* bytes */

    struct loco_thread *thread; /* the one that sent or acknowledged last */
    uint64_t position;          /* of the newest message sent, or received, here */

    /* The sender's: */
    LOCO_ATOMIC(unsigned char *) *
        direct;         /* by member: its ring, where this CPU may use it; else NULL */
    uint64_t free_from; /* every receiver had acknowledged up to here when last asked */
    int error;          /* why nothing can be sent any more; 0: it can */

    /* A receiver's: */
    uint64_t released; /* up to here, and ... */
    uint64_t told;     /* ... of that the sender knows this much */
    unsigned idle;     /* looks in a row that found nothing */
    uint64_t room[4];
};

/* A message where it lies in the receiver's ring. */
struct loco_message {
    const void *data; /* aligned to 8 bytes */
    size_t size;      /* bytes */
    uint64_t position;
};

/*
 * Constructs and joins. Node `sender` sends to `receivers`, who are looked at there only.
 * Messages are of 1 to `message_max` bytes. `capacity` is in bytes and rounded up to a power
 * of two; each message takes 8 bytes and its size rounded up to a multiple of 8. Errors as
 * of loco_channel_init, and -EINVAL when a quarter of the capacity does not hold a message.
 * `receivers` stays valid, and *ringbuffer in its place, while the endpoint lives.
 */
int loco_ringbuffer_init(struct loco_ringbuffer *ringbuffer, struct loco_manager *manager,
                         const struct loco_channel *parent, const char *name, uint32_t sender,
                         struct loco_members receivers, size_t capacity, size_t message_max);
void loco_ringbuffer_fini(struct loco_ringbuffer *ringbuffer);

/* --- the sender's ----------------------------------------------------------------------- */

/*
 * Sends a copy of `size` bytes, without waiting for anybody. *position (unless NULL) gets the
 * message's position. Returns 0, or, with nothing sent: -EAGAIN when a receiver has not
 * acknowledged enough to make room, -EMSGSIZE for a size of 0 or above message_max,
 * -ENOTCONN before every receiver has connected, -EPERM from a thread that is not attached.
 * Any other error is the fabric's, and for good: the ring is broken.
 */
int loco_ringbuffer_send(struct loco_ringbuffer *ringbuffer, const void *message, size_t size,
                         uint64_t *position);

/* The same, but waits for room for at most `timeout_ns`; -ETIMEDOUT after that. */
int loco_ringbuffer_send_wait(struct loco_ringbuffer *ringbuffer, const void *message, size_t size,
                              uint64_t *position, uint64_t timeout_ns);

/* Whether every receiver that is not lost has acknowledged up to `position`. Any thread. */
bool loco_ringbuffer_acknowledged(const struct loco_ringbuffer *ringbuffer, uint64_t position);

/* Waits until they have, for at most `timeout_ns`: 0 or -ETIMEDOUT. Any thread. Receivers
 * that only release may let it wait until they find their ring empty. */
int loco_ringbuffer_wait(const struct loco_ringbuffer *ringbuffer, uint64_t position,
                         uint64_t timeout_ns);

/* --- a receiver's ----------------------------------------------------------------------- */

/*
 * The next message, if it is here whole: 0 and *message, which stays in place until its
 * position is released. A receiver may hold several, as far as the ring has room. -EAGAIN
 * when there is none yet; -ECONNRESET when there is none and the sender is lost; -EBADMSG
 * when the ring's content makes no sense: somebody else wrote into it.
 */
int loco_ringbuffer_receive(struct loco_ringbuffer *ringbuffer, struct loco_message *message);

/* The same, but waits for a message for at most `timeout_ns`; -ETIMEDOUT after that. */
int loco_ringbuffer_receive_wait(struct loco_ringbuffer *ringbuffer, struct loco_message *message,
                                 uint64_t timeout_ns);

/*
 * Messages up to `position`, one that was received, are not looked at any more. The sender is
 * told when a quarter of the ring has gathered, so that it never starves, or when the receiver
 * has found the ring empty LOCO_RINGBUFFER_IDLE times in a row. Releasing what was released
 * before does nothing.
 */
void loco_ringbuffer_release(struct loco_ringbuffer *ringbuffer, uint64_t position);

/* Releases, and tells the sender now. Done when the write is; it need not be waited for. Before
 * this node is ready the ack may say -ENOTCONN; then a look that finds the ring empty tells. */
struct loco_ack loco_ringbuffer_acknowledge(struct loco_ringbuffer *ringbuffer, uint64_t position);

enum { LOCO_RINGBUFFER_IDLE = 16 };

LOCO_DECLARATIONS_END

#endif
