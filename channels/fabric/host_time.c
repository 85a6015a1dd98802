#include "host_time.h"

#include <sched.h>
#include <time.h>

uint64_t loco_host_clock(struct loco_node *node)
{
    struct timespec t;

    (void)node;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int loco_host_poll_ms(uint64_t until, int most)
{
    enum { MS = 1000000 };
    const uint64_t now = loco_host_clock(NULL);
    const uint64_t left = now < until ? until - now : 0;

    return left < (uint64_t)most * MS ? (int)((left + MS - 1) / MS) : most;
}

/* Most waits end within microseconds, so the first turns spin. A longer wait may be for a thread
 * that needs this core, so later turns yield it. A very long wait is for something slow, so it
 * sleeps. */
void loco_host_relax(struct loco_node *node, struct loco_wait *wait)
{
    static const struct timespec nap = {.tv_nsec = LOCO_NAP_NS};

    (void)node;
    uint64_t turn = wait->turns++;
    if (turn < 200)
        return;
    if (turn < 300) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("isb"); /* on most of these processors `yield` does not pause */
#endif
    } else if (turn < LOCO_NAP_TURNS) {
        sched_yield();
    } else {
        nanosleep(&nap, NULL);
    }
}
