/*
 * What goes over the sockets of the shm fabric, in the order of a connection's life. The node with
 * the higher id connects, and says hello; the other answers, with the first proof.
 *
 * hello    who connects, and its nonce
 * answer   who is there, its nonce, and the proof that it knows the secret
 * proof    the same of who connects
 * refusal  in place of an answer, or of what follows a proof: why not
 * arena    one arena: the descriptor of its file, and the range in it, before any control message
 * that names it core     a control message of the core bye      the last: the node leaves in order
 */
#ifndef LOCO_SHM_WIRE_H
#define LOCO_SHM_WIRE_H

#include "proof.h"

enum shm_kind {
    SHM_HELLO = 0x4c4f4352, /* another number in each version of this protocol */
    SHM_ANSWER,
    SHM_PROOF,
    SHM_REFUSAL,
    SHM_ARENA,
    SHM_CORE,
    SHM_BYE
};

/* FOREIGN: of another network. TAKEN: the id is in use. UNPROVEN: of a node that does not know the
 * secret. */
enum shm_reason { SHM_FOREIGN, SHM_TAKEN, SHM_UNPROVEN };

/* Hello, answer, proof and refusal. */
struct shm_greeting {
    uint32_t kind;
    uint32_t id, count; /* the sender's */
    uint32_t reason;    /* of a refusal */
    struct loco_nonce nonce;
    struct loco_proof proof;
};

struct shm_arena_notice {
    uint32_t kind;
    uint32_t number;
    uint64_t offset, size; /* of the range in the file */
};

_Static_assert(sizeof(struct shm_greeting) == 48, "crosses processes");
_Static_assert(sizeof(struct shm_arena_notice) == 24, "crosses processes");

/* What a proof is for: the claim's purpose. */
enum { SHM_OF_ANSWER = 1, SHM_OF_PROOF };

enum { SHM_MESSAGE_MAX = 4096 };

#endif
