/*
 * Determines which of a scenario's nodes run in a process that was started by hand or by a job
 * launcher: the named nodes, or the nodes of its rank.
 */
#ifndef HIL_PART_NODES_H
#define HIL_PART_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "../scenario/system.h"

/* Marks the nodes of a list such as "controller,converter[0-9]" in `chosen`, which has an element
 * for each node of the system. Returns 0, or -EINVAL after a message on stderr that begins with
 * `what`. */
int hil_part_named(const struct hil_system *system, const char *list, const char *what,
                   bool *chosen);

/* The rank of this process, as set by mpirun, srun or another job launcher. */
struct hil_part_rank {
    unsigned is, of; /* of 0: the launcher does not say how many there are */
    char said[100];  /* for messages: "PMI_RANK is '3' of '8': "; "": not set */
};

/* Returns 0, or -EINVAL if this process has no valid rank. */
int hil_part_rank(struct hil_part_rank *rank);

/* The id of the job launcher's job; "": none. */
const char *hil_part_job(void);

#endif
