#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/cpus.h"
#include "../base/digits.h"
#include "../tools/top/choose.h"
#include "../tools/top/screen.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco top [RUN] [--json] [--interval MS] [--count N] [--all-users]\n"
    "\n"
    "Shows a run while it runs: its first measure against the reference, and the state of each\n"
    "node. RUN is a scenario's name, a process id or a folder of results; it may be left out if\n"
    "there is only one run. Watching does not slow a run down.\n"
    "\n"
    "  --interval MS   time between samples (default 200)\n"
    "  --json          write samples, one JSON object per line, instead of the view\n"
    "  --count N       end after N samples (with --json)\n"
    "  --all-users     as root: include runs of other users\n"
    "\n"
    "Keys: q quits, p pauses, s sorts by the next column, r reverses, arrows and page keys "
    "scroll.\n"
    "LATE is how late steps begin: the 99th percentile (p99), the greatest in the last second or\n"
    "two, and the greatest of all. INPUT is the age of the newest input. A line is red if steps\n"
    "were missed in the last two seconds, or the node has fallen silent.\n";

struct top_arguments {
    struct hil_arguments given;
    unsigned interval_ms, count; /* of samples; count 0: no end */
    bool json, all_users;
};

static const struct hil_option options[] = {
    HIL_OPTION("interval", hil_read_count, struct top_arguments, interval_ms),
    HIL_OPTION("count", hil_read_count, struct top_arguments, count),
    HIL_FLAG("json", struct top_arguments, json),
    HIL_FLAG("all-users", struct top_arguments, all_users),
    {0},
};

/* --- samples -------------------------------------------------------------------------------- */

static int write_sample(const struct hil_watch *w)
{
    json_t *sample = hil_sample_json(w);
    int rc = sample ? json_dumpf(sample, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9)) : -1;

    json_decref(sample);
    if (rc || putchar('\n') == EOF || fflush(stdout))
        return HIL_EXIT_FAILED;
    return HIL_EXIT_OK;
}

/* The last sample says how the run ended. */
static int write_samples(struct hil_watch *w, unsigned interval_ms, unsigned count)
{
    const struct timespec interval = {interval_ms / 1000, interval_ms % 1000 * 1000000l};
    int status = HIL_EXIT_OK, unused;
    bool ended = false;

    for (unsigned n = 0; status == HIL_EXIT_OK && !ended && (!count || n < count); n++) {
        if (n > 0)
            nanosleep(&interval, NULL);
        ended = hil_run_ended(w->run, &unused);
        hil_watch_look(w, hil_watch_clock());
        status = write_sample(w);
    }
    return status;
}

/* --- the end -------------------------------------------------------------------------------- */

static void tell_value(const struct hil_watch *w, FILE *to)
{
    const double value = w->sample->value, reference = w->sample->reference;
    const int decimals = hil_decimals(fmax(fabs(value), fabs(reference)), 5);
    const char *unit = w->run->attached.card.unit;
    char text[HIL_VALUE_BYTES];

    fprintf(to, ": %s", hil_value(text, value, decimals, unit));
    if (isfinite(reference))
        fprintf(to, " of %s", hil_value(text, reference, decimals, unit));
}

static void tell_end(const struct hil_watch *w, FILE *to)
{
    const struct hil_card *card = &w->run->attached.card;
    int status;

    if (!hil_run_ended(w->run, &status))
        return;
    fprintf(to, "%s %s after %.3f of %g s", card->name,
            status == HIL_EXIT_OK        ? "has ended"
            : status == HIL_EXIT_INVALID ? "has ended, and is not valid,"
            : hil_exit_by_signal(status) ? "was interrupted"
            : status < 0                 ? "was killed"
                                         : "has failed",
            (double)w->sample->elapsed_ns * 1e-9, (double)card->duration_ns * 1e-9);
    if (hil_watch_measures(w))
        tell_value(w, to);
    fprintf(to, ", %llu missed", (unsigned long long)w->sample->missed);
    fprintf(to, "%s%s\n", card->results[0] ? "; results " : "", card->results);
}

static int show(struct hil_watch *w, unsigned interval_ms)
{
    int rc = hil_screen_show(w, interval_ms);

    if (!rc)
        return HIL_EXIT_OK;
    if (rc == -ENOTTY)
        fprintf(stderr, "there is no terminal; --json writes samples, one per line\n");
    else
        fprintf(stderr, "%s\n", strerror(-rc));
    return rc == -ENOTTY ? HIL_EXIT_USAGE : HIL_EXIT_FAILED;
}

static int watch(const struct hil_run_entry *run, const struct top_arguments *a)
{
    struct hil_watch w;
    int status = HIL_EXIT_FAILED;

    hil_keep_off(&run->attached.card.cores);
    if (hil_watch_open(&w, run)) {
        fprintf(stderr, "%s\n", strerror(ENOMEM));
    } else {
        status = a->json ? write_samples(&w, a->interval_ms, a->count) : show(&w, a->interval_ms);
        if (status == HIL_EXIT_OK) {
            hil_watch_look(&w, hil_watch_clock());
            tell_end(&w, a->json ? stderr : stdout);
        }
    }
    hil_watch_close(&w);
    return status;
}

/* Finds the run, and then watches it. */
static int find_and_watch(const struct top_arguments *a)
{
    struct hil_runs runs;
    const struct hil_run_entry *run;
    int status = hil_run_choose(&runs, a->given.scenario, a->all_users, "hiloco top", &run);

    if (status == HIL_EXIT_OK)
        status = watch(run, a);
    hil_runs_close(&runs);
    return status;
}

int hil_command_top(int argc, char **argv)
{
    struct top_arguments a = {.interval_ms = 200};
    int rc = hil_arguments_parse(&a.given, &(struct hil_command){help, options, 0, 1}, argc, argv);
    int status = HIL_EXIT_USAGE;

    if (rc)
        status = hil_arguments_status(rc);
    else if (a.count && !a.json)
        fprintf(stderr, "--count goes with --json\n");
    else
        status = find_and_watch(&a);
    hil_arguments_free(&a.given);
    return status;
}
