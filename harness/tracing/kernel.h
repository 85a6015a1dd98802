/*
 * What the kernel did on each core, and for how long: tasks that ran there, interrupts, softirqs.
 * It is told of switches, entries and exits, and answers who took a core between two times.
 */
#ifndef HIL_KERNEL_H
#define HIL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hil_kernel_kind { HIL_TASK, HIL_IRQ, HIL_SOFTIRQ, HIL_KERNEL_KINDS };

/* Something that had the core for a time. */
struct hil_stay {
    uint64_t from_ns, to_ns; /* to_ns 0: it has not ended */
    int task;                /* HIL_TASK: its id; 0 is the idle task */
    char name[28];
};

struct hil_stays {
    struct hil_stay *at; /* in the order of time; none overlaps another */
    size_t count;
};

struct hil_kernel {
    struct hil_stays (*cores)[HIL_KERNEL_KINDS];
    unsigned core_count;
    bool out_of_memory; /* what came after is missing */
};

void hil_kernel_enter(struct hil_kernel *kernel, int cpu, enum hil_kernel_kind kind,
                      uint64_t time_ns, int task, const char *name);
void hil_kernel_exit(struct hil_kernel *kernel, int cpu, enum hil_kernel_kind kind,
                     uint64_t time_ns);

/* Takes in the text of tracefs. Returns 0, or a negative errno: -ENOENT when there is none. */
int hil_kernel_read(struct hil_kernel *kernel, const char *path);

/* Who had the core for longest, and for how long; and for how long all had it that are no loops. */
struct hil_intruder {
    char name[48]; /* "": nobody */
    uint64_t ns, all_ns;
};

/* In that time, the idle task and `tasks` (the loops) apart. */
struct hil_intruder hil_kernel_intruder(const struct hil_kernel *kernel, int cpu, uint64_t from_ns,
                                        uint64_t to_ns, const int *tasks, size_t task_count);

/* Whether it was told of anything. */
bool hil_kernel_any(const struct hil_kernel *kernel);

void hil_kernel_free(struct hil_kernel *kernel);

#endif
