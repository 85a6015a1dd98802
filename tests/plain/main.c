/*
 * Runs tests one after the other, each in a process of its own.
 *
 *     PROGRAM [PATTERN...]
 *
 * Patterns choose by SUITE/NAME; what one with a ! before it matches is left out. None: all.
 *
 * A test may take any time as long as it moves. One that stands still, in that none of its nodes
 * has come past a CHECK for TEST_STILL_S seconds, is ended with all the processes that it started.
 */
#include <criterion/criterion.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/nodes.h"

/* The first three are exit statuses. */
enum verdict { PASSED, FAILED, SKIPPED, STOOD_STILL, VERDICTS };

enum { STILL_S = 120 };

static struct plain_test *tests, **tests_end = &tests;

/* The test that this process runs. */
static const struct plain_test *running;
static bool failed;

void plain_add(struct plain_test *test)
{
    *tests_end = test;
    tests_end = &test->next;
}

void plain_fail(const char *file, int line, const char *condition, const char *format, ...)
{
    va_list args;

    failed = true;
    fprintf(stderr, "%s:%d: %s", file, line, condition);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void plain_skip(const char *why)
{
    printf("  skipped: %s/%s: %s\n", running->suite, running->name, why);
    exit(SKIPPED);
}

/* --- one test --------------------------------------------------------------------------- */

static pid_t start_test(const struct plain_test *t)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    setpgid(0, 0); /* what it starts belongs to it */
    running = t;
    t->run();
    exit(failed ? FAILED : PASSED);
}

/* Whether a second went by without a child's end. */
static bool nothing_ended(void)
{
    const struct timespec second = {.tv_sec = 1};
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    return sigtimedwait(&child, NULL, &second) < 0;
}

/* Seconds are counted, not read from a clock, which goes on while the machine stands still. */
static enum verdict await_test(pid_t pid, int still_s)
{
    uint64_t seen = *test_moves;
    int status, still = 0;

    while (waitpid(pid, &status, WNOHANG) != pid) {
        bool second_went_by = nothing_ended();
        still = *test_moves == seen ? still + second_went_by : 0;
        seen = *test_moves;
        if (still < still_s)
            continue;
        kill(-pid, SIGKILL);
        waitpid(pid, &status, 0);
        return STOOD_STILL;
    }
    kill(-pid, SIGKILL); /* nodes of a test that failed before it had waited for them */
    return WIFEXITED(status) && WEXITSTATUS(status) <= SKIPPED ? (enum verdict)WEXITSTATUS(status)
                                                               : FAILED;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static enum verdict run_test(const struct plain_test *t, int still_s)
{
    static const char *const words[] = {"ok", "FAILED", NULL, "FAILED, it stood still"};
    double begin = now();
    enum verdict verdict = await_test(start_test(t), still_s);

    if (verdict != SKIPPED) /* such a test has said so itself, and why */
        printf("  %s: %s/%s (%.1f s)\n", words[verdict], t->suite, t->name, now() - begin);
    return verdict;
}

/* --- all of them ------------------------------------------------------------------------ */

static bool is_chosen(const struct plain_test *t, char *const *patterns)
{
    bool chosen = !*patterns;
    char name[256];

    snprintf(name, sizeof name, "%s/%s", t->suite, t->name);
    for (; *patterns; patterns++) {
        bool without = **patterns == '!';
        if (fnmatch(*patterns + without, name, 0) == 0)
            chosen = !without;
    }
    return chosen;
}

int main(int argc, char **argv)
{
    const char *other = getenv("TEST_STILL_S");
    int counts[VERDICTS] = {0};
    sigset_t child;

    (void)argc;
    setvbuf(stdout, NULL, _IOLBF, 0);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    test_moves =
        mmap(NULL, sizeof *test_moves, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (const struct plain_test *t = tests; t; t = t->next)
        if (is_chosen(t, argv + 1))
            counts[run_test(t, other ? atoi(other) : STILL_S)]++;
    printf("  %d passed, %d failed, %d skipped\n", counts[PASSED],
           counts[FAILED] + counts[STOOD_STILL], counts[SKIPPED]);
    return counts[PASSED] == 0 || counts[FAILED] + counts[STOOD_STILL] > 0;
}
