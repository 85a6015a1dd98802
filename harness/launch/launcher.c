#include "launcher.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "../record/recorder.h"
#include "../run/node_name.h"
#include "../run/real_time.h"
#include "../run/virtual_time.h"
#include "../tracing/cores.h"
#include "../tracing/provider.h"
#include "../tracing/session.h"
#include "kept.h"
#include "meeting.h"
#include "open_files.h"
#include "progress.h"
#include "pulse.h"
#include "results.h"

/* Each look takes a loop in real time off its core for a moment. */
static const struct timespec WATCH = {.tv_nsec = 20000000};

/* How long those that were told to end may take: who runs, and who has not come to that yet. */
enum { PATIENCE_TURNS = 250, STARTING_PATIENCE_TURNS = 25 };

struct launcher {
    const struct hil_launch *launch;
    const struct hil_scenario *scenario;
    struct hil_run run;
    struct hil_clock clock;
    char run_directory[HIL_PLACE_SIZE];
    unsigned char secret[32]; /* of a run whose nodes are all started here */
    struct hil_kept kept;
    int place;                   /* run_directory, held; -1: not this run's own */
    struct hil_session *session; /* NULL: not traced */
    struct hil_traced traced;
    pid_t *children; /* by executor; 0: ended */
    struct hil_pulse *pulses;
    bool *cut_short; /* by executor: killed, for it did not end when it was told to */
    unsigned alive;
    bool failed;
    bool refused;             /* for another scenario than other nodes' */
    bool warned;              /* of a stale input */
    unsigned *faults_told;    /* by executor */
    unsigned writer_restarts; /* of which was warned */
};

/* --- signals ------------------------------------------------------------------------------- */

static volatile sig_atomic_t caught; /* the first */

static void on_signal(int signal)
{
    if (!caught)
        caught = signal;
}

void hil_catch_signals(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};
    const struct sigaction action = {.sa_handler = on_signal};
    struct sigaction before;

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (sigaction(ends[i], &action, &before) == 0 && ends[i] == SIGHUP &&
            before.sa_handler == SIG_IGN)
            sigaction(SIGHUP, &before, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error like others */
}

int hil_signal_status(void)
{
    const int signal = caught;

    return signal == 0         ? 0
           : signal == SIGHUP  ? HIL_EXIT_HUNG_UP
           : signal == SIGQUIT ? HIL_EXIT_QUIT
                               : HIL_EXIT_INTERRUPTED;
}

/* --- messages ------------------------------------------------------------------------------ */

/* Whether a process of the run has said the same before. */
static bool was_said(struct hil_state *state, const char *text)
{
    uint64_t hash = XXH3_64bits(text, strlen(text));

    for (int i = 0; i < HIL_SAID_MAX; i++) {
        uint64_t empty = 0;
        if (atomic_compare_exchange_strong(&state->said[i], &empty, hash))
            return false;
        if (empty == hash)
            return true;
    }
    return false;
}

static void log_line(void *arg, enum loco_level level, const char *text)
{
    const struct launcher *l = arg;

    if (level == LOCO_ERROR || !(l->launch->keep_quiet || was_said(l->run.state, text)))
        fprintf(stderr, "%s: %s\n", level == LOCO_ERROR ? "error" : "warning", text);
}

/* --- before -------------------------------------------------------------------------------- */

/* A spinning loop needs its core; two on one core would each wait for what the other does. */
static int check_cores(const struct hil_scenario *s)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (s->mode == HIL_VIRTUAL)
        return 0;
    if ((long)s->executor_count > cores) {
        fprintf(stderr,
                "%s: real time needs a core for each executor: %u executors, %ld cores. Place more "
                "nodes on one executor, or run in virtual time (--mode virtual)\n",
                s->name, s->executor_count, cores);
        return -EINVAL;
    }
    for (unsigned i = 0; i < s->executor_count; i++)
        for (unsigned k = 0; k < i; k++)
            if (s->executors[i].cpu >= 0 && s->executors[i].cpu == s->executors[k].cpu) {
                fprintf(stderr,
                        "%s: two executors are placed on cpu %d, and each needs a core of its own. "
                        "Move one, or run in virtual time (--mode virtual)\n",
                        s->name, s->executors[i].cpu);
                return -EINVAL;
            }
    return 0;
}

/* Where the nodes meet, and by what they know each other. */
static int prepare_meeting(struct launcher *l)
{
    const char *place = l->launch->run_directory;

    if (place) {
        l->run.secret = l->launch->secret;
        snprintf(l->run_directory, sizeof l->run_directory, "%s", place);
        return 0;
    }
    l->run.secret = (struct loco_secret){l->secret, sizeof l->secret};
    int rc = hil_secret_new(l->secret, sizeof l->secret);
    if (rc || l->scenario->fabric != HIL_FABRIC_SHM)
        return rc;
    l->place = hil_meeting_make(l->run_directory);
    if (l->place >= 0)
        return 0;
    fprintf(stderr, "nodes need a folder to meet: %s: %s\n", l->run_directory, strerror(-l->place));
    return l->place;
}

static void remove_run_directory(struct launcher *l)
{
    if (l->place < 0)
        return;
    hil_meeting_remove(l->run_directory);
    close(l->place);
    l->place = -1;
}

static int open_state(struct launcher *l)
{
    int rc = hil_state_open(&l->run.state, l->scenario);

    if (!rc && !l->launch->discard && !realpath(l->kept.out, l->run.state->card.results))
        rc = -errno;
    return rc;
}

/* --- the trace -------------------------------------------------------------------------------- */

static bool is_traced(const struct launcher *l)
{
    return l->scenario->trace.enable && l->scenario->mode == HIL_REALTIME;
}

static int open_trace(struct launcher *l)
{
    if (l->scenario->trace.enable && !is_traced(l) && !l->launch->keep_quiet)
        fprintf(stderr, "warning: virtual time is not traced: its steps take no time\n");
    if (!is_traced(l) || l->launch->discard)
        return 0;
    return hil_session_open(&l->session, l->scenario, l->kept.out);
}

/* Where nodes of other launchers take part, their processes are traced as well. */
static int start_trace(struct launcher *l)
{
    unsigned count = l->launch->run_directory ? 0 : l->scenario->executor_count;

    return l->session ? hil_session_start(l->session, l->children, count) : 0;
}

static int stop_trace(struct launcher *l)
{
    return l->session ? hil_session_stop(l->session, &l->traced) : 0;
}

/* Also for a session that the user has made. */
static void load_provider(const struct launcher *l, unsigned index)
{
    char *degraded = l->run.state->executors[index].degraded, why[256];
    cpu_set_t all;

    if (!is_traced(l) && !hil_provider_wanted())
        return;
    sched_getaffinity(0, sizeof all, &all);
    hil_leave_loops_cores(l->scenario); /* for the threads that it starts */
    int rc = hil_provider_load(why, sizeof why);
    sched_setaffinity(0, sizeof all, &all);
    if (rc)
        snprintf(degraded, sizeof l->run.state->executors[index].degraded, "not traced: %s\n", why);
}

/* --- the children --------------------------------------------------------------------------- */

/* What ps and top call it, in 15 letters, by the first array that it has nodes of:
 * "hl-controller", "hl-convert-0-19". */
static void name_process(const struct hil_executor_config *e, const struct hil_scenario *s)
{
    const struct hil_node_config *nodes = s->system->nodes;
    const struct hil_instance *first = &nodes[e->nodes[0]].is, *last = first;
    char name[48] = "hl-virtual", range[24] = "";

    for (unsigned i = 1; i < e->count && nodes[e->nodes[i]].array == nodes[e->nodes[0]].array; i++)
        last = &nodes[e->nodes[i]].is;
    if (first->of)
        snprintf(range, sizeof range, first == last ? "-%u" : "-%u-%u", first->index, last->index);
    const int room = 15 - (int)strlen("hl-") - (int)strlen(range);
    if (s->mode == HIL_REALTIME)
        snprintf(name, sizeof name, "hl-%.*s%s", room > 0 ? room : 0, first->name, range);
    prctl(PR_SET_NAME, name);
}

/* The launcher stops its children, by the state; so what the terminal sends is not theirs. And when
 * it is killed they must not go on alone. */
static void become_child(pid_t parent)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(HIL_EXIT_FAILED);
}

static void child(struct launcher *l, unsigned index)
{
    close(l->run.state->file); /* it is by the launcher's that a run is found */
    name_process(&l->scenario->executors[index], l->scenario);
    while (!atomic_load(&l->run.state->go))
        nanosleep(&WATCH, NULL);
    l->run.executor = index;
    if (l->scenario->mode == HIL_REALTIME)
        load_provider(l, index);
    int rc =
        l->scenario->mode == HIL_VIRTUAL
            ? hil_virtual_run(&l->run)
            : hil_real_time_run(&l->run, index, &l->clock, l->run_directory, l->launch->wait_s);

    fflush(NULL);
    _exit(rc == -EPROTO ? HIL_EXIT_USAGE : rc ? HIL_EXIT_FAILED : HIL_EXIT_OK);
}

static unsigned process_count(const struct hil_scenario *s)
{
    return s->mode == HIL_VIRTUAL ? 1 : s->executor_count;
}

static int start_child(struct launcher *l, unsigned i)
{
    pid_t self = getpid();

    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0) {
        become_child(self);
        child(l, i);
    }
    l->children[i] = pid;
    l->pulses[i] = (struct hil_pulse){0};
    l->cut_short[i] = false;
    l->alive++;
    return 0;
}

static int start_children(struct launcher *l)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < process_count(l->scenario); i++)
        rc = start_child(l, i);
    return rc;
}

static bool is_a_crash(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
           signal == SIGABRT || signal == SIGTRAP || signal == SIGSYS;
}

/* What a component's code did to its process. */
static void end_in_words(const struct launcher *l, unsigned i, int status, char *text, size_t size)
{
    if (l->pulses[i].stopped)
        snprintf(text, size, "it did not return for %g s",
                 (double)l->scenario->hang_limit_ns * 1e-9);
    else if (l->cut_short[i])
        snprintf(text, size, "it had not returned at the end");
    else if (WIFSIGNALED(status))
        snprintf(text, size, "%s (SIG%s)",
                 is_a_crash(WTERMSIG(status)) ? "it crashed" : "its process was killed",
                 sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(text, size, "it ended its process (status %d)", WEXITSTATUS(status));
}

/* A process that ended in code that may do so: which component's that is, goes to the faults. */
static bool blame_component(struct launcher *l, unsigned i, int status, bool again)
{
    struct hil_executor_state *e = &l->run.state->executors[i];
    const uint32_t inside = atomic_load(&e->inside.component);
    char ended[HIL_SIGNAL_BYTES];

    if (!inside)
        return false;
    hil_inside_leave(&e->inside); /* another process may go on in its place */
    const struct hil_failing failing = {.component = &l->scenario->system->components[inside - 1],
                                        .step = e->inside.step,
                                        .time_ns = e->inside.time_ns,
                                        .ends = !again};
    end_in_words(l, i, status, ended, sizeof ended);
    hil_fault_add_ended(&e->faults, &failing, ended);
    return true;
}

/* Says why a child ended that should not have; of those that only lost a peer, nothing. */
static void explain_end(struct launcher *l, unsigned i, int status, bool again)
{
    const struct hil_executor_state *e = &l->run.state->executors[i];
    const bool starting = atomic_load(&e->stage) == HIL_STARTING;
    const bool done = atomic_load(&e->stage) == HIL_DONE; /* else it did not end by our code */
    char who[HIL_NODES_NAME_BYTES];

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && done)
        return;
    const bool blamed = blame_component(l, i, status, again);
    if (l->cut_short[i] && starting && !blamed)
        return;
    hil_executor_name(l->scenario, i, who);
    if (l->cut_short[i])
        fprintf(stderr, "%s (process %d) did not end when told to, and was killed\n", who,
                (int)l->children[i]);
    else if (l->pulses[i].stopped)
        fprintf(stderr, "%s (process %d) stood still for %g s, and was killed%s\n", who,
                (int)l->children[i], (double)l->scenario->hang_limit_ns * 1e-9,
                again ? "; started again" : "");
    else if (WIFSIGNALED(status))
        fprintf(stderr, "%s (process %d) was killed by SIG%s%s\n", who, (int)l->children[i],
                sigabbrev_np(WTERMSIG(status)),
                again      ? "; started again"
                : starting ? " before its loops ran"
                           : "");
    else if (blamed)
        fprintf(stderr, "%s (process %d) was ended%s\n", who, (int)l->children[i],
                again ? "; started again" : "");
    else if (!l->failed || !strstr(e->message, "lost"))
        fprintf(stderr, "%s failed: %s\n", who, e->message[0] ? e->message : "no message");
    l->failed |= !again;
    l->refused |= WIFEXITED(status) && WEXITSTATUS(status) == HIL_EXIT_USAGE && !blamed;
}

/* Nodes that were killed while they ran. One that dies before it runs would do so again. */
static bool may_restart(const struct launcher *l, unsigned i, int status)
{
    const struct hil_executor_config *e = &l->scenario->executors[i];

    return l->scenario->on_lost == HIL_RESTART && l->scenario->mode == HIL_REALTIME &&
           !hil_executor_has(e, 0) && WIFSIGNALED(status) && !caught && !l->failed &&
           atomic_load(&l->run.state->executors[i].stage) == HIL_RUNNING;
}

static void restart(struct launcher *l, unsigned i)
{
    atomic_store(&l->run.state->executors[i].stage, HIL_STARTING);
    int rc = start_child(l, i);
    if (!rc && l->session)
        rc = hil_session_track(l->session, l->children[i]);
    if (!rc)
        return;
    fprintf(stderr, "cannot start it again: %s\n", strerror(-rc));
    l->failed = true;
}

static void cut_short(struct launcher *l, unsigned i)
{
    l->cut_short[i] = true;
    kill(l->children[i], SIGKILL);
}

/* Who has not come to run yet has nothing to end in order. */
static void cut_short_who_lingers(struct launcher *l, unsigned turns)
{
    for (unsigned i = 0; i < process_count(l->scenario); i++) {
        bool starting = atomic_load(&l->run.state->executors[i].stage) == HIL_STARTING;
        if (l->children[i] && turns >= (starting ? STARTING_PATIENCE_TURNS : PATIENCE_TURNS))
            cut_short(l, i);
    }
}

/* When node 0 has come to its end, who is not back by then has nobody to meet. */
static void give_up_returns(struct launcher *l)
{
    const struct hil_executor_state *states = l->run.state->executors;
    bool over = false;

    for (unsigned i = 0; i < process_count(l->scenario); i++)
        over |= hil_executor_has(&l->scenario->executors[i], 0) &&
                atomic_load(&states[i].stage) == HIL_DONE;
    for (unsigned i = 0; over && i < process_count(l->scenario); i++) {
        if (!l->children[i] || atomic_load(&states[i].stage) != HIL_STARTING)
            continue;
        cut_short(l, i);
    }
}

static void reap(struct launcher *l)
{
    for (unsigned i = 0; i < process_count(l->scenario); i++) {
        int status;
        if (!l->children[i] || waitpid(l->children[i], &status, WNOHANG) <= 0)
            continue;
        bool again = may_restart(l, i, status);
        explain_end(l, i, status, again);
        l->children[i] = 0;
        l->alive--;
        if (again)
            restart(l, i);
    }
}

/* A process that is stopped, or does not come back from a model, ends by nothing else. */
static void kill_hung(struct launcher *l)
{
    const uint64_t looks = l->scenario->hang_limit_ns / (uint64_t)WATCH.tv_nsec;

    for (unsigned i = 0; looks && i < process_count(l->scenario); i++) {
        struct hil_executor_state *e = &l->run.state->executors[i];
        if (!l->children[i] || !hil_pulse_stops(&l->pulses[i], atomic_load(&e->heartbeat), looks))
            continue;
        e->hangs++;
        kill(l->children[i], SIGKILL);
    }
}

static bool all_run(const struct launcher *l)
{
    for (unsigned i = 0; i < process_count(l->scenario); i++)
        if (atomic_load(&l->run.state->executors[i].stage) == HIL_STARTING)
            return false;
    return true;
}

static void say_stale(const struct hil_stale *s, const char *link)
{
    const double found_s = (double)s->found_ns * 1e-9;

    if (s->from == s->to)
        fprintf(stderr, "warning: at %.6f s the input of %s was too old\n", found_s, link);
    else
        fprintf(stderr, "warning: at %.6f s the input %s was older than %g us\n", found_s, link,
                (double)s->limit_ns * 1e-3);
}

/* A peer that stands still is told when it is found, the first time. */
static void warn_of_stale(struct launcher *l)
{
    for (unsigned i = 0; !l->warned && i < process_count(l->scenario); i++) {
        const struct hil_stale_log *log = &l->run.state->executors[i].stale;
        char link[HIL_LINK_NAME_BYTES];
        if (!atomic_load_explicit(&log->count, memory_order_acquire))
            continue;
        l->warned = true;
        hil_link_name(l->scenario->system, log->at[0].from, log->at[0].to, link);
        if (!l->launch->keep_quiet)
            say_stale(&log->at[0], link);
    }
}

/* A component that fails in a run that goes on is told when it is found; what ends the run is the
 * executor's message. */
static void warn_of_faults(struct launcher *l)
{
    for (unsigned i = 0; i < process_count(l->scenario); i++) {
        const struct hil_fault_log *log = &l->run.state->executors[i].faults;
        for (; l->faults_told[i] < hil_faults_listed(log); l->faults_told[i]++) {
            const struct hil_fault *f = &log->at[l->faults_told[i]];
            char what[HIL_FAULT_WORDS_BYTES];
            hil_fault_say(f, what);
            if (f->ended[0])
                fprintf(stderr, "%s: %s\n", f->ends ? "error" : "warning", what);
            else if (!f->ends)
                fprintf(stderr, "warning: %s; the run goes on without it\n", what);
        }
    }
}

/* --- the record ------------------------------------------------------------------------------ */

static void warn_of_writers(struct launcher *l)
{
    const unsigned restarts = l->run.recorder ? hil_recorder_restarts(l->run.recorder) : 0;

    if (restarts > l->writer_restarts && !l->launch->keep_quiet)
        fprintf(stderr, "warning: %s/trace.h5: %s; another one goes on\n", l->kept.out,
                hil_kept_words(-EOWNERDEAD));
    l->writer_restarts = restarts;
}

/* Told when it happens, not at the end of hours. */
static void check_record(struct launcher *l)
{
    const bool ends = l->scenario->on_record_error == HIL_RECORD_END;
    const int rc = l->run.recorder ? hil_recorder_check(l->run.recorder) : 0;

    warn_of_writers(l);
    if (!rc || l->kept.record_rc)
        return;
    hil_kept_tell(&l->kept, rc, ends ? "; the run ends" : "; the run goes on unrecorded", stderr);
    if (ends)
        atomic_store(&l->run.state->stop, true);
}

/* Until all have ended: by themselves, told to, or made to. */
static void watch(struct launcher *l)
{
    struct hil_progress_bar bar;
    unsigned turns = 0; /* since all were told to end */

    hil_progress_begin(&bar, l->scenario, l->run.state, !l->launch->keep_quiet);
    while (l->alive > 0) {
        nanosleep(&WATCH, NULL);
        if (caught || l->failed)
            atomic_store(&l->run.state->stop, true);
        if (atomic_load(&l->run.state->stop))
            cut_short_who_lingers(l, ++turns);
        hil_progress_show(&bar);
        warn_of_stale(l);
        warn_of_faults(l);
        kill_hung(l);
        check_record(l);
        if (l->scenario->on_lost == HIL_RESTART)
            give_up_returns(l);
        reap(l);
        if (l->scenario->on_lost != HIL_RESTART && all_run(l))
            remove_run_directory(l); /* nobody comes any more, and so no death can leave it */
    }
    warn_of_faults(l);
    hil_progress_end(&bar);
}

/* --- after ----------------------------------------------------------------------------------- */

static int finish_results(struct launcher *l, struct hil_conclusion *conclusion, bool failed)
{
    struct hil_summary summary;

    l->kept.traced = l->session ? &l->traced : NULL;
    const int rc =
        hil_kept_finish(&l->kept, failed || l->failed || caught, &summary, conclusion, stderr);
    if (!l->launch->keep_quiet)
        hil_summary_print(&summary, stdout);
    return rc;
}

/* The launcher was killed, and its executors with it. */
static void end_inherited(void *launcher)
{
    remove_run_directory(launcher);
}

/* What a run that came to its end is worth. One that says nothing else says why it fails. */
static int status_of(const struct launcher *l, const struct hil_conclusion *outcome)
{
    const enum hil_outcome o = outcome->judgement.outcome;

    if (o == HIL_OUTCOME_PASSED)
        return HIL_EXIT_OK;
    if (l->launch->keep_quiet && !outcome->judgement.believed)
        hil_validity_print(&outcome->verdict, stderr);
    else if (l->launch->keep_quiet)
        hil_judgement_print(&outcome->judgement, stderr);
    return o == HIL_OUTCOME_FAILED ? HIL_EXIT_LIMIT : HIL_EXIT_INVALID;
}

static int run(struct launcher *l)
{
    struct hil_conclusion outcome = {0};

    if (l->scenario->mode == HIL_REALTIME)
        hil_clock_calibrate(&l->clock);
    int rc = start_children(l); /* first: they would not have the recorder's thread */
    if (!rc && l->run.recorder)
        rc = hil_recorder_start(l->run.recorder);
    if (!rc)
        rc = start_trace(l);
    if (rc) {
        fprintf(stderr, "%s: %s\n", l->scenario->name, strerror(-rc));
        l->failed = true;
    }
    atomic_store(&l->run.state->go, true);
    watch(l);
    rc = stop_trace(l);
    const bool failed = finish_results(l, &outcome, rc) || l->failed || rc;
    const int status = failed   ? (l->refused ? HIL_EXIT_USAGE : HIL_EXIT_FAILED)
                       : caught ? hil_signal_status()
                                : status_of(l, &outcome);
    hil_judgement_free(&outcome.judgement);
    return status;
}

int hil_results_status(int rc)
{
    return rc == -EBUSY || rc == -ENOTEMPTY ? HIL_EXIT_USAGE : HIL_EXIT_FAILED;
}

int hil_launch(const struct hil_launch *launch)
{
    const struct hil_scenario *s = launch->scenario;
    struct launcher l = {.launch = launch, .scenario = s, .place = -1};
    int status = HIL_EXIT_FAILED;

    if (check_cores(s) || hil_open_files_raise(s, stderr))
        return HIL_EXIT_USAGE;
    hil_catch_signals();
    l.run =
        (struct hil_run){.scenario = s, .place = l.run_directory, .log = log_line, .log_arg = &l};
    l.kept = (struct hil_kept){.run = &l.run,
                               .killed = "the launcher was killed",
                               .inherited = end_inherited,
                               .arg = &l,
                               .folder = -1};
    int rc = launch->discard ? 0 : hil_kept_open(&l.kept, launch->out, stderr);
    if (rc)
        return hil_results_status(rc);
    if (launch->where)
        snprintf(launch->where, launch->where_size, "%s", l.kept.out);
    l.children = calloc(s->executor_count, sizeof *l.children);
    l.pulses = calloc(s->executor_count, sizeof *l.pulses);
    l.cut_short = calloc(s->executor_count, sizeof *l.cut_short);
    l.faults_told = calloc(s->executor_count, sizeof *l.faults_told);
    rc = l.children && l.pulses && l.cut_short && l.faults_told ? open_state(&l) : -ENOMEM;
    if (!rc)
        rc = hil_kept_record(&l.kept);
    if (!rc)
        rc = prepare_meeting(&l);
    if (!rc)
        rc = open_trace(&l);
    if (rc)
        fprintf(stderr, "%s: %s\n", s->name, strerror(-rc));
    else
        status = run(&l);
    if (l.run.state) {
        atomic_store(&l.run.state->ended, 1 + (uint32_t)status);
        remove_run_directory(&l);
    }
    hil_session_close(l.session);
    hil_kept_close(&l.kept);
    hil_state_close(l.run.state);
    free(l.children);
    free(l.pulses);
    free(l.cut_short);
    free(l.faults_told);
    return status;
}
