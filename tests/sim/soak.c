/*
 * soak: runs the workloads under chaos for as many seeds as asked, and says which seed of
 * which workload fails, if any does.
 *
 *      soak [--seeds N] [--from SEED] [--chaos 1..3] [--only WORKLOAD] [--limit SECONDS] [--quiet]
 *
 * Exit status, on which mutants.sh relies:
 *      0   every seed of every workload passes
 *      1   a seed fails: an expectation, the history, or no end on the simulator
 *      2   the arguments make no sense, or there is no such workload
 *      3   a seed took longer than the limit; the rest was not run
 *      4   a seed crashed; the rest was not run
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/sim/workloads.h"

enum status { PASSES, FAILS, USAGE, HANGS, CRASHES };

/* A seed normally takes some milliseconds. */
enum { LIMIT_S = 120 };

struct settings {
    uint64_t seeds, from, chaos, limit;
    const char *only;
    bool quiet;
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- a seed that never ends, or ends the program ------------------------------------------- */

static char running[128]; /* the running seed, as text: a signal handler can only write it */

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(CRASHES);
}

static void on_signal(int number)
{
    say(running);
    say(number == SIGALRM ? " HANGS: it is over the limit\n" : " CRASHES\n");
    _exit(number == SIGALRM ? HANGS : CRASHES);
}

/* The handler runs on a stack of its own, as a fiber may have overflowed its stack. */
static void watch_signals(void)
{
    static const int numbers[] = {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char stack[64 << 10];
    const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

    sigaltstack(&own, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
}

static bool passes(const struct loco_sim_workload *w, uint64_t seed, const struct settings *s)
{
    snprintf(running, sizeof running, "workload %s, seed %llu:", w->name, (unsigned long long)seed);
    alarm((unsigned)s->limit);
    bool passed = loco_sim_workload_run(w, seed, (enum loco_sim_chaos)s->chaos, !s->quiet) == 0;
    alarm(0);
    return passed;
}

/* When all workloads run, a heavy one gets fewer seeds, so that it has the same share of the time.
 */
static uint64_t seeds_for(const struct loco_sim_workload *w, const struct settings *s)
{
    return w->weight > 1 && !s->only ? (s->seeds + w->weight - 1) / w->weight : s->seeds;
}

static bool run(const struct loco_sim_workload *w, const struct settings *s)
{
    const uint64_t seeds = seeds_for(w, s);
    double begin = seconds();
    uint64_t passed = 0;

    while (passed < seeds && passes(w, s->from + passed, s))
        passed++;
    printf("%-24s %8llu of %llu seeds pass", w->name, (unsigned long long)passed,
           (unsigned long long)seeds);
    if (passed < seeds)
        printf(", then seed %llu FAILS", (unsigned long long)(s->from + passed));
    printf("  %.1f s\n", seconds() - begin);
    fflush(stdout);
    return passed == seeds;
}

/* --- arguments ----------------------------------------------------------------------------- */

static int wrong(const char *what, const char *text)
{
    fprintf(stderr, "soak: %s: %s\n", what, text);
    return -EINVAL;
}

static int read_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || *number < least || *number > most)
        return wrong("this is no number that makes sense here", text);
    return 0;
}

static int read_settings(struct settings *s, int argc, char **argv)
{
    static const struct option options[] = {
        {"seeds", required_argument, NULL, 's'},
        {"from", required_argument, NULL, 'f'},
        {"chaos", required_argument, NULL, 'c'},
        {"only", required_argument, NULL, 'o'},
        {"limit", required_argument, NULL, 'l'},
        {"quiet", no_argument, NULL, 'q'},
        {0},
    };
    int option, rc = 0;

    while (!rc && (option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 's')
            rc = read_number(optarg, 1, UINT32_MAX, &s->seeds);
        else if (option == 'f')
            rc = read_number(optarg, 0, UINT64_MAX - UINT32_MAX, &s->from);
        else if (option == 'c')
            rc = read_number(optarg, LOCO_SIM_DELAYED, LOCO_SIM_DEFERRED, &s->chaos);
        else if (option == 'l')
            rc = read_number(optarg, 1, UINT32_MAX, &s->limit);
        else if (option == 'o')
            s->only = optarg;
        else if (option == 'q')
            s->quiet = true;
        else
            rc = -EINVAL;
    }
    if (!rc && optind < argc)
        rc = wrong("this is no option", argv[optind]);
    return rc;
}

int main(int argc, char **argv)
{
    struct settings s = {.seeds = 100000, .from = 1, .chaos = LOCO_SIM_DEFERRED, .limit = LIMIT_S};
    bool all_passed = true, any = false;

    if (read_settings(&s, argc, argv))
        return USAGE;
    watch_signals();
    for (const struct loco_sim_workload *const *w = workloads; *w; w++) {
        if (s.only && strcmp(s.only, (*w)->name) != 0)
            continue;
        any = true;
        all_passed &= run(*w, &s);
    }
    if (!any) {
        wrong("there is no such workload", s.only);
        return USAGE;
    }
    return all_passed ? PASSES : FAILS;
}
