/*
 * A queue of control messages to a peer that wait until the connection takes them. Its owner does
 * the locking.
 */
#ifndef LOCO_SEND_QUEUE_H
#define LOCO_SEND_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that may wait for one peer. If more would wait, the peer counts as lost; on shm, where it
 * may live and use this node's memory, the message is refused. */
enum { LOCO_SEND_QUEUE_MAX = 16 << 20 };

struct loco_send_queue_message {
    struct loco_send_queue_message *next;
    size_t size;
    size_t sent;    /* bytes that the connection has taken; tcp takes parts of messages */
    int descriptor; /* a file descriptor to send along, or -1; not owned */
    unsigned char data[];
};

/* All zero: empty. */
struct loco_send_queue {
    struct loco_send_queue_message *first, **end;
    size_t size; /* bytes */
};

static inline bool loco_send_queue_has_room(const struct loco_send_queue *queue, size_t size,
                                            size_t max)
{
    return queue->size + size <= max;
}

/* Adds a message of two parts at the end. Returns it, or NULL when there is no memory. */
struct loco_send_queue_message *loco_send_queue_add(struct loco_send_queue *queue, const void *head,
                                                    size_t head_size, const void *body,
                                                    size_t body_size);

/* Removes and frees the first message. */
void loco_send_queue_take_off(struct loco_send_queue *queue);

void loco_send_queue_clear(struct loco_send_queue *queue);

#endif
