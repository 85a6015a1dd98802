/*
 * Which of a scenario's nodes a process is to run that was started by hand or by a job launcher:
 * those that it is told, or those of its rank.
 */
#ifndef HIL_PART_NODES_H
#define HIL_PART_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "../scenario/system.h"

/* Marks the nodes of a list such as "controller,converter[0-9]" in `chosen`, which has a place for
 * each node of the system. Returns 0; or -EINVAL after a message on stderr that begins with
 * `what`. */
int hil_part_named(const struct hil_system *system, const char *list, const char *what,
                   bool *chosen);

/* The rank that mpirun, srun or another job launcher gave to this process, and how many there are;
 * 0: it does not say. Returns 0, or -EINVAL: the process has none. */
int hil_part_rank(unsigned *rank, unsigned *size);

/* The job that a launcher made; "": none did. */
const char *hil_part_job(void);

#endif
