/* The machine's device interrupts: their names, their cpus and their counts. */
#ifndef HIL_DOCTOR_INTERRUPTS_H
#define HIL_DOCTOR_INTERRUPTS_H

#include <sched.h>

enum { HIL_INTERRUPT_CPUS = CPU_SETSIZE };

struct hil_interrupt {
    int number;
    char device[48];
    cpu_set_t cpus; /* the cpus that it is delivered to now */
    unsigned long long arrived[HIL_INTERRUPT_CPUS];
};

/* Calls `look` for each interrupt that a driver has requested. Returns 0, or a negative errno when
 * /proc/interrupts cannot be read. */
int hil_interrupts_each(const char *root,
                        void (*look)(const struct hil_interrupt *interrupt, void *arg), void *arg);

#endif
