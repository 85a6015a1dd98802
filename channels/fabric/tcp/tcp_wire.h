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
 * A link begins with one greeting and no answer: a proof by a key that only the two ends of the
 * control connection have. Each has a number, and none is taken twice: so what somebody has heard
 * opens no second link.
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
 * and on a link requests one way, of a write with its bytes behind it, and answers the other, bytes
 * only: of a read what was read, of an atomic the old value, of a flush its number. Answers come in
 * the order of requests. There is no answer that says no: who asks for what is not there is no
 * node, and is not heard any more.
 */
#ifndef LOCO_TCP_WIRE_H
#define LOCO_TCP_WIRE_H

#include "../proof.h"

enum { TCP_MAGIC = 0x4c4f4354, TCP_VERSION = 1, TCP_MESSAGE_MAX = 4096 };

enum tcp_step { TCP_HELLO = 1, TCP_CHALLENGE, TCP_PROOF, TCP_WELCOME, TCP_REFUSAL, TCP_LINK };

struct tcp_greeting {
    uint32_t magic;
    uint16_t version;
    uint8_t step, refusal;
    uint32_t from, to, count; /* nodes; the sender's count */
    uint32_t number;          /* of a link */
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

enum tcp_operation { TCP_WRITE = 1, TCP_READ, TCP_FETCH_ADD, TCP_COMPARE_SWAP, TCP_FLUSH };

struct tcp_request {
    uint32_t operation, arena;
    uint64_t offset;
    uint64_t first;  /* a transfer's size, what is added, what is expected, a flush's number */
    uint64_t second; /* what is swapped in */
};

_Static_assert(sizeof(struct tcp_greeting) == 56, "crosses the network");
_Static_assert(sizeof(struct tcp_head) == 8, "crosses the network");
_Static_assert(sizeof(struct tcp_arena_notice) == 16, "crosses the network");
_Static_assert(sizeof(struct tcp_request) == 32, "crosses the network");

#endif
