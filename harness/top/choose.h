/*
 * Selects the run for a command, and the cores for a process that watches it.
 */
#ifndef HIL_CHOOSE_H
#define HIL_CHOOSE_H

#include "runs.h"

/*
 * Finds the run that `which` names: a scenario's name, a process id or a folder of results; NULL
 * means the only run. Returns HIL_EXIT_OK with the run in *run, or another exit status after a
 * message on stderr that begins with `command` ("hiloco top"). Call hil_runs_close in any case.
 */
int hil_run_choose(struct hil_runs *runs, const char *which, bool all_users, const char *command,
                   const struct hil_found **run);

/* Moves this process off the cores that loops are pinned to. Returns whether another core is left;
 * if not, the affinity of this process does not change. */
bool hil_keep_off(const cpu_set_t *cores);

#endif
