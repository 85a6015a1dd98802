#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../base/exit_status.h"
#include "../../base/reap.h"
#include "server.h"

/* Waits for the launcher's run, until it exists or the launcher has ended. */
enum { END_MS = 5000 };

static int beside_serve(const struct hil_scope *scope, pid_t launcher)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    struct hil_runs runs;
    int status = HIL_EXIT_OK;

    for (bool found = false; !found && getppid() == launcher; nanosleep(&pause, NULL)) {
        if (hil_runs_find(&runs, true))
            return HIL_EXIT_FAILED;
        for (unsigned i = 0; i < runs.count && !found; i++)
            if (runs.at[i].pid == launcher) {
                found = true;
                status = hil_scope_serve(scope, &runs.at[i]);
            }
        hil_runs_close(&runs);
    }
    return status;
}

pid_t hil_scope_beside(const struct hil_scope *scope)
{
    const pid_t launcher = getpid();

    fflush(NULL);
    const pid_t process = fork();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        prctl(PR_SET_NAME, "hl-scope");
        _exit(beside_serve(scope, launcher));
    }
    if (process < 0)
        fprintf(stderr, "--scope: %s\n", strerror(errno));
    return process > 0 ? process : 0;
}

/* If the run never existed, its end will not come, so the process is told to end. */
void hil_scope_end(pid_t process)
{
    int status;

    if (process == 0)
        return;
    kill(process, SIGTERM);
    hil_reap_within(process, END_MS, "the scope", &status);
}
