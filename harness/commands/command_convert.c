#include <stdio.h>
#include <stdlib.h>

#include "commands.h"

static const char help[] =
    "usage: hiloco convert SCENARIO [--set KEY=VALUE]... [--parameters FILE]...\n"
    "\n"
    "Prints a scenario in the language of today: one with controller: and converters: becomes one\n"
    "with nodes, components and connections, which gives the same record. The scenario.yaml of\n"
    "results is such a scenario, too. Comments are lost, and so are keys at their defaults.\n"
    "\n"
    "  --set KEY=VALUE    set a key, as for hiloco run\n"
    "  --parameters FILE  set parameters from an SSV file, as for hiloco run; every key is "
    "spelled\n"
    "                     out then\n";

enum { MESSAGE_BYTES = 1 << 16 };

int hil_command_convert(int argc, char **argv)
{
    static const struct hil_option options[] = {HIL_SET_OPTIONS, {0}};
    struct hil_arguments a = {0};
    char *text = NULL, *message = calloc(1, MESSAGE_BYTES);
    int status = HIL_EXIT_USAGE;
    int rc = hil_arguments_parse(&a, &(struct hil_command){help, options, 1, 1}, argc, argv);

    if (rc) {
        status = hil_arguments_status(rc);
    } else if (message &&
               hil_scenario_convert(&text, a.scenario, &a.options, message, MESSAGE_BYTES) == 0) {
        fputs(text, stdout);
        status = HIL_EXIT_OK;
    } else {
        fputs(message ? message : "hiloco convert: out of memory\n", stderr);
    }
    free(message);
    free(text);
    hil_arguments_free(&a);
    return status;
}
