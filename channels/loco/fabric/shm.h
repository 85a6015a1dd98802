/*
 * The shm fabric: nodes on one machine, in one process or many, reach into each other's
 * memory. It needs no hardware and no privilege.
 *
 * Arenas are ranges of anonymous memory files, on huge pages if some are free. Their descriptors
 * pass over Unix sockets, so the kernel frees the memory however a process ends. Processes meet in
 * a run directory that only the user may enter. There each node has a file name that is its
 * process's socket. The name is removed when all peers that the node's channels name are there, and
 * made again while one is missing. The death of a process shows as its connection closing. One
 * thread in each process carries the control messages; operations are plain stores and loads of the
 * calling thread.
 *
 * Nodes that one process opens on one fabric share its socket, files and connections. They belong
 * to one network, with one node count and one secret.
 */
#ifndef LOCO_SHM_H
#define LOCO_SHM_H

#include "fabric.h"
#include "language.h"

LOCO_DECLARATIONS

/*
 * Opens the fabric. All nodes of one network name the same run directory, and no other network
 * uses it at the same time. The directory is made (mode 0700) if it does not exist, and removed
 * once it is empty. Returns 0; -ENAMETOOLONG if its name is longer than 91 bytes; -EPERM if another
 * user owns it or may enter it; or another negative errno. Any thread.
 */
int loco_shm_open(struct loco_fabric **fabric, const char *run_directory);

/* Ends the fabric. All its managers must be closed. */
void loco_shm_close(struct loco_fabric *fabric);

LOCO_DECLARATIONS_END

#endif
