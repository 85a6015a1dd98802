/*
 * How two nodes prove to each other that they know the network's secret, without sending it: each
 * sends the other a number that was never used before (a nonce), and gets back a keyed hash of both
 * numbers.
 *
 * The key is a hash of the secret. A network without a secret uses the hash of the empty string,
 * which anybody can compute, so that the code is the same in both cases.
 */
#ifndef LOCO_PROOF_H
#define LOCO_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "../loco/fabric/fabric.h"

struct loco_key {
    unsigned char bytes[32];
};

struct loco_nonce {
    unsigned char bytes[16];
};

struct loco_proof {
    unsigned char bytes[16];
};

/* What a proof or a key is for, on fabrics whose nodes connect over a network: the request for a
 * connection, the answer to it, the key of the connection's links, or one of those links. */
enum loco_purpose { LOCO_OF_REQUEST = 1, LOCO_OF_ANSWER, LOCO_OF_LINKS, LOCO_OF_LINK };

/*
 * Why such a request is refused.
 *
 * PROVE     the proof is missing, or of an old challenge
 * FOREIGN   another network
 * TAKEN     the id is in use, perhaps by a node whose end has not been noticed yet
 * UNKNOWN   a link without a control connection, or one too many
 * UNPROVEN  the proof is wrong: another secret
 * STRAY     the request comes from an address that is not the node's
 */
enum loco_refusal {
    LOCO_WELCOME,
    LOCO_PROVE,
    LOCO_FOREIGN,
    LOCO_TAKEN,
    LOCO_UNKNOWN,
    LOCO_UNPROVEN,
    LOCO_STRAY
};

/* The reason in words: the first for the side that refuses, the second for the side that was
 * refused. The second returns NULL if that side may try again. */
const char *loco_refusal_of(enum loco_refusal why);
const char *loco_refusal_by(enum loco_refusal why);

/* What a proof is computed from. Claims that mean different things differ, so no proof can be used
 * for another purpose. */
struct loco_claim {
    uint32_t purpose; /* enum loco_purpose, or the fabric's own numbers */
    uint32_t from, to, count;
    struct loco_nonce asked,
        given; /* the nonces of the side that checks the proof, and of the side that makes it */
};

/* `count`: how many nodes the network has, as the side that makes the proof believes. */
struct loco_claim loco_claim_of(uint32_t purpose, uint32_t from, uint32_t to, uint32_t count,
                                const struct loco_nonce *asked, const struct loco_nonce *given);

void loco_key_of(struct loco_key *key, struct loco_secret secret);

/* A key that only the two nodes of the claim have. */
void loco_key_between(struct loco_key *key, const struct loco_key *network,
                      const struct loco_claim *claim);

/* Returns 0 or a negative errno. */
int loco_nonce_new(struct loco_nonce *nonce);

struct loco_proof loco_prove(const struct loco_key *key, const struct loco_claim *claim);
bool loco_proves(const struct loco_key *key, const struct loco_claim *claim,
                 const struct loco_proof *proof);

#endif
