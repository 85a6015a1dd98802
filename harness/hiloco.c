/* The program hiloco: the command line. */
#include <stdio.h>
#include <string.h>

#include "base/plain_locale.h"
#include "commands/commands.h"
#include "launch/inherited.h"
#include "launch/signals.h"
#include "launch/standard_files.h"
#include "models/device/guardian.h"
#include "scenario/yaml/scenario_report.h"

static const char help[] =
    "usage: hiloco COMMAND [ARGUMENTS]\n"
    "\n"
    "Closes control loops over network memory.\n"
    "\n"
    "  new NAME          make a small project that runs at once\n"
    "  run SCENARIO      run a scenario, in real or virtual time\n"
    "  node [NODES] SCENARIO\n"
    "                    run some of its nodes, and join those that are started elsewhere\n"
    "  test SCENARIO...  run several scenarios, and report which kept their limits\n"
    "  sweep SCENARIO    run a scenario once for each of several values\n"
    "  bode SCENARIO     measure the frequency response of a loop, and its margins\n"
    "  linearize SCENARIO\n"
    "                    make its small-signal model: eigenvalues, damping, longest stable period\n"
    "  top [RUN]         watch a run in the terminal\n"
    "  scope [RUN]       watch its signals in a browser, as on an oscilloscope\n"
    "  set RUN NAME=VALUE...\n"
    "                    change parameters and sources of a run while it runs\n"
    "  control RUN WHAT  pause, step, resume or stop a run\n"
    "  plot DIR          plot the results of a run or a sweep\n"
    "  report DIR...     write the results as one HTML file\n"
    "  trace DIR         analyse the trace of a run: where the time went\n"
    "  compare A B       compare the records of two runs\n"
    "  export DIR        export the record of a run as text or MCAP\n"
    "  recover DIR       rebuild the record of a killed run\n"
    "  merge DIR...      merge the results of the parts of a run\n"
    "  check SCENARIO    check a scenario for mistakes\n"
    "  convert SCENARIO  print an older scenario in the language of today\n"
    "  models            list the models, or show the model of a file\n"
    "  schema [WHAT]     print the JSON Schema of scenarios, or of results\n"
    "  wrap KIND FOLDER  make a model of generated code\n"
    "  export-fmu MODEL  export a model as an FMU, for other tools\n"
    "  doctor [SCENARIO] report settings of this machine that hurt a loop, and how to fix them\n"
    "\n"
    "hiloco help COMMAND explains a command, and hiloco --version prints the version.\n"
    "\n"
    "Exit status: 0 if all went well; 1 if a run failed; 2 if the input was wrong and nothing was\n"
    "started; 3 if a run is not valid; 4 if a limit failed; 130 if a run was interrupted (129 by\n"
    "SIGHUP, 131 by SIGQUIT).\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"run", hil_command_run},
    {"test", hil_command_test},
    {"sweep", hil_command_sweep},
    {"plot", hil_command_plot},
    {"export", hil_command_export},
    {"check", hil_command_check},
    {"models", hil_command_models},
    {"doctor", hil_command_doctor},
    {"top", hil_command_top},
    {"trace", hil_command_trace},
    {"recover", hil_command_recover},
    {"export-fmu", hil_command_export_fmu},
    {"node", hil_command_node},
    {"compare", hil_command_compare},
    {"report", hil_command_report},
    {"scope", hil_command_scope},
    {"set", hil_command_set},
    {"control", hil_command_control},
    {"merge", hil_command_merge},
    {"convert", hil_command_convert},
    {"bode", hil_command_bode},
    {"schema", hil_command_schema},
    {"new", hil_command_new},
    {"wrap", hil_command_wrap},
    {"linearize", hil_command_linearize},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* One line that helps, after a word that is no command. */
static void hiloco_suggest(const char *word)
{
    const char *names[COMMANDS];

    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    const char *near = scenario_near_miss(word, names, COMMANDS);

    if (near)
        fprintf(stderr, "hiloco: there is no command %s (did you mean '%s'?)\n", word, near);
    else
        fprintf(stderr, "hiloco: there is no command %s; hiloco --help lists them\n", word);
}

static int hiloco_run(int argc, char **argv)
{
    char *explain[] = {argv[0], argc > 2 ? argv[2] : NULL, "--help", NULL};

    if (argc == 3 && strcmp(argv[1], "help") == 0)
        return hiloco_run(3, explain);
    if (argc == 2 && strcmp(argv[1], "help") == 0)
        argv[1] = "--help";
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return HIL_EXIT_OK;
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        hil_print_version();
        return HIL_EXIT_OK;
    }
    for (size_t i = 0; argc > 1 && i < COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        char name[32];
        snprintf(name, sizeof name, "hiloco %s", argv[1]);
        argv[1] = name;
        return commands[i].run(argc - 1, argv + 1);
    }
    if (argc > 1)
        hiloco_suggest(argv[1]);
    else
        fputs(help, stderr);
    return HIL_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    hil_inherited_reset();
    hil_plain_locale();
    hil_guardian_main(argc, argv);
    hil_ignore_file_limit();
    return hil_standard_files_end(hiloco_run(argc, argv));
}
