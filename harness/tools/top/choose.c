#include "choose.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../base/exit_status.h"

static void choose_list(const struct hil_runs *runs)
{
    fprintf(stderr, "what runs:\n  %8s  %-20s %s\n", "PID", "SCENARIO", "RESULTS");
    for (unsigned i = 0; i < runs->count; i++)
        fprintf(stderr, "  %8d  %-20s %s\n", (int)runs->at[i].pid, runs->at[i].attached.card.name,
                runs->at[i].attached.card.results);
}

/* A folder of a run that has ended. */
static bool choose_is_over(const char *which)
{
    char path[4200];

    snprintf(path, sizeof path, "%s/scenario.yaml", which);
    return access(path, F_OK) == 0;
}

static int choose_none(const struct hil_runs *runs, const char *which)
{
    if (which && choose_is_over(which))
        fprintf(stderr, "the run of %s has ended; %s/summary.json sums it up\n", which, which);
    else if (which)
        fprintf(stderr, "there is no run with the name, process id or folder of results %s\n",
                which);
    else if (runs->others)
        fprintf(stderr, "the run belongs to another build of hiloco, which this one cannot read\n");
    else
        fprintf(stderr, "there is no run here; hiloco run starts one. (Only that user, and root "
                        "with --all-users, can see another user's run.)\n");
    if (runs->count)
        choose_list(runs);
    return HIL_EXIT_FAILED;
}

/* Chooses among the runs that were found. */
static int choose_from(const struct hil_runs *runs, const char *which, const char *command,
                       const struct hil_run_entry **run)
{
    unsigned count = 0;

    for (unsigned i = 0; i < runs->count; i++) {
        if (which && !hil_run_is(&runs->at[i], which))
            continue;
        *run = &runs->at[i];
        count++;
    }
    if (count == 0)
        return choose_none(runs, which);
    if (count == 1)
        return HIL_EXIT_OK;
    fprintf(stderr, "there are %u runs; name one: %s PID\n", count, command);
    choose_list(runs);
    return HIL_EXIT_USAGE;
}

int hil_run_choose(struct hil_runs *runs, const char *which, bool all_users, const char *command,
                   const struct hil_run_entry **run)
{
    const int rc = hil_runs_find(runs, all_users);

    if (!rc)
        return choose_from(runs, which, command, run);
    fprintf(stderr, "/proc: %s\n", strerror(-rc));
    return HIL_EXIT_FAILED;
}
