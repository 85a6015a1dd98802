/* Interrupts of devices on the loops' cores. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cpus.h"
#include "checks.h"
#include "files.h"
#include "interrupts.h"

struct on_loops {
    const struct hil_machine *machine;
    unsigned count;
    struct hil_interrupt busiest;
    unsigned long long most;
};

static void look_at(const struct hil_interrupt *i, void *arg)
{
    struct on_loops *o = arg;
    unsigned long long arrived = 0;
    cpu_set_t both;

    CPU_AND(&both, &i->cpus, &o->machine->loops);
    if (CPU_COUNT(&both) == 0)
        return;
    for (int cpu = hil_cpus_next(&both, -1); cpu >= 0; cpu = hil_cpus_next(&both, cpu))
        arrived += i->arrived[cpu];
    if (o->count++ == 0 || arrived > o->most) {
        o->busiest = *i;
        o->most = arrived;
    }
}

void hil_check_interrupts(const struct hil_machine *p, struct hil_finding *f)
{
    static struct on_loops o;
    char loops[64], spare[64];

    o = (struct on_loops){.machine = p};
    if (hil_interrupts_each(p->root, look_at, &o)) {
        hil_found(f, HIL_UNKNOWN, "/proc/interrupts cannot be read");
        return;
    }
    hil_cpus_format(&p->loops, loops, sizeof loops);
    if (o.count == 0) {
        hil_found(f, HIL_FINE, "no device interrupts cpu %s", loops);
        return;
    }
    hil_found(f, HIL_WARNING,
              "%u device interrupt%s may arrive on cpu %s; the busiest, %d (%s), has %llu times",
              o.count, o.count == 1 ? "" : "s", loops, o.busiest.number, o.busiest.device, o.most);
    if (CPU_COUNT(&p->spare) == 0) {
        hil_advice(f, "%s",
                   p->wanders ? "Pin the loops, then move the interrupts to other cpus."
                              : hil_no_spare_core);
        return;
    }
    hil_cpus_format(&p->spare, spare, sizeof spare);
    hil_command(f, "echo %s | tee /proc/irq/*/smp_affinity_list", spare);
    f->can_be_lent = true;
}

void hil_check_irqbalance(const struct hil_machine *p, struct hil_finding *f)
{
    int running = hil_process_runs(p->root, "irqbalance");

    if (running < 0) {
        hil_found(f, HIL_UNKNOWN, "/proc cannot be read");
    } else if (!running) {
        hil_found(f, HIL_FINE, "irqbalance is not running");
    } else {
        hil_found(f, HIL_WARNING, "irqbalance runs");
        hil_command(f, "systemctl stop irqbalance");
    }
}
