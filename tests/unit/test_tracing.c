/*
 * Tests tracing without LTTng: the hooks, the traffic with tracefs, and the arithmetic of the
 * analysis.
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
#include "harness/run/loop_cores.h"
#include "harness/run/tracer.h"
#include "harness/tools/tracing/round_trip.h"
#include "harness/tools/tracing/trace_figures.h"
#include "harness/tracing/kernel.h"
#include "harness/tracing/others.h"
#include "harness/tracing/tracefs.h"
#include "svg_texts.h"
#include "tests/nodes.h"

/* --- the channels' hook ----------------------------------------------------------------------- */

static _Atomic unsigned pushes, pulls, fences, acquired, released, entered, left, joined;

/* The size of a value of 16 bytes; with a count where nodes do not take turns. */
static bool is_of_value(size_t size)
{
    return size == 16 || size == 24;
}

static void on_push(uint32_t node, const char *channel, size_t size)
{
    if (node == 0 && strcmp(channel, "var") == 0 && is_of_value(size))
        pushes++;
}

static void on_pull(uint32_t node, const char *channel, size_t size)
{
    if (node == 1 && strcmp(channel, "var") == 0 && is_of_value(size))
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
    (void)node, (void)peer, (void)in_order; /* may be called or not, depending on timing */
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

/* A tracer does not get events that it does not want at the moment. */
Test(tracing, only_what_is_wanted_is_told)
{
    static int push_wanted;
    struct loco_tracer picky = counting;

    picky.push_wanted = &push_wanted;
    loco_trace_set(&picky);
    cr_assert_eq(run_nodes(ON_SIM, 2, traced_body, NULL), 0);
    cr_expect_eq(pushes, 0);
    cr_expect_eq(pulls, 1);
    cr_expect_eq(acquired, 2);
    push_wanted = 1;
    cr_assert_eq(run_nodes(ON_SIM, 2, traced_body, NULL), 0);
    cr_expect_eq(pushes, 1);
    loco_trace_set(NULL);
}

/* --- the loops' hook -------------------------------------------------------------------------- */

static unsigned told_links, told_parts;

static void on_links(const struct hil_traced_step *step)
{
    for (unsigned i = 0; i < step->newer_count; i++)
        cr_expect_eq(step->newer[i].link, told_links++);
    told_parts++;
}

/* What has no room in one event is told before it. */
Test(tracing, a_step_that_finds_many_messages)
{
    const int wanted = 1;
    const struct hil_tracer tracer = {.links = on_links, .links_wanted = &wanted};
    struct hil_traced_step step = {.node = 1};

    hil_tracer = &tracer;
    for (uint32_t link = 0; link < 2 * HIL_TRACED_LINKS + 1; link++)
        hil_trace_newer(&step, link, 7, 5);
    hil_tracer = NULL;
    cr_expect_eq(told_parts, 2);
    on_links(&step);
    cr_expect_eq(told_links, 2 * HIL_TRACED_LINKS + 1);
}

/* --- what the kernel did ---------------------------------------------------------------------- */

TestSuite(kernel, .init = folder_open, .fini = folder_close);

/* The format of Linux 6, with names that are hard to parse. */
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
    put(in_instance("trace_pipe"), recorded);
    put(in_instance("per_cpu/cpu0/stats"), "entries: 12\noverrun: 34");
    make("instances/hiloco-2147483647"); /* no process has this id */
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
    struct hil_tracefs fs;
    uint64_t overrun;

    make_tracefs();
    cr_assert_eq(hil_tracefs_open(&fs, folder, loops, 1, 77), 0);
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
    const struct hil_executor_config loops[] = {{.cpu = -1}};
    struct hil_tracefs fs;

    cr_expect_eq(hil_tracefs_open(&fs, in_folder("nowhere"), loops, 1, 77), -ENODEV);
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

/* Node 0 asks by link 4, node 1 answers by link 7. Each pushes at the beginning of a step, or late
 * in it. */
static void open_pair(struct hil_rounds *r, bool asks_late, bool answers_late)
{
    cr_assert_eq(hil_rounds_init(r), 0);
    hil_rounds_link(r, &(struct hil_round_link){4, 0, 1, 7, asks_late});
    hil_rounds_link(r, &(struct hil_round_link){7, 1, 0, 4, answers_late});
}

static void step(struct hil_rounds *r, uint64_t node, uint64_t number, uint64_t begin_ns,
                 uint64_t end_ns)
{
    hil_rounds_step(r, &(struct hil_round_step){node, number, begin_ns, end_ns, begin_ns + 7});
}

/* In its next step the answerer finds the message of the asker's step `sent`. */
static void hear(struct hil_rounds *r, uint32_t sent)
{
    hil_rounds_input(r, &(struct hil_round_input){4, sent, 1, 1, 0});
}

/* In its next step the asker finds a message that acted on its step `acted_on` and was sent in step
 * `sent`. */
static void hear_answer(struct hil_rounds *r, uint32_t acted_on, uint32_t sent)
{
    hil_rounds_input(r, &(struct hil_round_input){7, sent, acted_on, 0, 1});
}

static void expect_rounds(struct hil_rounds *r, uint64_t complete, uint64_t incomplete)
{
    cr_assert_eq(r->trip_count, 1);
    cr_expect_eq(r->trips[0]->complete, complete);
    cr_expect_eq(r->trips[0]->incomplete, incomplete);
}

static void expect_parts(const struct hil_rounds *r, const uint64_t ns[HIL_TRIP_LEGS])
{
    for (int i = 0; i < HIL_TRIP_LEGS; i++)
        cr_expect_eq(r->trips[0]->legs[i].max, ns[i], "leg %d: %llu", i,
                     (unsigned long long)r->trips[0]->legs[i].max);
}

/* An asker with a period of 40 us pushes a step late, and a node with a period of 10 us, 3 us after
 * it, pushes before it receives. */
Test(rounds, of_what_is_pushed_a_step_late)
{
    struct hil_rounds r;

    open_pair(&r, false, false);
    step(&r, 0, 1, 40000, 41000);
    hear(&r, 1);
    step(&r, 1, 5, 43000, 43200); /* its message does not act on this one yet */
    step(&r, 1, 6, 53000, 53200);
    hear_answer(&r, 1, 6);
    step(&r, 0, 2, 80000, 81500);
    expect_rounds(&r, 0, 0); /* its next message is not out yet */
    step(&r, 0, 3, 120000, 121000);
    hil_rounds_end(&r);
    expect_rounds(&r, 1, 0);
    expect_parts(&r, (uint64_t[]){3000, 10000, 27000, 1500, 38500});
    cr_expect_eq(r.trips[0]->whole.max, 40000);
    hil_rounds_fini(&r);
}

/* The same, but the asker sends results in the step that computed them. */
Test(rounds, of_what_is_pushed_in_the_same_step)
{
    struct hil_rounds r;

    open_pair(&r, true, false);
    step(&r, 0, 1, 40000, 41000);
    hear(&r, 1);
    step(&r, 1, 5, 43000, 43200);
    step(&r, 1, 6, 53000, 53200);
    hear_answer(&r, 1, 6);
    step(&r, 0, 2, 80000, 81500);
    hil_rounds_end(&r);
    expect_rounds(&r, 1, 0);
    expect_parts(&r, (uint64_t[]){2000, 10000, 27000, 1500, 0});
    hil_rounds_fini(&r);
}

/* A quick asker receives the answer and goes on before the step that sent it is over. */
Test(rounds, of_an_answerer_whose_step_ends_late)
{
    struct hil_rounds r;

    open_pair(&r, false, true);
    step(&r, 0, 1, 40000, 40200);
    hear_answer(&r, 1, 1);
    step(&r, 0, 2, 50000, 50200);
    step(&r, 0, 3, 60000, 60200);
    hear(&r, 1);
    step(&r, 1, 1, 43000, 65000);
    expect_rounds(&r, 0, 0);
    step(&r, 0, 4, 70000, 70200);
    hil_rounds_end(&r);
    expect_rounds(&r, 1, 0);
    expect_parts(&r, (uint64_t[]){3000, 22000, 0, 200, 9800});
    hil_rounds_fini(&r);
}

Test(rounds, a_lost_event_makes_a_round_incomplete)
{
    struct hil_rounds r;

    open_pair(&r, false, false);
    hear(&r, 1); /* the asker's step is lost */
    step(&r, 1, 5, 43000, 43200);
    step(&r, 1, 6, 53000, 53200);
    hear_answer(&r, 1, 6);
    step(&r, 0, 2, 80000, 81500);
    step(&r, 0, 3, 120000, 121000);
    hil_rounds_end(&r);
    expect_rounds(&r, 0, 1);
    cr_expect_eq(r.trips[0]->whole.count, 0);
    hil_rounds_fini(&r);
}

/* If every step of the answerer is lost, rounds are counted but do not accumulate. */
Test(rounds, without_the_answerers_steps_all_are_incomplete)
{
    struct hil_rounds r;

    open_pair(&r, false, false);
    step(&r, 0, 1, 40000, 41000);
    for (uint32_t i = 1; i <= 100; i++) {
        hear_answer(&r, i, i);
        step(&r, 0, i + 1, 40000 * ((uint64_t)i + 1), 40000 * ((uint64_t)i + 1) + 1000);
    }
    hil_rounds_end(&r);
    cr_assert_eq(r.trip_count, 1);
    cr_expect_geq(r.trips[0]->incomplete, 90);
    cr_expect_eq(r.trips[0]->whole.count, 100);
    hil_rounds_fini(&r);
}

/* In a run of half a day the numbers of steps have more than 32 bits. */
Test(rounds, of_steps_with_large_numbers)
{
    const uint64_t before = UINT64_C(1) << 32;
    struct hil_rounds r;

    open_pair(&r, false, false);
    step(&r, 0, before - 1, 40000, 41000);
    hear(&r, (uint32_t)(before - 1));
    step(&r, 1, 4 * before - 1, 43000, 43200);
    step(&r, 1, 4 * before, 53000, 53200);
    hear_answer(&r, (uint32_t)(before - 1), (uint32_t)(4 * before));
    step(&r, 0, before, 80000, 81500);
    step(&r, 0, before + 1, 120000, 121000);
    hil_rounds_end(&r);
    expect_rounds(&r, 1, 0);
    hil_rounds_fini(&r);
}

/* Of a pair the node with the lower number asks. On a link without a return link no node does. */
Test(rounds, a_pair_has_one_asker)
{
    struct hil_rounds r;

    open_pair(&r, false, false);
    hil_rounds_link(&r, &(struct hil_round_link){2, 0, 2, -1, false});
    hil_rounds_input(&r, &(struct hil_round_input){2, 1, 1, 2, 0});
    hear(&r, 1);
    step(&r, 1, 1, 43000, 43200);
    step(&r, 1u << 30, 1, 43000, 43200); /* no node has this number */
    cr_expect_eq(r.trip_count, 0);
    step(&r, 0, 1, 40000, 41000);
    hear_answer(&r, 1, 1);
    step(&r, 0, 2, 80000, 81000);
    expect_rounds(&r, 0, 0);
    cr_expect_eq(r.trips[0]->asker, 0);
    cr_expect_eq(r.trips[0]->answerer, 1);
    cr_expect_eq(hil_rounds_sender(&r, 7), 1);
    cr_expect_eq(hil_rounds_receiver(&r, 7), 0);
    cr_expect_eq(hil_rounds_sender(&r, 9), -1);
    hil_rounds_fini(&r);
}

/* --- what a trace says of nodes --------------------------------------------------------------- */

static struct hil_traced_loops named_loops(void)
{
    struct hil_traced_loops l = {0};

    hil_loops_name(&l, 2, "cell[1]", "cell", 1000);
    hil_loops_name(&l, 1, "cell[0]", "cell", 1000);
    hil_loops_name(&l, 0, "boss", "boss", 1000);
    hil_loops_name(&l, 3, "cell[2]", "cell", 1000);
    return l;
}

Test(loops, are_called_as_the_run_says)
{
    struct hil_traced_loops l = named_loops();

    hil_loops_name(&l, 1, "other", "other", 1000); /* the first name is kept */
    cr_expect_str_eq(hil_loops_of(&l, 1)->name, "cell[0]");
    cr_expect_str_eq(hil_loops_of(&l, 0)->name, "boss");
    cr_expect_str_eq(hil_loops_of(&l, 7)->name, "node[7]", "one that said nothing");
    cr_expect_null(hil_loops_of(&l, UINT64_MAX));
    cr_expect_str_eq(hil_loops_array(&l, 0)->words, "boss");
    cr_expect_str_eq(hil_loops_array(&l, 1)->words, "cell[*]");
    cr_expect_eq(hil_loops_array(&l, 1)->count, 3);
    cr_expect_null(hil_loops_array(&l, 2), "the second one of cell");
    cr_expect_null(hil_loops_array(&l, 5), "no node");
    cr_expect_str_eq(hil_loops_array(&l, 7)->words, "node[*]");
    hil_loops_free(&l);
}

Test(loops, an_array_has_the_figures_of_all)
{
    struct hil_traced_loops l = named_loops();
    const struct hil_traced_array *cells = hil_loops_array(&l, 1);

    hil_loops_step(&l, hil_loops_of(&l, 1), 1000, 10, 100, HIL_NO_AGE);
    hil_loops_step(&l, hil_loops_of(&l, 2), 2000, 30, 300, 70);
    hil_loops_miss(&l, hil_loops_of(&l, 2));
    hil_loops_left_out(&l, hil_loops_of(&l, 1), 3, 50, 10);
    cr_expect_eq(hil_loops_of(&l, 1)->figures.late.count, 4);
    cr_expect_eq(hil_loops_of(&l, 1)->figures.input_age.count, 0);
    cr_expect_eq(cells->figures.steps, 2);
    cr_expect_eq(cells->figures.misses, 1);
    cr_expect_eq(cells->figures.left_out, 3);
    cr_expect_eq(cells->figures.late.count, 5);
    cr_expect_eq(cells->figures.duration.max, 300);
    cr_expect_eq(cells->figures.input_age.count, 1);
    cr_expect_eq(hil_loops_array(&l, 0)->figures.steps, 0);
    hil_loops_free(&l);
}

/* --- figures ---------------------------------------------------------------------------------- */

static char *text_of(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");

    cr_assert_not_null(file, "%s", path);
    cr_assert_geq(getdelim(&text, &size, '\0', file), 0);
    fclose(file);
    return text;
}

/* A figure has eight colours, and says so if there are more arrays of nodes. */
Test(tracing, figures_of_more_arrays_than_colours)
{
    static struct hil_analysis analysis = {.end_ns = 30000};
    char *said, name[80];
    size_t length;

    if (system("gnuplot --version >/dev/null 2>&1"))
        cr_skip_test("no gnuplot");
    folder_open();
    for (unsigned node = 0; node < 10; node++) {
        snprintf(name, sizeof name, "a node with a very long name that \"is\" quoted %u", node);
        hil_loops_name(&analysis.loops, node, name, name, 1000);
        hil_loops_step(&analysis.loops, hil_loops_of(&analysis.loops, node), 100, 50, 70,
                       HIL_NO_AGE);
    }
    FILE *messages = open_memstream(&said, &length);
    int rc = hil_trace_figures(&analysis, folder, messages);
    fclose(messages);
    cr_expect_eq(rc, 0, "%d, %s", rc, said);
    static const char *const figures[] = {"trace-time", "trace-histogram", "trace-tail"};
    for (int i = 0; i < 3; i++) {
        char *svg = text_of(in_folder("%s.svg", figures[i]));
        expect_texts_inside(svg, figures[i]);
        cr_expect(strstr(svg, "2 more arrays of nodes are not drawn"), "%s", svg);
        cr_expect(strstr(svg, "quoted 7"), "%s", svg);
        cr_expect_not(strstr(svg, "quoted 8"), "%s", svg);
        free(svg);
    }
    free(said);
    hil_loops_free(&analysis.loops);
    folder_close();
}

/* Without any, the figures say nothing of them. */
Test(tracing, round_trips_are_drawn_over_time_and_as_a_distribution)
{
    static struct hil_round_trip trip = {.asker = 0, .answerer = 0};
    static struct hil_round_trip *const trips[] = {&trip};
    static struct hil_analysis analysis = {.end_ns = 30000};
    static const char *const figures[] = {"trace-time", "trace-histogram", "trace-tail"};
    char *said;
    size_t length;

    if (system("gnuplot --version >/dev/null 2>&1"))
        cr_skip_test("no gnuplot");
    folder_open();
    hil_loops_step(&analysis.loops, hil_loops_of(&analysis.loops, 0), 100, 50, 70, HIL_NO_AGE);
    hil_course_init(&trip.course);
    for (int round = 0; round < 2; round++) {
        FILE *messages = open_memstream(&said, &length);
        int rc = hil_trace_figures(&analysis, folder, messages);
        fclose(messages);
        cr_expect_eq(rc, 0, "%d, %s", rc, said);
        free(said);
        for (int i = 0; i < 3; i++) {
            char *svg = text_of(in_folder("%s.svg", figures[i]));
            cr_expect_eq(strstr(svg, "round trip<") || strstr(svg, "round trips<"), round, "%d: %s",
                         round, figures[i]);
            free(svg);
        }
        hil_histogram_add(&trip.whole, 40000);
        hil_course_add(&trip.course, 200, 40000);
        analysis.rounds = (struct hil_rounds){.trips = (void *)trips, .trip_count = 1};
    }
    hil_loops_free(&analysis.loops);
    folder_close();
}

/* On a fast and quiet machine no step is late by half a microsecond. */
Test(tracing, a_machine_without_lateness_has_figures_too)
{
    static struct hil_analysis analysis = {.end_ns = 30000};
    char *said;
    size_t length;

    if (system("gnuplot --version >/dev/null 2>&1"))
        cr_skip_test("no gnuplot");
    folder_open();
    for (uint64_t ns = 20; ns < 320; ns += 100)
        hil_loops_step(&analysis.loops, hil_loops_of(&analysis.loops, 0), ns, ns, ns, HIL_NO_AGE);
    FILE *messages = open_memstream(&said, &length);
    int rc = hil_trace_figures(&analysis, folder, messages);
    fclose(messages);
    cr_expect_eq(rc, 0, "%d, %s", rc, said);
    free(said);
    hil_loops_free(&analysis.loops);
    folder_close();
}

/* --- who else had the doctor's cores -----------------------------------------------------------
 */

/* A thread that measures is a new one in each turn. What runs between turns takes nothing away. */
Test(kernel, the_longest_stays_are_named)
{
    static const struct {
        uint64_t at_us;
        int task;
        const char *name;
    } ran[] = {{0, 7, "loop"},   {100, 3, "cc1"},  {130, 7, "loop"}, {200, 4, "ma\033ke"},
               {220, 5, "cc1"},  {230, 0, "idle"}, {300, 7, "loop"}, {400, 6, "between"},
               {900, 8, "loop"}, {950, 3, "cc1"}};
    struct hil_kernel k = {0};
    struct hil_other others[HIL_OTHERS];
    const struct hil_span all = {0, UINT64_MAX}, late = {150000, UINT64_MAX};

    for (unsigned i = 0; i < sizeof ran / sizeof ran[0]; i++)
        hil_kernel_enter(&k, 1, HIL_TASK, ran[i].at_us * 1000, ran[i].task, ran[i].name);
    cr_assert_eq(hil_others_find(&k, 1, "loop", all, others), 2);
    cr_expect_str_eq(others[0].name, "cc1");
    cr_expect_eq(others[0].longest_ns, 30000);
    cr_expect_eq(others[0].all_ns, 40000);
    cr_expect_str_eq(others[1].name, "ma?ke");
    cr_assert_eq(hil_others_find(&k, 1, "loop", late, others), 2);
    cr_expect_str_eq(others[0].name, "ma?ke", "what ran before the span does not count");
    cr_expect_eq(hil_others_find(&k, 0, "loop", all, others), 0);
    cr_expect_eq(hil_others_find(&k, 2, "loop", all, others), 0);
    hil_kernel_free(&k);
}
