#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/json_file.h"
#include "../launch/jobs.h"
#include "../launch/results.h"
#include "../launch/verdict_files.h"
#include "../record/summary_reader.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco test SCENARIO... [--set KEY=VALUE]... [--mode MODE] [--jobs N] [--out DIR]\n"
    "                   [--parameters FILE]... [--junit FILE] [--tap FILE]\n"
    "\n"
    "Runs scenarios, and reports for each whether it kept its limits (docs/limits.md): passed,\n"
    "failed, inconclusive or error. Scenarios in virtual time run side by side first, then those\n"
    "in real time one after the other.\n"
    "\n"
    "  --set KEY=VALUE  set a key in all scenarios\n"
    "  --parameters FILE\n"
    "                   set parameters in all scenarios from an SSV file (docs/parameters.md)\n"
    "  --mode MODE      realtime or virtual, as for hiloco run\n"
    "  --jobs N         how many at a time in virtual time (default: the number of cores)\n"
    "  --out DIR        folder of the results, with a folder for each scenario (default:\n"
    "                   results/test-TIMESTAMP)\n"
    "  --junit FILE     write the verdicts as JUnit XML\n"
    "  --tap FILE       the same as TAP; with - to standard output, which then has nothing else\n"
    "\n"
    "Exit status: 0 if all passed; 1 if a run failed; 2 for a mistake in any scenario, before\n"
    "anything runs; 4 if a limit failed; otherwise 3 if a run is inconclusive; 130 if the tests\n"
    "were interrupted, 129 if the terminal hung up, 131 after SIGQUIT.\n";

struct test_arguments {
    struct hil_arguments given;
    const char *out, *junit, *tap;
    unsigned jobs;
};

static const struct hil_option options[] = {
    HIL_MODE_OPTION,
    HIL_SET_OPTIONS,
    HIL_OPTION("out", hil_read_text, struct test_arguments, out),
    HIL_OPTION("jobs", hil_read_count, struct test_arguments, jobs),
    HIL_OPTION("junit", hil_read_text, struct test_arguments, junit),
    HIL_OPTION("tap", hil_read_text, struct test_arguments, tap),
    {0},
};

struct tests {
    const struct test_arguments *arguments;
    const char *const *paths;
    char (*names)[80];
    struct hil_jobs jobs;
    unsigned count, printed;
    bool quiet;
    char out[4096];
};

/* Scenarios with the same name get different folders. */
static void test_name(struct tests *t, unsigned i, const char *name)
{
    unsigned same = 1;

    for (unsigned k = 0; k < i; k++)
        same += strncmp(t->names[k], name, strlen(name)) == 0 &&
                strchr(",", t->names[k][strlen(name)]) != NULL;
    if (same == 1)
        snprintf(t->names[i], sizeof t->names[i], "%.64s", name);
    else
        snprintf(t->names[i], sizeof t->names[i], "%.64s,%u", name, same);
}

/* Checks all scenarios before any of them runs. */
static int test_check(struct tests *t)
{
    int failed = 0;

    for (unsigned i = 0; i < t->count; i++) {
        struct hil_arguments one = t->arguments->given;
        struct hil_scenario *scenario;
        one.scenario = t->paths[i];
        const int rc = hil_arguments_load(&one, &scenario);
        failed = rc ? rc : failed;
        if (rc)
            continue;
        if (hil_system_is_joined(scenario->system)) {
            fprintf(stderr,
                    "%s: a component is outside, and a test has no program of yours to join the "
                    "run; use hiloco run\n",
                    t->paths[i]);
            failed = -EINVAL;
        }
        t->jobs.at[i].alone = scenario->mode == HIL_REALTIME;
        test_name(t, i, scenario->name);
        hil_scenario_free(scenario);
    }
    return failed;
}

static void test_exec(void *tests, unsigned i)
{
    const struct tests *t = tests;

    hil_jobs_exec(t->paths[i], &t->arguments->given.options, t->out, t->names[i]);
}

static struct hil_summary_reader test_told(const struct tests *t, unsigned i)
{
    char dir[4400];

    snprintf(dir, sizeof dir, "%s/%s", t->out, t->names[i]);
    return hil_summary_reader_of_run(dir);
}

static struct hil_tested test_tested(const struct tests *t, unsigned i,
                                     const struct hil_summary_reader *told)
{
    const struct hil_job *job = &t->jobs.at[i];

    return (struct hil_tested){t->paths[i], job->done ? job->status : -1, job->seconds, told->root};
}

/* Prints results in the order of the command line, up to the first test that has not ended. */
static void test_print(void *tests, unsigned ended)
{
    struct tests *t = tests;

    (void)ended;
    for (; !t->quiet && t->printed < t->count && t->jobs.at[t->printed].done; t->printed++) {
        struct hil_summary_reader told = test_told(t, t->printed);
        const struct hil_tested tested = test_tested(t, t->printed, &told);
        printf("%-12s  %s  (%.2f s)\n", hil_tested_verdict(&tested), tested.name, tested.seconds);
        hil_summary_reader_close(&told);
    }
    fflush(stdout);
}

static int test_write_index(const struct tests *t)
{
    json_t *points = json_array();
    char path[4400];

    for (unsigned i = 0; i < t->count; i++) {
        struct hil_summary_reader told = test_told(t, i);
        const struct hil_tested tested = test_tested(t, i, &told);
        json_array_append_new(points,
                              json_pack("{s:s, s:s, s:s, s:i, s:f}", "dir", t->names[i], "scenario",
                                        t->paths[i], "verdict", hil_tested_verdict(&tested),
                                        "status", tested.status, "seconds", tested.seconds));
        hil_summary_reader_close(&told);
    }
    json_t *root = json_pack("{s:o}", "points", points);
    snprintf(path, sizeof path, "%s/tests.json", t->out);
    const int rc = hil_json_file_write(root, path, 0);
    json_decref(root);
    if (rc)
        fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(-rc));
    return rc;
}

static void test_print_total(const struct tests *t)
{
    static const char *const verdicts[] = {"passed", "failed", "inconclusive", "error"};
    unsigned counts[4] = {0};

    for (unsigned i = 0; i < t->count; i++) {
        struct hil_summary_reader told = test_told(t, i);
        const struct hil_tested tested = test_tested(t, i, &told);
        for (unsigned k = 0; k < 4; k++)
            counts[k] += strcmp(hil_tested_verdict(&tested), verdicts[k]) == 0;
        hil_summary_reader_close(&told);
    }
    printf("%u of %u passed, %u failed, %u inconclusive, %u in error; results: %s\n", counts[0],
           t->count, counts[1], counts[2], counts[3], t->out);
}

static int test_write_verdicts(const struct tests *t, struct hil_verdict_files *files)
{
    struct hil_tested *tested = calloc(t->count, sizeof *tested);
    struct hil_summary_reader *told = calloc(t->count, sizeof *told);
    int rc = tested && told ? 0 : -ENOMEM;

    for (unsigned i = 0; !rc && i < t->count; i++) {
        told[i] = test_told(t, i);
        tested[i] = test_tested(t, i, &told[i]);
    }
    if (!rc)
        rc = hil_verdict_files_end(files, tested, t->count);
    for (unsigned i = 0; told && i < t->count; i++)
        hil_summary_reader_close(&told[i]);
    free(tested);
    free(told);
    return rc;
}

static int test_run_all(struct tests *t)
{
    const struct test_arguments *a = t->arguments;
    struct hil_verdict_files files;

    if (test_check(t) || hil_verdict_files_open(&files, a->out, a->junit, a->tap))
        return HIL_EXIT_USAGE;
    t->quiet = files.junit == stdout || files.tap == stdout;
    hil_catch_signals();
    const int folder =
        hil_results_open(t->out, sizeof t->out, a->out, "test", HIL_OF_TESTS, stderr);
    if (folder < 0)
        return hil_results_status(folder);
    int rc = test_write_index(t); /* identifies its folders even if it is killed */
    hil_jobs_run(&t->jobs, a->jobs);
    if (!rc)
        rc = test_write_index(t);
    if (!t->quiet)
        test_print_total(t);
    if (test_write_verdicts(t, &files))
        rc = -EIO;
    close(folder);
    return hil_signal_status() ? hil_signal_status()
           : rc                ? HIL_EXIT_FAILED
                               : hil_jobs_status(&t->jobs);
}

int hil_command_test(int argc, char **argv)
{
    struct test_arguments a = {0};
    struct tests t = {.arguments = &a};
    int rc = hil_arguments_parse(&a.given, &(struct hil_command){help, options, 1, 0}, argc, argv);
    int status = rc ? hil_arguments_status(rc) : HIL_EXIT_FAILED;

    t.paths = a.given.scenarios;
    t.count = t.jobs.count = a.given.scenario_count;
    t.jobs.exec = test_exec;
    t.jobs.ended = test_print;
    t.jobs.arg = &t;
    t.jobs.at = calloc(t.count + 1, sizeof *t.jobs.at);
    t.names = calloc(t.count + 1, sizeof *t.names);
    if (!rc && t.jobs.at && t.names)
        status = test_run_all(&t);
    free(t.jobs.at);
    free(t.names);
    hil_arguments_free(&a.given);
    return status;
}
