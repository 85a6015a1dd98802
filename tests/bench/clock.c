/* The benchmarks' clock, which costs as much as that of the loops. */
#include "harness/run/clock.h"
#include "bench.h"

static struct hil_clock bench_clock;

void bench_prepare(void)
{
    hil_clock_calibrate(&bench_clock);
}

uint64_t bench_now(void)
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#endif
    return hil_clock_now(&bench_clock);
}

uint64_t bench_glance(void)
{
    return hil_clock_now(&bench_clock);
}
