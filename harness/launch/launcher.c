#include "launcher.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base/cpus.h"
#include "../base/pulse.h"
#include "../record/recorder.h"
#include "../run/privileges.h"
#include "../tracing/flight.h"
#include "../tracing/others.h"
#include "children.h"
#include "meeting.h"
#include "open_files.h"
#include "progress.h"
#include "rendezvous.h"
#include "results.h"
#include "results_writer.h"
#include "secret.h"
#include "tuning_server.h"
#include "warnings.h"

struct launcher {
    const struct hil_launch *launch;
    const struct hil_scenario *scenario;
    struct hil_run run;
    char run_directory[HIL_PLACE_SIZE];
    unsigned char secret[32]; /* for a run whose nodes are all started here */
    struct hil_results_writer kept;
    struct hil_rendezvous *rendezvous; /* NULL: the scenario has the addresses of the nodes */
    int place;                         /* descriptor that holds run_directory; -1: it is not this
                                        * run's own */
    struct hil_traced traced;
    struct hil_flight flight;
    struct hil_children children;
    struct hil_warnings warnings;
    struct hil_tuning_server *tuning; /* NULL: the run cannot be tuned */
    bool failed;                      /* a child failed, or something that the loops depend on */
    unsigned writer_restarts;         /* number of restarts already reported */
    unsigned writers_hung;            /* of these, writers that stood still */
    uint64_t record_waits;            /* at the last look */
};

/* --- before -------------------------------------------------------------------------------- */

/* Names the threads that need a core each. */
static const char *core_users(const struct hil_scenario *s)
{
    return hil_thread_count(s) == s->executor_count ? "executors" : "executors or shards";
}

/* A spinning loop needs its own core: two loops on one core would block each other. */
static int check_pins(const struct hil_scenario *s)
{
    cpu_set_t taken;

    CPU_ZERO(&taken);
    for (unsigned i = 0; i < s->executor_count; i++)
        for (unsigned k = 0; k < hil_executor_threads(&s->executors[i]); k++) {
            const int cpu = hil_executor_cpu(&s->executors[i], k);
            if (cpu < 0)
                continue;
            if (CPU_ISSET((unsigned)cpu, &taken)) {
                fprintf(stderr,
                        "%s: two %s are placed on cpu %d, and each needs a core of its own. Move "
                        "one, or run in virtual time (--mode virtual)\n",
                        s->name, core_users(s), cpu);
                return -EINVAL;
            }
            CPU_SET((unsigned)cpu, &taken);
        }
    return 0;
}

static int check_cores(const struct hil_scenario *s)
{
    const unsigned threads = hil_thread_count(s), further = threads - s->executor_count;
    cpu_set_t cpus;

    if (s->mode == HIL_VIRTUAL)
        return 0;
    hil_cpus_allowed(&cpus);
    const unsigned cores = (unsigned)CPU_COUNT(&cpus);
    if (threads <= cores)
        return check_pins(s);
    if (further == 0)
        fprintf(stderr,
                "%s: real time needs a core for each executor: %u executors, %u cores. Place more "
                "nodes on one executor, or run in virtual time (--mode virtual)\n",
                s->name, s->executor_count, cores);
    else
        fprintf(stderr,
                "%s: real time needs a core for each executor and each further shard: %u "
                "executors, %u further shard%s, %u cores. Split nodes into fewer shards, "
                "place more nodes on one executor, or run in virtual time (--mode virtual)\n",
                s->name, s->executor_count, further, further == 1 ? "" : "s", cores);
    return -EINVAL;
}

/* Determines where the nodes meet, and the secret by which they recognize each other. */
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

static void say_of_rendezvous(void *launcher, const char *line)
{
    const struct launcher *l = launcher;

    if (!l->launch->keep_quiet)
        fprintf(stderr, "warning: %s\n", line);
}

/* Meets the others before creating anything that a failure would leave behind. Returns an exit
 * status. */
static int meet(struct launcher *l)
{
    const struct hil_rendezvous_config config = {.scenario = l->scenario,
                                                 .secret = l->launch->secret,
                                                 .wait_s = l->launch->wait_s,
                                                 .say = say_of_rendezvous,
                                                 .arg = l};
    char why[HIL_RENDEZVOUS_WHY];

    if (!hil_has_addresses(l->scenario) || !l->scenario->rendezvous.host[0])
        return HIL_EXIT_OK;
    int rc = hil_rendezvous_meet(&l->rendezvous, &config, why);
    if (!rc && (rc = hil_rendezvous_serve(l->rendezvous)))
        snprintf(why, sizeof why, "%s", strerror(-rc));
    if (!rc && hil_rendezvous_clock(l->rendezvous, &l->run.first_clock))
        say_of_rendezvous(l, "the first node's machine does not send its time");
    if (rc == -EINTR)
        return hil_signal_status();
    if (rc)
        fprintf(stderr, "%s: %s\n", l->scenario->name, why);
    return rc == -EPROTO || rc == -EEXIST ? HIL_EXIT_USAGE : rc ? HIL_EXIT_FAILED : HIL_EXIT_OK;
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

    if (!rc)
        strcpy(l->run.state->card.tuning, hil_tuning_server_name(l->tuning));
    if (!rc && !l->launch->discard && !realpath(l->kept.out, l->run.state->card.results))
        rc = -errno;
    return rc;
}

/* --- the trace -------------------------------------------------------------------------------- */

static void open_flight(struct launcher *l)
{
    l->flight = (struct hil_flight){
        .session = l->children.session, .scenario = l->scenario, .state = l->run.state};
    hil_catch_saves();
    l->run.state->card.saves = 1;
}

static int open_trace(struct launcher *l)
{
    if (l->scenario->trace.enable && !hil_session_wanted(l->scenario) && !l->launch->keep_quiet)
        fprintf(stderr, "warning: virtual time is not traced: its steps take no time\n");
    if (!hil_session_wanted(l->scenario) || l->launch->discard)
        return 0;
    int rc =
        hil_session_open(&l->children.session, l->scenario, l->kept.out, l->launch->run_directory);
    if (!rc && l->scenario->trace.keep == HIL_KEEP_RECENT)
        open_flight(l);
    return rc;
}

/* If nodes of other launchers take part, their processes are traced as well, and it is not known
 * which these are. */
static int start_trace(struct launcher *l)
{
    unsigned count = l->launch->run_directory ? 0 : l->scenario->executor_count;

    return l->children.session ? hil_session_start(l->children.session, l->children.pids, count)
                               : 0;
}

static int stop_trace(struct launcher *l)
{
    if (!l->children.session)
        return 0;
    hil_flight_end(&l->flight);
    const int rc = hil_session_stop(l->children.session, &l->traced);
    l->traced.saved = atomic_load(&l->run.state->saved) + 1;
    return rc;
}

/* --- the record ------------------------------------------------------------------------------ */

static void warn_of_writers(struct launcher *l)
{
    const unsigned restarts = hil_recorder_restarts(l->run.recorder);
    const unsigned hung = hil_recorder_hung(l->run.recorder);

    if (hung > l->writers_hung && !l->launch->keep_quiet)
        fprintf(
            stderr,
            "warning: %s/trace.h5: the process that writes it (hl-record) stood still for %g s\n",
            l->kept.out, (double)l->scenario->hang_limit_ns * 1e-9);
    if (restarts > l->writer_restarts && !l->launch->keep_quiet)
        fprintf(stderr, "warning: %s/trace.h5: %s; another process continues\n", l->kept.out,
                hil_results_writer_words(-EOWNERDEAD));
    l->writer_restarts = restarts;
    l->writers_hung = hung;
}

/* Processes that wait for the writer do not hang. */
static void see_who_waits(struct launcher *l)
{
    const uint64_t waits = hil_recorder_waits(l->run.recorder);

    l->children.held_up = waits != l->record_waits;
    l->record_waits = waits;
}

/* Reports a lost record at once, rather than after hours at the end. */
static void check_record(struct launcher *l)
{
    const bool ends = l->scenario->on_record_error == HIL_RECORD_END;

    if (!l->run.recorder)
        return;
    const int rc = hil_recorder_check(l->run.recorder);
    warn_of_writers(l);
    see_who_waits(l);
    if (!rc || l->kept.record_rc)
        return;
    hil_results_writer_tell(
        &l->kept, rc, ends ? "; the run ends" : "; the run continues without a record", stderr);
    if (ends)
        hil_state_stop(l->run.state, hil_clock_monotonic(), 0);
}

/* If the first node's process has left before our loops run, nobody else will start them: the first
 * node of another run waits for us to register. */
static void check_rendezvous(struct launcher *l)
{
    char why[HIL_RENDEZVOUS_WHY];

    if (!l->rendezvous || l->failed || hil_children_all_run(&l->children) ||
        !hil_rendezvous_is_lost(l->rendezvous, why))
        return;
    fprintf(stderr, "%s: %s\n", l->scenario->name, why);
    l->failed = true;
}

/* Watches until all children have ended, by themselves, when told to, or by force. */
static void watch(struct launcher *l)
{
    static const struct timespec look = {.tv_nsec = HIL_LOOK_NS};
    struct hil_progress_bar bar;

    hil_progress_begin(&bar, l->scenario, l->run.state, !l->launch->keep_quiet);
    while (l->children.alive > 0) {
        nanosleep(&look, NULL);
        if (hil_signal_status() || l->failed || l->children.failed)
            hil_state_stop(l->run.state, hil_clock_monotonic(), (unsigned)hil_signal_status());
        hil_progress_show(&bar);
        hil_warnings_look(&l->warnings);
        check_record(l);
        check_rendezvous(l);
        hil_children_look(&l->children);
        hil_tuning_server_look(l->tuning);
        hil_flight_look(&l->flight, hil_saves_asked());
        if (l->scenario->on_lost != HIL_RESTART && hil_children_all_run(&l->children))
            remove_run_directory(l); /* no more processes will come, so even a kill cannot leave it
                                      * behind */
    }
    hil_warnings_look(&l->warnings);
    if (l->rendezvous) /* the connection may have ended; then the clock drift is unknown */
        hil_rendezvous_clock(l->rendezvous, &l->run.first_clock_after);
    l->failed |= l->children.failed;
    hil_progress_end(&bar);
}

/* --- after ----------------------------------------------------------------------------------- */

/* The exit status of the signal that stopped the run, here or at another launcher; 0: none did. */
static int signal_status(const struct launcher *l)
{
    const int here = hil_signal_status();

    return here ? here : (int)atomic_load(&l->run.state->stop_status);
}

static int finish_results(struct launcher *l, struct hil_conclusion *conclusion, bool failed)
{
    struct hil_summary summary;

    l->kept.traced = l->children.session ? &l->traced : NULL;
    const int rc = hil_results_writer_finish(&l->kept, failed || l->failed || signal_status(l),
                                             &summary, conclusion, stderr);
    if (!l->launch->keep_quiet)
        hil_summary_print(&summary, stdout);
    return rc;
}

/* Called when the launcher was killed, and its executors with it. */
static void end_inherited(void *launcher)
{
    remove_run_directory(launcher);
}

/* --- who else had the cores ------------------------------------------------------------------ */

/* A run that is traced has what the kernel did in its results. */
static bool look_at_others(const struct launcher *l, struct hil_tracefs *fs)
{
    const struct hil_scenario *s = l->scenario;

    return s->mode == HIL_REALTIME && !l->children.session &&
           hil_others_begin(fs, s->executors, s->executor_count);
}

static void own_name(const void *scenario, unsigned executor, char name[HIL_OWN_NAME])
{
    const struct hil_scenario *s = scenario;

    hil_process_name(&s->executors[executor], s, name);
}

static int run(struct launcher *l)
{
    struct hil_conclusion outcome = {0};
    struct hil_tracefs fs;

    const bool looks = look_at_others(l, &fs);
    int rc = hil_children_start(&l->children);
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
    if (looks)
        hil_others_tell(&fs, l->scenario, l->run.state, own_name, l->scenario);
    hil_tuning_server_close(&l->tuning);
    rc = stop_trace(l);
    const bool failed = finish_results(l, &outcome, rc) || l->failed || rc;
    const int status = failed ? (l->children.refused ? HIL_EXIT_USAGE : HIL_EXIT_FAILED)
                       : signal_status(l)
                           ? signal_status(l)
                           : hil_results_writer_status(&outcome, l->launch->keep_quiet);
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
    l.run = (struct hil_run){
        .scenario = s, .place = l.run_directory, .log = hil_warnings_log, .log_arg = &l.warnings};
    l.kept = (struct hil_results_writer){.run = &l.run,
                                         .killed = "the launcher was killed",
                                         .inherited = end_inherited,
                                         .arg = &l,
                                         .folder = -1,
                                         .shows_progress = !launch->keep_quiet};
    status = meet(&l);
    if (status)
        return status;
    status = HIL_EXIT_FAILED;
    int rc = launch->discard ? 0 : hil_results_writer_open(&l.kept, launch->out, stderr);
    if (rc) {
        hil_rendezvous_close(l.rendezvous);
        return hil_results_status(rc);
    }
    if (launch->where)
        snprintf(launch->where, launch->where_size, "%s", l.kept.out);
    rc = hil_children_open(&l.children,
                           &(struct hil_process){.run = &l.run, .wait_s = launch->wait_s});
    if (!rc)
        rc = hil_warnings_open(&l.warnings, &l.run, launch->keep_quiet);
    if (!rc)
        rc = hil_tuning_server_open(&l.tuning, &l.run); /* opened before the run can be found */
    if (!rc)
        rc = open_state(&l);
    if (!rc)
        rc = hil_results_writer_record(&l.kept);
    if (!rc)
        rc = prepare_meeting(&l);
    if (!rc)
        rc = open_trace(&l);
    if (rc)
        fprintf(stderr, "%s: %s%s\n", s->name, strerror(-rc),
                rc == -EFBIG ? "; the run's memory and its record are files, which ulimit -f limits"
                             : "");
    else
        status = run(&l);
    if (l.run.state) {
        atomic_store(&l.run.state->ended, 1 + (uint32_t)status);
        remove_run_directory(&l);
    }
    hil_rendezvous_close(l.rendezvous);
    hil_tuning_server_close(&l.tuning);
    hil_session_close(l.children.session);
    hil_results_writer_close(&l.kept);
    hil_state_close(l.run.state);
    hil_children_close(&l.children);
    hil_warnings_close(&l.warnings);
    return status;
}
