#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>

#include "../h5/run_files.h"
#include "../tools/top/choose.h"
#include "../tools/tracing/report.h"
#include "../tools/tracing/trace_figures.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco trace DIR [--to DIR]\n"
    "       hiloco trace RUN --snapshot\n"
    "\n"
    "Analyses the LTTng trace in DIR, the results of hiloco run --trace or any other folder with\n"
    "such traces: the latencies of each loop, the misses with what had the core meanwhile, and "
    "the\n"
    "parts of the round trip. Writes the same to DIR/trace.json, and the figures trace-time,\n"
    "trace-histogram and trace-tail.\n"
    "\n"
    "  --to DIR    write into this folder instead, and leave the results as they are\n"
    "  --snapshot  save the newest events of a run that goes on. RUN is a scenario's name, a\n"
    "              process id or a folder of results; it was started with --trace\n";

struct trace_arguments {
    struct hil_arguments given;
    const char *to;
    bool snapshot;
};

static const struct hil_option options[] = {
    HIL_OPTION("to", hil_read_text, struct trace_arguments, to),
    HIL_FLAG("snapshot", struct trace_arguments, snapshot),
    {0},
};

static int status_of(int rc)
{
    return rc == 0 ? HIL_EXIT_OK : rc == -ENOENT ? HIL_EXIT_USAGE : HIL_EXIT_FAILED;
}

static int analyse(const void *arguments)
{
    const struct trace_arguments *a = arguments;
    const char *dir = a->given.scenario, *to = a->to ? a->to : dir;
    static struct hil_analysis analysis;
    char path[HIL_PATH_BYTES];
    int rc = hil_analyse(&analysis, dir, stderr);

    if (!rc)
        hil_report_print(&analysis, dir, stdout);
    fflush(stdout); /* before the figures' names, which go to stderr */
    if (!rc)
        rc = hil_run_path(path, to, "trace.json");
    if (!rc && (rc = hil_report_write(&analysis, path)))
        fprintf(stderr, "%s: %s\n", path, strerror(-rc));
    if (!rc)
        rc = hil_trace_figures(&analysis, to, stderr);
    hil_analysis_free(&analysis);
    return status_of(rc);
}

/* --- a run that goes on ----------------------------------------------------------------------- */

enum { LOOKS = 600 };

/* Waits until the launcher has saved the events once more. */
static int await_saved(const struct hil_run_entry *run, uint32_t before)
{
    static const struct timespec pause = {.tv_nsec = 100000000};
    const struct hil_card *card = &run->attached.card;
    int unused;

    for (unsigned i = 0; i < LOOKS && !hil_run_ended(run, &unused); i++) {
        if (atomic_load(&run->attached.state->saved) != before) {
            printf("saved in %s/ctf\n", card->results);
            return HIL_EXIT_OK;
        }
        nanosleep(&pause, NULL);
    }
    fprintf(stderr, "%s has ended, or does not answer\n", card->name);
    return HIL_EXIT_FAILED;
}

static int save(const struct hil_run_entry *run)
{
    const struct hil_card *card = &run->attached.card;
    const uint32_t before = atomic_load(&run->attached.state->saved);

    if (!card->saves) {
        fprintf(stderr, "%s keeps no newest events: start it with hiloco run --trace\n",
                card->name);
        return HIL_EXIT_FAILED;
    }
    if (pidfd_send_signal(run->process, SIGUSR1, NULL, 0)) {
        fprintf(stderr, "process %d: %s\n", (int)run->pid, strerror(errno));
        return HIL_EXIT_FAILED;
    }
    return await_saved(run, before);
}

static int snapshot(const struct trace_arguments *a)
{
    const struct hil_run_entry *run;
    struct hil_runs runs;
    int status = hil_run_choose(&runs, a->given.scenario, true, "hiloco trace", &run);

    if (status == HIL_EXIT_OK)
        status = save(run);
    hil_runs_close(&runs);
    return status;
}

int hil_command_trace(int argc, char **argv)
{
    struct trace_arguments a = {0};
    int rc = hil_arguments_parse(&a.given, &(struct hil_command){help, options, 1, 1}, argc, argv);
    int status = rc           ? hil_arguments_status(rc)
                 : a.snapshot ? snapshot(&a)
                              : hil_make_of_results(analyse, &a.given, a.to, false);

    hil_arguments_free(&a.given);
    return status;
}
