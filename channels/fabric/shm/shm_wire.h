/*
 * The messages on the sockets of the shm fabric. Each socket joins two processes.
 *
 * First the two processes greet each other (control/wire.h). The caller has a node that is to meet
 * a node of the other process. Then all nodes of both processes may use the connection.
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

#include "../../control/wire.h"

enum { SHM_MAGIC = 0x4c4f4353, SHM_VERSION = 2 };

enum shm_kind { SHM_FILE = 1, SHM_MEET, SHM_MET, SHM_ARENA, SHM_CORE, SHM_PARTING };

/* Reasons of a parting: ABSENT, the node is not here; TAKEN, the id is in use; UNFIT, it came back
 * too often; LEFT, it closed in order. */
enum shm_reason { SHM_ABSENT, SHM_TAKEN, SHM_UNFIT, SHM_LEFT };

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

_Static_assert(sizeof(struct shm_file_notice) == 8, "crosses processes");
_Static_assert(sizeof(struct shm_head) == 16, "crosses processes");
_Static_assert(sizeof(struct shm_arena_notice) == 40, "crosses processes");
_Static_assert(sizeof(struct shm_parting) == 20, "crosses processes");

enum { SHM_MESSAGE_MAX = 4096 };

#endif
