/*
 * What goes over the sockets of the shm fabric, each of which joins two processes.
 *
 * The processes greet each other first. One calls, for a node of its own that is to meet a node
 * there; the other answers, with the first proof.
 *
 * hello    who calls whom, and the caller's nonce
 * answer   who is there, its nonce, and the proof that it knows the secret
 * proof    the same of who called
 * refusal  in place of an answer, or of what follows a proof: why not
 *
 * Then they are heard, as are all the nodes of either.
 *
 * file     the descriptor of a memory file, before any arena in it
 * meet     a node asks to meet a node of a lower id
 * met      which is there, and so they are connected
 * arena    one arena of the sender, before any control message that names it
 * core     a control message of the core
 * parting  the last between two nodes, in place of a met too, and why
 *
 * Of two nodes one may close, and be opened anew, while messages to it are under way. So each meet
 * has a number, the call, and all that follows it between the two has the same.
 */
#ifndef LOCO_SHM_WIRE_H
#define LOCO_SHM_WIRE_H

#include "../proof.h"

enum shm_kind {
    SHM_HELLO = 0x4c4f4360, /* others in each version of this protocol */
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

/* Of a refusal: FOREIGN, of another network; UNPROVEN, of a process that does not know the secret;
 * ABSENT, the node is not here. Of a parting: ABSENT; TAKEN, the id is in use; UNFIT, its memory
 * cannot be had; LEFT, it closed in order. */
enum shm_reason { SHM_FOREIGN, SHM_UNPROVEN, SHM_ABSENT, SHM_TAKEN, SHM_UNFIT, SHM_LEFT };

/* Hello, answer, proof and refusal. */
struct shm_greeting {
    uint32_t kind;
    uint32_t from, to; /* nodes: the sender's, the receiver's */
    uint32_t count;    /* the sender's */
    uint64_t process; /* the sender's number: so two connections to one process are known as that */
    uint64_t reason;  /* of a refusal */
    struct loco_nonce nonce;
    struct loco_proof proof;
};

struct shm_file_notice {
    uint32_t kind;
    uint32_t file;
};

/* What messages between nodes begin with; meet and met are no more. */
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
