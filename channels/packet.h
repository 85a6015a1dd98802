/*
 * The control messages of channels, as they cross the network.
 *
 * join      the sender has an endpoint of this name, and expects these regions
 * connect   the sender's regions are here
 * refuse    the sender's endpoint does not match the receiver's; `text` says how
 * lines     of what the sender's endpoint is to agree on, from an offset that both are alike up to
 *
 * Each names the endpoint that it comes from, and the one that it is for: an endpoint that has
 * ended since leaves its messages to nobody. Only the first join is for whichever there is.
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
    uint64_t agreement; /* the hash of the sender's */
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

/* Whether a name may cross the network: not empty, and without a control character, as it will be
 * printed at the other end. */
bool loco_good_text(const char *text);

/*
 * Takes what came from a peer. This is the one place that checks it: once it returns true every
 * text has its end and can be printed, and an offset in a region can be added to its place. That
 * the place is in one of the peer's arenas is checked by the fabric, at each operation.
 */
bool loco_packet_read(struct loco_packet *packet, const void *bytes, size_t size);

#endif
