/*
 * "No system call, allocation, page fault or lock in a step": the loops of a controller and of
 * twenty converters, joined by shared memory and recorded, under a filter that kills whoever
 * makes a system call, and with an allocator that counts.
 *
 * A lock that is contended is a system call (futex); one that is not is nothing that waits.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../sets.h"
#include "allocations.h"
#include "harness/record/streams.h"
#include "harness/run/batches.h"
#include "harness/run/executor.h"
#include "harness/scenario/load/load.h"
#include "harness/scenario/tunables.h"
#include "workspace.h"

TestSuite(loop, ALONE, .init = workspace_open_alone, .fini = workspace_close);

/* --- the guard ---------------- */

/* From here on the calling thread may do nothing but end its process. */
static void forbid_system_calls(void)
{
    static struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program))
        _exit(100);
}

enum { EXECUTORS = 2 };

/* What the processes tell each other and the test. */
struct shared {
    _Atomic unsigned ended;
    int result[EXECUTORS];
    uint64_t allocated[EXECUTORS], steps[EXECUTORS], left_out[EXECUTORS];
};

static struct shared *shared;

/* Runs the loops, and stays without a sign of life until the others have run theirs: a node that
 * goes is a peer lost. */
static void run_guarded(struct hil_executor *e, unsigned index, unsigned executors)
{
    uint64_t before = allocations();

    forbid_system_calls();
    shared->result[index] = hil_executor_run(e);
    shared->allocated[index] = allocations() - before;
    for (unsigned i = 0; i < e->count; i++) {
        for (const struct hil_loop *l = e->batches[i].loop; l; l = l->beside) {
            shared->steps[index] += l->state->steps;
            shared->left_out[index] += l->state->left_out;
        }
    }
    atomic_fetch_add(&shared->ended, 1);
    while (atomic_load(&shared->ended) < executors)
        hil_clock_pause();
    _exit(0);
}

/* One that was killed is waited for in vain by the others. */
static void wait_for_all(const pid_t *pids, unsigned executors, int *status)
{
    for (unsigned left = executors; left > 0; left--) {
        int one;
        pid_t pid = wait(&one);
        for (unsigned i = 0; i < executors; i++) {
            if (pids[i] == pid)
                status[i] = one;
            else if (one)
                kill(pids[i], SIGTERM);
        }
    }
}

/* The children's wait statuses go to status[]. */
static void start_and_wait(void (*body)(void *arg, unsigned index), void *arg, unsigned executors,
                           int *status)
{
    pid_t pids[EXECUTORS];

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(shared, MAP_FAILED);
    for (unsigned i = 0; i < executors; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            alarm(60);
            body(arg, i);
            _exit(101);
        }
    }
    wait_for_all(pids, executors, status);
}

static struct hil_clock calibrated(void)
{
    struct hil_clock clock;

    hil_clock_calibrate(&clock);
    if (clock.refused)
        cr_skip_test("%s, and the kernel's clock may be a system call", clock.refused);
    return clock;
}

/* --- a run under it ---------------- */

struct test_run {
    struct hil_run run;
    struct hil_clock clock;
};

static void run_nodes(void *arg, unsigned index)
{
    struct test_run *t = arg;
    const struct hil_scenario *s = t->run.scenario;
    struct hil_executor e = {.clock = t->clock,
                             .stop = &t->run.state->stop,
                             .heartbeat = &t->run.state->executors[index].heartbeat};
    struct loco_fabric *fabric;
    struct hil_group group;

    t->run.executor = index;
    if (loco_shm_open(&fabric, workspace_meeting) ||
        hil_group_start(&group, &t->run, fabric, &s->executors[index], 20000000000))
        _exit(102);
    if (hil_batches_gather(&e, &group))
        _exit(103);
    e.start_ns = group.nodes[0]->start_ns;
    hil_clock_set(&e.clock);
    run_guarded(&e, index, EXECUTORS);
}

static void log_line(void *arg, enum loco_level level, const char *text)
{
    (void)arg;
    if (level == LOCO_ERROR)
        cr_log_error("%s", text);
}

static void load(struct test_run *t, const char *const *sets, size_t set_count)
{
    const struct hil_scenario_options options = {
        .sets = sets, .set_count = set_count, .realtime = true};
    char message[1024] = "";
    struct hil_scenario *scenario;

    *t = (struct test_run){.run = {.log = log_line}, .clock = calibrated()};
    cr_assert_eq(
        hil_scenario_load(&scenario, "configs/dcdc20.yaml", &options, message, sizeof message), 0,
        "%s", message);
    t->run.scenario = scenario;
    cr_assert_eq(hil_state_open(&t->run.state, scenario), 0);
    cr_assert_eq(hil_streams_open(&t->run.recorder, in_workspace("trace.h5"), scenario), 0);
}

static void expect_guarded(struct test_run *t)
{
    int status[EXECUTORS];

    start_and_wait(run_nodes, t, EXECUTORS, status);
    for (unsigned i = 0; i < EXECUTORS; i++) {
        cr_expect_eq(status[i], 0, "executor %u: %s", i,
                     WIFSIGNALED(status[i]) ? strsignal(WTERMSIG(status[i])) : "failed");
        cr_expect_eq(shared->result[i], 0, "executor %u: %s", i, strerror(-shared->result[i]));
        cr_expect_eq(shared->allocated[i], 0);
    }
    const uint64_t steps = t->run.scenario->duration_ns / 40000;
    cr_expect_eq(shared->steps[0] + shared->left_out[0], steps);
    cr_expect_eq(shared->steps[1] + shared->left_out[1], 20 * 4 * steps);
}

/* Both records are kept, the load changes: all that a step can do, it does. */
Test(loop, makes_no_system_call_and_allocates_nothing)
{
    const char *const sets[] = {"duration_s=0.2", RECORD_CONVERTERS("1"), NO_LOAD,
                                LOAD_STEPS("[{'time_s':0.1,'value':3,'ramp_s':0.05}]"),
                                REFERENCE_STEPS("[{'time_s':0.1,'value':10,'ramp_s':0.05}]")};
    struct test_run t;

    load(&t, sets, sizeof sets / sizeof sets[0]);
    expect_guarded(&t);
    hil_recorder_close(t.run.recorder);
}

/* Ten times a second a source, on a ramp, and a parameter at each of two nodes. A busy machine
 * leaves out most steps, but not those of a whole second. */
Test(loop, makes_no_system_call_and_allocates_nothing_where_it_is_tuned)
{
    const char *const sets[] = {"duration_s=1", RECORD_CONVERTERS("1"), "tuning=true"};
    struct hil_replayed_request again[10];
    struct test_run t;

    load(&t, sets, sizeof sets / sizeof sets[0]);
    struct hil_scenario *s = (struct hil_scenario *)t.run.scenario;
    const unsigned source = s->system->tunable_count - 1;
    cr_assert(s->system->tunables[source].is_source);
    for (unsigned i = 0; i < 10; i++) {
        const struct hil_request request = {
            .count = 3,
            .changes = {{source, 100 + i, 1000000}, {0, 0.02 + i * 1e-4, 0}, {source - 1, 0.03, 0}},
        };
        again[i] = (struct hil_replayed_request){2500 * (uint64_t)i, request};
    }
    s->replay = again;
    s->replay_count = 10;
    expect_guarded(&t);
    const uint64_t logged = atomic_load(&t.run.state->tuning->logged);
    cr_expect_geq(logged, 3);
    for (uint64_t i = 0; i < logged; i++)
        cr_expect_eq(hil_tuning_log(t.run.state->tuning)[i].how, HIL_TUNED);
    hil_recorder_close(t.run.recorder);
}

/* --- whether the guard would have seen it ---------------- */

static _Atomic uint64_t stop_loop;

/* On a busy machine any step may be left out: these act in the first that is run after some. */
static int call_the_kernel(void *arg, uint64_t n, uint64_t now)
{
    (void)arg;
    (void)now;
    if (n >= 5) {
        syscall(SYS_getpid);
        atomic_store(&stop_loop, 1);
    }
    return 0;
}

static int allocate(void *arg, uint64_t n, uint64_t now)
{
    (void)now;
    if (n >= 5 && !atomic_exchange(&stop_loop, 1))
        free(*(void *volatile *)arg);
    return 0;
}

static void run_one_loop(void *arg, unsigned index)
{
    static struct hil_node_state state;
    static struct hil_worst worst;
    void *memory = malloc(10);
    struct hil_loop loop = {.timing = {.period_ns = 100000},
                            .step = *(int (**)(void *, uint64_t, uint64_t))arg,
                            .arg = &memory,
                            .state = &state,
                            .worst = &worst,
                            .end_ns = 60000000000};
    struct hil_pending pending = hil_pending_first(&loop);
    _Atomic uint64_t heartbeat = 0;
    struct hil_executor e = {
        .stop = &stop_loop, .heartbeat = &heartbeat, .count = 1, .batches = &pending};

    hil_clock_calibrate(&e.clock);
    e.start_ns = hil_clock_now(&e.clock);
    run_guarded(&e, index, 1);
}

Test(loop, a_step_that_calls_the_kernel_is_killed)
{
    int (*step)(void *, uint64_t, uint64_t) = call_the_kernel;
    int status;

    calibrated();
    start_and_wait(run_one_loop, &step, 1, &status);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "wait status %#x", status);
}

Test(loop, a_step_that_allocates_is_seen)
{
    int (*step)(void *, uint64_t, uint64_t) = allocate;
    int status;

    calibrated();
    start_and_wait(run_one_loop, &step, 1, &status);
    cr_expect_eq(status, 0);
    cr_expect_eq(shared->allocated[0], 1);
}
