/*
 * What the kernel ran on each core, and for how long: tasks, interrupts and softirqs. It is given
 * switches, entries and exits, and finds what occupied a core between two times.
 */
#ifndef HIL_KERNEL_H
#define HIL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum hil_kernel_kind { HIL_TASK, HIL_IRQ, HIL_SOFTIRQ, HIL_KERNEL_KINDS };

/* An occupant of the core, and its time. */
struct hil_stay {
    uint64_t from_ns, to_ns; /* to_ns 0: it still has the core */
    int task;                /* for HIL_TASK: its id; 0 is the idle task */
    char name[28];
};

struct hil_stays {
    struct hil_stay *at; /* in order of time, without overlap */
    size_t count;
};

struct hil_kernel {
    struct hil_stays (*cores)[HIL_KERNEL_KINDS];
    unsigned core_count;
    bool out_of_memory; /* data after this is missing */
};

void hil_kernel_enter(struct hil_kernel *kernel, int cpu, enum hil_kernel_kind kind,
                      uint64_t time_ns, int task, const char *name);
void hil_kernel_exit(struct hil_kernel *kernel, int cpu, enum hil_kernel_kind kind,
                     uint64_t time_ns);

/* Parses the text of tracefs. Returns 0, or a negative errno: -ENOENT when there is none. */
int hil_kernel_read(struct hil_kernel *kernel, const char *path);
int hil_kernel_take(struct hil_kernel *kernel, FILE *text); /* the same text */

/* The occupant with the longest time on the core, and that time; and the total time of everything
 * except loops. */
struct hil_intruder {
    char name[48]; /* "": none */
    uint64_t ns, all_ns;
};

/* In that interval, without the idle task and `tasks` (the loops). */
struct hil_intruder hil_kernel_intruder(const struct hil_kernel *kernel, int cpu, uint64_t from_ns,
                                        uint64_t to_ns, const int *tasks, size_t task_count);

/* Whether it has any data. */
bool hil_kernel_any(const struct hil_kernel *kernel);

void hil_kernel_free(struct hil_kernel *kernel);

#endif
