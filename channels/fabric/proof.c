/* Proofs are keyed BLAKE2b hashes, made by libsodium. */
#include "proof.h"

#include <errno.h>
#include <sodium.h>
#include <sys/random.h>

/* All its bytes are hashed, so there must be no padding. */
_Static_assert(sizeof(struct loco_claim) == 48, "crosses the network, hashed");

const char *loco_refusal_of(enum loco_refusal why)
{
    return why == LOCO_FOREIGN ? "another network"
           : why == LOCO_STRAY ? "it has another address than that node"
                               : "it does not know this network's secret";
}

const char *loco_refusal_by(enum loco_refusal why)
{
    return why == LOCO_FOREIGN    ? "another network"
           : why == LOCO_UNPROVEN ? "it has another secret"
           : why == LOCO_STRAY    ? "it knows this node by another address"
                                  : NULL;
}

struct loco_claim loco_claim_of(uint32_t purpose, uint32_t from, uint32_t to, uint32_t count,
                                const struct loco_nonce *asked, const struct loco_nonce *given)
{
    return (struct loco_claim){.purpose = purpose,
                               .from = from,
                               .to = to,
                               .count = count,
                               .asked = *asked,
                               .given = *given};
}

void loco_key_of(struct loco_key *key, struct loco_secret secret)
{
    crypto_generichash(key->bytes, sizeof key->bytes, secret.bytes, secret.size, NULL, 0);
}

void loco_key_between(struct loco_key *key, const struct loco_key *network,
                      const struct loco_claim *claim)
{
    crypto_generichash(key->bytes, sizeof key->bytes, (const unsigned char *)claim, sizeof *claim,
                       network->bytes, sizeof network->bytes);
}

int loco_nonce_new(struct loco_nonce *nonce)
{
    ssize_t size = getrandom(nonce->bytes, sizeof nonce->bytes, 0);

    return size < 0 ? -errno : 0; /* so few bytes getrandom() gives whole, or none */
}

struct loco_proof loco_prove(const struct loco_key *key, const struct loco_claim *claim)
{
    struct loco_proof proof;

    crypto_generichash(proof.bytes, sizeof proof.bytes, (const unsigned char *)claim, sizeof *claim,
                       key->bytes, sizeof key->bytes);
    return proof;
}

bool loco_proves(const struct loco_key *key, const struct loco_claim *claim,
                 const struct loco_proof *proof)
{
    const struct loco_proof right = loco_prove(key, claim);

    return sodium_memcmp(right.bytes, proof->bytes, sizeof right.bytes) == 0;
}
