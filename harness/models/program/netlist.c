#include "netlist.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/installed.h"
#include "../provider/native.h"
#include "program.h"

static const char netlist_program[] = "hiloco-netlist";

static const char netlist_prefix[] = "ngspice:";

static bool netlist_takes(const char *name)
{
    return strncmp(name, netlist_prefix, strlen(netlist_prefix)) == 0;
}

static int netlist_locate(char **whole, const char *name, const char *folder,
                          const struct hil_said *said)
{
    char *path;
    const int rc = hil_model_file(&path, name + strlen(netlist_prefix), folder, said);

    if (rc)
        return rc;
    const int length = asprintf(whole, "%s%s", netlist_prefix, path);
    free(path);
    return length < 0 ? hil_say_no_memory(said) : 0;
}

static int netlist_load(struct hil_loaded *made, const struct hil_said *said)
{
    const char *netlist = made->name + strlen(netlist_prefix);
    char **argv = calloc(3, sizeof *argv), path[PATH_MAX];

    if (!argv)
        return hil_say_no_memory(said);
    argv[0] = hil_installed_find(netlist_program, path, sizeof path) ? NULL : strdup(path);
    argv[1] = strdup(netlist);
    if (argv[0] && argv[1])
        return hil_program_load(made, argv, netlist, said);
    free(argv[0]);
    free(argv[1]);
    free(argv);
    return hil_say(said, -ENOENT, "%s is not installed; allowed: an installation with ngspice",
                   netlist_program);
}

const struct hil_provider hil_netlist_provider = {
    .example = "one for ngspice such as ngspice:./stage.cir",
    .takes = netlist_takes,
    .locate = netlist_locate,
    .load = netlist_load,
    .unload = hil_program_unload,
    .not_real_time =
        "ngspice simulates it in a process of its own: the circuit determines how long a step "
        "takes (hiloco check --measure), and a step uses the newest answer",
    .apart = true,
};
