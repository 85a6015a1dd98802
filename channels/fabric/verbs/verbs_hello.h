/*
 * The private data of a request for a link of the verbs fabric, and of its answer.
 *
 * A link proves that it belongs to a control connection (control/control.h), by a key that only the
 * two ends of that connection have. So the request needs no challenge, and one without a proof
 * takes no memory.
 */
#ifndef LOCO_VERBS_HELLO_H
#define LOCO_VERBS_HELLO_H

#include "../proof.h"

enum { VERBS_MAGIC = 0x4c4f434f, VERBS_VERSION = 3 };

struct verbs_hello {
    uint32_t magic;
    uint16_t version;
    uint16_t refusal;
    uint32_t node, count;    /* the sender's */
    struct loco_nonce nonce; /* of a request */
    struct loco_proof proof;
};

/* A message of a control connection: where an arena of the sender is, and its key. It comes before
 * any message of the core that names the arena. */
struct verbs_arena_notice {
    uint32_t number, key;
    uint64_t base, size;
};

_Static_assert(sizeof(struct verbs_hello) == 48, "the private data of a request has 56 bytes");
_Static_assert(sizeof(struct verbs_arena_notice) == 24, "crosses the network");

#endif
