/*
 * What goes over the connections of the tcp fabric. Both ends are of the same byte order: the other
 * has another magic number.
 *
 * A connection begins with greetings. Who connects for control messages says hello, and gets a
 * nonce, the challenge; it proves that it knows the secret, and is welcomed with a proof of its own
 * nonce, or refused. So nothing is told to, and little kept for, who has proven nothing. Who counts
 * other nodes is refused after its proof, with a proof: so both learn that a node of their own is
 * of another network, and neither by a word that anybody could say.
 *
 * Links go over lanes: a lane is a connection between two processes, for links between any of their
 * nodes, both ways. A link begins with one greeting: a proof by a key that only the two ends of
 * their control connection have. Each has a number, and none is taken twice: so what somebody has
 * heard opens no second link. The greeting of the first link, whose index is 0, opens the lane, and
 * is welcomed; or it is refused, as a lane is being made the other way. Those of others come behind
 * a request, which says the index, and have no answer.
 *
 * Then come messages, on the control connection with a head each:
 *
 * here    the first, of who asked for the connection, once the other end has proven itself; before
 *         it the other end says nothing
 * arena   how large an arena of the sender is, before any control message that names it
 * core    a control message of the core
 * alive   nothing new: the sender is there
 * bye     the last: the node leaves in order
 *
 * and on a lane requests both ways, of a write with its bytes behind it, of an atomic with its
 * operands; and among them the answers to the other end's: of a read what was read, of an atomic
 * the old value, of a flush nothing. Answers come in the order of requests. Who asks waits while
 * TCP_ANSWERS bytes of them are to come: so the other end always has room for them, and never waits
 * with hearing until it can send. One that says that the link is not there means that the end has
 * lost it. There is no answer to who asks for memory that is not there: that is no node, and is not
 * heard any more.
 */
#ifndef LOCO_TCP_WIRE_H
#define LOCO_TCP_WIRE_H

#include "../proof.h"

enum { TCP_MAGIC = 0x4c4f4354, TCP_VERSION = 3, TCP_MESSAGE_MAX = 4096 };

enum tcp_step { TCP_HELLO = 1, TCP_CHALLENGE, TCP_PROOF, TCP_WELCOME, TCP_REFUSAL, TCP_LINK };

struct tcp_greeting {
    uint32_t magic;
    uint16_t version;
    uint8_t step;
    uint8_t refusal;          /* why; or, of a lane's, how many lanes lead there already */
    uint32_t from, to, count; /* nodes; the sender's count */
    uint32_t number;          /* of a link */
    uint64_t process;         /* the sender's, drawn by chance */
    struct loco_nonce nonce;  /* the sender's */
    struct loco_proof proof;
};

enum tcp_kind { TCP_HERE = 1, TCP_ARENA, TCP_CORE, TCP_ALIVE, TCP_BYE };

struct tcp_head {
    uint32_t kind;
    uint32_t size; /* of what follows */
};

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
    TCP_NOT_THERE /* the answer where the link is not */
};

enum {
    TCP_PIECE = 16 << 10,    /* bytes of a transfer at most: a longer one is several */
    TCP_ANSWERS = 256 << 10, /* bytes of answers that one end of a lane waits for */
    TCP_LINKS_MAX = 1024,    /* of one end of a lane, at once; and of one connection, ever */
};

/* A request, or an answer, which is of no place. */
struct tcp_request {
    uint8_t operation, arena;
    uint16_t link;   /* its index */
    uint32_t size;   /* of what comes behind; of a read, what is to be read */
    uint64_t offset; /* in the arena */
};

/* Behind an atomic; of a fetch-add only the first. */
struct tcp_operands {
    uint64_t first;  /* what is added, or expected */
    uint64_t second; /* what is swapped in */
};

_Static_assert(sizeof(struct tcp_greeting) == 64, "crosses the network");
_Static_assert(sizeof(struct tcp_head) == 8, "crosses the network");
_Static_assert(sizeof(struct tcp_arena_notice) == 16, "crosses the network");
_Static_assert(sizeof(struct tcp_request) == 16, "crosses the network");
_Static_assert(sizeof(struct tcp_operands) == 16, "crosses the network");

#endif
