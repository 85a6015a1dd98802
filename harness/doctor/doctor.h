/*
 * The doctor: reads how the machine is set up. It reports each setting that would hurt a real-time
 * loop, with the reason and the command that mends it.
 *
 *      files, cpus      read the kernel's files
 *      check_*          a function for each check, which fills in a finding
 *      doctor.c         the table of checks
 *      measure          measures with spinning loops on the loops' cores, and with cyclictest
 *      fix              mends settings that can be put back, for the length of a run
 *      report           text and JSON
 */
#ifndef HIL_DOCTOR_H
#define HIL_DOCTOR_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../scenario/scenario.h"

/* In order of increasing harm; the last means that it could not be determined. */
enum hil_severity { HIL_FINE, HIL_NOTE, HIL_WARNING, HIL_SERIOUS, HIL_UNKNOWN };

/* The machine, and the loops that are to run on it. */
struct hil_machine {
    const char *root; /* prefix of /proc, /sys and /dev; "" for this machine */
    const char *name; /* the scenario's name; NULL: no scenario was given */
    const struct hil_executor_config *executors; /* the thread of a shard counts as one more
                                                  * executor */
    unsigned executor_count;
    bool sharded;       /* some executors are threads of shards */
    int priority;       /* the highest of the executors; 0: none wants SCHED_FIFO */
    uint64_t period_ns; /* the shortest period of the loops */
    bool wanders;       /* at least one executor is not pinned */
    bool is_fixed;      /* --fix has done what it can; what remains was refused */
    cpu_set_t online;   /* the online cpus that are allowed here */
    cpu_set_t loops;    /* cpus on which an executor is pinned, or may run when it is not pinned */
    cpu_set_t general;  /* cpus whose settings matter: the loops', or all without a scenario */
    cpu_set_t spare;    /* online cpus without loops */
};

struct hil_finding {
    const char *name, *why;
    enum hil_severity severity;
    char found[240];
    char remedy[240]; /* empty: nothing to do, or nothing that can be done */
    bool is_command;  /* `remedy` is a shell command, not advice in words */
    bool can_be_lent; /* --fix can mend it for the length of a run, and has not tried yet */
};

enum { HIL_FINDINGS_MAX = 32 };

struct hil_findings {
    struct hil_finding at[HIL_FINDINGS_MAX];
    unsigned count;
};

/* `scenario` is a real-time scenario and outlives the machine. NULL means the placement of the
 * reference scenario, and the settings of all cpus. Returns 0, or -ENODATA when the machine's cpus
 * are unknown. */
int hil_machine_open(struct hil_machine *machine, const char *root,
                     const struct hil_scenario *scenario);

void hil_examine(const struct hil_machine *machine, struct hil_findings *findings);

unsigned hil_findings_count(const struct hil_findings *findings, enum hil_severity severity);

/* Before a real-time run: prints the serious findings, a line each. */
void hil_doctor_warn(const struct hil_machine *machine, FILE *to);

#endif
