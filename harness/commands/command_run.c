#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../doctor/doctor.h"
#include "../doctor/fix.h"
#include "../launch/hosts.h"
#include "../launch/rendezvous.h"
#include "../record/told.h"
#include "../scope/server.h"
#include "../summary/verdicts.h"
#include "../tune/again.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco run SCENARIO [--mode MODE] [--set KEY=VALUE]... [--out DIR] [--trace]\n"
    "                  [--parameters FILE]... [--wait SECONDS] [--run-dir DIR] [--fix]\n"
    "                  [--hosts HOST,...] [--quiet] [--junit FILE] [--tap FILE]\n"
    "                  [--allow-set] [--tuning DIR] [--scope]\n"
    "\n"
    "Runs a scenario: its nodes, joined by network memory. Nodes with a component outside are "
    "left\n"
    "out: programs of your own join as these (hiloco_node(3)).\n"
    "\n"
    "  --mode realtime    against the clock, over the scenario's fabric: a process for each\n"
    "                     executor, each on a core of its own\n"
    "  --mode virtual     in simulated time, as fast as it goes; the same run, bit for bit,\n"
    "                     every time\n"
    "  --set KEY=VALUE    set a key of the scenario by its dotted path, as in\n"
    "                     --set controller.period_us=20; may be given more than once\n"
    "  --parameters FILE  set components' parameters and settings to those of an SSV file\n"
    "                     (docs/parameters.md); may be given more than once. --set wins\n"
    "  --out DIR          where the results go (default: results/NAME-TIMESTAMP)\n"
    "  --trace            trace it by LTTng, into DIR/ctf, as trace.enable=true does; then\n"
    "                     hiloco trace DIR says where the time went\n"
    "  --wait SECONDS     how long to wait for nodes that are outside (default 30)\n"
    "  --run-dir DIR      where they meet on shm, as of hiloco node; HILOCO_SECRET is theirs, too\n"
    "  --hosts HOST,...   run each executor of the scenario (placement:) on a host of its own,\n"
    "                     started by ssh, over the fabric verbs or tcp; HOST is as ssh takes it,\n"
    "                     and has hiloco. The addresses find themselves; DIR has one record of\n"
    "                     all, and DIR/parts/HOST what each left. HILOCO_SSH is another ssh, with\n"
    "                     options\n"
    "  --scope            show it in a browser meanwhile, as hiloco scope does; the page's "
    "address\n"
    "                     goes to standard error\n"
    "  --fix              in real time: mend what of the machine's set-up can be put back, and\n"
    "                     put it back at the end, also when killed (hiloco doctor --help)\n"
    "  --quiet            no progress, no closing words, and nothing of the machine's set-up\n"
    "  --junit FILE       the verdict, and that on each limit of the scenario, as JUnit's XML\n"
    "  --tap FILE         the same as TAP (Test Anything Protocol); - is standard output, which\n"
    "                     then has nothing else\n"
    "  --allow-set        let hiloco set and hiloco control change it while it runs, as\n"
    "                     tuning=true does\n"
    "  --tuning DIR       do again, in the same steps, what was changed in the run of DIR; in\n"
    "                     virtual time that is the same run, bit for bit\n"
    "\n"
    "DIR holds scenario.yaml (every key spelled out), summary.json and trace.h5. Results of an\n"
    "earlier run there are replaced, with all that was made of them; a folder that holds anything\n"
    "else is refused, and so is one that another run writes to. Interrupting a run (Ctrl-C) ends\n"
    "it in order; what was recorded is kept, also of a run that is killed (hiloco recover "
    "--help).\n"
    "\n"
    "Exit status: 0; 1 when the run failed; 2 for a mistake, before anything runs; 3 when it came\n"
    "to its end and is not valid (docs/validity.md, validity.required), or a limit could not be\n"
    "judged; 4 when it is valid and a limit of the scenario failed (docs/limits.md); 130 when\n"
    "interrupted, 129 when its terminal hung up, 131 by SIGQUIT: it has ended in order then.\n";

/* What the machine's set-up does to the loops: mended for now, or at least said. */
static int prepare(const struct hil_arguments *a, const struct hil_scenario *scenario,
                   struct hil_fix *fix)
{
    FILE *to = a->quiet ? NULL : stderr;
    struct hil_patient patient;

    if (scenario->mode == HIL_VIRTUAL || hil_patient_open(&patient, "", scenario))
        return 0;
    int rc = a->fix ? hil_fix_begin(fix, &patient, to) : 0;
    patient.is_fixed = a->fix;
    if (rc)
        fprintf(stderr, "--fix: %s\n", strerror(-rc));
    else if (to)
        hil_doctor_warn(&patient, to);
    return rc;
}

/* What there is no place for on the hosts. */
static int check_for_hosts(const struct hil_arguments *a)
{
    const char *why = a->fix ? "--fix mends this machine, and the run is on others; hiloco "
                               "doctor says there what to set"
                      : a->run_directory
                          ? "--run-dir is where nodes of one machine meet, and these "
                            "are on several"
                          : NULL;

    if (why)
        fprintf(stderr, "--hosts: %s\n", why);
    return why ? -EINVAL : 0;
}

static int launch_on_hosts(const struct hil_arguments *a, struct hil_scenario *scenario,
                           char *where, size_t size)
{
    const struct hil_hosts_run hosts = {.scenario = scenario,
                                        .hosts = a->hosts,
                                        .out = a->out,
                                        .wait_s = a->wait_s,
                                        .keep_quiet = a->quiet,
                                        .where = where,
                                        .where_size = size};

    return check_for_hosts(a) ? HIL_EXIT_USAGE : hil_hosts_run(&hosts);
}

static int launch(const struct hil_arguments *a, struct hil_scenario *scenario, char *where,
                  size_t size)
{
    const bool joined = hil_system_is_joined(scenario->system);
    const struct hil_launch launch = {.scenario = scenario,
                                      .out = a->out,
                                      .keep_quiet = a->quiet,
                                      .wait_s = a->wait_s,
                                      .where = where,
                                      .where_size = size};
    struct hil_fix fix = {0};

    if (a->hosts)
        return launch_on_hosts(a, scenario, where, size);
    if (a->run_directory && !joined) {
        fprintf(stderr, "--run-dir: allowed where a component is outside; without one the nodes "
                        "meet in a folder of their own\n");
        return HIL_EXIT_USAGE;
    }
    if (prepare(a, scenario, &fix))
        return HIL_EXIT_FAILED;
    int status = joined ? hil_part_run_inside(a, scenario) : hil_launch(&launch);
    return hil_fix_end(&fix) && status == HIL_EXIT_OK ? HIL_EXIT_FAILED : status;
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run(struct hil_arguments *a, struct hil_scenario *scenario)
{
    struct hil_tested tested = {.name = scenario->name};
    struct hil_verdict_files files;
    const double begin_s = now_s();
    char where[4096] = "";

    if (hil_verdict_files_open(&files, a->junit, a->tap))
        return HIL_EXIT_USAGE;
    a->quiet |= files.tap == stdout || files.junit == stdout;
    const pid_t scope =
        a->scope ? hil_scope_beside(&(struct hil_scope){.allow_set = a->allow_set, .to = stderr})
                 : 0;
    tested.status = launch(a, scenario, where, sizeof where);
    hil_scope_end(scope);
    tested.seconds = now_s() - begin_s;
    struct hil_told told = where[0] ? hil_told_of_run(where) : (struct hil_told){NULL};
    tested.summary = told.root;
    const int rc = hil_verdict_files_end(&files, &tested, 1);
    hil_told_close(&told);
    return rc ? HIL_EXIT_FAILED : tested.status;
}

/* The first of the hosts, without the user that ssh gets. */
static int choose_rendezvous(struct hil_arguments *a, char *text, size_t size)
{
    if (hil_rendezvous_given(&a->options.rendezvous, stderr))
        return -EINVAL;
    if (!a->hosts)
        return 0;
    const size_t length = strcspn(a->hosts, ","), user = strcspn(a->hosts, "@,");
    const char *host = a->hosts[user] == '@' ? a->hosts + user + 1 : a->hosts;
    snprintf(text, size, "%.*s", (int)(a->hosts + length - host), host);
    a->options.rendezvous = text;
    a->options.realtime = true;
    return 0;
}

int hil_command_run(int argc, char **argv)
{
    struct hil_arguments a;
    struct hil_scenario *scenario;
    char rendezvous[256];
    int status = HIL_EXIT_USAGE;
    int rc = hil_arguments_parse(&a,
                                 HIL_TAKES_MODE | HIL_TAKES_SET | HIL_TAKES_OUT | HIL_TAKES_QUIET |
                                     HIL_TAKES_FIX | HIL_TAKES_TRACE | HIL_TAKES_MEETING |
                                     HIL_TAKES_HOSTS | HIL_TAKES_VERDICTS | HIL_TAKES_TUNING |
                                     HIL_TAKES_SCOPED,
                                 help, argc, argv);

    if (rc) {
        status = hil_arguments_status(rc);
    } else if (choose_rendezvous(&a, rendezvous, sizeof rendezvous)) {
        status = HIL_EXIT_USAGE;
    } else if (hil_arguments_load(&a, &scenario) == 0) {
        if (!a.tuning || hil_tune_again(scenario, a.tuning, stderr) == 0)
            status = run(&a, scenario);
        hil_scenario_free(scenario);
    }
    hil_arguments_free(&a);
    return status;
}
