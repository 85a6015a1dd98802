#include "doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cpus.h"
#include "../base/pool.h"
#include "../scenario/system.h"
#include "checks.h"
#include "files.h"

static const struct {
    const char *name, *why;
    hil_check *check;
} checks[] = {
    {"placement",
     "A loop spins on its core and never gives it up. Two loops on one core block each other, and "
     "a loop that moves between cores loses its cache each time.",
     hil_check_placement},
    {"rt-throttling",
     "A spinning loop never sleeps, so it would be stopped for that time in every second. With "
     "this setting hiloco leaves its loops on the ordinary scheduler, where any thread may hold "
     "them up.",
     hil_check_throttling},
    {"rt-groups",
     "Without SCHED_FIFO any thread on the core may hold the loop up for milliseconds.",
     hil_check_rt_groups},
    {"cpu-quota",
     "A control group that has used up its time is stopped until the next period. A spinning loop "
     "uses it up, and then stands still for tens of ms.",
     hil_check_quota},
    {"rtprio", "Without SCHED_FIFO any thread on the core may hold the loop up for milliseconds.",
     hil_check_rtprio},
    {"sessions",
     "With autogroups the kernel first shares the cores among the sessions (terminals), equally. "
     "Priorities count only within a session.",
     hil_check_sessions},
    {"fair-server",
     "Since Linux 6.12 ordinary threads that wait for a core get it for 50 ms of every second by "
     "default, whatever sched_rt_runtime_us says. SCHED_FIFO threads wait for that time.",
     hil_check_fair_server},
    {"memlock",
     "Memory that is not locked may be paged out, and the loop then waits until it is back.",
     hil_check_memlock},
    {"preemption",
     "The loop waits until the kernel has finished its own work, started by an interrupt or "
     "another thread: up to milliseconds, compared with tens of us under PREEMPT_RT.",
     hil_check_preemption},
    {"isolation",
     "Every other thread on the core takes it for a while, or at least displaces the cache.",
     hil_check_isolation},
    {"tick", "The tick costs some us, 100 to 1000 times a second.", hil_check_tick},
    {"rcu-callbacks", "They interrupt the loop for some us at a time.", hil_check_rcu},
    {"interrupts",
     "Each interrupt takes the core for some us, and longer if its deferred work runs there too.",
     hil_check_interrupts},
    {"irqbalance", "It moves interrupts between cores, also to the loops' cores.",
     hil_check_irqbalance},
    {"governor",
     "A core stops for some tens of us when it changes its frequency, and is slower at a low one.",
     hil_check_governor},
    {"idle-states", "A core takes time to wake up from an idle state, and the loops wait for it.",
     hil_check_idle_states},
    {"smt", "Two hardware threads share one core, so a step takes up to twice as long.",
     hil_check_smt},
    {"clock-source",
     "The loops read the clock all the time. With the time-stamp counter this takes 10 ns, with a "
     "system call 1 us.",
     hil_check_clock_source},
    {"steal", "While the hypervisor runs something else on the core, the loop stands still.",
     hil_check_steal},
    {"time-of-day", "Machines with a synchronised time of day know each other's clocks better.",
     hil_check_time_of_day},
    {"numa", "Each access to memory and adapters of another node takes about 100 ns longer.",
     hil_check_numa},
    {"transparent-huge", "While the kernel compacts memory, threads that use it wait.",
     hil_check_transparent_huge},
    {"huge-pages",
     "Each access to a page that is not in the processor's TLB costs up to 100 ns more.",
     hil_check_huge_pages},
    {"swap", "Memory that is not locked may be swapped out, and takes milliseconds to come back.",
     hil_check_swap},
};

enum { CHECKS = sizeof checks / sizeof checks[0] };

_Static_assert((int)CHECKS < (int)HIL_FINDINGS_MAX,
               "each check has its finding, and so do the gaps");

/* --- the machine ---------------- */

/* The executors of the reference scenario. */
static const struct hil_executor_config ordinary_executors[] = {
    {.cpu = 0, .priority = 80, .scheduler = HIL_FIFO},
    {.cpu = 1, .priority = 80, .scheduler = HIL_FIFO},
};

static void add_executors(struct hil_machine *p)
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
    CPU_AND(&p->loops, &p->loops, &p->online); /* the check of `placement` reports the others */
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

/* A further thread of an executor has the same needs as an executor. */
static int add_threads(struct hil_machine *p, const struct hil_scenario *s)
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

int hil_machine_open(struct hil_machine *p, const char *root, const struct hil_scenario *scenario)
{
    char text[512];

    *p = (struct hil_machine){.root = root,
                              .name = scenario ? scenario->name : NULL,
                              .period_ns = scenario ? shortest_period(scenario->system) : 10000,
                              .executors = scenario ? scenario->executors : ordinary_executors,
                              .executor_count = scenario ? scenario->executor_count : 2};
    if (hil_file_text(root, text, sizeof text, "/sys/devices/system/cpu/online") ||
        !hil_cpus_parse(text, &p->online))
        return -ENODATA;
    if (!*root) {
        cpu_set_t allowed;
        hil_cpus_allowed(&allowed);
        CPU_AND(&p->online, &p->online, &allowed);
    }
    if (CPU_COUNT(&p->online) == 0)
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
    return x < y ? -1 : 1; /* keep the table's order */
}

void hil_examine(const struct hil_machine *p, struct hil_findings *findings)
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

void hil_doctor_warn(const struct hil_machine *p, FILE *to)
{
    static struct hil_findings findings;

    hil_examine(p, &findings);
    for (unsigned i = 0; i < findings.count; i++) {
        const struct hil_finding *f = &findings.at[i];
        if (f->severity == HIL_SERIOUS)
            fprintf(to, "doctor: %s: %s (%s%s)\n", f->name, f->found, f->remedy,
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
    vsnprintf(f->remedy, sizeof f->remedy, format, values);
    va_end(values);
}

void hil_advice(struct hil_finding *f, const char *format, ...)
{
    va_list values;

    f->is_command = false;
    va_start(values, format);
    vsnprintf(f->remedy, sizeof f->remedy, format, values);
    va_end(values);
}
