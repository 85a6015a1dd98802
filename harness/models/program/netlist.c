#include "netlist.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../native.h"
#include "program.h"

static const char netlist_program[] = "hiloco-netlist";

static bool netlist_takes(const char *name)
{
    const size_t length = strlen(name);

    return length > 4 && strcmp(name + length - 4, ".cir") == 0;
}

/* Beside this program, as it is built; or where it is installed. NULL: it is nowhere. */
static char *netlist_find(void)
{
    static const char *const places[] = {"", "../lib/hiloco/"};
    char self[PATH_MAX], *path;
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length < 0)
        return NULL;
    self[length] = '\0';
    const char *folder = dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (asprintf(&path, "%s/%s%s", folder, places[i], netlist_program) < 0)
            return NULL;
        if (access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

static int netlist_load(struct hil_loaded *made, const struct hil_said *said)
{
    char **argv = calloc(3, sizeof *argv);

    if (!argv)
        return hil_say(said, -ENOMEM, "there is no memory for it");
    argv[0] = netlist_find();
    argv[1] = strdup(made->name);
    if (argv[0] && argv[1])
        return hil_program_load(made, argv, made->name, said);
    free(argv[0]);
    free(argv[1]);
    free(argv);
    return hil_say(said, -ENOENT, "%s is not installed; allowed: an installation with ngspice",
                   netlist_program);
}

const struct hil_provider hil_netlist_provider = {
    .example = "a netlist such as ./stage.cir",
    .takes = netlist_takes,
    .locate = hil_model_file,
    .load = netlist_load,
    .unload = hil_program_unload,
    .not_real_time = "ngspice simulates it, in a process of its own: a step takes as long as the "
                     "circuit asks (hiloco check --measure), and has the newest answer there is",
    .apart = true,
};
