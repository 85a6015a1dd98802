/*
 * The shm fabric: nodes on one machine, in one process or many, reach into each other's
 * memory. It needs no hardware and no privilege.
 *
 * Arenas are ranges of anonymous memory files (huge pages where there are any) whose descriptors
 * pass over Unix sockets, so the kernel takes them back however a process ends. A node has a name
 * in a run directory that only the user may enter, and the name is of its process's socket; it goes
 * away when the peers that the node's channels name have come, and comes back while one is missed.
 * A process's death shows as its connection closing. One thread in each process carries the control
 * messages; operations are plain stores and loads of the calling thread.
 *
 * Nodes that one process opens on one fabric share its socket, files and connections; they are of
 * one network, with one count and one secret.
 */
#ifndef LOCO_SHM_H
#define LOCO_SHM_H

#include "../language.h"
#include "fabric.h"

LOCO_DECLARATIONS

/*
 * Opens the fabric. All the nodes of one network name the same run directory, and no other
 * network does at the same time; it is made (mode 0700) if it is not there, and removed when
 * it is left empty. Returns 0, -ENAMETOOLONG for more than 91 bytes, -EPERM when the directory is
 * open to others or belongs to somebody else, or another negative errno.
 */
int loco_shm_open(struct loco_fabric **fabric, const char *run_directory);

/* Ends the fabric. Its managers are closed. */
void loco_shm_close(struct loco_fabric *fabric);

LOCO_DECLARATIONS_END

#endif
