/*
 * The private data of a request for a connection of the verbs fabric, and of its answer.
 *
 * A node that asks for a control connection is first refused, and gets a nonce with the refusal:
 * the challenge. It asks again, with a proof that contains the challenge, and with a nonce of its
 * own. It is accepted with a proof that contains this nonce. So a request without a proof takes no
 * memory: a node keeps one challenge for each peer, and makes a new one after each right proof.
 *
 * A node with a different number of nodes proves itself in the same way, and is refused with a
 * proof. So both sides learn that the other one knows the secret but is configured differently, and
 * no stranger can make them believe that.
 *
 * A link proves that it belongs to a control connection, by a key that only the two ends of that
 * connection have.
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
    uint64_t asked;          /* of a request: the first bytes of the challenge in its proof */
    struct loco_nonce nonce; /* of a request: the sender's own; of a refusal: the challenge */
    struct loco_proof proof;
};

_Static_assert(sizeof(struct verbs_hello) == 56, "the private data of a request has no more room");

#endif
