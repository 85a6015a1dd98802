/*
 * How two nodes prove to each other that they know the network's secret, without saying it: each
 * gives the other a number that was never used before, and gets a keyed hash of both back.
 *
 * The key is a hash of the secret. A network without a secret has the key of no bytes, which
 * anybody has: one code for both.
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

/* What a proof is of. No two that mean different things are alike, so none serves as another. */
struct loco_claim {
    uint32_t purpose; /* the fabric's own numbers */
    uint32_t from, to, count;
    struct loco_nonce asked, given; /* by who checks the proof, and by who makes it */
};

/* `count`: how many nodes there are to who makes the proof. */
struct loco_claim loco_claim_of(uint32_t purpose, uint32_t from, uint32_t to, uint32_t count,
                                const struct loco_nonce *asked, const struct loco_nonce *given);

void loco_key_of(struct loco_key *key, struct loco_secret secret);

/* A key for the two nodes of a claim only. */
void loco_key_between(struct loco_key *key, const struct loco_key *network,
                      const struct loco_claim *claim);

/* Returns 0 or a negative errno. */
int loco_nonce_new(struct loco_nonce *nonce);

struct loco_proof loco_prove(const struct loco_key *key, const struct loco_claim *claim);
bool loco_proves(const struct loco_key *key, const struct loco_claim *claim,
                 const struct loco_proof *proof);

#endif
