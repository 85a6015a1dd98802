#include <stdio.h>

#include "../scope/server.h"
#include "../top/choose.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco scope [RUN] [--listen ADDRESS:PORT] [--allow-set] [--all-users] [--quiet]\n"
    "       hiloco scope [RUN] --capture SIGNAL,... --out FILE [--trigger WHAT] [--hysteresis H]\n"
    "                    [--before S] [--after S] [--wait S] [--auto] [--all-users] [--quiet]\n"
    "\n"
    "Shows a run in a browser while it runs: an oscilloscope on its signals, and how each node "
    "is.\n"
    "RUN is a scenario's name, a process id or a folder of results; it may be left out when only\n"
    "one run is there. It prints the page's address, and serves it until the run ends, on a core\n"
    "that no loop has. The run is only read, and not slowed by being watched.\n"
    "\n"
    "  --listen ADDRESS:PORT\n"
    "                  where to serve it (default 127.0.0.1:0: this machine only, a free port).\n"
    "                  What goes over a network is not encrypted\n"
    "  --allow-set     the page may change parameters, pause and stop the run\n"
    "  --all-users     as root: runs of other users, too\n"
    "  --quiet         nothing but the address\n"
    "  --capture       no page, but one capture into a file: hiloco scope --capture --help\n"
    "\n"
    "The address has a token in it, and only who has that gets the page (docs/scope.md).\n";

static int serve(int argc, char **argv)
{
    struct hil_arguments a;
    struct hil_runs runs = {0};
    const struct hil_found *run;
    int rc = hil_arguments_parse(&a, HIL_TAKES_QUIET | HIL_TAKES_SCOPE, help, argc, argv);
    int status = HIL_EXIT_USAGE;

    if (rc) {
        status = hil_arguments_status(rc);
    } else {
        const struct hil_scope scope = {a.listen, a.allow_set, a.quiet, stdout};
        status = hil_run_choose(&runs, a.scenario, a.all_users, "hiloco scope", &run);
        if (status == HIL_EXIT_OK)
            status = hil_scope_serve(&scope, run);
    }
    hil_runs_close(&runs);
    hil_arguments_free(&a);
    return status;
}

int hil_command_scope(int argc, char **argv)
{
    return hil_scope_captures(argc, argv) ? hil_scope_capture(argc, argv) : serve(argc, argv);
}
