/*
 * The commands of `hiloco`, and the command-line parsing that the three programs share. Each
 * command gets its own arguments, with its name in argv[0], and returns an exit status.
 */
#ifndef HIL_COMMANDS_H
#define HIL_COMMANDS_H

#include <stdint.h>

#include "../launch/launcher.h"
#include "../scenario/load/load.h"
#include "../scenario/system.h"

int hil_command_run(int argc, char **argv);
int hil_command_test(int argc, char **argv);
int hil_command_sweep(int argc, char **argv);
int hil_command_bode(int argc, char **argv);
int hil_command_linearize(int argc, char **argv);
int hil_command_plot(int argc, char **argv);
int hil_command_report(int argc, char **argv);
int hil_command_trace(int argc, char **argv);
int hil_command_export(int argc, char **argv);
int hil_command_recover(int argc, char **argv);
int hil_command_merge(int argc, char **argv);
int hil_command_compare(int argc, char **argv);
int hil_command_check(int argc, char **argv);
int hil_command_convert(int argc, char **argv);
int hil_command_models(int argc, char **argv);
int hil_command_schema(int argc, char **argv);
int hil_command_new(int argc, char **argv);
int hil_command_wrap(int argc, char **argv);
int hil_command_export_fmu(int argc, char **argv);
int hil_command_doctor(int argc, char **argv);
int hil_command_top(int argc, char **argv);
int hil_command_scope(int argc, char **argv);
int hil_command_node(int argc, char **argv);
int hil_command_set(int argc, char **argv);
int hil_command_control(int argc, char **argv);

/* --- shared ---------------------------------------------------------------------------------- */

struct hil_arguments {
    const char
        *scenario; /* the positional argument: a scenario, a directory, a run, a model; or NULL */
    const char *const *scenarios; /* all positional arguments */
    unsigned scenario_count;
    struct hil_scenario_options options;
    const char **sets, **parameters; /* the arguments of --set and --parameters */
    const char *out;
    const char *run_directory;
    const char *ids;   /* converter ids */
    const char *nodes; /* the positional argument before the scenario; or NULL */
    const char *beside;
    const char *to;                     /* folder for what is made; NULL: that of the results */
    double from_s, until_s;             /* the time span to draw or compare */
    double absolute, percent, within_s; /* tolerances */
    const char *bisect;                 /* "KEY=FROM:TO:STEP" */
    unsigned runs;                      /* runs with drawn values; 0: not given */
    uint64_t seed;                      /* seed of the drawn values */
    bool seed_given;
    const char *hosts;       /* "a,b" */
    const char *junit, *tap; /* files for verdicts; "-" is standard output */
    const char *root;
    const char *listen;  /* "ADDRESS:PORT" */
    const char *against; /* a simulator to compare with */
    const char *kind;    /* of a new project */
    unsigned jobs, wait_s, measure_s;
    unsigned interval_ms, count;   /* interval and number of samples; count 0: no end */
    unsigned fmi, width;           /* options of export-fmu */
    double period_us;              /* option of export-fmu and wrap */
    const char *rates;             /* "N,..." */
    const char *capture, *trigger; /* "SIGNAL,..." */
    double hysteresis, before_s, after_s, trigger_wait_s;
    const char *inject, *response; /* signals */
    const char *longest;           /* an entry of nodes */
    /* Of hiloco bode; negative frequencies, amplitudes and times, and margins that are NAN, are not
     * given. */
    double from_hz, to_hz, amplitude, start_s, phase_margin_deg, gain_margin_db;
    unsigned points;
    const char *tuning; /* a record whose changes are replayed */
    double ramp_s;      /* ramp time of sources that are set */
    bool quiet, csv, mcap, fix, strict, json, all_users, measure, allow_set, scope, automatic,
        partial, snapshot, capacity, markdown;
    char trace_every[40]; /* the key that --trace-every sets */
};

/* Which options a command takes, besides --help. */
enum {
    HIL_TAKES_MODE = 1 << 0,
    HIL_TAKES_SET = 1 << 1, /* --set, --parameters */
    HIL_TAKES_OUT = 1 << 2,
    HIL_TAKES_JOBS = 1 << 3,
    HIL_TAKES_MEETING = 1 << 4, /* --run-dir, --wait */
    HIL_TAKES_ID = 1 << 5,
    HIL_TAKES_QUIET = 1 << 6,
    HIL_TAKES_EXPORT = 1 << 7, /* --csv, --mcap */
    HIL_TAKES_BESIDE = 1 << 8,
    HIL_TAKES_FIX = 1 << 9,
    HIL_TAKES_DOCTOR = 1 << 10, /* --measure, --strict, --capacity, --json, --root; the positional
                                 * argument is optional */
    HIL_TAKES_RUN = 1 << 11, /* --json, --interval, --count, --all-users; the positional argument is
                              * optional */
    HIL_TAKES_TRACE = 1 << 12,     /* --trace, --trace-every */
    HIL_TAKES_SPAN = 1 << 13,      /* --from, --until */
    HIL_TAKES_PARTIAL = 1 << 14,   /* --partial */
    HIL_TAKES_DIRECTORY = 0,       /* only the positional argument */
    HIL_TAKES_MODEL = 1 << 15,     /* no option; the positional argument is optional */
    HIL_TAKES_CHECK = 1 << 16,     /* --measure, --against */
    HIL_TAKES_NODES = 1 << 17,     /* no option; an argument before the scenario */
    HIL_TAKES_TOLERANCE = 1 << 18, /* --abs, --rel, --within, --json */
    HIL_TAKES_VERDICTS = 1 << 19,  /* --junit, --tap */
    HIL_TAKES_SCENARIOS = 1 << 20, /* no option: several scenarios */
    HIL_TAKES_BISECT = 1 << 21,    /* --bisect */
    HIL_TAKES_FMU = 1 << 22,       /* --fmi, --period-us, --width */
    HIL_TAKES_DRAWS = 1 << 23,     /* --runs, --seed */
    HIL_TAKES_TUNING = 1 << 24,    /* --allow-set, --tuning */
    HIL_TAKES_CHANGES = 1 << 25,   /* --ramp, --json, --all-users */
    HIL_TAKES_CONTROL = 1 << 26,   /* --json, --all-users */
    HIL_TAKES_HOSTS = 1 << 27,     /* --hosts, --scope */
    HIL_TAKES_SCOPE = 1 << 28,     /* --listen, --allow-set, --all-users; the positional argument is
                                    * optional */
    HIL_TAKES_TO = 1 << 29,        /* --to */
    HIL_TAKES_SNAPSHOT = 1u << 31, /* --snapshot */
    HIL_TAKES_CAPTURE = 1 << 30,   /* --capture, --trigger, --hysteresis, --before, --after, --wait,
                                    * --auto, --all-users; the positional argument is optional */
};
/* --inject, --response, --from, --to, --points, --amplitude, --start, --phase-margin,
 * --gain-margin,
 * --json */
#define HIL_TAKES_BODE      (UINT64_C(1) << 32)
#define HIL_TAKES_KIND      (UINT64_C(1) << 33) /* --kind */
#define HIL_TAKES_WRAP      (UINT64_C(1) << 34) /* --rates, --period-us */
#define HIL_TAKES_LINEARIZE (UINT64_C(1) << 35) /* --start, --longest, --json */
#define HIL_TAKES_MARKDOWN  (UINT64_C(1) << 36) /* --markdown */

/*
 * Parses a command line with one positional argument, or one or two with HIL_TAKES_NODES. An
 * optional argument that is left out is NULL. Returns 0, 1 after printing --help or --version, or
 * -EINVAL after a message on stderr. Call hil_arguments_free in any case.
 */
int hil_arguments_parse(struct hil_arguments *arguments, uint64_t takes, const char *help, int argc,
                        char **argv);
void hil_arguments_free(struct hil_arguments *arguments);

/* Makes something of the results in a->scenario, in a process of its own (base/in_child.h). Makes
 * the folder of --to, and refuses one with other results. Returns an exit status. */
int hil_make_of_results(int (*work)(const void *arguments), const struct hil_arguments *arguments);

/* For all three programs. */
void hil_print_version(void);

/* Loads the scenario. Returns 0, or a negative errno after a message on stderr. */
int hil_arguments_load(const struct hil_arguments *arguments, struct hil_scenario **scenario);

/* Whether the command line is `hiloco scope` with --capture, and that command itself. */
bool hil_scope_captures(int argc, char **argv);
int hil_scope_capture(int argc, char **argv);

/* The exit status for a parse that did not return 0. */
static inline int hil_arguments_status(int parsed)
{
    return parsed > 0 ? HIL_EXIT_OK : HIL_EXIT_USAGE;
}

/* The end of their help texts. */
#define HIL_PART_HELP_END                                                                          \
    "Set HILOCO_SECRET in the environment to the same secret for all processes, for example the\n" \
    "output of openssl rand -hex 16. They prove to each other that they know it, and nobody "      \
    "else\n"                                                                                       \
    "can take part. Instead, HILOCO_SECRET_FILE may name a file with the secret, which only its\n" \
    "owner may use.\n"                                                                             \
    "HILOCO_RENDEZVOUS=HOST[:PORT] is the address of the first node, for the fabrics verbs and "   \
    "tcp\n"                                                                                        \
    "if the scenario does not say where its nodes are. In a Slurm step the default is the first\n" \
    "host.\n"                                                                                      \
    "In place of a file, SCENARIO may be rendezvous:HOST[:PORT]: the process joins whatever run "  \
    "has\n"                                                                                        \
    "its first node there, and gets the scenario from it.\n"                                       \
    "\n"                                                                                           \
    "Exit status: 0; 1 if the run failed; 2 for a mistake, or if other nodes have another "        \
    "scenario,\n"                                                                                  \
    "before anything runs; 3 if the run finished but is not valid (docs/validity.md,\n"            \
    "validity.required); 130 if it was interrupted, 129 if its terminal hung up, 131 after "       \
    "SIGQUIT;\n"                                                                                   \
    "in these three cases it ended in order.\n"

/*
 * The main function of `hiloco node`, `controller` and `converter`. It runs some of a scenario's
 * nodes in this process. The other nodes are started elsewhere, and all of them meet in a place
 * that each derives from the scenario's name. `choose` marks the nodes to run; it returns -EINVAL
 * after a message on stderr. `takes` are the options beyond the common ones.
 */
typedef int hil_part_choose(const struct hil_arguments *arguments, const struct hil_system *system,
                            bool *chosen);
int hil_part_main(int argc, char **argv, unsigned takes, hil_part_choose *choose, const char *help);

/* Loads the scenario that the arguments name: a file, or rendezvous:HOST[:PORT], the run whose
 * first node is there. Returns an exit status. */
int hil_part_load(const struct hil_arguments *arguments, struct hil_scenario **scenario);

/* Runs the nodes of a scenario that are not outside nodes. Outside nodes are user processes that
 * join like any other node. Returns an exit status. */
int hil_part_run_inside(const struct hil_arguments *arguments, struct hil_scenario *scenario);

#endif
