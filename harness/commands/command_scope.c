#include <stdio.h>

#include "../tools/scope/server.h"
#include "../tools/top/choose.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco scope [RUN] [--listen ADDRESS:PORT] [--allow-set] [--all-users] [--quiet]\n"
    "       hiloco scope [RUN] --capture SIGNAL,... --out FILE [--trigger WHAT] [--hysteresis H]\n"
    "                    [--before S] [--after S] [--wait S] [--auto] [--all-users] [--quiet]\n"
    "\n"
    "Shows a run in a browser while it runs: an oscilloscope for its signals, and the state of\n"
    "each node. RUN is a scenario's name, a process id or a folder of results; it may be left out\n"
    "if there is only one run. The command prints the page's address, and serves the page until\n"
    "the run ends, on a core without a loop. Watching does not slow a run down.\n"
    "\n"
    "  --listen ADDRESS:PORT\n"
    "                  where to serve the page (default 127.0.0.1:0: this machine only, on a free\n"
    "                  port). Nothing is encrypted on a network\n"
    "  --allow-set     allow the page to change parameters, and to pause and stop the run\n"
    "  --all-users     as root: include runs of other users\n"
    "  --quiet         print only the address\n"
    "  --capture       write one capture to a file instead: see hiloco scope --capture --help\n"
    "\n"
    "The address contains a token, and only those who have it can see the page (docs/scope.md).\n";

struct scope_arguments {
    struct hil_arguments given;
    const char *listen; /* "ADDRESS:PORT" */
    bool allow_set, all_users, quiet;
};

static const struct hil_option options[] = {
    HIL_OPTION("listen", hil_read_text, struct scope_arguments, listen),
    HIL_FLAG("allow-set", struct scope_arguments, allow_set),
    HIL_FLAG("all-users", struct scope_arguments, all_users),
    HIL_FLAG("quiet", struct scope_arguments, quiet),
    {0},
};

static int serve(int argc, char **argv)
{
    struct scope_arguments a = {0};
    struct hil_runs runs = {0};
    const struct hil_run_entry *run;
    int rc = hil_arguments_parse(&a.given, &(struct hil_command){help, options, 0, 1}, argc, argv);
    int status = HIL_EXIT_USAGE;

    if (rc) {
        status = hil_arguments_status(rc);
    } else {
        const struct hil_scope scope = {a.listen, a.allow_set, a.quiet, stdout};
        status = hil_run_choose(&runs, a.given.scenario, a.all_users, "hiloco scope", &run);
        if (status == HIL_EXIT_OK)
            status = hil_scope_serve(&scope, run);
    }
    hil_runs_close(&runs);
    hil_arguments_free(&a.given);
    return status;
}

int hil_command_scope(int argc, char **argv)
{
    return hil_scope_captures(argc, argv) ? hil_scope_capture(argc, argv) : serve(argc, argv);
}
