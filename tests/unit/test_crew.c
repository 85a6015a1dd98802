/*
 * Tests the crew of an executor: its threads do their shares of each call, see the results of the
 * others' previous call, have their own cores, and end whenever they are told to.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "channels/loco/loco.h"
#include "harness/run/crew.h"
#include "harness/scenario/system.h"
#include "tests/temporary.h"

enum { THREADS = 3, CALLS = 500, PAGE = 4096 };

/* An executor of one node, with three shards, on a network of its own. */
struct rig {
    char directory[TEMPORARY_SIZE];
    struct loco_fabric *fabric;
    struct loco_fabric_ops ops;
    struct loco_manager *manager;
    struct hil_node_config node;
    struct hil_system system;
    struct hil_scenario scenario;
    struct hil_executor_config executor;
    int cpus[THREADS - 1];
    struct hil_executor_state state;
    struct hil_clock clock;
    struct hil_crew *crew;
};

static struct rig rig;

static const unsigned the_node;

static void open_rig(int cpu, int first, int second)
{
    rig = (struct rig){
        .node.timing.period_ns = 1000000,
        .system = {.nodes = &rig.node, .node_count = 1},
        .scenario = {.system = &rig.system, .executors = &rig.executor, .executor_count = 1},
        .executor = {.nodes = &the_node,
                     .count = 1,
                     .cpu = cpu,
                     .further = THREADS - 1,
                     .further_cpus = rig.cpus},
        .cpus = {first, second},
        .clock.refused = "the kernel's will do",
    };
    const struct loco_manager_config config = {
        .node_count = 1, .arena_size = PAGE, .block_size = 1 << 20, .block_count = 4};

    cr_assert(temporary_folder(rig.directory) != NULL);
    cr_assert_eq(loco_shm_open(&rig.fabric, rig.directory), 0);
    rig.ops = *rig.fabric->ops;
    rig.fabric->ops = &rig.ops;
    cr_assert_eq(loco_manager_open(&rig.manager, rig.fabric, &config), 0);
}

static int open_crew(void)
{
    return hil_crew_open(&rig.crew, &rig.scenario, &rig.executor, rig.manager, &rig.state);
}

static void open_all(int cpu, int first, int second)
{
    open_rig(cpu, first, second);
    cr_assert_eq(open_crew(), 0);
    hil_crew_wake(rig.crew, &rig.clock);
}

static void close_all(void)
{
    hil_crew_close(rig.crew);
    loco_manager_close(rig.manager);
    loco_shm_close(rig.fabric);
    rmdir(rig.directory);
}

/* --- calls ---------------- */

static void note_thread(void *threads, unsigned share)
{
    ((pthread_t *)threads)[share] = pthread_self();
}

Test(crew, has_a_thread_for_each_share)
{
    pthread_t threads[THREADS] = {0}, again[THREADS] = {0};

    open_all(-1, -1, -1);
    cr_expect_eq(hil_crew_count(rig.crew), THREADS);
    hil_crew_call(rig.crew, note_thread, threads);
    hil_crew_call(rig.crew, note_thread, again);
    close_all();
    cr_expect_eq(threads[0], pthread_self());
    for (unsigned i = 0; i < THREADS; i++) {
        cr_expect(threads[i] == again[i], "share %u", i);
        for (unsigned k = 0; k < i; k++)
            cr_expect(threads[i] != threads[k], "shares %u and %u", i, k);
    }
}

/* Plain memory that one thread wrote in a call is visible to another in the next call. */
struct relay {
    uint64_t now[THREADS], next[THREADS];
};

static void pass_on(void *arg, unsigned share)
{
    struct relay *r = arg;

    r->next[share] = r->now[(share + 1) % THREADS] + 1;
}

static void take_over(void *arg, unsigned share)
{
    struct relay *r = arg;

    r->now[share] = r->next[share];
}

Test(crew, sees_in_a_call_what_was_done_in_the_one_before)
{
    static struct relay relay;

    open_all(-1, -1, -1);
    for (unsigned i = 0; i < CALLS; i++) {
        hil_crew_call(rig.crew, pass_on, &relay);
        hil_crew_call(rig.crew, take_over, &relay);
    }
    close_all();
    for (unsigned i = 0; i < THREADS; i++)
        cr_expect_eq(relay.now[i], CALLS);
}

static void do_slowly(void *done, unsigned share)
{
    const struct timespec nap = {.tv_nsec = 30000000};

    if (share == 1)
        nanosleep(&nap, NULL);
    ((bool *)done)[share] = true;
}

Test(crew, is_waited_for_though_one_is_slow)
{
    bool done[THREADS] = {0};

    open_all(-1, -1, -1);
    hil_crew_call(rig.crew, do_slowly, done);
    for (unsigned i = 0; i < THREADS; i++)
        cr_expect(done[i], "share %u", i);
    close_all();
}

static uint64_t tomorrow(void)
{
    return hil_clock_monotonic() + 86400000000000;
}

/* The executor is told to stop, and then continues before the end of its rest. */
Test(crew, that_rests_until_tomorrow_answers)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    bool done[THREADS] = {0};

    open_all(-1, -1, -1);
    hil_crew_rest(rig.crew, tomorrow());
    nanosleep(&nap, NULL);
    hil_crew_call(rig.crew, do_slowly, done);
    for (unsigned i = 0; i < THREADS; i++)
        cr_expect(done[i], "share %u", i);
    close_all();
}

/* --- the threads' cores and priorities ---- */

static void attach_again(void *results, unsigned share)
{
    ((int *)results)[share] = loco_thread_attach(rig.manager);
}

Test(crew, can_use_the_channels)
{
    int results[THREADS] = {0};

    open_all(-1, -1, -1);
    hil_crew_call(rig.crew, attach_again, results);
    for (unsigned i = 0; i < THREADS; i++)
        cr_expect_eq(results[i], -EEXIST);
    close_all();
}

static void note_cores(void *cores, unsigned share)
{
    sched_getaffinity(0, sizeof(cpu_set_t), &((cpu_set_t *)cores)[share]);
}

static unsigned last_core(void)
{
    cpu_set_t cores;
    unsigned cpu = CPU_SETSIZE;

    sched_getaffinity(0, sizeof cores, &cores);
    while (!CPU_ISSET(--cpu, &cores))
        ;
    return cpu;
}

Test(crew, is_pinned_as_the_scenario_says)
{
    const unsigned core = last_core(), none = CPU_SETSIZE - 1;
    cpu_set_t cores[THREADS];
    char said[40];

    open_all(-1, (int)core, (int)none);
    hil_crew_call(rig.crew, note_cores, cores);
    close_all();
    cr_expect_eq(CPU_COUNT(&cores[1]), 1);
    cr_expect(CPU_ISSET(core, &cores[1]));
    snprintf(said, sizeof said, "not pinned to cpu %u", none);
    cr_expect(strstr(rig.state.degraded, said) != NULL, "%s", rig.state.degraded);
}

struct scheduling {
    int policy, priority;
};

static void note_scheduling(void *arg, unsigned share)
{
    struct scheduling *s = &((struct scheduling *)arg)[share];
    struct sched_param param;

    s->policy = sched_getscheduler(0);
    sched_getparam(0, &param);
    s->priority = param.sched_priority;
}

/* Checks that threads have real-time priority, or that it is reported why not. They rest, so that
 * they do not occupy the test's core. */
Test(crew, has_the_executors_scheduler)
{
    struct scheduling s[THREADS] = {0};

    open_rig(-1, -1, -1);
    rig.executor.scheduler = HIL_FIFO;
    rig.executor.priority = 1;
    rig.executor.wait = HIL_HYBRID;
    cr_assert_eq(open_crew(), 0);
    hil_crew_rest(rig.crew, tomorrow());
    hil_crew_wake(rig.crew, &rig.clock);
    hil_crew_call(rig.crew, note_scheduling, s);
    close_all();
    for (unsigned i = 1; i < THREADS; i++)
        cr_expect((s[i].policy == SCHED_FIFO && s[i].priority == 1) ||
                      strstr(rig.state.degraded, "not SCHED_FIFO 1"),
                  "share %u: %s", i, rig.state.degraded);
}

/* A thread starts on the core of the thread that starts it. */
Test(crew, leaves_the_executors_core_where_it_is_not_pinned)
{
    const unsigned core = last_core();
    cpu_set_t before, one, cores[THREADS];

    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        cr_skip_test("it needs two cores");
    sched_getaffinity(0, sizeof before, &before);
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    open_all((int)core, -1, -1);
    hil_crew_call(rig.crew, note_cores, cores);
    close_all();
    sched_setaffinity(0, sizeof before, &before);
    for (unsigned i = 1; i < THREADS; i++) {
        cr_expect(!CPU_ISSET(core, &cores[i]), "share %u", i);
        cr_expect(CPU_COUNT(&cores[i]) > 0, "share %u", i);
    }
}

/* --- counts ------------------------- */

struct touched {
    volatile char *pages;
    unsigned count;
};

static void touch(void *arg, unsigned share)
{
    const struct touched *t = arg;

    for (unsigned i = 0; share == 2 && i < t->count; i++)
        t->pages[i * PAGE] = 1;
}

/* Page faults in the rehearsal do not count as the loop's. */
Test(crew, counts_faults_of_what_is_measured_only)
{
    enum { BEFORE = 5000, MEASURED = 100 };
    const size_t size = (BEFORE + MEASURED) * (size_t)PAGE;
    char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct touched before = {pages, BEFORE}, measured = {pages + BEFORE * PAGE, MEASURED};

    cr_assert(pages != MAP_FAILED);
    madvise(pages, size, MADV_NOHUGEPAGE);
    open_all(-1, -1, -1);
    hil_crew_call(rig.crew, touch, &before);
    hil_crew_measure(rig.crew);
    hil_crew_call(rig.crew, touch, &measured);
    close_all();
    cr_expect(rig.state.page_faults >= MEASURED, "%llu", (unsigned long long)rig.state.page_faults);
    cr_expect(rig.state.page_faults < BEFORE, "%llu", (unsigned long long)rig.state.page_faults);
    munmap(pages, size);
}

/* --- ends ---------------- */

Test(crew, ends_before_it_was_woken)
{
    open_rig(-1, -1, -1);
    cr_assert_eq(open_crew(), 0);
    close_all();
}

static int no_memory(struct loco_node *node, size_t size, struct loco_arena *arena)
{
    (void)node, (void)size, (void)arena;
    return -ENOMEM;
}

/* Each thread needs an arena of its own, and there is no memory for it. */
Test(crew, says_that_a_thread_cannot_take_part)
{
    open_rig(-1, -1, -1);
    rig.ops.arena_map = no_memory;
    cr_expect_eq(open_crew(), -ENOMEM);
    close_all();
}
