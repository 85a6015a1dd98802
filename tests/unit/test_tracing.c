/*
 * Tracing as far as it goes without LTTng: the hooks, what tracefs is told and says, and the
 * arithmetic of the analysis.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "harness/tracing/cores.h"
#include "harness/tracing/kernel.h"
#include "harness/tracing/round_trip.h"
#include "harness/tracing/trace_figures.h"
#include "harness/tracing/tracefs.h"
#include "tests/nodes.h"

/* --- the channels' hook ----------------------------------------------------------------------- */

static _Atomic unsigned pushes, pulls, fences, acquired, released, entered, left, joined;

static void on_push(uint32_t node, const char *channel, size_t size)
{
    if (node == 0 && strcmp(channel, "var") == 0 && size == 24) /* 16, and the checksum */
        pushes++;
}

static void on_pull(uint32_t node, const char *channel, size_t size)
{
    if (node == 1 && strcmp(channel, "var") == 0 && size == 24)
        pulls++;
}

static void on_fence(uint32_t node, enum loco_fence fence)
{
    if (node == 0 && fence == LOCO_FENCE_PAIR)
        fences++;
}

static void on_acquire(uint32_t node, const char *channel, uint32_t host, size_t index)
{
    (void)node;
    if (strcmp(channel, "locks") == 0 && host == 1 && index == 2)
        acquired++;
}

static void on_release(uint32_t node, const char *channel, uint32_t host, size_t index)
{
    (void)node;
    if (strcmp(channel, "locks") == 0 && host == 1 && index == 2)
        released++;
}

static void on_enter(uint32_t node, const char *channel, uint32_t round)
{
    (void)node;
    if (strcmp(channel, "barrier") == 0)
        entered += round;
}

static void on_leave(uint32_t node, const char *channel, uint32_t round)
{
    (void)node;
    if (strcmp(channel, "barrier") == 0)
        left += round;
}

static void on_join(uint32_t node, uint32_t peer)
{
    joined += node + peer == 1;
}

static void on_lost(uint32_t node, uint32_t peer, bool in_order)
{
    (void)node, (void)peer, (void)in_order; /* whether it is seen is a matter of time here */
}

static const struct loco_tracer counting = {
    .push = on_push,
    .pull = on_pull,
    .fence = on_fence,
    .lock_acquire = on_acquire,
    .lock_release = on_release,
    .barrier_enter = on_enter,
    .barrier_leave = on_leave,
    .peer_join = on_join,
    .peer_lost = on_lost,
};

static void traced_body(struct node *n)
{
    struct loco_owned_var var;
    struct loco_ticket_lock_array locks;
    struct loco_barrier barrier;
    const uint64_t value[2] = {1, 2};

    CHECK(n, loco_owned_var_init(&var, n->mgr, NULL, "var", 0, LOCO_ALL, sizeof value) == 0);
    CHECK(n, loco_ticket_lock_array_init(&locks, n->mgr, NULL, "locks", 3, LOCO_ALL, 0) == 0);
    CHECK(n, loco_barrier_init(&barrier, n->mgr, NULL, "barrier", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == 0) {
        loco_owned_var_store(&var, value);
        loco_owned_var_push(&var);
        CHECK(n, loco_fence_pair(n->mgr, 1) == 0);
    } else {
        uint64_t got[2];
        CHECK(n, loco_owned_var_read(&var, got) == 0);
    }
    struct loco_ticket_lock *lock = loco_ticket_lock_at(&locks, 1, 2);
    CHECK(n, loco_ticket_lock_acquire(lock) == 0);
    CHECK(n, loco_ticket_lock_release(lock, LOCO_FENCE_THREAD) == 0);
    CHECK(n, loco_barrier_wait(&barrier) == 0);
    CHECK(n, loco_barrier_wait(&barrier) == 0);
    loco_barrier_fini(&barrier);
    loco_ticket_lock_array_fini(&locks);
    loco_owned_var_fini(&var);
}

static void expect_told(unsigned times)
{
    cr_expect_eq(pushes, times);
    cr_expect_eq(pulls, times);
    cr_expect_eq(fences, times);
    cr_expect_eq(acquired, 2 * times);
    cr_expect_eq(released, 2 * times);
    cr_expect_eq(entered, 6 * times); /* each of two nodes: rounds 1 and 2 */
    cr_expect_eq(left, 6 * times);
    cr_expect_eq(joined, 2 * times);
}

Test(tracing, channels_tell_what_they_do)
{
    loco_trace_set(&counting);
    cr_assert_eq(run_nodes(ON_SIM, 2, traced_body, NULL), 0);
    expect_told(1);
    cr_assert_eq(run_nodes(ON_THREADS, 2, traced_body, NULL), 0);
    expect_told(2);
    loco_trace_set(NULL);
    cr_assert_eq(run_nodes(ON_SIM, 2, traced_body, NULL), 0);
    expect_told(2);
}

/* --- what the kernel did ---------------------------------------------------------------------- */

TestSuite(kernel, .init = folder_open, .fini = folder_close);

/* As Linux 6 writes it, with names that are hard to read. */
static const char recorded[] =
    "# tracer: nop\n"
    "#\n"
    "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
    "          hiloco-100     [001] d..2. 10.000100: sched_switch: prev_comm=hiloco prev_pid=100 "
    "prev_prio=120 prev_state=R ==> next_comm=a [b] c=1 next_pid=200 next_prio=120\n"
    "     a [b] c=1-200     [001] d..2. 10.000400: sched_switch: prev_comm=a [b] c=1 prev_pid=200 "
    "prev_prio=120 prev_state=S ==> next_comm=hiloco next_pid=100 next_prio=120\n"
    "          hiloco-100     [001] d.h1. 10.000500: irq_handler_entry: irq=24 name=virtio0-input\n"
    "          hiloco-100     [001] d.h1. 10.000540: irq_handler_exit: irq=24 ret=handled\n"
    "          hiloco-100     [001] d.s1. 10.000540: softirq_entry: vec=3 [action=NET_RX]\n"
    "          hiloco-100     [001] d.s1. 10.000640: softirq_exit: vec=3 [action=NET_RX]\n"
    "CPU:1 [LOST 12 EVENTS]\n"
    "          hiloco-100     [001] d.h.. 10.000700: local_timer_entry: vector=236\n"
    "          hiloco-100     [001] d.h.. 10.000703: local_timer_exit: vector=236\n"
    "          <idle>-0       [000] d..2. 10.000800: sched_switch: prev_comm=swapper/0 prev_pid=0 "
    "prev_prio=120 prev_state=R ==> next_comm=other next_pid=300 next_prio=120\n"
    "           other-300     [000] d..2. 10.000900: sched_switch: prev_comm=other prev_pid=300 "
    "prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n";

static struct hil_intruder between(const struct hil_kernel *k, int cpu, uint64_t from_us,
                                   uint64_t to_us)
{
    const int loop = 100;

    return hil_kernel_intruder(k, cpu, 10000000000 + from_us * 1000, 10000000000 + to_us * 1000,
                               &loop, 1);
}

Test(kernel, the_text_of_tracefs_is_understood)
{
    struct hil_kernel k = {0};
    struct hil_intruder who;

    put("kernel.txt", recorded);
    cr_assert_eq(hil_kernel_read(&k, in_folder("kernel.txt")), 0);
    cr_expect(hil_kernel_any(&k));

    who = between(&k, 1, 0, 450);
    cr_expect_str_eq(who.name, "a [b] c=1 (task 200)");
    cr_expect_eq(who.ns, 300000);
    who = between(&k, 1, 200, 250); /* in the middle of it */
    cr_expect_eq(who.ns, 50000);
    who = between(&k, 1, 450, 690);
    cr_expect_str_eq(who.name, "softirq NET_RX");
    cr_expect_eq(who.ns, 100000);
    cr_expect_eq(who.all_ns, 140000);
    who = between(&k, 1, 450, 530);
    cr_expect_str_eq(who.name, "irq virtio0-input");
    cr_expect_eq(who.ns, 30000);
    who = between(&k, 1, 690, 750);
    cr_expect_str_eq(who.name, "irq local_timer");
    who = between(&k, 1, 710, 900); /* the loop itself */
    cr_expect_eq(who.ns, 0);
    who = between(&k, 0, 700, 1000);
    cr_expect_str_eq(who.name, "other (task 300)");
    cr_expect_eq(who.ns, 100000);
    cr_expect_eq(who.all_ns, 100000, "the idle task is no intruder");
    cr_expect_eq(between(&k, 7, 0, 1000).ns, 0);
    hil_kernel_free(&k);
}

Test(kernel, without_a_record_there_is_nobody)
{
    struct hil_kernel k = {0};

    cr_expect_eq(hil_kernel_read(&k, in_folder("kernel.txt")), -ENOENT);
    cr_expect_not(hil_kernel_any(&k));
    hil_kernel_free(&k);
}

/* --- tracefs, in a tree of ordinary files ----------------------------------------------------- */

static const char *in_instance(const char *file)
{
    static char path[80];

    snprintf(path, sizeof path, "instances/hiloco-%d/%s", (int)getpid(), file);
    return path;
}

static void make(const char *path)
{
    cr_assert_eq(mkdir(in_folder("%s", path), 0700), 0, "%s", path);
}

static void make_tracefs(void)
{
    static const char *const files[] = {"tracing_on",
                                        "trace_clock",
                                        "tracing_cpumask",
                                        "buffer_size_kb",
                                        "events/sched/sched_switch/enable",
                                        "events/irq/softirq_entry/enable"};

    put("trace_clock", "[local] mono");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        put(in_instance(files[i]), "?");
    put(in_instance("trace"), recorded);
    put(in_instance("per_cpu/cpu0/stats"), "entries: 12\noverrun: 34");
    make("instances/hiloco-2147483647"); /* no process has this number */
    make("instances/mine");
}

static void expect_in(const char *file, const char *text)
{
    char found[80] = "";
    FILE *f = fopen(in_folder("%s", in_instance(file)), "r");

    cr_assert_not_null(f, "%s", file);
    cr_expect(fgets(found, sizeof found, f));
    fclose(f);
    cr_expect_str_eq(found, text, "%s: %s", file, found);
}

Test(kernel, tracefs_is_told_what_to_record)
{
    struct hil_executor_config loops[] = {{.cpu = 0}};
    const struct hil_scenario s = {
        .executors = loops, .executor_count = 1, .trace = {.kernel_buffer_kib = 77}};
    struct hil_tracefs fs;
    uint64_t overrun;

    make_tracefs();
    cr_assert_eq(hil_tracefs_open(&fs, folder, &s), 0);
    expect_in("trace_clock", "mono");
    expect_in("buffer_size_kb", "77");
    expect_in("events/sched/sched_switch/enable", "1");
    expect_in("events/irq/softirq_entry/enable", "1");
    expect_in("tracing_on", "0");
    expect_in("tracing_cpumask", sysconf(_SC_NPROCESSORS_CONF) <= 32 ? "00000001" : "");
    cr_expect(access(in_folder("instances/hiloco-2147483647"), F_OK), "what was left is there yet");
    cr_expect_eq(access(in_folder("instances/mine"), F_OK), 0, "another's is gone");

    cr_expect_eq(hil_tracefs_start(&fs), 0);
    expect_in("tracing_on", "1");
    FILE *to = fopen(in_folder("kernel.txt"), "w");
    cr_expect_eq(hil_tracefs_stop(&fs, to, &overrun), 0);
    fclose(to);
    expect_in("tracing_on", "0");
    cr_expect_eq(overrun, 34);
    hil_tracefs_close(&fs);

    struct hil_kernel k = {0};
    cr_expect_eq(hil_kernel_read(&k, in_folder("kernel.txt")), 0);
    cr_expect_eq(between(&k, 1, 0, 450).ns, 300000);
    hil_kernel_free(&k);
}

Test(kernel, without_tracefs_it_says_so)
{
    struct hil_executor_config loops[] = {{.cpu = -1}};
    const struct hil_scenario s = {.executors = loops, .executor_count = 1};
    struct hil_tracefs fs;

    cr_expect_eq(hil_tracefs_open(&fs, in_folder("nowhere"), &s), -ENODEV);
    hil_tracefs_close(&fs);
}

Test(kernel, tracing_leaves_the_loops_their_cores)
{
    struct hil_executor_config loops[] = {{.cpu = 0}};
    const struct hil_scenario s = {.executors = loops, .executor_count = 1};
    cpu_set_t before, after;

    cr_assert_eq(sched_getaffinity(0, sizeof before, &before), 0);
    hil_leave_loops_cores(&s);
    cr_assert_eq(sched_getaffinity(0, sizeof after, &after), 0);
    if (CPU_COUNT(&before) > 1)
        cr_expect_not(CPU_ISSET(0, &after));
    else
        cr_expect(CPU_EQUAL(&before, &after));
}

/* --- the parts of a round trip ---------------------------------------------------------------- */

static void expect_parts(const struct hil_rounds *r, const uint64_t ns[HIL_PARTS])
{
    for (int i = 0; i < HIL_PARTS; i++)
        cr_expect_eq(r->parts[i].max, ns[i], "%s: %llu", hil_part_names[i],
                     (unsigned long long)r->parts[i].max);
}

/* A controller each 40 us that pushes a step late, and a converter each 10 us, 3 us behind it. */
Test(rounds, with_computation_delay)
{
    struct hil_rounds r;

    cr_assert_eq(hil_rounds_init(&r), 0);
    hil_rounds_push(&r, 0, "power_controller/duty0", 40100);
    hil_rounds_step(&r, 0, 1, 40000, 41000, 0);
    hil_rounds_push(&r, 1, "power_controller/voltage0", 43100); /* not of this duty yet */
    hil_rounds_step(&r, 1, 5, 43000, 43200, 1);
    hil_rounds_push(&r, 1, "power_controller/voltage0", 53100);
    hil_rounds_step(&r, 1, 6, 53000, 53200, 1);
    hil_rounds_push(&r, 0, "power_controller/duty0", 80100);
    hil_rounds_answer(&r, 1, 1, 6, 39900);
    hil_rounds_step(&r, 0, 2, 80000, 81500, 0);
    cr_expect_eq(r.complete, 0); /* its duty is not out yet */
    hil_rounds_push(&r, 0, "power_controller/duty0", 120100);
    hil_rounds_step(&r, 0, 3, 120000, 121000, 0);
    cr_expect_eq(r.complete, 1);
    cr_expect_eq(r.incomplete, 0);
    expect_parts(&r, (uint64_t[]){2900, 10100, 26900, 1500, 38600});
    cr_expect_eq(r.whole.max, 39900);
    hil_rounds_fini(&r);
}

/* The same, with the duty going out in the step that computed it. */
Test(rounds, without_computation_delay)
{
    struct hil_rounds r;

    cr_assert_eq(hil_rounds_init(&r), 0);
    hil_rounds_push(&r, 0, "power_controller/duty0", 40900);
    hil_rounds_step(&r, 0, 1, 40000, 41000, 0);
    hil_rounds_push(&r, 1, "power_controller/voltage0", 43100);
    hil_rounds_step(&r, 1, 5, 43000, 43200, 1);
    hil_rounds_push(&r, 1, "power_controller/voltage0", 53100);
    hil_rounds_step(&r, 1, 6, 53000, 53200, 1);
    hil_rounds_answer(&r, 1, 1, 6, 39100);
    hil_rounds_push(&r, 0, "power_controller/duty0", 80900);
    hil_rounds_step(&r, 0, 2, 80000, 81500, 0);
    hil_rounds_push(&r, 0, "power_controller/duty0", 120900);
    hil_rounds_step(&r, 0, 3, 120000, 121000, 0);
    cr_expect_eq(r.complete, 1);
    expect_parts(&r, (uint64_t[]){2100, 10100, 26900, 900, 0});
    hil_rounds_fini(&r);
}

Test(rounds, a_lost_event_makes_a_round_incomplete)
{
    struct hil_rounds r;

    cr_assert_eq(hil_rounds_init(&r), 0);
    hil_rounds_step(&r, 0, 1, 40000, 41000, 0); /* its push is lost */
    hil_rounds_push(&r, 1, "power_controller/voltage0", 53100);
    hil_rounds_step(&r, 1, 6, 53000, 53200, 1);
    hil_rounds_answer(&r, 1, 1, 6, 39900);
    hil_rounds_step(&r, 0, 2, 80000, 81500, 0);
    hil_rounds_step(&r, 0, 3, 120000, 121000, 0);
    cr_expect_eq(r.complete, 0);
    cr_expect_eq(r.incomplete, 1);
    hil_rounds_fini(&r);
}

/* --- figures ---------------------------------------------------------------------------------- */

/* No step is late by half a microsecond on a fast and quiet machine. */
Test(tracing, a_machine_without_lateness_has_figures_too)
{
    static struct hil_traced_loop controller = {.steps = 3}, *loops[] = {&controller};
    static struct hil_analysis analysis = {.loops = loops, .loop_count = 1, .end_ns = 30000};
    char *said;
    size_t length;

    if (system("gnuplot --version >/dev/null 2>&1"))
        cr_skip_test("no gnuplot");
    folder_open();
    for (uint64_t ns = 20; ns < 320; ns += 100) {
        hil_histogram_add(&controller.late, ns);
        hil_histogram_add(&controller.duration, ns);
    }
    analysis.converters = controller;
    FILE *messages = open_memstream(&said, &length);
    int rc = hil_trace_figures(&analysis, folder, messages);
    fclose(messages);
    cr_expect_eq(rc, 0, "%d, %s", rc, said);
    free(said);
    folder_close();
}
