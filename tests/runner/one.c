#include "tests/runner/one.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/nodes.h"

static struct test_told *told; /* NULL in the process that starts tests */
static pid_t own;
static jmp_buf after;

struct test_told *test_told_new(void)
{
    void *memory = mmap(NULL, sizeof(struct test_told), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        abort();
    return memory;
}

void test_fail(const char *file, int line, const char *condition, const char *format, ...)
{
    va_list args;
    char text[2000];

    if (told)
        told->failed = true;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* In one piece, as tests that run now write to the same file. */
    fprintf(stderr, "%s:%d: %s%s\n", file, line, condition, text);
}

/* Where a process that the test has forked, or a thread of it, cannot go on, all of it ends. */
void test_end(void)
{
    if (!told || gettid() != own)
        exit(EXIT_FAILURE);
    longjmp(after, 1);
}

void test_skip(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(told->why, sizeof told->why, format, args);
    va_end(args);
    told->skipped = true;
    test_end();
}

static void call(void (*function)(void))
{
    if (function)
        function();
}

static void run(const struct test *t, const struct test_around *suite, size_t parameter)
{
    if (setjmp(after) == 0) {
        call(suite->init);
        call(t->around.init);
        t->run(&parameter);
    }
    if (setjmp(after) == 0) {
        call(t->around.fini);
        call(suite->fini);
    }
}

pid_t test_start(const struct test *test, const struct test_suite *suite, size_t parameter,
                 struct test_told *shared)
{
    static const struct test_around nothing;
    sigset_t none;

    memset(shared, 0, sizeof *shared);
    const pid_t pid = fork();
    if (pid < 0)
        abort();
    if (pid > 0)
        return pid;
    setpgid(0, 0); /* what it starts belongs to it */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    told = shared;
    test_moves = &shared->moves;
    own = getpid();
    run(test, suite ? &suite->around : &nothing, parameter);
    told->ended = true;
    exit(EXIT_SUCCESS);
}
