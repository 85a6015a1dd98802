#include "measure.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/autogroup.h"
#include "../base/reap.h"
#include "../base/steal.h"
#include "../run/clock.h"
#include "../run/privileges.h"
#include "checks.h"
#include "cyclictest.h"

enum { TURN_MS = 1000 };

/* A loop with a shorter period than this has no time to sleep. */
static const uint64_t SPINNING_NS = 100000;

static const char own_name[] = "hl-doctor";

/* --- one turn of the spinning loop, with a process for each executor -------------- */

struct spinner {
    struct hil_measured measured;
    struct hil_executor_state state;
    struct hil_cyclictest cyclictest;
    pid_t pid;
};

static void spin(const struct hil_clock *clock, struct hil_measured *m)
{
    uint64_t begin = hil_clock_now(clock), last = begin, now;

    do {
        hil_clock_pause();
        now = hil_clock_now(clock);
        hil_gaps_add(&m->loop, now - last);
        last = now;
    } while (now - begin < TURN_MS * 1000000ull);
    m->spun_ns += now - begin;
}

static void become_spinner(const struct hil_executor_config *config, const struct hil_clock *clock,
                           struct spinner *s)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, own_name);
    hil_settle(config, &s->state);
    hil_schedule_real_time(config, SPINNING_NS, &s->state);
    s->measured.policy = sched_getscheduler(0);
    spin(clock, &s->measured);
    _exit(0);
}

/* All of them spin at the same time. */
static int take_turn(const struct hil_machine *p, const struct hil_clock *clock, struct spinner *s)
{
    int rc = 0;

    for (unsigned i = 0; i < p->executor_count; i++) {
        s[i].pid = rc ? -1 : fork();
        if (s[i].pid == 0)
            become_spinner(&p->executors[i], clock, &s[i]);
        if (s[i].pid < 0 && !rc)
            rc = -errno;
    }
    for (unsigned i = 0; i < p->executor_count; i++) {
        int status = 0;
        if (s[i].pid > 0)
            hil_reap(s[i].pid, 0, &status);
        if (status)
            rc = -ECHILD;
    }
    return rc;
}

/* After a failure it is not tried again. */
static void let_cyclictest(const struct hil_machine *p, struct spinner *s)
{
    for (unsigned i = 0; i < p->executor_count; i++) {
        struct hil_measured *m = &s[i].measured;
        if (!m->cyclictest_rc)
            m->cyclictest_rc = hil_cyclictest_begin(
                &s[i].cyclictest, m->cpu, m->policy == SCHED_OTHER ? 0 : p->executors[i].priority,
                TURN_MS);
    }
    for (unsigned i = 0; i < p->executor_count; i++) {
        struct hil_measured *m = &s[i].measured;
        if (!m->cyclictest_rc)
            m->cyclictest_rc =
                hil_cyclictest_end(&s[i].cyclictest, &m->cyclictest, m->cyclictest_why);
    }
}

/* Measured over the whole time, so that the kernel's resolution of 10 ms matters less. */
static void count_stolen(const struct hil_machine *p, struct spinner *s, double sign)
{
    for (unsigned i = 0; i < p->executor_count; i++) {
        struct hil_measured *m = &s[i].measured;
        double stolen = hil_stolen_s(p->root, m->cpu);
        m->stolen_s = stolen < 0 ? -1 : m->stolen_s + sign * stolen;
    }
}

/* Looks who else had the cores, from the beginning of the measurement. */
static void name_others(const struct hil_machine *p, struct hil_tracefs *fs, struct spinner *s)
{
    struct hil_kernel kernel = {0};

    hil_others_end(fs, &kernel);
    for (unsigned i = 0; i < p->executor_count; i++) {
        struct hil_measured *m = &s[i].measured;
        m->other_count =
            hil_others_find(&kernel, m->cpu, own_name, (struct hil_span){0, UINT64_MAX}, m->others);
    }
    hil_kernel_free(&kernel);
}

int hil_measure(const struct hil_machine *p, unsigned seconds, struct hil_measured *measured)
{
    size_t size = p->executor_count * sizeof(struct spinner);
    struct spinner *s = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct hil_clock clock;
    struct hil_tracefs fs;
    struct hil_autogroup session;
    int rc = 0;

    if (s == MAP_FAILED)
        return -errno;
    hil_clock_calibrate(&clock);
    for (unsigned i = 0; i < p->executor_count; i++)
        s[i].measured.cpu = p->executors[i].cpu;
    count_stolen(p, s, -1);
    if (p->priority > 0)
        hil_autogroup_raise(&session); /* as for the real loops */
    const bool looks = hil_others_begin(&fs, p->executors, p->executor_count);
    for (unsigned turn = 0; !rc && turn < seconds; turn++) {
        rc = take_turn(p, &clock, s);
        if (!rc)
            let_cyclictest(p, s);
    }
    if (p->priority > 0)
        hil_autogroup_put_back(&session);
    if (looks)
        name_others(p, &fs, s);
    count_stolen(p, s, 1);
    for (unsigned i = 0; i < p->executor_count; i++)
        measured[i] = s[i].measured;
    munmap(s, size);
    return rc;
}

/* Losing more than this share of its time is serious for a loop. */
static const double LOST_SERIOUS = 0.01;

static double lost_share(const struct hil_measured *m)
{
    return m->spun_ns ? (double)m->loop.lost_ns / (double)m->spun_ns : 0;
}

void hil_judge_gaps(const struct hil_machine *p, const struct hil_measured *measured,
                    struct hil_finding *f)
{
    const struct hil_measured *worst = &measured[0];
    uint64_t largest = 0;

    for (unsigned i = 0; i < p->executor_count; i++) {
        if (lost_share(&measured[i]) > lost_share(worst))
            worst = &measured[i];
        if (measured[i].loop.largest[0] > largest)
            largest = measured[i].loop.largest[0];
    }
    *f = (struct hil_finding){.name = "gaps",
                              .why = "A gap longer than a period is a missed deadline."};
    char longest[24];
    double period_us = (double)p->period_ns * 1e-3;
    hil_time_text(largest, longest, sizeof longest);
    if (lost_share(worst) > LOST_SERIOUS)
        hil_found(f, HIL_SERIOUS,
                  "a loop did not have its core for %.2g %% of the time; the longest gap was %s",
                  100 * lost_share(worst), longest);
    else if (largest > p->period_ns)
        hil_found(f, HIL_WARNING, "the longest gap, %s, exceeds the shortest period, %g us",
                  longest, period_us);
    else
        hil_found(f, HIL_FINE, "the longest gap, %s, is within the shortest period, %g us", longest,
                  period_us);
    if (f->severity != HIL_FINE)
        hil_advice(f, "Fix the findings above, and measure again.");
}
