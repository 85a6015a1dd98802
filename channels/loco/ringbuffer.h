/*
 * ringbuffer: one node broadcasts messages of mixed sizes to any number of receivers. Each receiver
 * gets every message, whole and in order.
 *
 * Each receiver has a ring in its own memory, which the sender writes one-sided. So to receive is
 * to look at local memory, and a message is read where it lies. A receiver acknowledges by its row
 * of an SST. The sender overwrites only what all receivers have acknowledged.
 *
 *      sender      loco_ringbuffer_send          sends; -EAGAIN when a receiver is too far behind
 *                  loco_ringbuffer_acknowledged  have all receivers released up to a position?
 *      receiver    loco_ringbuffer_receive       gets the next message, in place
 *                  loco_ringbuffer_release       gives its place back; the sender learns of it
 *                  loco_ringbuffer_acknowledge   gives its place back, and tells the sender now
 *
 * A position counts the bytes that have gone through the ring. A message's position is where it
 * ends. Positions may wrap: compare them by their signed difference.
 *
 * When a receiver is lost, the sender no longer waits for it and goes on sending to the others.
 * When the sender is lost, receivers still get all messages that had arrived whole. A participant
 * that restarts is not taken back: it takes part again when all have constructed the ring again.
 *
 * Threads: one thread at a time sends or receives at each node. When another thread takes over, its
 * first call makes a global fence, unless everything sent has been acknowledged. Only the _wait
 * calls limit the time of that fence.
 * Order: a receiver of a message also sees what the sender had placed (fenced) before sending it. A
 * sender that learns of an acknowledgement also sees what the receiver had placed before it.
 */
#ifndef LOCO_RINGBUFFER_H
#define LOCO_RINGBUFFER_H

#include "fabric/language.h"
#include "sst.h"

LOCO_DECLARATIONS

struct loco_ringbuffer {
    struct loco_channel channel;
    struct loco_sst acks; /* each receiver's row is the position up to which it has released */
    struct loco_region *ring;
    uint32_t sender;
    size_t capacity;    /* of the ring, bytes; a power of two */
    size_t message_max; /* bytes */

    struct loco_thread *thread; /* the one that sent or acknowledged last */
    uint64_t position;          /* of the newest message sent, or received, at this node */

    /* The sender's: */
    LOCO_ATOMIC(unsigned char *) *
        direct;         /* by member: its ring's address, if this CPU may use it; else NULL */
    uint64_t free_from; /* all receivers had acknowledged up to here when last asked */
    int error;          /* the negative errno that broke the ring, -EINVAL at a receiver; 0: none */

    /* A receiver's: */
    uint64_t released; /* the position up to which it has released, ... */
    uint64_t told;     /* ... and up to which it has told the sender */
    unsigned idle;     /* how often in a row it found nothing to receive */
    uint64_t room[4];
};

/* A message where it lies in the receiver's ring. */
struct loco_message {
    const void *data; /* aligned to 8 bytes */
    size_t size;      /* bytes */
    uint64_t position;
};

/*
 * Constructs and joins. Node `sender` sends to `receivers`; at a receiver, `receivers` is ignored.
 * Messages have 1 to `message_max` bytes. `capacity` is in bytes and rounded up to a power of two.
 * Each message takes 8 bytes and its size rounded up to a multiple of 8. Returns 0, an error of
 * loco_channel_init, or -EINVAL when `message_max` is 0 or such a message takes more than a quarter
 * of the capacity. The nodes of `receivers` must stay valid, and *ringbuffer must stay in its
 * place, while the endpoint lives.
 */
int loco_ringbuffer_init(struct loco_ringbuffer *ringbuffer, struct loco_manager *manager,
                         const struct loco_channel *parent, const char *name, uint32_t sender,
                         struct loco_members receivers, size_t capacity, size_t message_max);
void loco_ringbuffer_fini(struct loco_ringbuffer *ringbuffer);

/* --- the sender's ----------------------------------------------------------------------- */

/*
 * Sends a copy of `size` bytes, without waiting for any receiver. *position gets the message's
 * position; `position` may be NULL. Returns
 *      0
 *      -EAGAIN    a receiver has not acknowledged enough to make room; nothing was sent
 *      -EMSGSIZE  the size is 0 or above message_max; nothing was sent
 *      -ENOTCONN  a receiver has not connected yet; nothing was sent
 *      -EPERM     the calling thread is not attached; nothing was sent
 *      -EINVAL    this node is a receiver; nothing was sent
 *      or an error of the fabric: the ring is broken, and every later send returns the same
 */
int loco_ringbuffer_send(struct loco_ringbuffer *ringbuffer, const void *message, size_t size,
                         uint64_t *position);

/* Does the same, but waits for room for at most `timeout_ns`; -ETIMEDOUT after that. */
int loco_ringbuffer_send_wait(struct loco_ringbuffer *ringbuffer, const void *message, size_t size,
                              uint64_t *position, uint64_t timeout_ns);

/* Whether every receiver that is not lost has acknowledged up to `position`. Never waits. Any
 * thread. */
bool loco_ringbuffer_acknowledged(const struct loco_ringbuffer *ringbuffer, uint64_t position);

/* Waits until they have, for at most `timeout_ns`. Returns 0 or -ETIMEDOUT. Any thread. A receiver
 * that only releases tells the sender late: see loco_ringbuffer_release. */
int loco_ringbuffer_wait(const struct loco_ringbuffer *ringbuffer, uint64_t position,
                         uint64_t timeout_ns);

/* --- a receiver's ----------------------------------------------------------------------- */

/*
 * Gets the next message. It stays in place until its position is released; a receiver may hold
 * several, as far as the ring has room. Never waits for the sender. Returns
 *      0            *message is the message
 *      -EAGAIN      no whole message has arrived
 *      -ECONNRESET  no message is left, and the sender is lost
 *      -EBADMSG     the ring's content makes no sense: something else wrote into it
 *      -EINVAL      this node is the sender
 */
int loco_ringbuffer_receive(struct loco_ringbuffer *ringbuffer, struct loco_message *message);

/* Does the same, but waits for a message for at most `timeout_ns`; -ETIMEDOUT after that. */
int loco_ringbuffer_receive_wait(struct loco_ringbuffer *ringbuffer, struct loco_message *message,
                                 uint64_t timeout_ns);

/*
 * Gives back the places of all messages up to `position`, the position of a received message. The
 * receiver must not look at them any more. The sender is told once a quarter of the ring has been
 * given back, so that it never starves, or once the receiver has found the ring empty
 * LOCO_RINGBUFFER_IDLE times in a row. Releasing a position again does nothing.
 */
void loco_ringbuffer_release(struct loco_ringbuffer *ringbuffer, uint64_t position);

/* Releases, and tells the sender now. The ack is that of the write to the sender; there is no need
 * to wait for it. Before this node is ready the ack may say -ENOTCONN; the sender is then told when
 * a later receive finds the ring empty. */
struct loco_ack loco_ringbuffer_acknowledge(struct loco_ringbuffer *ringbuffer, uint64_t position);

enum { LOCO_RINGBUFFER_IDLE = 16 };

LOCO_DECLARATIONS_END

#endif
