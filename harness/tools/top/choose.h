/*
 * Selects the run for a command.
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
                   const struct hil_run_entry **run);

#endif
