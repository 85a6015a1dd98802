/*
 * The loops' clock: the processor's time-stamp counter, read without a system call in about ten
 * nanoseconds. It starts at the time of CLOCK_MONOTONIC, by which nodes agree when to start, and
 * goes on at the rate of CLOCK_MONOTONIC_RAW, which nobody adjusts. If the counter cannot be relied
 * on, the clock is CLOCK_MONOTONIC itself.
 *
 * All processes of a machine must agree, including those that were started separately. So the scale
 * is the kernel's own (see hil_clock_calibrate), and each process sets the clock when the start is
 * known.
 */
#ifndef HIL_CLOCK_H
#define HIL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

struct hil_clock {
    const char *refused; /* why the counter cannot be used; NULL: it can */
    uint64_t origin;     /* the counter's value at origin_ns */
    uint64_t origin_ns;  /* on CLOCK_MONOTONIC */
    /* Scale factors times 2^HIL_CLOCK_SHIFT: a conversion is one multiplication. */
    uint64_t ns_per_tick, ticks_per_ns;
};

enum { HIL_CLOCK_SHIFT = 60 };

/*
 * Measures the scale twice and sets the clock. Takes 100 ms. Like the kernel it rounds the rate to
 * whole kHz, so every process finds the same rate.
 */
void hil_clock_calibrate(struct hil_clock *clock);

/* Sets the clock to CLOCK_MONOTONIC again. Do not call it in a loop. */
void hil_clock_set(struct hil_clock *clock);

/* Evidence for or against the counter. */
struct hil_clock_evidence {
    bool invariant;       /* the processor reports a constant rate that never stops */
    bool trusted;         /* the kernel has not found it unstable */
    double first, second; /* ns per tick, from two measurements */
};

/* Why the counter cannot be relied on, in a few words; NULL if it can. */
const char *hil_clock_refuse(const struct hil_clock_evidence *evidence);

/* The present time on CLOCK_MONOTONIC, in ns. */
uint64_t hil_clock_monotonic(void);

/* Sleeps until this time of the clock, but for at most 20 ms. */
void hil_clock_nap(const struct hil_clock *clock, uint64_t until_ns);

/* The present value of the counter. */
static inline uint64_t hil_clock_ticks(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#else
    return 0;
#endif
}

static inline uint64_t hil_clock_scaled(uint64_t value, uint64_t scale)
{
    return (uint64_t)((unsigned __int128)value * scale >> HIL_CLOCK_SHIFT);
}

/* The time at which the counter has this value. The value must not be from before the clock was
 * set. */
static inline uint64_t hil_clock_ns(const struct hil_clock *clock, uint64_t ticks)
{
    return clock->origin_ns + hil_clock_scaled(ticks - clock->origin, clock->ns_per_tick);
}

/* The counter's value at this time, to within one tick. */
static inline uint64_t hil_clock_ticks_at(const struct hil_clock *clock, uint64_t ns)
{
    if (ns <= clock->origin_ns)
        return clock->origin;
    return clock->origin + hil_clock_scaled(ns - clock->origin_ns, clock->ticks_per_ns) + 1;
}

/* The present time in ns. */
static inline uint64_t hil_clock_now(const struct hil_clock *clock)
{
    return clock->refused ? hil_clock_monotonic() : hil_clock_ns(clock, hil_clock_ticks());
}

/* One turn of a busy wait. It takes about 50 ns, and leaves more of the core to its other hardware
 * thread. */
static inline void hil_clock_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb"); /* on most of them a yield does not pause */
#endif
}

#endif
