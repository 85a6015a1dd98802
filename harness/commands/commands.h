/*
 * The commands of `hiloco`, and the command-line parsing that the three programs share. Each
 * command gets its own arguments, with its name in argv[0], and returns an exit status.
 */
#ifndef HIL_COMMANDS_H
#define HIL_COMMANDS_H

#include <math.h>
#include <stdint.h>

#include "../figures/plot.h"
#include "../launch/launcher.h"
#include "../scenario/load/load.h"
#include "../scenario/system.h"
#include "options.h"

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

/* What all commands are given. It is the first member of the structure of a command's options. */
struct hil_arguments {
    const char
        *scenario; /* the positional argument: a scenario, a directory, a run, a model; or NULL */
    const char *const *scenarios; /* all positional arguments */
    unsigned scenario_count;
    struct hil_scenario_options options;
    const char **sets, **parameters; /* the arguments of --set and --parameters */
};

/* A command's line. */
struct hil_command {
    const char *help;
    const struct hil_option *options; /* besides --help and --version; NULL: none */
    unsigned least, most;             /* positional arguments; most 0: any number */
};

/* The options of commands that load a scenario. */
#define HIL_MODE_OPTION                                                                            \
    {                                                                                              \
        "mode", required_argument, hil_read_mode, 0                                                \
    }
#define HIL_SET_OPTIONS                                                                            \
    {"set", required_argument, hil_read_set, 0},                                                   \
    {                                                                                              \
        "parameters", required_argument, hil_read_parameters, 0                                    \
    }
hil_read_fn hil_read_mode, hil_read_set, hil_read_parameters; /* (struct hil_arguments) */

/* Adds a change of a key to those of --set. */
void hil_arguments_set(struct hil_arguments *arguments, const char *key_and_value);

/*
 * Parses a command line. Returns 0, 1 after printing --help or --version, or -EINVAL after a
 * message on stderr. Call hil_arguments_free in any case.
 */
int hil_arguments_parse(struct hil_arguments *arguments, const struct hil_command *command,
                        int argc, char **argv);
void hil_arguments_free(struct hil_arguments *arguments);

/* The time to draw or compare. */
#define HIL_ALL                                                                                    \
    {                                                                                              \
        0, INFINITY                                                                                \
    }
#define HIL_SPAN_OPTIONS(of, member)                                                               \
    HIL_OPTION("from", hil_read_time, of, member.from_s),                                          \
        HIL_OPTION("until", hil_read_time, of, member.to_s)

/* Refuses a span that is empty, and a time in place of the folder of --to. Returns 0 or -EINVAL
 * after a message. */
int hil_check_span(const char *command, const struct hil_plot_span *span, const char *to);

/* Makes something of the results in given->scenario, in a process of its own (base/in_child.h).
 * `to` is the folder of --to, which is made, and refused if it has other results; NULL: that of the
 * results, unless the work is `elsewhere`. Returns an exit status. */
int hil_make_of_results(int (*work)(const void *arguments), const struct hil_arguments *given,
                        const char *to, bool elsewhere);

/* For all three programs. */
void hil_print_version(void);

/* Loads the scenario. Returns 0, or a negative errno after a message on stderr. */
int hil_arguments_load(const struct hil_arguments *arguments, struct hil_scenario **scenario);

/* The same with `count` more changes of keys, "KEY=VALUE", after those of --set. */
int hil_arguments_load_with(const struct hil_arguments *arguments, const char *const *sets,
                            size_t count, struct hil_scenario **scenario);

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
 * after a message on stderr.
 */
struct hil_part_arguments {
    struct hil_arguments given;
    const char *out, *run_directory;
    unsigned wait_s;
    bool quiet;
    const char *which; /* the nodes, as the program names them; NULL: by its rank */
};

#define HIL_PART_WAIT_S 30 /* unless --wait says otherwise */

/* --out, --quiet, and where and how long nodes wait for each other. */
#define HIL_PART_OPTIONS(of, member)                                                               \
    HIL_OPTION("out", hil_read_text, of, member out),                                              \
        HIL_OPTION("run-dir", hil_read_text, of, member run_directory),                            \
        HIL_OPTION("wait", hil_read_count, of, member wait_s), HIL_FLAG("quiet", of, member quiet)

typedef int hil_part_choose(const struct hil_part_arguments *arguments,
                            const struct hil_system *system, bool *chosen);
int hil_part_main(int argc, char **argv, const struct hil_command *command,
                  hil_part_choose *choose);

/* Loads the scenario that the arguments name: a file, or rendezvous:HOST[:PORT], the run whose
 * first node is there. Returns an exit status. */
int hil_part_load(const struct hil_part_arguments *arguments, struct hil_scenario **scenario);

/* Runs the nodes of a scenario that are not outside nodes. Outside nodes are user processes that
 * join like any other node. Returns an exit status. */
int hil_part_run_inside(const struct hil_part_arguments *arguments, struct hil_scenario *scenario);

#endif
