/*
 * The service thread serves the nodes of its process. Threads that use the nodes also serve them
 * while they wait. One thread serves at a time.
 */
#include <errno.h>
#include <poll.h>
#include <time.h>

#include "tcp_internal.h"

enum {
    ASIDE_MAX_MS = 8,
    KEPT_OUT_MAX = 1000,
    INSIST_NS = 20000,
    TURNS = 16, /* one of so many turns reads the clock */
};

static const uint64_t OVERDUE_NS = 50000000;

/* --- one turn of serving: with `serving` held ------------------------------------------------ */

static void service_turn(struct tcp *t, uint64_t now)
{
    struct control *ctl = &t->control;

    control_serve(ctl);
    /* The wakes were read before this, so a node that becomes due from here on wakes the service
     * again. */
    if (atomic_exchange(&ctl->due, false) || now >= t->tend_at) {
        tcp_look_after_lanes(t);
        tcp_tend_lanes(t);
        t->tend_at = control_tend(ctl, now);
    }
    control_free_dead(ctl);
}

/* --- serving while a thread waits ------------------------------------------------------------ */

/* A thread that waits serves only lanes: the rest may take long, and is the service thread's work.
 * But if the service thread does not get to run, because loops spin on all cores, the waiting
 * thread does the rest as well. */
static void service_wait_turn(struct tcp *t)
{
    if (++t->turns % TURNS == 0) {
        const uint64_t now = tcp_now();
        atomic_store_explicit(&t->served_ns, now, memory_order_relaxed);
        if (now >= t->tend_at + OVERDUE_NS)
            atomic_store_explicit(&t->starves, true, memory_order_relaxed);
        if (atomic_load_explicit(&t->starves, memory_order_relaxed))
            service_turn(t, now);
    }
    tcp_serve_lanes(t);
}

/* Another thread serves, and usually ends soon. But it may be unable to run because this thread is
 * more urgent and has its core. After KEPT_OUT_MAX attempts this thread assumes that. It then waits
 * for the lock, which lends its priority to the other thread, for INSIST_NS at most. */
static bool service_insist(struct tcp *t)
{
    struct timespec until;

    if (atomic_fetch_add_explicit(&t->kept_out, 1, memory_order_relaxed) < KEPT_OUT_MAX)
        return false;
    atomic_store_explicit(&t->kept_out, 0, memory_order_relaxed);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += INSIST_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return !pthread_mutex_timedlock(&t->serving, &until);
}

void tcp_serve_in_wait(struct tcp *t, struct tcp_lane *lane)
{
    if (pthread_mutex_trylock(&t->serving) && !service_insist(t))
        return;
    atomic_store_explicit(&t->kept_out, 0, memory_order_relaxed);
    if (lane)
        tcp_lane_serve(lane);
    else
        service_wait_turn(t);
    pthread_mutex_unlock(&t->serving);
}

/* --- the thread ----------------------------------------------------------------------------- */

/* Whether waiting threads serve the lanes. The service thread then leaves the lanes alone, as it
 * would only take the core from those threads. */
static bool service_stands_aside(const struct tcp *t, uint64_t now, unsigned aside_ms)
{
    return now < atomic_load_explicit(&t->served_ns, memory_order_relaxed) +
                     (uint64_t)aside_ms * CONTROL_MS;
}

/* Sleeps until it is time to check whether waiting threads still serve the lanes; each time twice
 * as long as before. Returns whether something came over a control connection. */
static bool service_rest_aside(const struct tcp *t, unsigned left_ms, unsigned *aside_ms)
{
    struct pollfd control = {.fd = t->control.epoll, .events = POLLIN};
    const unsigned rest_ms = left_ms < *aside_ms ? left_ms : *aside_ms;

    *aside_ms = *aside_ms < ASIDE_MAX_MS ? 2 * *aside_ms : ASIDE_MAX_MS;
    return poll(&control, 1, (int)rest_ms) > 0;
}

static bool service_rest_with_lanes(struct tcp *t, struct tcp_looks *looks, unsigned left_ms)
{
    pthread_mutex_lock(&t->serving);
    tcp_looks_gather(looks, t);
    for (unsigned i = 1; i < looks->count; i++) /* if a lane owes answers later, it says so again */
        looks->lanes[i]->owed = looks->at[i].events & POLLOUT;
    pthread_mutex_unlock(&t->serving);
    return poll(looks->at, looks->count, (int)left_ms) > 0;
}

/* Sleeps until something comes, or until it is time to look after the nodes. */
static void service_rest(struct tcp *t, struct tcp_looks *looks)
{
    unsigned aside_ms = 1;
    uint64_t now;

    while ((now = tcp_now()) < t->tend_at) {
        const unsigned left_ms = (unsigned)((t->tend_at - now + CONTROL_MS - 1) / CONTROL_MS);
        const bool aside = service_stands_aside(t, now, aside_ms);
        looks->count = 0;
        if (aside ? service_rest_aside(t, left_ms, &aside_ms)
                  : service_rest_with_lanes(t, looks, left_ms))
            return;
    }
}

void *tcp_service_thread(void *arg)
{
    struct tcp *t = arg;
    struct tcp_looks looks = {0};

    while (!atomic_load_explicit(&t->stop, memory_order_acquire)) {
        if (!t->config.spin)
            service_rest(t, &looks);
        pthread_mutex_lock(&t->serving);
        atomic_store_explicit(&t->starves, false, memory_order_relaxed);
        if (t->config.spin)
            tcp_serve_lanes(t);
        else
            tcp_looks_serve(&looks);
        service_turn(t, tcp_now());
        pthread_mutex_unlock(&t->serving);
    }
    tcp_looks_free(&looks);
    return NULL;
}
