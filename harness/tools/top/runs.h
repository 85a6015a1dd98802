/*
 * Finds the runs on this machine by the memory file that each launcher holds open (see
 * ../run/state.h). A user sees his own runs; root sees those of all users on request.
 */
#ifndef HIL_RUNS_H
#define HIL_RUNS_H

#include <sys/types.h>

#include "../../run/state.h"

struct hil_run_entry {
    pid_t pid;   /* the launcher's process id */
    int process; /* a pidfd, which tells when the process ends */
    ino_t file;  /* inode of its memory file */
    struct hil_attached attached;
};

struct hil_runs {
    struct hil_run_entry *at; /* sorted by pid */
    unsigned count;
    unsigned others; /* number of runs by other builds, which cannot be read */
};

/* For this user, or for all users. Returns 0 or a negative errno. Call hil_runs_close in either
 * case. */
int hil_runs_find(struct hil_runs *runs, bool all_users);
void hil_runs_close(struct hil_runs *runs);

/* Opens the memory file of a run for reading. -1: it has ended. */
int hil_run_open_file(const struct hil_run_entry *run);

/* Whether `which` (a scenario's name, a process id or a results' folder) means this run. */
bool hil_run_is(const struct hil_run_entry *run, const char *which);

/* Whether the launcher has ended or is about to end; *status is its exit status, or -1 if
 * unknown. */
bool hil_run_ended(const struct hil_run_entry *run, int *status);

#endif
