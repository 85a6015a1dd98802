/* hiloco: the command line. */
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "models/device/guardian.h"

static const char help[] =
    "usage: hiloco COMMAND [ARGUMENTS]\n"
    "\n"
    "Closes control loops over network memory.\n"
    "\n"
    "  run SCENARIO      run a scenario, in real or virtual time\n"
    "  node [NODES] SCENARIO\n"
    "                    run some of its nodes, and meet those that are started elsewhere\n"
    "  test SCENARIO...  run many, and say which kept their limits\n"
    "  sweep SCENARIO    run it for each of some values\n"
    "  top [RUN]         watch a run while it runs\n"
    "  scope [RUN]       an oscilloscope on a run's signals while it runs\n"
    "  set RUN NAME=VALUE...\n"
    "                    change its parameters and sources while it runs\n"
    "  control RUN WHAT  pause, step, resume or stop it\n"
    "  plot DIR          draw what a run or a sweep has left\n"
    "  report DIR...     write it all as one HTML file, to hand on\n"
    "  trace DIR         say where the time of a traced run went\n"
    "  compare A B       say how far the records of two runs are apart\n"
    "  export DIR        write a run's record as text\n"
    "  recover DIR       make the record of a killed run whole\n"
    "  merge DIR...      make one of what the parts of a run have left\n"
    "  check SCENARIO    look for mistakes in a scenario\n"
    "  models            list the models, or show that of a shared library\n"
    "  export-fmu MODEL  make an FMU of a model, for other tools\n"
    "  doctor [SCENARIO] say what of this machine would hurt a loop, and what mends it\n"
    "\n"
    "hiloco COMMAND --help explains each, and hiloco --version says which hiloco this is. The\n"
    "exit status is 0 when all went well, 1 when a run failed, 2 when the input was wrong\n"
    "(nothing was started then), 3 when a run is not valid, 4 when a limit failed, and 130 when a "
    "run was interrupted (129 by\n"
    "SIGHUP, 131 by SIGQUIT).\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"run", hil_command_run},         {"test", hil_command_test},
    {"sweep", hil_command_sweep},     {"plot", hil_command_plot},
    {"export", hil_command_export},   {"check", hil_command_check},
    {"models", hil_command_models},   {"doctor", hil_command_doctor},
    {"top", hil_command_top},         {"trace", hil_command_trace},
    {"recover", hil_command_recover}, {"export-fmu", hil_command_export_fmu},
    {"node", hil_command_node},       {"compare", hil_command_compare},
    {"report", hil_command_report},   {"scope", hil_command_scope},
    {"set", hil_command_set},         {"control", hil_command_control},
    {"merge", hil_command_merge},
};

int main(int argc, char **argv)
{
    hil_guardian_main(argc, argv);
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return HIL_EXIT_OK;
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        hil_print_version();
        return HIL_EXIT_OK;
    }
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(argv[1], commands[i].name) != 0)
            continue;
        char name[32];
        snprintf(name, sizeof name, "hiloco %s", argv[1]);
        argv[1] = name;
        return commands[i].run(argc - 1, argv + 1);
    }
    if (argc > 1)
        fprintf(stderr, "hiloco: there is no command %s\n", argv[1]);
    fputs(help, stderr);
    return HIL_EXIT_USAGE;
}
