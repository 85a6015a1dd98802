/*
 * What goes with a request for a connection of the verbs fabric, and with its answer.
 *
 * Who wants a control connection is refused first, and with the refusal gets a nonce, the
 * challenge. It asks again with a proof of that challenge and a nonce of its own, and is accepted
 * with a proof of that nonce. So nothing is kept for a request without a proof: the challenge is
 * the peer's, and is a new one after each right proof.
 *
 * Who counts other nodes proves itself in the same way, and is refused with a proof: so both learn
 * that a node of their own is of another network, and neither by a word that anybody could say.
 *
 * A link proves that it belongs to a control connection: by a key that only the two ends of that
 * one have.
 */
#ifndef LOCO_VERBS_HELLO_H
#define LOCO_VERBS_HELLO_H

#include "../proof.h"

enum { VERBS_MAGIC = 0x4c4f434f, VERBS_VERSION = 2 };

enum verbs_purpose { VERBS_FOR_CONTROL = 1, VERBS_FOR_LINK };

struct verbs_hello {
    uint32_t magic;
    uint16_t version;
    uint8_t purpose, refusal;
    uint32_t node, count;    /* the sender's */
    uint64_t asked;          /* of a request: which challenge the proof is of, by its first bytes */
    struct loco_nonce nonce; /* of a request: the sender's own; of a refusal: the challenge */
    struct loco_proof proof;
};

_Static_assert(sizeof(struct verbs_hello) == 56, "crosses the network, and that is all there is");

#endif
