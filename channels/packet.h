/*
 * The control messages of channels, as they cross the network.
 *
 * join      the sender has an endpoint of this name, and expects these regions
 * connect   the sender's regions are here
 * refuse    the sender's endpoint does not match the receiver's; `text` says how
 * lines     some lines of the text that both endpoints have to agree on, from an offset up to which
 *           they are alike
 *
 * Each message names the endpoint that sent it and the one that it is for. So a message for an
 * endpoint that has ended is not taken by the next one of the same name. Only the first join, whose
 * sender knows no endpoint yet, is for any.
 */
#ifndef LOCO_PACKET_H
#define LOCO_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loco/fabric/fabric.h"

enum loco_packet_kind { LOCO_JOIN, LOCO_CONNECT, LOCO_REFUSE, LOCO_LINES };

struct loco_packet_head {
    uint32_t kind;
    uint32_t region_count;
    uint32_t from, to;  /* endpoints; to 0: any */
    uint64_t agreement; /* hash of the text that the sender's endpoint has to agree on */
    char name[232];
};

struct loco_packet_region {
    char name[16];
    uint64_t size;
    struct loco_remote where;
};

_Static_assert(sizeof(struct loco_packet_head) == 256, "crosses the network");
_Static_assert(sizeof(struct loco_packet_region) == 40, "crosses the network");

enum { LOCO_REGIONS_MAX = 16, LOCO_TEXT_MAX = sizeof(struct loco_packet_region[LOCO_REGIONS_MAX]) };

struct loco_packet_lines {
    uint64_t offset;
    char text[LOCO_TEXT_MAX - sizeof(uint64_t)];
};

struct loco_packet {
    struct loco_packet_head head;
    union {
        struct loco_packet_region regions[LOCO_REGIONS_MAX];
        char text[LOCO_TEXT_MAX];
        struct loco_packet_lines lines;
    };
};

/* Whether a name may cross the network: not empty, and without control characters, as the other end
 * will print it. */
bool loco_good_text(const char *text);

/*
 * Copies a message that came from a peer, and checks it; nothing else does. If this returns true,
 * every text is terminated and printable, and an offset in a region can be added to its place
 * without overflow. The fabric checks at each operation that the place is in one of the peer's
 * arenas.
 */
bool loco_packet_read(struct loco_packet *packet, const void *bytes, size_t size);

#endif
