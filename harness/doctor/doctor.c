#include "doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../scenario/pool.h"
#include "../scenario/system.h"
#include "checks.h"
#include "cpus.h"
#include "files.h"

static const struct {
    const char *name, *why;
    hil_check *check;
} checks[] = {
    {"placement",
     "A loop spins on its core and never gives it up; two on one core stand in each other's way, "
     "and "
     "one that wanders loses its cache each time.",
     hil_check_placement},
    {"rt-throttling",
     "A loop that spins never sleeps, so it would stand still for as long in every second. While "
     "this "
     "is so hiloco leaves its loops with the ordinary scheduler, where any thread may hold them "
     "up.",
     hil_check_throttling},
    {"rt-groups",
     "Without SCHED_FIFO any thread on the core may hold the loop up for milliseconds.",
     hil_check_rt_groups},
    {"cpu-quota",
     "Threads of a control group that has used up its time stand still until the next period: a "
     "loop "
     "that spins uses it up, and then stands still for tens of ms.",
     hil_check_quota},
    {"rtprio", "Without SCHED_FIFO any thread on the core may hold the loop up for milliseconds.",
     hil_check_rtprio},
    {"fair-server",
     "Since Linux 6.12 ordinary threads that wait for a core are given it for 50 ms of every "
     "second, "
     "unless set otherwise, and whatever sched_rt_runtime_us says: so long SCHED_FIFO waits.",
     hil_check_fair_server},
    {"memlock", "Memory that is not locked may be taken away, and the loop waits until it is back.",
     hil_check_memlock},
    {"preemption",
     "The kernel's own work, started by an interrupt or another thread, is finished before the "
     "loop "
     "goes on: up to milliseconds, where PREEMPT_RT has tens of us.",
     hil_check_preemption},
    {"isolation",
     "Each other thread on the core takes it for a while, or at least empties its cache.",
     hil_check_isolation},
    {"tick", "It costs some us, 100 to 1000 times a second.", hil_check_tick},
    {"rcu-callbacks", "They run in the loop's stead, for some us at a time.", hil_check_rcu},
    {"interrupts", "Each takes the core for some us, and more when its work is done there as well.",
     hil_check_interrupts},
    {"irqbalance", "It moves interrupts about, onto the loops' cores too.", hil_check_irqbalance},
    {"governor",
     "A core that changes its frequency stops for some tens of us, and computes slower.",
     hil_check_governor},
    {"idle-states", "A core that slept wakes late, and so does what it does for the loops.",
     hil_check_idle_states},
    {"smt", "Two threads of one core take turns in it: a step takes up to twice as long.",
     hil_check_smt},
    {"clock-source",
     "The loops read the clock all the time: by the time-stamp counter in 10 ns, by a system call "
     "in a "
     "us.",
     hil_check_clock_source},
    {"steal", "While the hypervisor runs something else on the core, the loop stands still.",
     hil_check_steal},
    {"time-of-day", "Machines whose time of day is kept know each other's clocks better.",
     hil_check_time_of_day},
    {"numa",
     "Memory and adapters of another node are further away, by a hundred ns at each access.",
     hil_check_numa},
    {"transparent-huge", "While it moves memory together, who touches it waits.",
     hil_check_transparent_huge},
    {"huge-pages",
     "Each access to a page that the processor does not remember costs up to 100 ns more.",
     hil_check_huge_pages},
    {"swap", "Memory that is not locked may go there, and comes back after milliseconds.",
     hil_check_swap},
};

enum { CHECKS = sizeof checks / sizeof checks[0] };

_Static_assert((int)CHECKS < (int)HIL_FINDINGS_MAX, "each check has its finding, and so do gaps");

/* --- the patient ---------------- */

/* As in the reference scenario. */
static const struct hil_executor_config ordinary_executors[] = {
    {.cpu = 0, .priority = 80, .scheduler = HIL_FIFO},
    {.cpu = 1, .priority = 80, .scheduler = HIL_FIFO},
};

static void add_executors(struct hil_patient *p)
{
    cpu_set_t isolated;

    CPU_ZERO(&p->loops);
    for (unsigned i = 0; i < p->executor_count; i++) {
        const struct hil_executor_config *e = &p->executors[i];
        if (e->scheduler == HIL_FIFO && e->priority > p->priority)
            p->priority = e->priority;
        p->wanders |= e->cpu < 0;
        if (e->cpu >= 0)
            CPU_SET((unsigned)e->cpu, &p->loops);
    }
    CPU_AND(&p->loops, &p->loops, &p->online); /* of others `placement` tells */
    if (!p->wanders)
        return;
    hil_isolated_cpus(p->root, &isolated);
    cpu_set_t where = hil_cpus_without(&p->online, &isolated);
    CPU_OR(&p->loops, &p->loops, &where);
}

static uint64_t shortest_period(const struct hil_system *s)
{
    uint64_t shortest = s->nodes[0].timing.period_ns;

    for (unsigned i = 1; i < s->node_count; i++)
        if (s->nodes[i].timing.period_ns < shortest)
            shortest = s->nodes[i].timing.period_ns;
    return shortest;
}

/* A further thread of an executor needs all that an executor does. */
static int add_threads(struct hil_patient *p, const struct hil_scenario *s)
{
    struct hil_executor_config *threads;
    unsigned count = 0;

    if (hil_thread_count(s) == s->executor_count)
        return 0;
    threads = hil_pool_get(s->system->pool, hil_thread_count(s), sizeof *threads);
    for (unsigned i = 0; threads && i < s->executor_count; i++)
        for (unsigned k = 0; k < hil_executor_threads(&s->executors[i]); k++) {
            threads[count] = s->executors[i];
            threads[count++].cpu = hil_executor_cpu(&s->executors[i], k);
        }
    p->executors = threads;
    p->executor_count = count;
    p->sharded = true;
    return threads ? 0 : -ENOMEM;
}

int hil_patient_open(struct hil_patient *p, const char *root, const struct hil_scenario *scenario)
{
    char text[512];

    *p = (struct hil_patient){.root = root,
                              .name = scenario ? scenario->name : NULL,
                              .period_ns = scenario ? shortest_period(scenario->system) : 10000,
                              .executors = scenario ? scenario->executors : ordinary_executors,
                              .executor_count = scenario ? scenario->executor_count : 2};
    if (hil_file_text(root, text, sizeof text, "/sys/devices/system/cpu/online") ||
        !hil_cpus_parse(text, &p->online) || CPU_COUNT(&p->online) == 0)
        return -ENODATA;
    if (scenario && add_threads(p, scenario))
        return -ENOMEM;
    add_executors(p);
    p->general = scenario ? p->loops : p->online;
    p->spare = hil_cpus_without(&p->online, &p->loops);
    return 0;
}

/* --- findings ---------------- */

static int by_harm(const void *a, const void *b)
{
    static const int rank[] = {
        [HIL_SERIOUS] = 0, [HIL_WARNING] = 1, [HIL_UNKNOWN] = 2, [HIL_NOTE] = 3, [HIL_FINE] = 4};
    const struct hil_finding *x = *(const struct hil_finding *const *)a,
                             *y = *(const struct hil_finding *const *)b;

    if (rank[x->severity] != rank[y->severity])
        return rank[x->severity] - rank[y->severity];
    return x < y ? -1 : 1; /* in the table's order */
}

void hil_examine(const struct hil_patient *p, struct hil_findings *findings)
{
    static struct hil_finding all[CHECKS];
    const struct hil_finding *sorted[CHECKS];

    for (unsigned i = 0; i < CHECKS; i++) {
        all[i] = (struct hil_finding){.name = checks[i].name, .why = checks[i].why};
        checks[i].check(p, &all[i]);
        all[i].can_be_lent &= !p->is_fixed;
        sorted[i] = &all[i];
    }
    qsort(sorted, CHECKS, sizeof sorted[0], by_harm);
    for (unsigned i = 0; i < CHECKS; i++)
        findings->at[i] = *sorted[i];
    findings->count = CHECKS;
}

unsigned hil_findings_count(const struct hil_findings *findings, enum hil_severity severity)
{
    unsigned count = 0;

    for (unsigned i = 0; i < findings->count; i++)
        count += findings->at[i].severity == severity;
    return count;
}

void hil_doctor_warn(const struct hil_patient *p, FILE *to)
{
    static struct hil_findings findings;

    hil_examine(p, &findings);
    for (unsigned i = 0; i < findings.count; i++) {
        const struct hil_finding *f = &findings.at[i];
        if (f->severity == HIL_SERIOUS)
            fprintf(to, "doctor: %s: %s (%s%s)\n", f->name, f->found, f->mend,
                    f->can_be_lent ? ", or --fix for this run" : "");
    }
}

void hil_found(struct hil_finding *f, enum hil_severity severity, const char *format, ...)
{
    va_list values;

    f->severity = severity;
    va_start(values, format);
    vsnprintf(f->found, sizeof f->found, format, values);
    va_end(values);
}

void hil_command(struct hil_finding *f, const char *format, ...)
{
    va_list values;

    f->is_command = true;
    va_start(values, format);
    vsnprintf(f->mend, sizeof f->mend, format, values);
    va_end(values);
}

void hil_advice(struct hil_finding *f, const char *format, ...)
{
    va_list values;

    f->is_command = false;
    va_start(values, format);
    vsnprintf(f->mend, sizeof f->mend, format, values);
    va_end(values);
}
