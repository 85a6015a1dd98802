/*
 * The loops' clock: the processor's time-stamp counter, read without a system call in some
 * ten nanoseconds, and scaled to CLOCK_MONOTONIC. Where the counter is not constant and
 * non-stop, CLOCK_MONOTONIC itself.
 *
 * Calibrated once by the launcher; its children inherit the scale, so that all agree.
 */
#ifndef HIL_CLOCK_H
#define HIL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct hil_clock {
    bool counter;       /* the time-stamp counter serves */
    uint64_t origin;    /* the counter's value at origin_ns */
    uint64_t origin_ns; /* of CLOCK_MONOTONIC */
    double ns_per_tick;
};

/* Takes 50 ms. */
void hil_clock_calibrate(struct hil_clock *clock);

/* ns, on CLOCK_MONOTONIC's scale. */
uint64_t hil_clock_now(const struct hil_clock *clock);

/* One turn of a busy wait. */
static inline void hil_clock_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

#endif
