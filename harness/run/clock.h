/*
 * The loops' clock: the processor's time-stamp counter, read without a system call in some
 * ten nanoseconds. It begins on CLOCK_MONOTONIC, on which nodes agree when to start, and goes
 * on at the pace of CLOCK_MONOTONIC_RAW, which nobody adjusts. Where the counter cannot be
 * relied on, CLOCK_MONOTONIC itself.
 *
 * All processes of a machine must agree, also those that were started apart. So the scale is
 * the kernel's own (see hil_clock_calibrate), and each sets the clock when the start is known.
 */
#ifndef HIL_CLOCK_H
#define HIL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

struct hil_clock {
    const char *refused; /* why the counter does not serve; NULL: it does */
    uint64_t origin;     /* the counter's value at origin_ns */
    uint64_t origin_ns;  /* of CLOCK_MONOTONIC */
    /* The scale, each way, times 2^HIL_CLOCK_SHIFT: a conversion is one multiplication. */
    uint64_t ns_per_tick, ticks_per_ns;
};

enum { HIL_CLOCK_SHIFT = 60 };

/*
 * Measures the scale, twice, and sets the clock. Takes 100 ms. The kernel counts in whole kHz,
 * and so does this: whoever measures finds the same.
 */
void hil_clock_calibrate(struct hil_clock *clock);

/* Sets the clock to CLOCK_MONOTONIC again. Not in a loop. */
void hil_clock_set(struct hil_clock *clock);

/* What speaks for the counter, or against it. */
struct hil_clock_evidence {
    bool invariant;       /* the processor says that it is constant and never stops */
    bool trusted;         /* the kernel has not found it unstable */
    double first, second; /* ns a tick, as measured one after the other */
};

/* Why the counter is not to be relied on: a few words; NULL where it is. */
const char *hil_clock_refuse(const struct hil_clock_evidence *evidence);

/* ns of CLOCK_MONOTONIC, now. */
uint64_t hil_clock_monotonic(void);

/* Sleeps until this time of the clock, or for 20 ms if that is sooner. */
void hil_clock_nap(const struct hil_clock *clock, uint64_t until_ns);

/* The counter's value, now. */
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

/* The time at which the counter has this value, not before the clock was set. */
static inline uint64_t hil_clock_ns(const struct hil_clock *clock, uint64_t ticks)
{
    return clock->origin_ns + hil_clock_scaled(ticks - clock->origin, clock->ns_per_tick);
}

/* The counter's value at that time, to one tick. */
static inline uint64_t hil_clock_ticks_at(const struct hil_clock *clock, uint64_t ns)
{
    if (ns <= clock->origin_ns)
        return clock->origin;
    return clock->origin + hil_clock_scaled(ns - clock->origin_ns, clock->ticks_per_ns) + 1;
}

/* ns, now. */
static inline uint64_t hil_clock_now(const struct hil_clock *clock)
{
    return clock->refused ? hil_clock_monotonic() : hil_clock_ns(clock, hil_clock_ticks());
}

/* One turn of a busy wait: some 50 ns, in which the core's other thread has more of it. */
static inline void hil_clock_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb"); /* a yield is no pause at all on most of them */
#endif
}

#endif
