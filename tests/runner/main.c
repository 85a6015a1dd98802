/*
 * Runs tests, each in a process of its own, some at a time.
 *
 *     PROGRAM [--jobs N] [--filter PATTERN]... [--list]
 *
 * Patterns choose by SUITE/NAME, or by SUITE/NAME/PARAMETER, and the last one that matches decides:
 * what one with a ! before it matches is left out. None: all tests. The exit status is 2 if there
 * are none of these.
 *
 * A test may take any time as long as it moves. One that stands still, in that none of its nodes
 * has come past a CHECK for TEST_STILL_S seconds, is ended. So are all processes that a test has
 * left. tests/suite.py reads the line that says how a test ended.
 */
#include <fnmatch.h>
#include <getopt.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/runner/one.h"

enum { STILL_S = 600 };

/* A test with one of its parameters. */
struct item {
    const struct test *test;
    const struct test_suite *suite; /* NULL: it says nothing of it */
    size_t parameter;
    char name[256];
};

struct job {
    const struct item *item; /* NULL: it is free */
    pid_t pid;
    double began;
    struct test_told *told;
    uint64_t moves;
    int still_s;
};

unsigned test_jobs;

static struct test *tests;
static struct test_suite *suites;
static struct item *items;
static size_t item_count;
static struct job *jobs;
static unsigned running, counts[TEST_VERDICTS];
static sigset_t heard;

void test_add(struct test *test)
{
    test->next = tests;
    tests = test;
}

void test_add_suite(struct test_suite *suite)
{
    suite->next = suites;
    suites = suite;
}

/* --- what is run ------------------------------------------------------------------------ */

struct patterns {
    const char *of[64];
    size_t count;
};

static bool matches(const struct item *i, const char *pattern)
{
    char without_parameter[256];

    snprintf(without_parameter, sizeof without_parameter, "%s/%s", i->test->suite, i->test->name);
    return fnmatch(pattern, i->name, FNM_EXTMATCH) == 0 ||
           fnmatch(pattern, without_parameter, FNM_EXTMATCH) == 0;
}

static bool is_chosen(const struct item *i, const struct patterns *p)
{
    bool chosen = p->count == 0;

    for (size_t n = 0; n < p->count; n++) {
        const bool without = p->of[n][0] == '!' && p->of[n][1] != '('; /* !(...) is a pattern */
        if (matches(i, p->of[n] + without))
            chosen = !without;
    }
    return chosen;
}

static const struct test_suite *suite_of(const struct test *t)
{
    const struct test_suite *s = suites;

    while (s && strcmp(s->name, t->suite) != 0)
        s = s->next;
    return s;
}

static bool is_alone(const struct item *i)
{
    return i->suite && i->suite->around.alone;
}

/* Suites that are alone come last. */
static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int order = is_alone(x) - is_alone(y);

    if (order == 0)
        order = strcmp(x->test->suite, y->test->suite);
    if (order == 0)
        order = strcmp(x->test->name, y->test->name);
    return order ? order : (x->parameter > y->parameter) - (x->parameter < y->parameter);
}

static void add_item(const struct test *t, size_t parameter, const struct patterns *p)
{
    struct item *i = &items[item_count];

    *i = (struct item){.test = t, .suite = suite_of(t), .parameter = parameter};
    snprintf(i->name, sizeof i->name, "%s/%s", t->suite, t->name);
    if (t->parameters)
        snprintf(i->name, sizeof i->name, "%s/%s/%zu", t->suite, t->name, parameter);
    item_count += is_chosen(i, p);
}

static void gather_items(const struct patterns *p)
{
    for (const struct test *t = tests; t; t = t->next) {
        const size_t count = t->parameters ? t->parameters() : 1;
        items = realloc(items, (item_count + count) * sizeof *items);
        if (!items)
            abort();
        for (size_t n = 0; n < count; n++)
            add_item(t, n, p);
    }
    qsort(items, item_count, sizeof *items, compare_items);
}

/* --- how it ends ------------------------------------------------------------------------ */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void report(struct job *j, enum test_verdict verdict)
{
    static const char *const words[] = {
        [TEST_PASSED] = "ok",
        [TEST_FAILED] = "FAILED",
        [TEST_SKIPPED] = "skipped",
        [TEST_STOOD_STILL] = "FAILED, it stood still",
    };
    const bool skipped = verdict == TEST_SKIPPED;

    printf("  %s: %s%s%s (%.1f s)\n", words[verdict], j->item->name, skipped ? ": " : "",
           skipped ? j->told->why : "", now() - j->began);
    counts[verdict]++;
    j->item = NULL;
    running--;
}

/* What a process that has ended before its test had, or after it in another way, has to say. */
static enum test_verdict judge(const struct job *j, int status)
{
    if (WIFSIGNALED(status))
        printf("%s: crashed: %s\n", j->item->name, strsignal(WTERMSIG(status)));
    else if (!j->told->ended || WEXITSTATUS(status))
        printf("%s: its process ended with status %d\n", j->item->name, WEXITSTATUS(status));
    if (status || !j->told->ended || j->told->failed)
        return TEST_FAILED;
    return j->told->skipped ? TEST_SKIPPED : TEST_PASSED;
}

static void reap(void)
{
    int status;

    for (unsigned n = 0; n < test_jobs; n++) {
        struct job *j = &jobs[n];
        if (!j->item || waitpid(j->pid, &status, WNOHANG) != j->pid)
            continue;
        kill(-j->pid, SIGKILL); /* nodes of a test that failed before it had waited for them */
        report(j, judge(j, status));
    }
}

static void end_job(struct job *j)
{
    kill(-j->pid, SIGKILL);
    kill(j->pid, SIGKILL); /* it may not have its group yet */
    waitpid(j->pid, NULL, 0);
}

/* Called once a second. Seconds are counted, not read from a clock, which goes on while the machine
 * stands still. */
static void end_the_still(int still_s)
{
    for (unsigned n = 0; n < test_jobs; n++) {
        struct job *j = &jobs[n];
        if (!j->item)
            continue;
        j->still_s = j->told->moves == j->moves ? j->still_s + 1 : 0;
        j->moves = j->told->moves;
        if (j->still_s < still_s)
            continue;
        end_job(j);
        report(j, TEST_STOOD_STILL);
    }
}

/* --- all of them ------------------------------------------------------------------------ */

static void start(const struct item *i)
{
    struct job *j = jobs;

    while (j->item)
        j++;
    *j = (struct job){.item = i, .told = j->told, .began = now()};
    fflush(NULL);
    j->pid = test_start(i->test, i->suite, i->parameter, j->told);
    running++;
}

static bool may_start(const struct item *i, bool alone_runs)
{
    return running == 0 || (running < test_jobs && !alone_runs && !is_alone(i));
}

static void run_items(int still_s)
{
    const struct timespec second = {.tv_sec = 1};
    bool alone_runs = false;
    double ticked = now();

    for (size_t next = 0; next < item_count || running;) {
        if (next < item_count && may_start(&items[next], alone_runs)) {
            alone_runs = is_alone(&items[next]);
            start(&items[next++]);
            continue;
        }
        const int signal = sigtimedwait(&heard, NULL, &second);
        if (signal > 0 && signal != SIGCHLD) {
            for (unsigned n = 0; n < test_jobs; n++)
                if (jobs[n].item)
                    end_job(&jobs[n]);
            if (tests_end)
                tests_end();
            exit(128 + signal);
        }
        reap();
        if (now() - ticked >= 1) {
            ticked = now();
            end_the_still(still_s);
        }
    }
}

/* Signals that end a process end the tests, too: a shell's background job starts with SIGINT and
 * SIGQUIT ignored, and hands that down. */
static void hear_signals(void)
{
    static const int signals[] = {SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

    sigemptyset(&heard);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        signal(signals[i], SIG_DFL);
        sigaddset(&heard, signals[i]);
    }
    sigprocmask(SIG_BLOCK, &heard, NULL);
}

static void make_jobs(void)
{
    jobs = calloc(test_jobs, sizeof *jobs);
    if (!jobs)
        abort();
    for (unsigned n = 0; n < test_jobs; n++)
        jobs[n].told = test_told_new();
}

static bool parse(int argc, char **argv, struct patterns *p, bool *only_lists)
{
    static const struct option options[] = {{"filter", required_argument, NULL, 'f'},
                                            {"jobs", required_argument, NULL, 'j'},
                                            {"list", no_argument, NULL, 'l'},
                                            {0}};
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
        if (option == 'f' && p->count < sizeof p->of / sizeof p->of[0])
            p->of[p->count++] = optarg;
        else if (option == 'j' && atoi(optarg) > 0)
            test_jobs = (unsigned)atoi(optarg);
        else if (option == 'l')
            *only_lists = true;
        else
            return false;
    }
    return optind == argc;
}

int main(int argc, char **argv)
{
    const char *still = getenv("TEST_STILL_S");
    struct patterns patterns = {0};
    bool only_lists = false;

    if (test_jobs == 0)
        test_jobs = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    if (!parse(argc, argv, &patterns, &only_lists)) {
        fprintf(stderr, "usage: %s [--jobs N] [--filter PATTERN]... [--list]\n", argv[0]);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    gather_items(&patterns);
    if (item_count == 0) {
        fprintf(stderr, "no test is chosen\n");
        return 2;
    }
    for (size_t i = 0; only_lists && i < item_count; i++)
        puts(items[i].name);
    if (only_lists)
        return 0;
    hear_signals();
    make_jobs();
    if (tests_begin)
        tests_begin();
    run_items(still ? atoi(still) : STILL_S);
    if (tests_end)
        tests_end();
    const unsigned failed = counts[TEST_FAILED] + counts[TEST_STOOD_STILL];
    printf("  %u passed, %u failed, %u skipped\n", counts[TEST_PASSED], failed,
           counts[TEST_SKIPPED]);
    return failed > 0;
}
