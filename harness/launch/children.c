#include "children.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/pulse.h"
#include "../base/reap.h"
#include "../run/node_name.h"

/* How long processes may take to end when told to: running ones after their ramps, those that are
 * still starting, and those that only wait for the others. */
enum { PATIENCE_LOOKS = 250, STARTING_PATIENCE_LOOKS = 25, DONE_PATIENCE_LOOKS = 600 };

struct hil_child {
    struct hil_pulse pulse;
    bool cut_short; /* killed because it did not end when told to */
};

/* For a ramp, or the step that ends it. */
static uint64_t children_ramp_looks(const struct hil_scenario *s)
{
    uint64_t longest = s->stop_ramp_ns;

    for (unsigned i = 0; s->stop_ramp_ns && i < s->system->node_count; i++)
        if (s->system->nodes[i].timing.period_ns > longest)
            longest = s->system->nodes[i].timing.period_ns;
    return longest / HIL_LOOK_NS;
}

int hil_children_open(struct hil_children *c, const struct hil_process *process)
{
    const unsigned count = hil_process_count(process->run->scenario);

    *c = (struct hil_children){.process = *process,
                               .count = count,
                               .ramp_looks = children_ramp_looks(process->run->scenario)};
    c->pids = calloc(count, sizeof *c->pids);
    c->are = calloc(count, sizeof *c->are);
    return c->pids && c->are ? 0 : -ENOMEM;
}

void hil_children_close(struct hil_children *c)
{
    free(c->pids);
    free(c->are);
}

static int children_start_one(struct hil_children *c, unsigned i)
{
    const pid_t self = getpid();

    fflush(NULL);
    const pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0)
        hil_process_run(&c->process, i, self);
    c->pids[i] = pid;
    c->are[i] = (struct hil_child){0};
    c->alive++;
    return 0;
}

int hil_children_start(struct hil_children *c)
{
    int rc = 0;

    if (c->process.run->scenario->mode == HIL_REALTIME)
        hil_clock_calibrate(&c->process.clock);
    for (unsigned i = 0; !rc && i < c->count; i++)
        rc = children_start_one(c, i);
    return rc;
}

static bool children_is_a_crash(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
           signal == SIGABRT || signal == SIGTRAP || signal == SIGSYS;
}

/* Describes what a component's code did to its process. */
static void children_end_in_words(const struct hil_children *c, unsigned i, int status, char *text,
                                  size_t size)
{
    const struct hil_scenario *s = c->process.run->scenario;

    if (c->are[i].pulse.stopped)
        snprintf(text, size, "it did not return for %g s", (double)s->hang_limit_ns * 1e-9);
    else if (c->are[i].cut_short)
        snprintf(text, size, "it had not returned at the end");
    else if (WIFSIGNALED(status))
        snprintf(text, size, "%s (SIG%s)",
                 children_is_a_crash(WTERMSIG(status)) ? "it crashed" : "its process was killed",
                 sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(text, size, "it ended its process (status %d)", WEXITSTATUS(status));
}

/* If a process ended inside a component's code, records the component as the cause of the
 * failure. */
static bool children_blame_component(struct hil_children *c, unsigned i, int status, bool again)
{
    const struct hil_scenario *s = c->process.run->scenario;
    struct hil_state *state = c->process.run->state;
    struct hil_executor_state *e = &state->executors[i];
    const uint32_t inside = atomic_load(&e->inside.component);
    char ended[HIL_SIGNAL_BYTES];

    if (!inside)
        return false;
    hil_inside_leave(&e->inside); /* another process may take its place */
    const struct hil_failing failing = {.component = &s->system->components[inside - 1],
                                        .step = e->inside.step,
                                        .time_ns = e->inside.time_ns,
                                        .ends = !again};
    children_end_in_words(c, i, status, ended, sizeof ended);
    hil_failure_add_ended(&e->failures, &failing, ended);
    return true;
}

/* Says why a child ended unexpectedly. Says nothing about children that only lost a peer. */
static void children_explain_end(struct hil_children *c, unsigned i, int status, bool again)
{
    const struct hil_scenario *s = c->process.run->scenario;
    struct hil_state *state = c->process.run->state;
    const struct hil_executor_state *e = &state->executors[i];
    const bool starting = atomic_load(&e->stage) == HIL_STARTING;
    const bool done = atomic_load(&e->stage) == HIL_DONE; /* otherwise it was not our code that
                                                           * ended it */
    char who[HIL_NODES_NAME_BYTES];

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && done)
        return;
    const bool blamed = children_blame_component(c, i, status, again);
    if (c->are[i].cut_short && starting && !blamed)
        return;
    hil_executor_name(s, i, who);
    if (c->are[i].cut_short)
        fprintf(stderr, "%s (process %d) did not end when asked to, and was killed\n", who,
                (int)c->pids[i]);
    else if (c->are[i].pulse.stopped)
        fprintf(stderr, "%s (process %d) stood still for %g s, and was killed%s\n", who,
                (int)c->pids[i], (double)s->hang_limit_ns * 1e-9, again ? "; started again" : "");
    else if (WIFSIGNALED(status))
        fprintf(stderr, "%s (process %d) was killed by SIG%s%s\n", who, (int)c->pids[i],
                sigabbrev_np(WTERMSIG(status)),
                again      ? "; started again"
                : starting ? " before its loops ran"
                           : "");
    else if (blamed)
        fprintf(stderr, "%s (process %d) was ended%s\n", who, (int)c->pids[i],
                again ? "; started again" : "");
    else if (!c->failed || !strstr(e->message, "lost"))
        fprintf(stderr, "%s failed: %s\n", who, e->message[0] ? e->message : "no message");
    c->failed |= !again;
    c->refused |= WIFEXITED(status) && WEXITSTATUS(status) == HIL_EXIT_USAGE && !blamed;
}

/* Only nodes that were killed while they ran are restarted. A node that dies before it runs would
 * do so again. */
static bool children_may_restart(const struct hil_children *c, unsigned i, int status)
{
    const struct hil_scenario *s = c->process.run->scenario;
    struct hil_state *state = c->process.run->state;
    const struct hil_executor_config *e = &s->executors[i];

    return s->on_lost == HIL_RESTART && s->mode == HIL_REALTIME && !hil_executor_has(e, 0) &&
           WIFSIGNALED(status) && !hil_signal_status() && !c->failed &&
           atomic_load(&state->executors[i].stage) == HIL_RUNNING;
}

static void children_restart(struct hil_children *c, unsigned i)
{
    struct hil_state *state = c->process.run->state;

    atomic_store(&state->executors[i].stage, HIL_STARTING);
    int rc = children_start_one(c, i);
    if (!rc && c->session)
        rc = hil_session_track(c->session, c->pids[i]);
    if (!rc)
        return;
    fprintf(stderr, "cannot start it again: %s\n", strerror(-rc));
    c->failed = true;
}

static void children_cut_short(struct hil_children *c, unsigned i)
{
    c->are[i].cut_short = true;
    kill(c->pids[i], SIGKILL);
}

static uint64_t children_patience(const struct hil_children *c, unsigned i)
{
    const uint32_t stage = atomic_load(&c->process.run->state->executors[i].stage);

    if (stage == HIL_STARTING)
        return STARTING_PATIENCE_LOOKS;
    return (stage == HIL_DONE ? DONE_PATIENCE_LOOKS : PATIENCE_LOOKS) + c->ramp_looks;
}

/* Kills processes that do not end in time. A process that is still starting has nothing to clean
 * up. The death of one that others wait for ends their wait. */
static void children_cut_short_who_lingers(struct hil_children *c, unsigned looks)
{
    for (unsigned i = 0; i < c->count; i++)
        if (c->pids[i] && looks >= children_patience(c, i))
            children_cut_short(c, i);
}

/* Once node 0 has ended, a process that has not come back by then has nobody to meet. */
static void children_give_up_returns(struct hil_children *c)
{
    const struct hil_scenario *s = c->process.run->scenario;
    struct hil_state *state = c->process.run->state;
    const struct hil_executor_state *states = state->executors;
    bool over = false;

    for (unsigned i = 0; i < c->count; i++)
        over |= hil_executor_has(&s->executors[i], 0) && atomic_load(&states[i].stage) == HIL_DONE;
    for (unsigned i = 0; over && i < c->count; i++) {
        if (!c->pids[i] || atomic_load(&states[i].stage) != HIL_STARTING)
            continue;
        children_cut_short(c, i);
    }
}

static void children_reap(struct hil_children *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        int status;
        if (!c->pids[i] || !hil_reap(c->pids[i], WNOHANG, &status))
            continue;
        bool again = children_may_restart(c, i, status);
        children_explain_end(c, i, status, again);
        c->pids[i] = 0;
        c->alive--;
        if (again)
            children_restart(c, i);
    }
}

/* Kills hung processes: one that is stopped, or does not return from a model, ends in no other
 * way. */
static void children_kill_hung(struct hil_children *c)
{
    const struct hil_scenario *s = c->process.run->scenario;
    struct hil_state *state = c->process.run->state;
    const uint64_t looks = s->hang_limit_ns / HIL_LOOK_NS;

    for (unsigned i = 0; looks && !c->held_up && i < c->count; i++) {
        struct hil_executor_state *e = &state->executors[i];
        if (!c->pids[i] || !hil_pulse_stops(&c->are[i].pulse, atomic_load(&e->heartbeat), looks))
            continue;
        e->hangs++;
        kill(c->pids[i], SIGKILL);
    }
}

bool hil_children_all_run(const struct hil_children *c)
{
    struct hil_state *state = c->process.run->state;

    for (unsigned i = 0; i < c->count; i++)
        if (atomic_load(&state->executors[i].stage) == HIL_STARTING)
            return false;
    return true;
}

void hil_children_look(struct hil_children *c)
{
    const struct hil_run *run = c->process.run;

    if (atomic_load(&run->state->stop))
        children_cut_short_who_lingers(c, ++c->looks_since_stop);
    children_kill_hung(c);
    if (run->scenario->on_lost == HIL_RESTART)
        children_give_up_returns(c);
    children_reap(c);
}
