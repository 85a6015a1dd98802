/*
 * The doctor: reads how the machine is set up, and says what of it would hurt a loop in real time,
 * why, and the command that mends it.
 *
 *      files, cpus      what the kernel tells
 *      check_*          one function for each thing looked at: fills in a finding
 *      doctor.c         the table of them
 *      measure          loops that only spin, on the loops' cores; beside them cyclictest
 *      fix              mends what can be put back, for the length of a run
 *      report           text and JSON
 */
#ifndef HIL_DOCTOR_H
#define HIL_DOCTOR_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../scenario/scenario.h"

/* From the harmless on, in the order of harm; last what could not be found out. */
enum hil_severity { HIL_FINE, HIL_NOTE, HIL_WARNING, HIL_SERIOUS, HIL_UNKNOWN };

/* The machine, and what shall run there. */
struct hil_patient {
    const char *root; /* stands before /proc, /sys and /dev; "" for this machine */
    const char *name; /* the scenario's; NULL: none was given */
    const struct hil_executor_config *executors; /* a shard's thread counts as one more */
    unsigned executor_count;
    bool sharded;       /* some are shards' threads */
    int priority;       /* the highest of the executors'; 0: none wants SCHED_FIFO */
    uint64_t period_ns; /* the shortest of the loops' */
    bool wanders;       /* an executor is not pinned */
    bool is_fixed;      /* --fix has done what it can: what is left was refused */
    cpu_set_t online;   /* of the machine */
    cpu_set_t loops;    /* where an executor is, or may be when it is not pinned */
    cpu_set_t general;  /* whose settings count: the loops', or without a scenario all */
    cpu_set_t spare;    /* online, and free of loops */
};

struct hil_finding {
    const char *name, *why;
    enum hil_severity severity;
    char found[240];
    char mend[240];   /* empty: nothing to do, or nothing that can be done */
    bool is_command;  /* `mend` is one, for a shell; otherwise words */
    bool can_be_lent; /* --fix mends it for the length of a run, and was not tried yet */
};

enum { HIL_FINDINGS_MAX = 32 };

struct hil_findings {
    struct hil_finding at[HIL_FINDINGS_MAX];
    unsigned count;
};

/* `scenario` is in real time, and outlives the patient. NULL: the reference scenario's placement,
 * and the settings of all cpus. Returns 0, or -ENODATA when the cpus of the machine are unknown. */
int hil_patient_open(struct hil_patient *patient, const char *root,
                     const struct hil_scenario *scenario);

void hil_examine(const struct hil_patient *patient, struct hil_findings *findings);

unsigned hil_findings_count(const struct hil_findings *findings, enum hil_severity severity);

/* Before a run in real time: the serious findings, a line each. */
void hil_doctor_warn(const struct hil_patient *patient, FILE *to);

#endif
