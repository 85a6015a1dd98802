#include "process.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "workspace.h"

static const double too_long_s = 120;

/* --- arguments ---------------- */

static void add_text(struct arguments *a, char *text)
{
    cr_assert_lt(a->count + 1, sizeof a->at / sizeof a->at[0]);
    a->at[a->count++] = text;
}

static char *format_text(const char *format, va_list values)
{
    char *text;

    cr_assert_geq(vasprintf(&text, format, values), 0);
    return text;
}

void add(struct arguments *a, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    add_text(a, format_text(format, values));
    va_end(values);
}

void add_set(struct arguments *a, const char *format, ...)
{
    va_list values;

    add(a, "--set");
    va_start(values, format);
    add_text(a, format_text(format, values));
    va_end(values);
}

static struct arguments split(char *line)
{
    struct arguments a = {0};

    for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
        add(&a, "%s", word);
    free(line);
    return a;
}

struct arguments command(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    struct arguments a = split(format_text(format, values));
    va_end(values);
    return a;
}

/* Found at once, as a test may go to another folder. */
static char *build_folder;

__attribute__((constructor)) static void find_build_folder(void)
{
    const char *build = getenv("HILOCO_BUILD");

    build_folder = realpath(build ? build : "build", NULL);
}

const char *program_path(const char *name)
{
    static char path[4096];

    cr_assert_not_null(build_folder, "the programs are not built");
    snprintf(path, sizeof path, "%s/%s", build_folder, name);
    return path;
}

static bool is_ours(const char *name)
{
    return strcmp(name, "hiloco") == 0 || strcmp(name, "controller") == 0 ||
           strcmp(name, "converter") == 0 || strcmp(name, "loco-conform") == 0;
}

/* --- processes ---------------- */

static void redirect(const char *path, int to)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (file < 0 || dup2(file, to) < 0)
        _exit(126);
}

/* Dies with the test: also where that is killed for taking too long. */
static void become(const struct arguments *a, const struct process *p, const char *path)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    redirect("/dev/null", STDIN_FILENO);
    redirect(p->out_path, STDOUT_FILENO);
    redirect(p->err_path, STDERR_FILENO);
    execvp(path, a->at);
    _exit(127);
}

struct process start(const struct arguments *a)
{
    static unsigned number;
    const char *path = is_ours(a->at[0]) ? program_path(a->at[0]) : a->at[0];
    struct process p;

    snprintf(p.out_path, sizeof p.out_path, "%s/%u.out", workspace, number);
    snprintf(p.err_path, sizeof p.err_path, "%s/%u.err", workspace, number++);
    write_text(p.err_path, ""); /* there from the beginning, for who reads along */
    fflush(NULL);
    p.pid = fork();
    cr_assert(p.pid >= 0);
    if (p.pid == 0)
        become(a, &p, path);
    return p;
}

bool has_ended(const struct process *p)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

static bool process_ended(void *p)
{
    return has_ended(p);
}

struct ended finish(struct process *p)
{
    struct ended e = {0};
    int status = 0;
    bool in_time = wait_until(process_ended, p, too_long_s);

    if (!in_time)
        kill(p->pid, SIGTERM);
    waitpid(p->pid, &status, 0);
    e.out = read_text(p->out_path);
    e.err = read_text(p->err_path);
    e.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    cr_expect(in_time, "it does not end; stderr:\n%s", e.err);
    return e;
}

struct ended run(const struct arguments *a)
{
    struct process p = start(a);

    return finish(&p);
}

struct ended run_command(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    struct arguments a = split(format_text(format, values));
    va_end(values);
    return run(&a);
}

void expect_status(const struct ended *e, int status)
{
    cr_expect_eq(e->status, status, "exit status %d in place of %d; stderr:\n%s", e->status, status,
                 e->err);
}

void expect_ran(const struct ended *e)
{
    cr_expect(e->status == 0 || e->status == 3, "exit status %d in place of 0 or 3; stderr:\n%s",
              e->status, e->err);
}

void expect_said(const struct ended *e, const char *text)
{
    cr_expect(strstr(e->err, text), "not said: %s\nbut on stderr:\n%s", text, e->err);
}

bool find_children(void *arg)
{
    struct family *f = arg;
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)f->parent, (int)f->parent);
    FILE *file = exists(path) ? fopen(path, "r") : NULL;
    int found = file ? fscanf(file, "%d %d", &f->children[0], &f->children[1]) : 0;
    if (file)
        fclose(file);
    return found == 2;
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool wait_until(bool (*condition)(void *arg), void *arg, double seconds)
{
    const struct timespec turn = {.tv_nsec = 2000000};

    for (double end = now_s() + seconds; !condition(arg); nanosleep(&turn, NULL))
        if (now_s() > end)
            return condition(arg);
    return true;
}

bool has_said(const struct process *p, const char *text)
{
    char *all = read_text(p->err_path);
    const bool has = strstr(all, text);

    free(all);
    return has;
}

struct expected {
    struct process *process;
    const char *text;
};

static bool is_said_or_ended(void *expected)
{
    struct expected *e = expected;

    return has_said(e->process, e->text) || has_ended(e->process);
}

bool wait_until_said(struct process *p, const char *text, double seconds)
{
    struct expected expected = {p, text};

    return wait_until(is_said_or_ended, &expected, seconds) && has_said(p, text);
}

/* Opens the memory file of the process's run, by its link in /proc; -1: there is none yet. */
static int open_state(pid_t pid)
{
    char pattern[32], target[64] = "";
    glob_t links;
    int file = -1;

    snprintf(pattern, sizeof pattern, "/proc/%d/fd/*", (int)pid);
    if (glob(pattern, 0, NULL, &links))
        return -1;
    for (size_t i = 0; i < links.gl_pathc && file < 0; i++) {
        const ssize_t length = readlink(links.gl_pathv[i], target, sizeof target - 1);
        target[length < 0 ? 0 : length] = '\0';
        if (strncmp(target, "/memfd:" HIL_STATE_NAME " ", sizeof "/memfd:" HIL_STATE_NAME) == 0)
            file = open(links.gl_pathv[i], O_RDONLY | O_CLOEXEC);
    }
    globfree(&links);
    return file;
}

bool attach_run(const struct process *p, struct hil_attached *run)
{
    const int file = open_state(p->pid), rc = file < 0 ? file : hil_state_attach(run, file);

    if (file >= 0)
        close(file);
    return rc == 0;
}

bool is_running(void *process)
{
    const uint64_t some_ns = 100000000;
    struct hil_attached run;
    bool running = false;

    if (attach_run(process, &run)) {
        running = atomic_load(&run.state->elapsed_ns) >= some_ns;
        hil_state_detach(&run);
    }
    return running || has_ended(process);
}

uint64_t last_steps_of(const struct process *p)
{
    struct hil_attached run;
    uint64_t steps = 0;

    if (attach_run(p, &run)) {
        steps = run.state->nodes[run.node_count - 1].progress.steps;
        hil_state_detach(&run);
    }
    return steps;
}

pid_t start_hog(int cpu)
{
    pid_t hog = fork();
    cpu_set_t cores;

    if (hog)
        return hog;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "the [hog] =1");
    CPU_ZERO(&cores);
    CPU_SET((size_t)cpu, &cores);
    sched_setaffinity(0, sizeof cores, &cores);
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 90});
    for (;;) {
        clock_t end = clock() + CLOCKS_PER_SEC / 200;
        while (clock() < end)
            continue;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}
