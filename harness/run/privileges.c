#include "privileges.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { STACK_TOUCHED = 64 << 10 };

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

/* A share of every second that the kernel keeps from real-time threads; -1: none. */
static void check_throttling(struct hil_executor_state *state)
{
    long runtime = -1, period = 1000000;
    FILE *f = fopen("/proc/sys/kernel/sched_rt_runtime_us", "r");

    if (f) {
        if (fscanf(f, "%ld", &runtime) != 1)
            runtime = -1;
        fclose(f);
    }
    if (runtime >= 0 && runtime < period)
        degrade(state,
                "the kernel may take %ld ms of every second from a spinning real-time loop (as "
                "root: sysctl kernel.sched_rt_runtime_us=-1)\n",
                (period - runtime) / 1000);
}

void hil_schedule_real_time(const struct hil_executor_config *config,
                            struct hil_executor_state *state)
{
    const struct sched_param param = {.sched_priority = config->priority};

    if (config->priority == 0)
        return;
    state->fifo = sched_setscheduler(0, SCHED_FIFO, &param) == 0;
    if (state->fifo)
        check_throttling(state);
    else
        degrade(state,
                "the ordinary scheduler, not SCHED_FIFO %d: %s (run as root, or raise rtprio in "
                "limits.conf)\n",
                config->priority, strerror(errno));
}

void hil_schedule_ordinary(void)
{
    const struct sched_param ordinary = {0};

    sched_setscheduler(0, SCHED_OTHER, &ordinary);
}

void hil_flush_denormals(void)
{
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040); /* FTZ and DAZ */
#endif
}
