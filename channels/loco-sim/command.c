#include "command.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "explore.h"

static const char help[] =
    "Runs workloads on the simulator, and says which seed of which fails, if any does.\n"
    "\n"
    "  --seeds N            run so many seeds of each workload (100000)\n"
    "  --from SEED          begin with this seed (1)\n"
    "  --chaos 1..3         how much the network misbehaves (3)\n"
    "  --only PATTERN       run the workloads with such names only, as small_*\n"
    "  --limit SECONDS      how long a seed may take (120)\n"
    "  --quiet              do not print why a seed fails\n"
    "  --pct DEPTH          choose by PCT, which finds bugs of the depth with a chance that is\n"
    "                       printed\n"
    "  --depth-first P,D    make every run of the first seed with up to P preemptions and D "
    "delays\n"
    "  --replay ANSWERS     make the run of the first seed with these answers\n"
    "  --shrink             shrink a run that fails, and print its answers\n"
    "  --help               print this\n"
    "\n"
    "Exit status: 0 all pass, 1 one fails, 2 wrong arguments, 3 one took longer than the limit, 4\n"
    "one crashed.\n";

enum status { PASSES, FAILS, USAGE, HANGS, CRASHES };

enum { LIMIT_S = 120, DEPTH_MAX = 16, BUDGET_MAX = 16 };

struct settings {
    uint64_t seeds, from, chaos, limit, depth;
    struct loco_sim_budget budget;
    struct loco_sim_answers answers;
    const char *only;
    bool quiet, depth_first, replay, shrink;
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

/* --- runs --------------------------------------------------------------------------------------
 */

static void watch(const struct loco_sim_case *c, const struct settings *s)
{
    snprintf(running, sizeof running, "workload %s, seed %llu:", c->workload->name,
             (unsigned long long)c->seed);
    alarm((unsigned)s->limit);
}

/* The answers are those of a run that fails. */
static bool passes(const struct loco_sim_case *c, const struct settings *s,
                   struct loco_sim_size *size, struct loco_sim_answers *answers)
{
    watch(c, s);
    int rc = s->depth
                 ? loco_sim_pct(c, (unsigned)s->depth, size, answers)
                 : loco_sim_workload_run(c->workload, c->seed, c->chaos, !s->quiet && !s->shrink);
    if (rc && !s->depth && s->shrink)
        rc = loco_sim_record(c, answers);
    alarm(0);
    return rc == 0;
}

/* Says why the run fails, with as few answers as can be if that is asked for. */
static void show(const struct loco_sim_case *c, const struct settings *s,
                 struct loco_sim_answers *answers)
{
    if (s->shrink)
        loco_sim_shrink(c, answers);
    if (!s->quiet)
        loco_sim_replay(c, answers, true);
    printf("%s: --from %llu --replay '", c->workload->name, (unsigned long long)c->seed);
    loco_sim_answers_print(answers, stdout);
    puts("' fails");
}

/* When all workloads run, a heavy one gets fewer seeds, so that it has the same share of the time.
 */
static uint64_t seeds_for(const struct loco_sim_workload *w, const struct settings *s)
{
    return w->weight > 1 && !s->only ? (s->seeds + w->weight - 1) / w->weight : s->seeds;
}

static void print_chance(const struct loco_sim_size *size, const struct settings *s, uint64_t runs)
{
    const double once = loco_sim_pct_chance(size, (unsigned)s->depth);

    printf("%-24s a bug of depth %llu is found with a chance of at least %.2g %%: %llu ranked, "
           "%llu moments\n",
           "", (unsigned long long)s->depth, -100 * expm1((double)runs * log1p(-once)),
           (unsigned long long)size->ranked, (unsigned long long)size->moments);
}

static bool run_seeds(struct loco_sim_case c, const struct settings *s)
{
    const uint64_t seeds = seeds_for(c.workload, s);
    const double begin = seconds();
    struct loco_sim_answers answers = {0};
    struct loco_sim_size size = {0};
    uint64_t passed = 0;

    while (passed < seeds && (c.seed = s->from + passed, passes(&c, s, &size, &answers)))
        passed++;
    printf("%-24s %8llu of %llu seeds pass", c.workload->name, (unsigned long long)passed,
           (unsigned long long)seeds);
    if (passed < seeds)
        printf(", then seed %llu FAILS", (unsigned long long)c.seed);
    printf("  %.1f s\n", seconds() - begin);
    if (passed < seeds && (s->depth || s->shrink))
        show(&c, s, &answers);
    else if (s->depth)
        print_chance(&size, s, passed);
    loco_sim_answers_free(&answers);
    return passed == seeds;
}

static bool run_depth_first(const struct loco_sim_case *c, const struct settings *s)
{
    const double begin = seconds();
    struct loco_sim_answers answers;
    uint64_t runs;
    int rc = loco_sim_depth_first(c, s->budget, &answers, &runs);

    printf("%-24s %8llu runs with up to %u preemptions and %u delays, %s  %.1f s\n",
           c->workload->name, (unsigned long long)runs, s->budget.preemptions, s->budget.delays,
           rc ? "the last of which FAILS" : "which are all", seconds() - begin);
    if (rc == 1)
        show(c, s, &answers);
    loco_sim_answers_free(&answers);
    return rc == 0;
}

static bool run_replay(const struct loco_sim_case *c, struct settings *s)
{
    watch(c, s);
    const bool passed = loco_sim_replay(c, &s->answers, !s->quiet) == 0;
    alarm(0);
    printf("%-24s the run %s\n", c->workload->name, passed ? "passes" : "FAILS");
    return passed;
}

static bool run(const struct loco_sim_workload *w, struct settings *s)
{
    const struct loco_sim_case c = {w, s->from, (enum loco_sim_chaos)s->chaos};
    bool passed = s->replay        ? run_replay(&c, s)
                  : s->depth_first ? run_depth_first(&c, s)
                                   : run_seeds(c, s);

    fflush(stdout);
    return passed;
}

/* --- arguments ----------------------------------------------------------------------------- */

static int wrong(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, text);
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

static int read_budget(struct settings *s, const char *text)
{
    unsigned preemptions, delays;
    int end = 0;

    s->depth_first = true;
    if (sscanf(text, "%2u,%2u%n", &preemptions, &delays, &end) != 2 || text[end] ||
        preemptions > BUDGET_MAX || delays > BUDGET_MAX)
        return wrong("this is not a number of preemptions and one of delays, such as 2,1", text);
    s->budget = (struct loco_sim_budget){preemptions, delays};
    return 0;
}

static int read_answers(struct settings *s, const char *text)
{
    s->replay = true;
    return loco_sim_answers_read(&s->answers, text)
               ? wrong("these are no answers, such as 'switch:12 delay:3'", text)
               : 0;
}

static int read_option(struct settings *s, int option)
{
    switch (option) {
    case 's':
        return read_number(optarg, 1, UINT32_MAX, &s->seeds);
    case 'f':
        return read_number(optarg, 0, UINT64_MAX - UINT32_MAX, &s->from);
    case 'c':
        return read_number(optarg, LOCO_SIM_DELAYED, LOCO_SIM_DEFERRED, &s->chaos);
    case 'l':
        return read_number(optarg, 1, UINT32_MAX, &s->limit);
    case 'p':
        return read_number(optarg, 1, DEPTH_MAX, &s->depth);
    case 'd':
        return read_budget(s, optarg);
    case 'r':
        return read_answers(s, optarg);
    case 'o':
        s->only = optarg;
        return 0;
    case 'q':
        s->quiet = true;
        return 0;
    case 'k':
        s->shrink = true;
        return 0;
    case 'h':
        fputs(help, stdout);
        exit(PASSES);
    }
    return -EINVAL;
}

static int read_settings(struct settings *s, int argc, char **argv)
{
    static const struct option options[] = {
        {"seeds", required_argument, NULL, 's'},  {"from", required_argument, NULL, 'f'},
        {"chaos", required_argument, NULL, 'c'},  {"only", required_argument, NULL, 'o'},
        {"limit", required_argument, NULL, 'l'},  {"quiet", no_argument, NULL, 'q'},
        {"pct", required_argument, NULL, 'p'},    {"depth-first", required_argument, NULL, 'd'},
        {"replay", required_argument, NULL, 'r'}, {"shrink", no_argument, NULL, 'k'},
        {"help", no_argument, NULL, 'h'},         {0},
    };
    int option, rc = 0;

    while (!rc && (option = getopt_long(argc, argv, "", options, NULL)) != -1)
        rc = read_option(s, option);
    if (!rc && optind < argc)
        rc = wrong("this is no option", argv[optind]);
    if (!rc && (s->depth > 0) + s->depth_first + s->replay > 1)
        rc = wrong("only one of these makes sense", "--pct, --depth-first, --replay");
    return rc;
}

int loco_sim_main(int argc, char **argv, const struct loco_sim_workload *const *workloads)
{
    struct settings s = {.seeds = 100000, .from = 1, .chaos = LOCO_SIM_DEFERRED, .limit = LIMIT_S};
    bool all_passed = true, any = false;

    if (read_settings(&s, argc, argv))
        return USAGE;
    watch_signals();
    for (const struct loco_sim_workload *const *w = workloads; *w; w++) {
        if (s.only && fnmatch(s.only, (*w)->name, 0) != 0)
            continue;
        any = true;
        all_passed &= run(*w, &s);
    }
    loco_sim_answers_free(&s.answers);
    if (!any) {
        wrong("there is no such workload", s.only);
        return USAGE;
    }
    return all_passed ? PASSES : FAILS;
}
