#include "client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    READ_AT_ONCE = 16 << 10, /* limits how long one page can keep others waiting */
    IN_MAX = HIL_WS_MESSAGE_MAX + HIL_WS_HEAD_MAX + READ_AT_ONCE,
    OUT_ENOUGH = 1 << 20, /* with this much in the queue, a page gets no new data */
    OUT_MAX = 64 << 20,
    OUT_KEPT = 1 << 20, /* memory that an empty queue keeps */
};

static const uint64_t PATIENCE_NS = 5000000000;

struct hil_client {
    int socket;
    struct hil_view *view;

    unsigned char in[IN_MAX];
    size_t in_used;

    unsigned char *out; /* the queue: from out_sent to out_used */
    size_t out_sent, out_used, out_room;
    uint64_t took_ns; /* when the page last read some of it, or the queue was empty */
};

/* --- the queue -------------------------------------------------------------------------------- */

static size_t client_waiting(const struct hil_client *c)
{
    return c->out_used - c->out_sent;
}

static int client_make_room(struct hil_client *c, size_t more)
{
    size_t room = c->out_room ? c->out_room : OUT_KEPT / 16;

    if (c->out_sent)
        memmove(c->out, c->out + c->out_sent, client_waiting(c));
    c->out_used -= c->out_sent;
    c->out_sent = 0;
    if (more > OUT_MAX - c->out_used)
        return -ENOBUFS;
    while (room < c->out_used + more)
        room *= 2;
    unsigned char *out = realloc(c->out, room);
    if (!out)
        return -ENOMEM;
    c->out = out;
    c->out_room = room;
    return 0;
}

static int client_queue(struct hil_client *c, enum hil_ws_opcode opcode, const void *bytes,
                        size_t size)
{
    if (c->out_room - c->out_used < size + HIL_WS_HEAD_MAX) {
        const int rc = client_make_room(c, size + HIL_WS_HEAD_MAX);
        if (rc)
            return rc;
    }
    c->out_used += hil_ws_head(opcode, size, c->out + c->out_used);
    if (size)
        memcpy(c->out + c->out_used, bytes, size);
    c->out_used += size;
    return 0;
}

static int client_send(void *arg, bool binary, const void *bytes, size_t size)
{
    return client_queue(arg, binary ? HIL_WS_BINARY : HIL_WS_TEXT, bytes, size);
}

static void client_empty(struct hil_client *c)
{
    c->out_sent = c->out_used = 0;
    if (c->out_room <= OUT_KEPT)
        return;
    free(c->out);
    c->out = NULL;
    c->out_room = 0;
}

/* --- incoming data ---------------------------------------------------------------------------- */

static const char *client_why(int reason)
{
    switch (reason) {
    case HIL_WS_TOO_BIG:
        return "it sent a message that is too long";
    case HIL_WS_UNSUPPORTED:
        return "it sent a message that is not text";
    default:
        return "it violates the protocol";
    }
}

/* A close frame is answered by another (5.5.1), and ends the connection. */
static const char *client_leave(struct hil_client *c, enum hil_ws_reason reason, const char *why)
{
    hil_client_say_goodbye(c, reason);
    return why;
}

static const char *client_take(struct hil_client *c, const struct hil_ws_frame *frame)
{
    switch (frame->opcode) {
    case HIL_WS_TEXT:
        return hil_view_take(c->view, (const char *)frame->payload, frame->size)
                   ? "there is no memory"
                   : NULL;
    case HIL_WS_PING:
        return client_waiting(c) < OUT_ENOUGH &&
                       client_queue(c, HIL_WS_PONG, frame->payload, frame->size)
                   ? "there is no memory"
                   : NULL;
    case HIL_WS_CLOSE:
        return client_leave(c, HIL_WS_DONE, "it was closed");
    default:
        return NULL;
    }
}

static const char *client_take_all(struct hil_client *c)
{
    const char *end = NULL;
    struct hil_ws_frame frame;
    size_t taken = 0;
    int rc = 0;

    while (!end && (rc = hil_ws_read(c->in + taken, c->in_used - taken, &frame)) == 1) {
        end = client_take(c, &frame);
        taken += frame.whole;
    }
    c->in_used -= taken;
    memmove(c->in, c->in + taken, c->in_used);
    return !end && rc < 0 ? client_leave(c, (enum hil_ws_reason) - rc, client_why(-rc)) : end;
}

hil_client_end hil_client_read(struct hil_client *c)
{
    const ssize_t size = recv(c->socket, c->in + c->in_used, READ_AT_ONCE, MSG_DONTWAIT);

    if (size < 0)
        return errno == EAGAIN || errno == EINTR ? NULL : "its connection broke";
    if (size == 0)
        return "it is gone";
    c->in_used += (size_t)size;
    return client_take_all(c);
}

/* --- outgoing data ---------------------------------------------------------------------------- */

hil_client_end hil_client_write(struct hil_client *c, uint64_t now_ns)
{
    const ssize_t size =
        send(c->socket, c->out + c->out_sent, client_waiting(c), MSG_DONTWAIT | MSG_NOSIGNAL);

    if (size < 0)
        return errno == EAGAIN || errno == EINTR ? NULL : "its connection broke";
    c->out_sent += (size_t)size;
    c->took_ns = now_ns;
    if (client_waiting(c) == 0)
        client_empty(c);
    return NULL;
}

hil_client_end hil_client_turn(struct hil_client *c, uint64_t now_ns)
{
    int rc = 0;

    if (client_waiting(c) == 0)
        c->took_ns = now_ns;
    if (now_ns - c->took_ns > PATIENCE_NS)
        return "it takes nothing";
    if (client_waiting(c) < OUT_ENOUGH)
        rc = hil_view_turn(c->view, client_send, c);
    if (rc > 0)
        return client_waiting(c) ? NULL : client_leave(c, HIL_WS_GOING_AWAY, "the run has ended");
    if (rc < 0)
        return rc == -ENOBUFS ? "too much waits for it" : "there is no memory";
    return client_waiting(c) ? hil_client_write(c, now_ns) : NULL;
}

void hil_client_say_goodbye(struct hil_client *c, enum hil_ws_reason reason)
{
    const unsigned char code[] = {(unsigned char)(reason >> 8), (unsigned char)reason};

    if (client_queue(c, HIL_WS_CLOSE, code, sizeof code) == 0)
        hil_client_write(c, c->took_ns);
}

/* --- opening and closing ---------------------------------------------------------------------- */

struct hil_client *hil_client_open(int socket, const struct hil_run_entry *run, bool allow_set,
                                   const void *extra, size_t extra_size, uint64_t now_ns)
{
    struct hil_client *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->socket = socket;
    c->took_ns = now_ns;
    if (extra_size > sizeof c->in || hil_view_open(&c->view, run, allow_set)) {
        free(c);
        return NULL;
    }
    if (extra_size)
        memcpy(c->in, extra, extra_size);
    c->in_used = extra_size;
    if (client_take_all(c)) {
        hil_client_close(c);
        return NULL;
    }
    return c;
}

void hil_client_close(struct hil_client *c)
{
    hil_view_close(c->view);
    free(c->out);
    free(c);
}

int hil_client_socket(const struct hil_client *c)
{
    return c->socket;
}

bool hil_client_has_more(const struct hil_client *c)
{
    return client_waiting(c) > 0;
}
