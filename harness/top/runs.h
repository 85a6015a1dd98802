/*
 * The runs of this machine, as others see them: by the memory file that each launcher holds
 * open (see ../run/state.h). A user sees the own ones; root, when asked to, all users'.
 */
#ifndef HIL_RUNS_H
#define HIL_RUNS_H

#include <sys/types.h>

#include "../run/state.h"

struct hil_found {
    pid_t pid;   /* the launcher's */
    int process; /* a descriptor of it, that tells of its end */
    ino_t file;  /* the number of its memory file */
    struct hil_attached attached;
};

struct hil_runs {
    struct hil_found *at; /* by pid */
    unsigned count;
    unsigned others; /* runs by another build, which cannot be read */
};

/* Of this user, or of all. Returns 0 or a negative errno; hil_runs_close in either case. */
int hil_runs_find(struct hil_runs *runs, bool all_users);
void hil_runs_close(struct hil_runs *runs);

/* Whether it is the one meant by a scenario's name, a process id or a results' folder. */
bool hil_run_is(const struct hil_found *run, const char *which);

/* Whether the launcher has ended, or is about to; *status is its exit status, -1 where it
 * could not tell. */
bool hil_run_ended(const struct hil_found *run, int *status);

#endif
