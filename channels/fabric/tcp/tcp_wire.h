/*
 * The protocol of the tcp fabric. A control connection begins with the greetings of
 * control/wire.h.
 *
 * Links go over lanes. A lane is a connection between two processes, for the links between any of
 * their nodes, in both directions. A link begins with one greeting: a proof by a key that only the
 * two ends of the nodes' control connection have. It contains the link's number, and no number is
 * accepted twice, so an eavesdropper cannot open a link by repeating it. The greeting of the first
 * link, whose index is 0, opens the lane, and is welcomed; or it is refused, when the other process
 * is opening a lane at the same time. The greetings of other links follow a request that says the
 * index, and are not answered.
 *
 * A control connection (control/control.h) also carries notices: the size of an arena of the
 * sender, before any message of the core that names it.
 *
 * A lane carries requests in both directions: a write is followed by its bytes, an atomic by its
 * operands. Between them are the answers to the requests of the other end: the bytes of a read, the
 * old value of an atomic, nothing for a flush. Answers come in the order of the requests. An end
 * sends no request while TCP_ANSWERS bytes of answers are outstanding. So the other end always has
 * room for the answers, and never has to stop receiving until it can send. The answer TCP_NOT_THERE
 * says that the other end has lost the link. A request for memory that does not exist is not
 * answered: no node sends one, and the connection of its sender is closed.
 */
#ifndef LOCO_TCP_WIRE_H
#define LOCO_TCP_WIRE_H

#include "../../control/wire.h"

enum { TCP_MAGIC = 0x4c4f4354, TCP_VERSION = 3 };

struct tcp_arena_notice {
    uint32_t number, zero;
    uint64_t size;
};

enum tcp_operation {
    TCP_WRITE = 1,
    TCP_READ,
    TCP_FETCH_ADD,
    TCP_COMPARE_SWAP,
    TCP_FLUSH,
    TCP_BEGIN_LINK,
    TCP_END_LINK,
    TCP_ANSWER,
    TCP_NOT_THERE /* the answer if the link does not exist */
};

enum {
    TCP_PIECE = 16 << 10,    /* most bytes of one request; a longer transfer is several */
    TCP_ANSWERS = 256 << 10, /* most bytes of answers that one end of a lane waits for */
    TCP_LINKS_MAX = 1024,    /* links of one end of a lane at once, and of one connection ever */
};

/* A request or an answer; an answer has no arena and offset. */
struct tcp_request {
    uint8_t operation, arena;
    uint16_t link;   /* its index */
    uint32_t size;   /* bytes that follow; of a read, bytes to be read */
    uint64_t offset; /* in the arena */
};

/* Follows an atomic; of a fetch-add only the first word. */
struct tcp_operands {
    uint64_t first;  /* what is added, or expected */
    uint64_t second; /* what is swapped in */
};

_Static_assert(sizeof(struct tcp_arena_notice) == 16, "crosses the network");
_Static_assert(sizeof(struct tcp_request) == 16, "crosses the network");
_Static_assert(sizeof(struct tcp_operands) == 16, "crosses the network");

#endif
