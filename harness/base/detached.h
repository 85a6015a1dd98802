/*
 * A child process that survives the signals which end the others, to guard or to finish what they
 * leave behind.
 */
#ifndef HIL_DETACHED_H
#define HIL_DETACHED_H

#include <sys/types.h>

/* Like fork(), but the child is in a process group of its own, and ignores the signals of the
 * terminal and all signals that ask a process to end. It never heeds one, not even right after the
 * fork. It stays in the session, because a session of its own would compete with the loops
 * (autogroup.h). */
pid_t hil_fork_detached(void);

#endif
