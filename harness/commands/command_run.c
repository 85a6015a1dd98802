#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../doctor/doctor.h"
#include "../doctor/fix.h"
#include "../launch/rendezvous.h"
#include "../launch/verdict_files.h"
#include "../record/summary_reader.h"
#include "../tools/merge/hosts.h"
#include "../tools/scope/server.h"
#include "../tools/tune/replay.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco run SCENARIO [--mode MODE] [--set KEY=VALUE]... [--out DIR]\n"
    "                  [--trace[=all]] [--trace-every N]\n"
    "                  [--parameters FILE]... [--wait SECONDS] [--run-dir DIR] [--fix]\n"
    "                  [--hosts HOST,...] [--quiet] [--junit FILE] [--tap FILE]\n"
    "                  [--allow-set] [--tuning DIR] [--scope]\n"
    "\n"
    "Runs the nodes of a scenario, which share network memory. It does not start nodes with a\n"
    "component of the model outside: programs of your own join as these (hiloco_node(3)).\n"
    "SCENARIO is a file, or - for standard input.\n"
    "\n"
    "  --mode realtime    in real time, over the scenario's fabric: each executor is a process on\n"
    "                     a core of its own\n"
    "  --mode virtual     in virtual time, as fast as possible; every run is the same, bit for "
    "bit\n"
    "  --set KEY=VALUE    set a key of the scenario by its dotted path, for example\n"
    "                     --set nodes.controller.period_us=20; may be repeated\n"
    "  --parameters FILE  set parameters and settings of components from an SSV file\n"
    "                     (docs/parameters.md); may be repeated. --set takes precedence\n"
    "  --out DIR          folder of the results (default: results/NAME-TIMESTAMP)\n"
    "  --trace            trace the run with LTTng, like trace.enable=true. The newest events are\n"
    "                     kept in memory, and saved in DIR/ctf at the first misses, at faults and\n"
    "                     failures, on hiloco trace DIR --snapshot, and at the end. Then\n"
    "                     hiloco trace DIR says where the time went\n"
    "  --trace=all        keep all events, which are written to DIR/ctf while the run goes on\n"
    "  --trace-every N    trace the steps of one in N spans of 10 ms, and all misses\n"
    "  --wait SECONDS     how long to wait for outside nodes (default 30)\n"
    "  --run-dir DIR      folder where outside nodes meet the run on shm, as for hiloco node;\n"
    "                     HILOCO_SECRET is also as for hiloco node\n"
    "  --hosts HOST,...   run each executor of the scenario (placement:) on a host of its own,\n"
    "                     started by ssh, over the fabric verbs or tcp. HOST is a destination of\n"
    "                     ssh with hiloco installed. The nodes find each other's addresses. DIR\n"
    "                     has one record of all nodes, and DIR/parts/HOST the results of each\n"
    "                     host. HILOCO_SSH replaces the ssh command\n"
    "  --scope            also serve a page for a browser, like hiloco scope; its address goes to\n"
    "                     standard error\n"
    "  --fix              in real time: apply those fixes of hiloco doctor that can be undone, "
    "and\n"
    "                     undo them at the end, even if the run is killed\n"
    "  --quiet            no progress, no closing words, no findings about the machine\n"
    "  --junit FILE       write the verdict, and the verdict on each limit, as JUnit XML\n"
    "  --tap FILE         the same as TAP (Test Anything Protocol); with - to standard output,\n"
    "                     which then has nothing else\n"
    "  --allow-set        allow hiloco set and hiloco control to change the run, like tuning=true\n"
    "  --tuning DIR       replay, in the same steps, the changes that were made in the run of "
    "DIR;\n"
    "                     in virtual time this gives the same run, bit for bit\n"
    "\n"
    "DIR holds scenario.yaml (every key spelled out), summary.json and trace.h5. Earlier results\n"
    "there are replaced as a whole. A folder that holds anything else, or that another run writes\n"
    "to, is refused. An interrupt (Ctrl-C) ends the run in order. What was recorded is kept, even\n"
    "if the run is killed (hiloco recover --help).\n"
    "\n"
    "Exit status: 0; 1 if the run failed; 2 for a mistake, before anything runs; 3 if the run\n"
    "finished but is not valid (docs/validity.md, validity.required), or a limit could not be\n"
    "judged; 4 if it is valid but a limit failed (docs/limits.md); 130 if it was interrupted, 129\n"
    "if its terminal hung up, 131 after SIGQUIT; in these three cases it ended in order.\n";

struct run_arguments {
    struct hil_part_arguments part;
    const char *hosts; /* "a,b" */
    const char *junit, *tap;
    const char *tuning;   /* a record whose changes are replayed */
    char trace_every[40]; /* the key that --trace-every sets */
    bool fix, scope, allow_set;
};

static int read_trace(const char *name, const char *text, void *to)
{
    if (text && strcmp(text, "all") != 0) {
        fprintf(stderr, "--%s=%s: --trace or --trace=all is allowed\n", name, text);
        return -EINVAL;
    }
    hil_arguments_set(to, "trace.enable=true");
    if (text)
        hil_arguments_set(to, "trace.keep=all");
    return 0;
}

static int read_trace_every(const char *name, const char *text, void *to)
{
    struct run_arguments *a = to;
    uint64_t every;
    const int rc = hil_read_whole(name, text, 1, 1000000, &every);

    snprintf(a->trace_every, sizeof a->trace_every, "trace.every=%" PRIu64, rc ? 1 : every);
    hil_arguments_set(&a->part.given, "trace.enable=true");
    hil_arguments_set(&a->part.given, a->trace_every);
    return rc;
}

static int read_allow_set(const char *name, const char *text, void *to)
{
    struct run_arguments *a = to;

    hil_arguments_set(&a->part.given, "tuning=true");
    return hil_read_flag(name, text, &a->allow_set);
}

static int read_tuning(const char *name, const char *text, void *to)
{
    struct run_arguments *a = to;

    hil_arguments_set(&a->part.given, "tuning=true");
    return hil_read_text(name, text, &a->tuning);
}

static const struct hil_option options[] = {
    HIL_MODE_OPTION,
    HIL_SET_OPTIONS,
    HIL_PART_OPTIONS(struct run_arguments, part.),
    HIL_FLAG("fix", struct run_arguments, fix),
    {"trace", optional_argument, read_trace, 0},
    {"trace-every", required_argument, read_trace_every, 0},
    {"allow-set", no_argument, read_allow_set, 0},
    {"tuning", required_argument, read_tuning, 0},
    HIL_OPTION("hosts", hil_read_text, struct run_arguments, hosts),
    HIL_FLAG("scope", struct run_arguments, scope),
    HIL_OPTION("junit", hil_read_text, struct run_arguments, junit),
    HIL_OPTION("tap", hil_read_text, struct run_arguments, tap),
    {0},
};

/* Deals with settings of the machine that would disturb the loops: mends them for the run, or at
 * least warns. */
static int prepare(const struct run_arguments *a, const struct hil_scenario *scenario,
                   struct hil_fix *fix)
{
    FILE *to = a->part.quiet ? NULL : stderr;
    struct hil_machine machine;

    if (scenario->mode == HIL_VIRTUAL || hil_machine_open(&machine, "", scenario))
        return 0;
    int rc = a->fix ? hil_fix_begin(fix, &machine, to) : 0;
    machine.is_fixed = a->fix;
    if (rc)
        fprintf(stderr, "--fix: %s\n", strerror(-rc));
    else if (to)
        hil_doctor_warn(&machine, to);
    return rc;
}

/* Refuses options that do not work with several hosts. */
static int check_for_hosts(const struct run_arguments *a)
{
    const char *why =
        a->fix ? "--fix changes this machine, but the run is on others; run hiloco doctor there"
        : a->part.run_directory
            ? "--run-dir is a folder where nodes of one machine meet, but these are on several"
            : NULL;

    if (why)
        fprintf(stderr, "--hosts: %s\n", why);
    return why ? -EINVAL : 0;
}

static int launch_on_hosts(const struct run_arguments *a, struct hil_scenario *scenario,
                           char *where, size_t size)
{
    const struct hil_hosts_run hosts = {.scenario = scenario,
                                        .hosts = a->hosts,
                                        .out = a->part.out,
                                        .wait_s = a->part.wait_s,
                                        .keep_quiet = a->part.quiet,
                                        .where = where,
                                        .where_size = size};

    return check_for_hosts(a) ? HIL_EXIT_USAGE : hil_hosts_run(&hosts);
}

static int launch(const struct run_arguments *a, struct hil_scenario *scenario, char *where,
                  size_t size)
{
    const bool joined = hil_system_is_joined(scenario->system);
    const struct hil_launch launch = {.scenario = scenario,
                                      .out = a->part.out,
                                      .keep_quiet = a->part.quiet,
                                      .wait_s = a->part.wait_s,
                                      .where = where,
                                      .where_size = size};
    struct hil_fix fix = {0};

    if (a->hosts)
        return launch_on_hosts(a, scenario, where, size);
    if (a->part.run_directory && !joined) {
        fprintf(stderr, "--run-dir: allowed only if a component is outside; otherwise the nodes "
                        "meet in a folder of their own\n");
        return HIL_EXIT_USAGE;
    }
    if (prepare(a, scenario, &fix))
        return HIL_EXIT_FAILED;
    int status = joined ? hil_part_run_inside(&a->part, scenario) : hil_launch(&launch);
    return hil_fix_end(&fix) && status == HIL_EXIT_OK ? HIL_EXIT_FAILED : status;
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run(struct run_arguments *a, struct hil_scenario *scenario)
{
    struct hil_tested tested = {.name = scenario->name};
    struct hil_verdict_files files;
    const double begin_s = now_s();
    char where[4096] = "";

    if (hil_verdict_files_open(&files, a->part.out, a->junit, a->tap))
        return HIL_EXIT_USAGE;
    a->part.quiet |= files.tap == stdout || files.junit == stdout;
    const pid_t scope =
        a->scope ? hil_scope_beside(&(struct hil_scope){.allow_set = a->allow_set, .to = stderr})
                 : 0;
    tested.status = launch(a, scenario, where, sizeof where);
    hil_scope_end(scope);
    tested.seconds = now_s() - begin_s;
    struct hil_summary_reader told =
        where[0] ? hil_summary_reader_of_run(where) : (struct hil_summary_reader){NULL};
    tested.summary = told.root;
    const int rc = hil_verdict_files_end(&files, &tested, 1);
    hil_summary_reader_close(&told);
    return rc ? HIL_EXIT_FAILED : tested.status;
}

/* Chooses the first host, without the user name that is only for ssh. */
static int choose_rendezvous(struct run_arguments *a, char *text, size_t size)
{
    if (hil_rendezvous_given(&a->part.given.options.rendezvous, stderr))
        return -EINVAL;
    if (!a->hosts)
        return 0;
    const size_t length = strcspn(a->hosts, ","), user = strcspn(a->hosts, "@,");
    const char *host = a->hosts[user] == '@' ? a->hosts + user + 1 : a->hosts;
    snprintf(text, size, "%.*s", (int)(a->hosts + length - host), host);
    a->part.given.options.rendezvous = text;
    a->part.given.options.realtime = true;
    return 0;
}

int hil_command_run(int argc, char **argv)
{
    struct run_arguments a = {.part.wait_s = HIL_PART_WAIT_S};
    struct hil_scenario *scenario;
    char rendezvous[256];
    int status = HIL_EXIT_USAGE;
    int rc =
        hil_arguments_parse(&a.part.given, &(struct hil_command){help, options, 1, 1}, argc, argv);

    if (rc) {
        status = hil_arguments_status(rc);
    } else if (choose_rendezvous(&a, rendezvous, sizeof rendezvous)) {
        status = HIL_EXIT_USAGE;
    } else if (hil_arguments_load(&a.part.given, &scenario) == 0) {
        if (!a.tuning || hil_tune_replay(scenario, a.tuning, stderr) == 0)
            status = run(&a, scenario);
        hil_scenario_free(scenario);
    }
    hil_arguments_free(&a.part.given);
    return status;
}
