#include "clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const uint64_t MEASURED_NS = 50000000;

/* On a busy machine two measurements of one counter differ by one part in a million. If they differ
 * by more than this, the counter or the reference clock jumps. */
static const double DISAGREEMENT = 20e-6;

enum { TRIES = 4 }; /* until two measurements agree */

static uint64_t read_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t hil_clock_monotonic(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* The counter and a clock, read at the same moment. */
struct both {
    uint64_t ticks, ns;
};

/* Reads both several times, and returns the least disturbed reading. */
static struct both read_both(clockid_t id)
{
    struct both both = {0};
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < 50; i++) {
        uint64_t before = hil_clock_ticks(), now = read_clock(id), after = hil_clock_ticks();
        if (after - before >= best)
            continue;
        best = after - before;
        both = (struct both){before + best / 2, now};
    }
    return both;
}

/* --- evidence about the counter --------------------------------------------------------------- */

static bool is_invariant(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
#else
    return false;
#endif
}

/* The kernel compares the cores' counters at boot and watches them; it removes a counter that it
 * finds unstable from this list. If the list cannot be read, the counter counts as trusted, and the
 * measurements decide. */
static bool is_trusted(void)
{
    char list[256] = "tsc";
    FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/available_clocksource", "r");

    if (f && !fgets(list, sizeof list, f))
        list[0] = '\0';
    if (f)
        fclose(f);
    return strstr(list, "tsc") != NULL;
}

static double measure(void)
{
    const struct both begin = read_both(CLOCK_MONOTONIC_RAW);

    while (read_clock(CLOCK_MONOTONIC_RAW) - begin.ns < MEASURED_NS)
        hil_clock_pause();
    const struct both end = read_both(CLOCK_MONOTONIC_RAW);
    return (double)(end.ns - begin.ns) / (double)(end.ticks - begin.ticks);
}

static bool agree(double a, double b)
{
    return fabs(a - b) <= DISAGREEMENT * b;
}

const char *hil_clock_refuse(const struct hil_clock_evidence *e)
{
    if (!e->invariant)
        return "the time-stamp counter is not invariant";
    if (!e->trusted)
        return "the kernel has found the time-stamp counter unstable";
    if (!agree(e->first, e->second))
        return "two calibrations of the time-stamp counter disagree";
    return NULL;
}

/* --- the clock ------------------------------------------------------------------------------ */

static void set_scale(struct hil_clock *c, double ns_per_tick)
{
    const unsigned __int128 one = (unsigned __int128)1 << HIL_CLOCK_SHIFT;
    const uint64_t khz = (uint64_t)llround(1e6 / ns_per_tick);

    c->ns_per_tick = (uint64_t)(one * 1000000 / khz);
    c->ticks_per_ns = (uint64_t)(one * khz / 1000000);
}

void hil_clock_calibrate(struct hil_clock *c)
{
    struct hil_clock_evidence e = {.invariant = is_invariant(), .trusted = is_trusted()};

    *c = (struct hil_clock){0};
    if (e.invariant && e.trusted) {
        e.second = measure();
        for (int i = 0; i < TRIES && !agree(e.first, e.second); i++) {
            e.first = e.second;
            e.second = measure();
        }
    }
    c->refused = hil_clock_refuse(&e);
    if (c->refused)
        return;
    set_scale(c, (e.first + e.second) / 2);
    hil_clock_set(c);
}

void hil_clock_set(struct hil_clock *c)
{
    if (c->refused)
        return;
    const struct both now = read_both(CLOCK_MONOTONIC);
    c->origin = now.ticks;
    c->origin_ns = now.ns;
}

/* --- sleeping ---------------- */

/* The longest nap: a sleeper that is told to stop notices after at most this long. */
static const uint64_t NAP_NS = 20000000;

/* This clock drifts from the kernel's, so each nap is measured anew from the present. */
void hil_clock_nap(const struct hil_clock *clock, uint64_t until_ns)
{
    uint64_t wake = hil_clock_monotonic(), now = hil_clock_now(clock);

    if (until_ns <= now)
        return;
    wake += until_ns - now < NAP_NS ? until_ns - now : NAP_NS;
    const struct timespec at = {(time_t)(wake / 1000000000), (long)(wake % 1000000000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}
