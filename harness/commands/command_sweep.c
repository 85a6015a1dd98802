#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../launch/results.h"
#include "sweep/sweep.h"

static const char help[] =
    "usage: hiloco sweep SCENARIO --set KEY=VALUES... [--set ...] [--runs N] [--seed N]\n"
    "                    [--parameters FILE]... [--mode MODE] [--jobs N] [--out DIR]\n"
    "                    [--junit FILE] [--tap FILE]\n"
    "       hiloco sweep SCENARIO --bisect KEY=FROM:TO:STEP [--set KEY=VALUE]... [...]\n"
    "\n"
    "Runs a scenario once for each value, and for each combination where several keys have\n"
    "several values. KEY is the dotted path of any key of the scenario. Points in virtual time "
    "run\n"
    "side by side.\n"
    "\n"
    "The table has of each run the greatest overshoot of the scenario's first measure, how long\n"
    "it took to settle after the last event, and its mean and peak to peak in the window of its\n"
    "steady state, which stands beside them. docs/figures.md defines them.\n"
    "\n"
    "  --set KEY=V1,V2,V3   the values to go through; one value alone is set for all points.\n"
    "                       Commas inside brackets do not part values\n"
    "                       FROM:TO:STEP is a range, and FROM:TO:log5 five values from one to\n"
    "                       the other that are as many times apart, in four digits\n"
    "                       NOMINAL~SPREAD is drawn for each run, uniform in NOMINAL +- SPREAD;\n"
    "                       NOMINAL~SPREAD:normal with SPREAD as its standard deviation. SPREAD\n"
    "                       may be so many % of NOMINAL. Below the table is how the figures of\n"
    "                       all runs are distributed, and which run was the worst\n"
    "  --runs N             how often the values are drawn, for each combination of the others\n"
    "  --seed N             of what is drawn: the same seed gives the same runs (default: 1)\n"
    "  --parameters FILE    as in hiloco run; --set wins\n"
    "  --bisect KEY=FROM:TO:STEP\n"
    "                       the largest value of the range that keeps the scenario's limits, or\n"
    "                       the smallest where FROM fails and TO passes: each run halves what\n"
    "                       is left\n"
    "  --mode MODE          realtime or virtual, as in hiloco run\n"
    "  --jobs N             how many points at a time (default: in virtual time as many as\n"
    "                       it has cores; in real time 1, and no more is allowed)\n"
    "  --out DIR            where the results go (default: results/NAME-sweep-TIMESTAMP): a\n"
    "                       folder for each point, sweep.json with the summaries of all,\n"
    "                       sweep.csv, the table, and distribution.csv, what was below it. An\n"
    "                       earlier sweep's are replaced; a folder that holds anything else is\n"
    "                       refused\n"
    "  --junit FILE         the verdicts as JUnit's XML, a suite for each point\n"
    "  --tap FILE           the same as TAP; - is standard output, which then has nothing else\n"
    "\n"
    "Exit status: 0 when all passed; 1 when a run failed; 2 for a mistake, before anything runs;\n"
    "4 when a limit failed (docs/limits.md); 3 when nothing of that is so, and a run is\n"
    "inconclusive; 130 when interrupted, 129 when its terminal hung up, 131 by SIGQUIT: the runs "
    "at\n"
    "hand have ended in order then. With --bisect 0 as well when it found the place.\n"
    "\n"
    "Example: hiloco sweep configs/dcdc20.yaml --mode virtual \\\n"
    "                 --set controller.period_us=10,20,30,40,50,60,80,100\n";

/* Options that do not go together. */
static int sweep_check_options(const struct sweep *s)
{
    const struct hil_arguments *a = s->arguments;

    if (s->real_time && a->jobs > 1) {
        fprintf(stderr, "--jobs %u: in real time one point at a time is allowed\n", a->jobs);
        return -EINVAL;
    }
    if (a->bisect && (a->junit || a->tap)) {
        fprintf(stderr,
                "--%s: not with --bisect, some of whose runs are to fail; its exit status tells "
                "whether it found the place\n",
                a->junit ? "junit" : "tap");
        return -EINVAL;
    }
    return 0;
}

static int sweep_prepare(struct sweep *s)
{
    int rc = sweep_make_axes(s);

    if (!rc)
        rc = sweep_make_points(s);
    if (!rc)
        rc = sweep_check_points(s);
    if (!rc)
        rc = sweep_check_options(s);
    if (!rc)
        rc = hil_verdict_files_open(&s->verdicts, s->arguments->junit, s->arguments->tap);
    return rc;
}

/* Its runs as tests. */
static int sweep_write_verdicts(struct sweep *s)
{
    struct hil_tested *tested = calloc(s->point_count, sizeof *tested);

    if (!tested)
        return -ENOMEM;
    for (unsigned i = 0; i < s->point_count; i++) {
        const struct hil_job *job = &s->jobs.at[i];
        tested[i] = (struct hil_tested){s->points[i].name, job->done ? job->status : -1,
                                        job->seconds, s->points[i].told.root};
    }
    const int rc = hil_verdict_files_end(&s->verdicts, tested, s->point_count);
    free(tested);
    return rc;
}

/* Where the verdicts go to standard output, there is nothing else. */
static void sweep_print(const struct sweep *s)
{
    char words[SWEEP_WORDS_BYTES];

    if (s->verdicts.junit == stdout || s->verdicts.tap == stdout)
        return;
    sweep_print_table(s);
    sweep_print_distributions(s);
    if (s->arguments->bisect) {
        sweep_bisection_words(s, words);
        printf("%s\n", words);
    }
}

/* A bisection that found the place has done what it should, though runs failed on the way. */
static int sweep_status(const struct sweep *s)
{
    return s->arguments->bisect && sweep_bisection_found(s) ? HIL_EXIT_OK
                                                            : hil_jobs_status(&s->jobs);
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
    /* By this its folders are known as a sweep's, should it be killed. */
    sweep_write_index(s, false);
    sweep_run(s);
    if (s->arguments->bisect)
        sweep_bisect(s);
    rc = sweep_write_index(s, true);
    if (!rc)
        rc = sweep_write_csv(s);
    sweep_print(s);
    if (sweep_write_verdicts(s))
        rc = -EIO;
    close(folder);
    return hil_signal_status() ? hil_signal_status() : rc ? HIL_EXIT_FAILED : sweep_status(s);
}

int hil_command_sweep(int argc, char **argv)
{
    struct hil_arguments a;
    struct sweep s = {.arguments = &a};
    int rc = hil_arguments_parse(&a,
                                 HIL_TAKES_MODE | HIL_TAKES_SET | HIL_TAKES_OUT | HIL_TAKES_JOBS |
                                     HIL_TAKES_BISECT | HIL_TAKES_DRAWS | HIL_TAKES_VERDICTS,
                                 help, argc, argv);
    int status = rc ? hil_arguments_status(rc) : sweep_run_all(&s);

    sweep_free(&s);
    hil_arguments_free(&a);
    return status;
}
