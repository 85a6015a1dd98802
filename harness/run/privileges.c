#include "privileges.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { STACK_TOUCHED = 64 << 10, NICEST = -20 };

__attribute__((format(printf, 2, 3))) static void degrade(struct hil_executor_state *state,
                                                          const char *format, ...)
{
    size_t used = strlen(state->degraded);
    va_list args;

    va_start(args, format);
    vsnprintf(state->degraded + used, sizeof state->degraded - used, format, args);
    va_end(args);
}

static void pin(int cpu, struct hil_executor_state *state)
{
    cpu_set_t set;

    if (cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set))
        degrade(state, "not pinned to cpu %d: %s\n", cpu, strerror(errno));
}

static void lock_memory(struct hil_executor_state *state)
{
    if (mlockall(MCL_CURRENT | MCL_FUTURE))
        degrade(state, "memory not locked: %s (run as root, or raise memlock in limits.conf)\n",
                strerror(errno));
    else
        state->locked = true;
}

/* So that the loop's first deep call does not fault. */
static void touch_stack(void)
{
    volatile unsigned char stack[STACK_TOUCHED];

    for (size_t i = 0; i < sizeof stack; i += 4096)
        stack[i] = 0;
}

void hil_settle(const struct hil_executor_config *config, struct hil_executor_state *state)
{
    pin(config->cpu, state);
    lock_memory(state);
    touch_stack();
    hil_flush_denormals();
}

static long read_setting(const char *path, long unknown)
{
    long value = unknown;
    FILE *f = fopen(path, "r");

    if (!f)
        return unknown;
    if (fscanf(f, "%ld", &value) != 1)
        value = unknown;
    fclose(f);
    return value;
}

/* How much of every second, in ms, the kernel keeps from real-time threads. */
static long throttled_ms(void)
{
    long period = read_setting("/proc/sys/kernel/sched_rt_period_us", 1000000);
    long runtime = read_setting("/proc/sys/kernel/sched_rt_runtime_us", -1);

    return runtime < 0 || runtime >= period ? 0 : (period - runtime) * 1000 / period;
}

/*
 * A loop that spins is never off its core, so where real-time threads are throttled it would
 * stand still for as much of every second. The ordinary scheduler does it less harm: there it
 * waits only for what else there is to run.
 */
void hil_schedule_real_time(const struct hil_executor_config *config,
                            struct hil_executor_state *state)
{
    const struct sched_param param = {.sched_priority = config->priority};
    long throttled = throttled_ms();

    if (config->priority == 0)
        return;
    setpriority(PRIO_PROCESS, 0, NICEST); /* where SCHED_FIFO is not to be had */
    if (throttled > 0) {
        degrade(state,
                "the ordinary scheduler, not SCHED_FIFO %d: the kernel would take %ld ms of every "
                "second from a spinning loop (as root: sysctl kernel.sched_rt_runtime_us=-1)\n",
                config->priority, throttled);
        return;
    }
    state->fifo = sched_setscheduler(0, SCHED_FIFO, &param) == 0;
    if (!state->fifo)
        degrade(state,
                "the ordinary scheduler, not SCHED_FIFO %d: %s (run as root, or raise rtprio in "
                "limits.conf)\n",
                config->priority, strerror(errno));
}

void hil_schedule_ordinary(void)
{
    const struct sched_param ordinary = {0};

    sched_setscheduler(0, SCHED_OTHER, &ordinary);
    setpriority(PRIO_PROCESS, 0, 0);
}

void hil_flush_denormals(void)
{
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040); /* FTZ and DAZ */
#endif
}
