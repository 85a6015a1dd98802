/*
 * Which run a command means, and where a process that watches it may work.
 */
#ifndef HIL_CHOOSE_H
#define HIL_CHOOSE_H

#include "runs.h"

/*
 * Finds the run that `which` names: a scenario's name, a process id or a folder of results; NULL:
 * the only one that is there. Returns an exit status, after a message on stderr that names
 * `command`
 * ("hiloco top"); with HIL_EXIT_OK *run is the one. hil_runs_close in any case.
 */
int hil_run_choose(struct hil_runs *runs, const char *which, bool all_users, const char *command,
                   const struct hil_found **run);

/* Leaves the cores that loops are pinned to to them. Returns whether there is another one; if not,
 * this process may run where it might before. */
bool hil_keep_off(const cpu_set_t *cores);

#endif
