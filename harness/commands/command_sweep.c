#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "../launch/results.h"
#include "sweep/sweep.h"

static const char help[] =
    "usage: hiloco sweep SCENARIO --set KEY=VALUE,VALUE... [--set ...] [--mode MODE]\n"
    "                    [--jobs N] [--out DIR]\n"
    "       hiloco sweep SCENARIO --bisect KEY=FROM:TO:STEP [--set KEY=VALUE]... [...]\n"
    "\n"
    "Runs a scenario once for each value, and for each combination where several keys have\n"
    "several values. Points in virtual time run side by side.\n"
    "\n"
    "The table has of each run the greatest overshoot of the scenario's first measure, how long "
    "it\n"
    "took to settle after the last event, and its mean and peak to peak in the window of its\n"
    "steady state, which stands beside them. docs/figures.md defines them.\n"
    "\n"
    "  --set KEY=V1,V2,V3   the values to go through; one value alone is set for all points.\n"
    "                       Commas inside brackets do not part values\n"
    "                       FROM:TO:STEP is a range, and FROM:TO:log5 five values from one to\n"
    "                       the other that are as many times apart, in four digits\n"
    "  --bisect KEY=FROM:TO:STEP\n"
    "                       the largest value of the range that keeps the scenario's limits, or\n"
    "                       the smallest where FROM fails and TO passes: each run halves what\n"
    "                       is left\n"
    "  --mode MODE          realtime or virtual, as in hiloco run\n"
    "  --jobs N             how many points at a time (default: in virtual time the number of\n"
    "                       cores; in real time 1, and no more is allowed)\n"
    "  --out DIR            where the results go (default: results/NAME-sweep-TIMESTAMP): a\n"
    "                       folder for each point, sweep.json with the summaries of all, and\n"
    "                       sweep.csv, the table. An earlier sweep's there are replaced; a folder "
    "that holds anything\n"
    "                       else is refused\n"
    "\n"
    "Exit status: 0; 1 when a point failed; 2 for a mistake, before anything runs; 4 when all "
    "came\n"
    "to their end and one failed a limit of the scenario (docs/limits.md); 3 when one is not\n"
    "valid (docs/validity.md); 130 when interrupted, 129 when its terminal hung up, 131 by\n"
    "SIGQUIT: the runs at hand have ended in order then.\n"
    "\n"
    "Example: hiloco sweep configs/dcdc20.yaml --mode virtual \\\n"
    "                 --set controller.period_us=10,20,30,40,50,60,80,100\n";

static int sweep_prepare(struct sweep *s)
{
    int rc = sweep_make_axes(s);

    if (!rc && s->arguments->bisect)
        rc = sweep_make_bisection(s);
    if (!rc)
        rc = sweep_make_points(s);
    if (!rc)
        rc = sweep_check_points(s);
    if (rc || !s->real_time || s->arguments->jobs <= 1)
        return rc;
    fprintf(stderr, "--jobs %u: in real time one point at a time is allowed\n", s->arguments->jobs);
    return -EINVAL;
}

static void sweep_print(const struct sweep *s)
{
    sweep_print_table(s);
    if (s->arguments->bisect)
        sweep_print_bisection(s);
}

/* A bisection that found the place has done what it should, though runs failed on the way. */
static int sweep_status(const struct sweep *s)
{
    return s->bisection.found ? HIL_EXIT_OK : hil_jobs_status(&s->jobs);
}

static int sweep_run_all(struct sweep *s)
{
    char sweep_name[220];
    int rc = sweep_prepare(s);

    if (rc)
        return rc == -ENOMEM ? HIL_EXIT_FAILED : HIL_EXIT_USAGE;
    hil_catch_signals();
    snprintf(sweep_name, sizeof sweep_name, "%s-sweep", s->name);
    const int folder = hil_results_open(s->out, sizeof s->out, s->arguments->out, sweep_name,
                                        HIL_OF_A_SWEEP, stderr);
    if (folder < 0)
        return hil_results_status(folder);
    sweep_write_index(s); /* by which its folders are known as a sweep's, should it be killed */
    sweep_run(s);
    if (s->arguments->bisect)
        sweep_bisect(s);
    rc = sweep_write_index(s);
    if (!rc)
        rc = sweep_write_csv(s);
    sweep_print(s);
    close(folder);
    return hil_signal_status() ? hil_signal_status() : rc ? HIL_EXIT_FAILED : sweep_status(s);
}

int hil_command_sweep(int argc, char **argv)
{
    struct hil_arguments a;
    struct sweep s = {.arguments = &a};
    int rc = hil_arguments_parse(
        &a, HIL_TAKES_MODE | HIL_TAKES_SET | HIL_TAKES_OUT | HIL_TAKES_JOBS | HIL_TAKES_BISECT,
        help, argc, argv);
    int status = rc ? hil_arguments_status(rc) : sweep_run_all(&s);

    sweep_free(&s);
    hil_arguments_free(&a);
    return status;
}
