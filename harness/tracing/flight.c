#include "flight.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/reap.h"
#include "../run/clock.h"
#include "../run/loop_cores.h"

/* What follows the reason is saved, too. */
static const uint64_t AFTER_NS = 100000000;

static const char MISS[] = "miss";
static const uint64_t FIRST_PAUSE_NS = 2000000000;

static struct hil_flight_seen look(const struct hil_flight *f, unsigned asked)
{
    const struct hil_state *state = f->state;
    struct hil_flight_seen seen = {.asked = asked};

    for (unsigned i = 0; i < state->node_count; i++)
        seen.missed += hil_missed(&state->nodes[i]);
    for (unsigned i = 0; i < f->scenario->system->here_count; i++)
        seen.faults += atomic_load_explicit(&state->faults[i].begun, memory_order_relaxed);
    for (unsigned i = 0; i < state->executor_count; i++)
        seen.failures +=
            atomic_load_explicit(&state->executors[i].failures.count, memory_order_relaxed);
    return seen;
}

/* Why to save now; NULL: no reason. */
static const char *find_reason(struct hil_flight *f, const struct hil_flight_seen *now,
                               uint64_t now_ns)
{
    const struct hil_flight_seen *before = &f->seen;

    if (now->asked != before->asked)
        return "asked";
    if (now->failures != before->failures)
        return "failure";
    if (now->faults != before->faults)
        return "fault";
    if (now->missed == before->missed || now_ns < f->no_miss_ns)
        return NULL;
    f->pause_ns = f->pause_ns ? 2 * f->pause_ns : FIRST_PAUSE_NS;
    f->no_miss_ns = now_ns + f->pause_ns;
    return MISS;
}

static void begin(struct hil_flight *f)
{
    const pid_t parent = getpid();

    f->asked_by_saver = f->seen.asked;
    f->saver = fork();
    if (f->saver == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        hil_leave_loops_cores(f->scenario);
        setpriority(PRIO_PROCESS, 0, HIL_TRACING_NICE);
        _exit(hil_session_save(f->session, f->why) != 0);
    }
    f->saver = f->saver < 0 ? 0 : f->saver;
    f->save_ns = 0;
}

static void tell(struct hil_flight *f)
{
    atomic_fetch_add(&f->state->saved, f->untold);
    f->untold = 0;
}

/* A saver that failed has said why. Who asked meanwhile waits for the next one, which has the
 * events up to then: until it is done nobody hears of this one. */
static void is_done(struct hil_flight *f, unsigned asked)
{
    f->saver = 0;
    f->untold++;
    if (f->asked_by_saver == asked)
        tell(f);
}

void hil_flight_look(struct hil_flight *f, unsigned asked)
{
    const uint64_t now_ns = hil_clock_monotonic();
    int status;

    if (!f->session)
        return;
    if (f->saver && hil_reap(f->saver, WNOHANG, &status))
        is_done(f, asked);
    const struct hil_flight_seen now = look(f, asked);
    const char *why = find_reason(f, &now, now_ns);
    if (why && (!f->save_ns || strcmp(f->why, MISS) == 0)) { /* every other reason says more */
        f->why = why;
        f->save_ns = now_ns + AFTER_NS;
    }
    f->seen = now;
    if (f->save_ns && f->save_ns <= now_ns && !f->saver)
        begin(f);
}

void hil_flight_end(struct hil_flight *f)
{
    int status;

    if (f->saver && hil_reap(f->saver, 0, &status))
        is_done(f, f->asked_by_saver);
    if (f->untold)
        tell(f);
}
