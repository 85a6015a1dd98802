/*
 * The messages on a stream socket, in both directions, each with a head (wire.h). Nothing here
 * waits. The owner does the locking, and closes the socket.
 */
#ifndef LOCO_CONTROL_STREAM_H
#define LOCO_CONTROL_STREAM_H

#include <stdint.h>

#include "../fabric/send_queue.h"
#include "../loco/control.h"

/* All zero but for `most`: nothing came, and nothing waits. */
struct control_stream {
    struct loco_send_queue unsent;
    size_t most;       /* bytes of the longest message that may come, without its head */
    uint64_t received; /* bytes */
    size_t at, in;     /* the begin and end of what came and was not taken */
    size_t room;       /* of the input, bytes */
    unsigned char *input;
};

/* Takes the next message, which stays until the next call. Returns 1; 0 when it has not come as a
 * whole; -EBADMSG when it is too long; or another negative errno when the connection has ended. */
int control_stream_take(struct control_stream *stream, int fd,
                        struct loco_control_message *message);

/* Posts a message, and sends what the socket takes. Returns 0; -ENOBUFS when too much waits
 * already, or -ENOMEM: it is not posted; or another negative errno when the connection has ended.
 */
int control_stream_post(struct control_stream *stream, int fd, uint32_t kind, const void *body,
                        size_t size);

/* Sends what waits, as far as the socket takes it. Returns 0 or a negative errno. */
int control_stream_send(struct control_stream *stream, int fd);

void control_stream_free(struct control_stream *stream);

#endif
