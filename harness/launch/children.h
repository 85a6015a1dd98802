/*
 * The processes of a run's executors, as their launcher has them: started, watched, started again,
 * and ended.
 */
#ifndef HIL_CHILDREN_H
#define HIL_CHILDREN_H

#include <stdbool.h>
#include <sys/types.h>

#include "../tracing/session.h"
#include "launcher.h"
#include "process.h"

/* From one look to the next. Each takes a loop in real time off its core for a moment. */
enum { HIL_LOOK_NS = 20000000 };

struct hil_child;

struct hil_children {
    struct hil_process process;  /* what each of them is */
    struct hil_session *session; /* also traces processes that replace others; NULL: not traced */
    pid_t *pids;                 /* by executor; 0: ended */
    struct hil_child *are;       /* by executor */
    unsigned count, alive;
    unsigned looks_since_stop;
    bool failed;  /* one ended that should not have */
    bool refused; /* for another scenario than other nodes' */
};

/* Room for the processes of `process`; none is started. Returns 0 or -ENOMEM. */
int hil_children_open(struct hil_children *c, const struct hil_process *process);
void hil_children_close(struct hil_children *c);

/* They wait for the run's `go`. Returns 0, or a negative errno with some of them started. */
int hil_children_start(struct hil_children *c);

/* One look: a process that hangs is killed; one that has ended is reaped, reported and perhaps
 * started again. Once the run is told to stop, a process that does not end in time is killed. */
void hil_children_look(struct hil_children *c);

/* Whether all have come to run, or are past that. */
bool hil_children_all_run(const struct hil_children *c);

#endif
