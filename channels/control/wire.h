/*
 * How two processes greet each other over a stream socket, and the heads of the messages that
 * follow. Both ends must have the same byte order; otherwise the magic number does not match.
 *
 * The caller says hello, and gets a nonce, the challenge. It answers with a proof that it knows the
 * secret. Then it is welcomed, with a proof that contains the caller's nonce, or refused. So a
 * caller that has proven nothing learns nothing, and takes little memory. A caller with a different
 * number of nodes is refused only after its proof, and the refusal is proven, too. So both sides
 * learn that the other one knows the secret but is configured differently, and no stranger can make
 * them believe that.
 *
 * The greeting of a link has a meaning on the fabric tcp only (tcp_wire.h).
 */
#ifndef LOCO_CONTROL_WIRE_H
#define LOCO_CONTROL_WIRE_H

#include "../fabric/proof.h"

enum control_step {
    CONTROL_HELLO = 1,
    CONTROL_CHALLENGE,
    CONTROL_PROOF,
    CONTROL_WELCOME,
    CONTROL_REFUSAL,
    CONTROL_LINK
};

struct control_greeting {
    uint32_t magic;
    uint16_t version;
    uint8_t step;
    uint8_t refusal;          /* the reason; in a link's: how many lanes lead there already */
    uint32_t from, to, count; /* nodes; the sender's count */
    uint32_t number;          /* of a link */
    uint64_t process;         /* a random number of the sender's process */
    struct loco_nonce nonce;  /* the sender's */
    struct loco_proof proof;
};

struct control_head {
    uint32_t kind;
    uint32_t size; /* of what follows */
};

_Static_assert(sizeof(struct control_greeting) == 64, "crosses the network");
_Static_assert(sizeof(struct control_head) == 8, "crosses the network");

#endif
