#include "clock.h"

#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>

static const uint64_t CALIBRATION_NS = 50000000;

static bool is_invariant(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

static uint64_t ticks(void)
{
    return __rdtsc();
}
#else
static const uint64_t CALIBRATION_NS = 0;

static bool is_invariant(void)
{
    return false;
}

static uint64_t ticks(void)
{
    return 0;
}
#endif

static uint64_t monotonic(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The two clocks read together: of some tries the one that was least disturbed. */
static void read_both(uint64_t *counter, uint64_t *ns)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < 20; i++) {
        uint64_t before = ticks(), now = monotonic(), after = ticks();
        if (after - before >= best)
            continue;
        best = after - before;
        *counter = before + (after - before) / 2;
        *ns = now;
    }
}

void hil_clock_calibrate(struct hil_clock *c)
{
    uint64_t end, end_ns;

    *c = (struct hil_clock){.counter = is_invariant()};
    if (!c->counter)
        return;
    read_both(&c->origin, &c->origin_ns);
    do
        read_both(&end, &end_ns);
    while (end_ns - c->origin_ns < CALIBRATION_NS);
    c->ns_per_tick = (double)(end_ns - c->origin_ns) / (double)(end - c->origin);
}

uint64_t hil_clock_now(const struct hil_clock *c)
{
    if (!c->counter)
        return monotonic();
    return c->origin_ns + (uint64_t)((double)(ticks() - c->origin) * c->ns_per_tick);
}
