/*
 * The messages on the sockets of the shm fabric. Each socket joins two processes.
 *
 * First the two processes greet each other. The caller has a node that is to meet a node of the
 * other process.
 *
 * hello    the caller's node, the node that it wants to meet, and the caller's nonce
 * answer   the other process's nonce, and its proof that it knows the secret
 * proof    the caller's proof
 * refusal  instead of an answer, or after a proof: why the connection ends
 *
 * Then all nodes of both processes may use the connection.
 *
 * file     the descriptor of a memory file, before any arena in it
 * meet     a node asks a node of a lower id to meet
 * met      the node that was asked agrees: the two are connected
 * arena    one arena of the sender, before any control message that names it
 * core     a control message of the core
 * parting  the last message between two nodes, with the reason; also sent instead of a met
 *
 * A node may close and be opened again while messages to it are under way. So each meet has a
 * number, the call, which all later messages of the two nodes repeat.
 */
#ifndef LOCO_SHM_WIRE_H
#define LOCO_SHM_WIRE_H

#include "../proof.h"

enum shm_kind {
    SHM_HELLO = 0x4c4f4360, /* changes with each version of this protocol */
    SHM_ANSWER,
    SHM_PROOF,
    SHM_REFUSAL,
    SHM_FILE,
    SHM_MEET,
    SHM_MET,
    SHM_ARENA,
    SHM_CORE,
    SHM_PARTING
};

/* Reasons of a refusal: FOREIGN, it is of another network; UNPROVEN, it does not know the secret;
 * ABSENT, the node is not here. Reasons of a parting: ABSENT; TAKEN, the id is in use; UNFIT, it
 * came back too often; LEFT, it closed in order. */
enum shm_reason { SHM_FOREIGN, SHM_UNPROVEN, SHM_ABSENT, SHM_TAKEN, SHM_UNFIT, SHM_LEFT };

/* Hello, answer, proof and refusal. */
struct shm_greeting {
    uint32_t kind;
    uint32_t from, to; /* nodes: the sender's, the receiver's */
    uint32_t count;    /* the sender's */
    uint64_t process;  /* the sender's number; shows that two connections lead to one process */
    uint64_t reason;   /* of a refusal */
    struct loco_nonce nonce;
    struct loco_proof proof;
};

struct shm_file_notice {
    uint32_t kind;
    uint32_t file;
};

/* The beginning of each message between nodes; meet and met have nothing else. */
struct shm_head {
    uint32_t kind;
    uint32_t from, to; /* nodes */
    uint32_t call;
};

struct shm_arena_notice {
    struct shm_head head;
    uint32_t number;
    uint32_t file;
    uint64_t offset, size; /* of the range in the file */
};

struct shm_parting {
    struct shm_head head;
    uint32_t reason;
};

_Static_assert(sizeof(struct shm_greeting) == 64, "crosses processes");
_Static_assert(sizeof(struct shm_file_notice) == 8, "crosses processes");
_Static_assert(sizeof(struct shm_head) == 16, "crosses processes");
_Static_assert(sizeof(struct shm_arena_notice) == 40, "crosses processes");
_Static_assert(sizeof(struct shm_parting) == 20, "crosses processes");

/* What a proof is for: the claim's purpose. */
enum { SHM_OF_ANSWER = 1, SHM_OF_PROOF };

enum { SHM_MESSAGE_MAX = 4096 };

#endif
