/*
 * While a node waits for others, it reports which ones, where they should be, and since when.
 */
#ifndef HIL_WAITING_H
#define HIL_WAITING_H

#include "group.h"
#include "node_name.h"

enum { HIL_WAITING_BYTES = HIL_NODES_NAME_BYTES };

struct hil_waiting {
    const struct hil_group *group;
    uint64_t look_ns; /* when to look next, on the nodes' clock */
    char since[16];   /* the time of day */
    char said[HIL_WAITING_BYTES];
};

void hil_waiting_begin(struct hil_waiting *waiting, const struct hil_group *group);

/* Call it between two looks for the others. After a second or two, and whenever the text changes,
 * it logs a warning such as "waiting since 14:03:22 for converter[10-19] in
 * /tmp/hiloco-0-dcdc20". */
void hil_waiting_look(struct hil_waiting *waiting);

/* The nodes that this group's nodes miss: "converter[10-19] in /tmp/hiloco-0-dcdc20". On a fabric
 * with addresses it says where each is: "converter[3] at 10.0.0.2, port 18519". */
void hil_waiting_whom(const struct hil_group *group, char text[HIL_WAITING_BYTES]);

/* The nodes that came and have been lost since: "converter[10-19]". */
void hil_waiting_lost(const struct hil_group *group, char text[HIL_WAITING_BYTES]);

/* The nodes that have not ended yet. */
void hil_waiting_unended(const struct hil_group *group, char text[HIL_WAITING_BYTES]);

#endif
