/*
 * The launcher's child processes, which run the executors. They are started, watched, restarted and
 * ended here.
 */
#ifndef HIL_CHILDREN_H
#define HIL_CHILDREN_H

#include <stdbool.h>
#include <sys/types.h>

#include "../tracing/session.h"
#include "launcher.h"
#include "process.h"

struct hil_child;

struct hil_children {
    struct hil_process process;  /* the common description of the processes */
    struct hil_session *session; /* also traces processes that replace others; NULL: no tracing */
    pid_t *pids;                 /* by executor; 0: ended */
    struct hil_child *are;       /* by executor */
    unsigned count, alive;
    unsigned looks_since_stop;
    bool held_up;        /* they wait for the writer of the record, so none of them hangs */
    uint64_t ramp_looks; /* how long a clean stop takes */
    bool failed;         /* a process ended that should not have */
    bool refused;        /* a process was refused because other nodes have another scenario */
};

/* Makes room for the processes; starts none. Returns 0 or -ENOMEM. */
int hil_children_open(struct hil_children *c, const struct hil_process *process);
void hil_children_close(struct hil_children *c);

/* Starts the processes, which wait for the run's `go`. Returns 0, or a negative errno with only
 * some of them started. */
int hil_children_start(struct hil_children *c);

/* One look: kills a process that hangs; reaps and reports a process that has ended, and restarts it
 * if that is allowed. Once the run has been told to stop, kills processes that do not end in time.
 */
void hil_children_look(struct hil_children *c);

/* Whether all processes are running, or have already ended. */
bool hil_children_all_run(const struct hil_children *c);

#endif
