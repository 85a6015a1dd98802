#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "wire.h"

enum { STREAM_ROOM = 4096 + sizeof(struct control_head) }; /* at least */

/* --- receiving ------------------------------------------------------------------------------ */

static bool stream_make_room(struct control_stream *s, size_t size)
{
    const size_t room = size > STREAM_ROOM ? size : STREAM_ROOM;

    if (s->at) {
        memmove(s->input, s->input + s->at, s->in - s->at);
        s->in -= s->at;
        s->at = 0;
    }
    if (s->room >= size)
        return true;
    unsigned char *input = realloc(s->input, room);
    if (!input)
        return false;
    s->input = input;
    s->room = room;
    return true;
}

/* Returns 1 when something came. */
static int stream_receive(struct control_stream *s, int fd, size_t expected)
{
    if (!stream_make_room(s, expected))
        return -ENOMEM;
    const ssize_t got = recv(fd, s->input + s->in, s->room - s->in, MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    s->in += (size_t)got;
    s->received += (size_t)got;
    return got ? 1 : -ECONNRESET;
}

int control_stream_take(struct control_stream *s, int fd, struct loco_control_message *m)
{
    struct control_head head = {0};
    int rc = 1;

    do {
        const size_t has = s->in - s->at;
        if (has >= sizeof head)
            memcpy(&head, s->input + s->at, sizeof head);
        if (head.size > s->most)
            return -EBADMSG;
        if (has >= sizeof head + head.size) {
            *m =
                (struct loco_control_message){head.kind, head.size, s->input + s->at + sizeof head};
            s->at += sizeof head + head.size;
            return 1;
        }
        rc = stream_receive(s, fd, sizeof head + head.size);
    } while (rc > 0);
    return rc;
}

/* --- sending -------------------------------------------------------------------------------- */

int control_stream_send(struct control_stream *s, int fd)
{
    while (s->unsent.first) {
        struct loco_send_queue_message *m = s->unsent.first;
        const ssize_t sent =
            send(fd, m->data + m->sent, m->size - m->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0)
            return errno == EINTR || errno == EAGAIN ? 0 : -errno;
        m->sent += (size_t)sent;
        if (m->sent == m->size)
            loco_send_queue_take_off(&s->unsent);
    }
    return 0;
}

int control_stream_post(struct control_stream *s, int fd, uint32_t kind, const void *body,
                        size_t size)
{
    const struct control_head head = {.kind = kind, .size = (uint32_t)size};

    if (!loco_send_queue_has_room(&s->unsent, sizeof head + size, LOCO_SEND_QUEUE_MAX))
        return -ENOBUFS;
    if (!loco_send_queue_add(&s->unsent, &head, sizeof head, body, size))
        return -ENOMEM;
    return control_stream_send(s, fd);
}

void control_stream_free(struct control_stream *s)
{
    loco_send_queue_clear(&s->unsent);
    free(s->input);
    *s = (struct control_stream){0};
}
