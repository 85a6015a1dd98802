#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../launch/results.h"
#include "sweep.h"

static const char help[] =
    "usage: hiloco sweep SCENARIO --set KEY=VALUES... [--set ...] [--runs N] [--seed N]\n"
    "                    [--parameters FILE]... [--mode MODE] [--jobs N] [--out DIR]\n"
    "                    [--junit FILE] [--tap FILE]\n"
    "       hiloco sweep SCENARIO --bisect KEY=FROM:TO:STEP [--set KEY=VALUE]... [...]\n"
    "\n"
    "Runs a scenario once for each value of a key. If several keys have several values, it runs\n"
    "each combination. KEY is the dotted path of any key of the scenario. In virtual time several\n"
    "runs go side by side.\n"
    "\n"
    "For each run the table has the first measure's greatest overshoot and its longest settling\n"
    "time of all events, each with the number of its event, and its mean and peak to peak in the\n"
    "window of the steady state after the last event, with that window. If there are several\n"
    "events, a second table has the figures after each of them. docs/figures.md defines these.\n"
    "\n"
    "  --set KEY=V1,V2,V3   the values of a key; a single value applies to all runs. Commas "
    "inside\n"
    "                       brackets do not separate values\n"
    "                       FROM:TO:STEP is a range. FROM:TO:log5 is five values with equal\n"
    "                       ratios, rounded to four digits\n"
    "                       NOMINAL~SPREAD is drawn for each run, uniformly within NOMINAL +-\n"
    "                       SPREAD; NOMINAL~SPREAD:normal from a normal distribution with the\n"
    "                       standard deviation SPREAD. SPREAD may be in % of NOMINAL. Below the\n"
    "                       table are then the distributions of the figures, and the worst run\n"
    "  --runs N             how often to draw the values, for each combination of the others\n"
    "  --seed N             seed of the draws: the same seed gives the same runs (default 1)\n"
    "  --parameters FILE    as for hiloco run; --set takes precedence\n"
    "  --bisect KEY=FROM:TO:STEP\n"
    "                       find the largest value of the range that keeps the scenario's limits,\n"
    "                       or the smallest if FROM fails and TO passes. Each run halves what is\n"
    "                       left\n"
    "  --mode MODE          realtime or virtual, as for hiloco run\n"
    "  --jobs N             how many runs at a time (default: the number of cores in virtual\n"
    "                       time; always 1 in real time)\n"
    "  --out DIR            folder of the results (default: results/NAME-sweep-TIMESTAMP): a\n"
    "                       folder for each run, sweep.json with all summaries, sweep.csv with\n"
    "                       the table, and distribution.csv with the distributions. An earlier\n"
    "                       sweep there is replaced; a folder that holds anything else is refused\n"
    "  --junit FILE         write the verdicts as JUnit XML, with a suite for each run\n"
    "  --tap FILE           the same as TAP; with - to standard output, which then has nothing "
    "else\n"
    "\n"
    "Exit status: 0 if all runs passed; 1 if a run failed; 2 for a mistake, before anything runs;\n"
    "4 if a limit failed (docs/limits.md); otherwise 3 if a run is inconclusive; 130 if the sweep\n"
    "was interrupted, 129 if its terminal hung up, 131 after SIGQUIT; in these cases the current\n"
    "runs ended in order. With --bisect also 0 if the value was found.\n"
    "\n"
    "Example: hiloco sweep configs/dcdc20.yaml --mode virtual \\\n"
    "                 --set nodes.controller.period_us=10,20,30,40,50,60,80,100\n";

/* Checks for options that exclude each other. */
static int sweep_check_options(const struct sweep *s)
{
    const struct sweep_arguments *a = s->arguments;

    if (s->real_time && a->jobs > 1) {
        fprintf(stderr, "--jobs %u: in real time one point at a time is allowed\n", a->jobs);
        return -EINVAL;
    }
    if (a->bisect && (a->junit || a->tap)) {
        fprintf(stderr,
                "--%s: not with --bisect, where some runs must fail; its exit status says whether "
                "the value was found\n",
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
        rc = hil_verdict_files_open(&s->verdicts, s->arguments->out, s->arguments->junit,
                                    s->arguments->tap);
    return rc;
}

/* Writes its runs as test results. */
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

/* If the verdicts go to standard output, nothing else does. */
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

/* A bisection that found the limit has succeeded, although some of its runs failed. */
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
    /* identifies its folders as a sweep's even if it is killed */
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

static int read_seed(const char *name, const char *text, void *to)
{
    struct sweep_arguments *a = to;

    a->seed_given = true;
    return hil_read_whole(name, text, 0, UINT32_MAX, &a->seed);
}

static const struct hil_option options[] = {
    HIL_MODE_OPTION,
    HIL_SET_OPTIONS,
    HIL_OPTION("out", hil_read_text, struct sweep_arguments, out),
    HIL_OPTION("jobs", hil_read_count, struct sweep_arguments, jobs),
    HIL_OPTION("bisect", hil_read_text, struct sweep_arguments, bisect),
    HIL_OPTION("runs", hil_read_count, struct sweep_arguments, runs),
    {"seed", required_argument, read_seed, 0},
    HIL_OPTION("junit", hil_read_text, struct sweep_arguments, junit),
    HIL_OPTION("tap", hil_read_text, struct sweep_arguments, tap),
    {0},
};

int hil_command_sweep(int argc, char **argv)
{
    struct sweep_arguments a = {.seed = 1};
    struct sweep s = {.arguments = &a};
    int rc = hil_arguments_parse(&a.given, &(struct hil_command){help, options, 1, 1}, argc, argv);
    int status = rc ? hil_arguments_status(rc) : sweep_run_all(&s);

    sweep_free(&s);
    hil_arguments_free(&a.given);
    return status;
}
