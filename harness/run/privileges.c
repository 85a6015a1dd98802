#include "privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    HEAP_TOUCHED = 4 << 20, /* more than the setup allocates */
    STACK_TOUCHED = 64 << 10,
    PAGE = 4096,
    NICEST = -20,
};

static const char LATENCY_DEVICE[] = "/dev/cpu_dma_latency";

static void pin(int cpu, struct hil_executor_state *state)
{
    cpu_set_t set;

    if (cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set))
        hil_state_degrade(state, "not pinned to cpu %d: %s\n", cpu, strerror(errno));
}

static void lock_memory(struct hil_executor_state *state)
{
    if (mlockall(MCL_CURRENT | MCL_FUTURE))
        hil_state_degrade(state,
                          "memory not locked: %s (run as root, or raise memlock in limits.conf)\n",
                          strerror(errno));
    else
        state->locked = true;
}

/* Grows the heap in advance, touches it, and never gives it back. */
static void touch_heap(void)
{
    mallopt(M_TRIM_THRESHOLD, -1);
    mallopt(M_MMAP_MAX, 0);
    volatile unsigned char *heap = malloc(HEAP_TOUCHED);

    for (size_t i = 0; heap && i < HEAP_TOUCHED; i += PAGE)
        heap[i] = 0;
    free((void *)heap);
}

/* Touches the stack, so that the loop's first deep call does not fault. */
static void touch_stack(void)
{
    volatile unsigned char stack[STACK_TOUCHED];

    for (size_t i = 0; i < sizeof stack; i += PAGE)
        stack[i] = 0;
}

void hil_settle_thread(int cpu, struct hil_executor_state *state)
{
    pin(cpu, state);
    touch_stack();
    prctl(PR_SET_TIMERSLACK, 1); /* ns; the default makes a sleeping thread 50 us later */
    hil_flush_denormals();
}

void hil_settle(const struct hil_executor_config *config, struct hil_executor_state *state)
{
    hil_settle_thread(config->cpu, state);
    lock_memory(state);
    touch_heap();
}

int hil_keep_awake(struct hil_executor_state *state)
{
    const int32_t latency_us = 0;
    int fd = open(LATENCY_DEVICE, O_WRONLY | O_CLOEXEC);

    if (fd >= 0 && write(fd, &latency_us, sizeof latency_us) == sizeof latency_us)
        return fd;
    hil_state_degrade(state,
                      "the cores may sleep: %s: %s (run as root, or grant write access to it)\n",
                      LATENCY_DEVICE, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* --- the scheduler -------------------------------------------------------------------------- */

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

/* How many ms of every second the kernel withholds from real-time threads. */
static long throttled_ms(void)
{
    long period = read_setting("/proc/sys/kernel/sched_rt_period_us", 1000000);
    long runtime = read_setting("/proc/sys/kernel/sched_rt_runtime_us", -1);

    return runtime < 0 || runtime >= period ? 0 : (period - runtime) * 1000 / period;
}

/* Whether the wait keeps the core busy. A hybrid wait that mostly sleeps leaves enough of the core
 * to other threads, as the kernel wants. */
static bool spins(const struct hil_executor_config *config, uint64_t period_ns)
{
    return config->wait == HIL_SPIN || period_ns < 10 * HIL_HYBRID_NS;
}

/*
 * A loop that spins never leaves its core. If real-time threads are throttled, the kernel would
 * stop it for part of every second. The ordinary scheduler does less harm: there the loop only
 * waits for other threads that want to run.
 */
static void schedule_fifo(const struct hil_executor_config *config, uint64_t period_ns,
                          struct hil_executor_state *state)
{
    const struct sched_param param = {.sched_priority = config->priority};
    long throttled = spins(config, period_ns) ? throttled_ms() : 0;

    if (throttled > 0) {
        hil_state_degrade(
            state,
            "the ordinary scheduler, not SCHED_FIFO %d: the kernel would take %ld ms of every "
            "second from a spinning loop (as root: sysctl kernel.sched_rt_runtime_us=-1)\n",
            config->priority, throttled);
        return;
    }
    if (sched_setscheduler(0, SCHED_FIFO, &param) == 0)
        state->scheduler = HIL_FIFO;
    else
        hil_state_degrade(
            state,
            "the ordinary scheduler, not SCHED_FIFO %d: %s (run as root, or raise rtprio in "
            "limits.conf)\n",
            config->priority, strerror(errno));
}

/* The kernel's structure; glibc does not define it. */
struct deadline_request {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

/* Asks for less and less of the period, until the kernel can grant it. Returns the granted share in
 * percent, or a negative errno. */
static int ask_for_deadline(uint64_t period_ns)
{
    for (unsigned share = 100; share > 0; share -= 5) {
        const struct deadline_request request = {.size = sizeof request,
                                                 .policy = SCHED_DEADLINE,
                                                 .runtime_ns = period_ns * share / 100,
                                                 .deadline_ns = period_ns,
                                                 .period_ns = period_ns};
        if (syscall(SYS_sched_setattr, 0, &request, 0) == 0)
            return (int)share;
        if (errno != EBUSY)
            return -errno;
    }
    return -EBUSY;
}

/* The kernel refuses SCHED_DEADLINE to a thread that may not use all cores of its domain. A pinned
 * thread can only have it if a cpuset makes its core a domain. */
static int ask_unpinned(const struct hil_executor_config *config, uint64_t period_ns,
                        struct hil_executor_state *state)
{
    cpu_set_t pinned, all;

    memset(&all, 0xff, sizeof all);
    sched_getaffinity(0, sizeof pinned, &pinned);
    sched_setaffinity(0, sizeof all, &all);
    int share = ask_for_deadline(period_ns);
    if (share < 0)
        sched_setaffinity(0, sizeof pinned, &pinned);
    else
        hil_state_degrade(
            state,
            "not pinned to cpu %d: a SCHED_DEADLINE thread goes where the kernel puts it (make "
            "the cpu a cpuset partition of its own to have both)\n",
            config->cpu);
    return share;
}

/* The kernel's period: the smallest multiple of the loop's that the kernel accepts. */
static uint64_t deadline_period_ns(uint64_t period_ns)
{
    uint64_t least =
        1000 * (uint64_t)read_setting("/proc/sys/kernel/sched_deadline_period_min_us", 100);

    return (least + period_ns - 1) / period_ns * period_ns;
}

static void schedule_deadline(const struct hil_executor_config *config, uint64_t period_ns,
                              struct hil_executor_state *state)
{
    uint64_t period = deadline_period_ns(period_ns);
    int share = ask_for_deadline(period);

    if (share == -EPERM && config->cpu >= 0)
        share = ask_unpinned(config, period, state);
    if (share < 0) {
        hil_state_degrade(state, "the ordinary scheduler, not SCHED_DEADLINE: %s%s\n",
                          strerror(-share), share == -EPERM ? " (run as root)" : "");
        return;
    }
    state->scheduler = HIL_DEADLINE;
    if (share < 100)
        hil_state_degrade(
            state,
            "SCHED_DEADLINE stops a loop that takes more than %g of every %g us (as root: "
            "sysctl kernel.sched_rt_runtime_us=-1)\n",
            (double)period * 1e-5 * share, (double)period * 1e-3);
}

/* A loop that is nice is late. It is not nice because the process that started it was. */
static void take_back_nice(struct hil_executor_state *state)
{
    const int nice = getpriority(PRIO_PROCESS, 0);

    if (nice > 0 && setpriority(PRIO_PROCESS, 0, 0))
        hil_state_degrade(state,
                          "nice %d, as it was started so: %s (start it without nice, or run as "
                          "root)\n",
                          nice, strerror(errno));
}

bool hil_asks_for_real_time(const struct hil_executor_config *config)
{
    return config->scheduler == HIL_DEADLINE ||
           (config->scheduler == HIL_FIFO && config->priority > 0);
}

void hil_schedule_real_time(const struct hil_executor_config *config, uint64_t period_ns,
                            struct hil_executor_state *state)
{
    take_back_nice(state);
    if (!hil_asks_for_real_time(config))
        return;
    setpriority(PRIO_PROCESS, 0, NICEST); /* helps if the scheduler is refused */
    if (config->scheduler == HIL_FIFO)
        schedule_fifo(config, period_ns, state);
    else
        schedule_deadline(config, period_ns, state);
}

void hil_schedule_ordinary(void)
{
    const struct sched_param ordinary = {0};

    sched_setscheduler(0, SCHED_OTHER, &ordinary);
    setpriority(PRIO_PROCESS, 0, 0);
}

/* The register that controls rounding and denormals. */
static unsigned arithmetic(void)
{
#if defined(__x86_64__)
    return _mm_getcsr();
#elif defined(__aarch64__)
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    return (unsigned)fpcr;
#else
    return 0;
#endif
}

static void set_arithmetic(unsigned to)
{
#if defined(__x86_64__)
    _mm_setcsr(to);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)to));
#else
    (void)to;
#endif
}

void hil_flush_denormals(void)
{
#if defined(__x86_64__)
    set_arithmetic(arithmetic() | 0x8040); /* FTZ and DAZ */
#elif defined(__aarch64__)
    set_arithmetic(arithmetic() | 1u << 24); /* FZ */
#endif
}

/* --- a thread of another program -------------------------------------------------------------- */

void hil_thread_settings_take(struct hil_thread_settings *t)
{
    sched_getaffinity(0, sizeof t->cpus, &t->cpus);
    sched_getparam(0, &t->priority);
    t->policy = sched_getscheduler(0);
    t->nice = getpriority(PRIO_PROCESS, 0);
    t->slack = prctl(PR_GET_TIMERSLACK);
    t->arithmetic = arithmetic();
}

void hil_thread_settings_give_back(const struct hil_thread_settings *t)
{
    sched_setaffinity(0, sizeof t->cpus, &t->cpus);
    sched_setscheduler(0, t->policy, &t->priority);
    setpriority(PRIO_PROCESS, 0, t->nice);
    prctl(PR_SET_TIMERSLACK, t->slack);
    set_arithmetic(t->arithmetic);
}
