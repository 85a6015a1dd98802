/*
 * The life of an executor's process, from its fork to its end.
 */
#ifndef HIL_PROCESS_H
#define HIL_PROCESS_H

#include <stdnoreturn.h>
#include <sys/types.h>

#include "../run/clock.h"
#include "../run/node.h"

struct hil_process {
    struct hil_run *run;
    struct hil_clock clock; /* the clock of real time */
    unsigned wait_s;        /* how long to wait for nodes of other launchers */
};

/* The number of processes of a scenario's run. In virtual time all executors share one. */
unsigned hil_process_count(const struct hil_scenario *s);

/* In the child of `parent`: runs that executor, and exits. */
noreturn void hil_process_run(const struct hil_process *p, unsigned executor, pid_t parent);

/* The name of the process that runs this executor: "hl-controller", "hl-conv-0-19". The kernel
 * keeps its first 15 letters. */
enum { HIL_PROCESS_NAME = 48 };
void hil_process_name(const struct hil_executor_config *executor,
                      const struct hil_scenario *scenario, char name[HIL_PROCESS_NAME]);

#endif
