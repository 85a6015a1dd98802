/*
 * Tests processes that join a run (harness/hiloco_node.h). Each thread here joins as a node, so two
 * of them make a whole run, in real time. No result depends on speed.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "harness/hiloco_node.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static char scenario_path[64], meeting_path[64];

static void join_open(void)
{
    folder_open();
    snprintf(scenario_path, sizeof scenario_path, "%s", in_folder("scenario.yaml"));
    snprintf(meeting_path, sizeof meeting_path, "%s", in_folder("run"));
}

TestSuite(join, .init = join_open, .fini = folder_close, .timeout = 120);

/* One node counts, and the other gives twice the last value that it received. Neither is hiloco's.
 * A joining node always runs in real time, whatever the file says. */
static const char scenario[] =
    "name: joined\n"
    "duration_s: 0.05\n"
    "mode: virtual\n"
    "nodes:\n"
    "  one: {period_us: 1000, priority: 0, wait: hybrid, overrun: catch_up}\n"
    "  two: {period_us: 500, priority: 0, wait: hybrid, overrun: catch_up}\n"
    "components:\n"
    "  counter:\n"
    "    model: outside\n"
    "    node: one\n"
    "    settings: {takes: {twice: '-'}, gives: {count: '-', 'pair_v[]': V}}\n"
    "    width: 2\n"
    "  doubler:\n"
    "    model: outside\n"
    "    node: two\n"
    "    settings: {takes: {count: '-'}, gives: {twice: '-'}}\n"
    "connections:\n"
    "  - {from: counter.count, to: doubler.count, initial: 7}\n"
    "  - {from: doubler.twice, to: counter.twice}\n"
    "record:\n"
    "  - {signals: [counter.count, counter.twice], node: one}\n";

/* --- joining processes ----------------------------------------------------------------------- */

struct joiner {
    const char *node, *out;
    const char *sets[4], *parameters[2];
    double (*work)(double in);
    int leaves_after; /* steps; 0: at the end */
    /* The results. */
    int joined, stepped, left;
    int steps;
    double first, last;
    uint64_t t_ns, missed;
    char said[4096];
};

static void keep(void *joiner, enum hiloco_level level, const char *line)
{
    struct joiner *j = joiner;
    const size_t used = strlen(j->said);

    if (level == HILOCO_ERROR)
        snprintf(j->said + used, sizeof j->said - used, "%s\n", line);
}

static struct hiloco_join asks(struct joiner *j)
{
    struct hiloco_join join = HILOCO_JOIN;

    join.scenario = scenario_path;
    join.node = j->node;
    join.run_directory = meeting_path;
    join.out = j->out;
    join.sets = j->sets;
    join.parameters = j->parameters;
    join.wait_s = 60;
    join.log = keep;
    join.log_arg = j;
    return join;
}

static void *join_and_run(void *joiner)
{
    struct joiner *j = joiner;
    const struct hiloco_join join = asks(j);
    struct hiloco_node *node = NULL;
    double in[1], out[3] = {0};

    j->joined = hiloco_node_join(&node, &join);
    while (!j->joined && (j->stepped = hiloco_node_step(node, in, out)) > 0) {
        j->first = j->steps == 0 ? in[0] : j->first;
        j->last = in[0];
        j->t_ns = hiloco_node_time_ns(node);
        out[0] = j->work(in[0]);
        j->missed = hiloco_node_missed(node);
        if (++j->steps == j->leaves_after)
            break;
    }
    j->left = hiloco_node_leave(node);
    return NULL;
}

static double count(double twice)
{
    static double counted;

    (void)twice;
    return ++counted;
}

static double give_twice(double value)
{
    return 2 * value;
}

static double give_no_number(double value)
{
    (void)value;
    return NAN;
}

/* Runs each node in a thread of its own. */
static void run_both(struct joiner *one, struct joiner *two)
{
    pthread_t thread;

    put("scenario.yaml", scenario);
    mkdir(meeting_path, 0700);
    cr_assert_eq(pthread_create(&thread, NULL, join_and_run, two), 0);
    join_and_run(one);
    pthread_join(thread, NULL);
}

/* --- a run ----------------------------------------------------------------------------------- */

Test(join, two_that_join_are_a_run)
{
    struct joiner one = {.node = "one", .work = count}, two = {.node = "two", .work = give_twice};

    run_both(&one, &two);
    cr_expect_eq(one.joined, 0, "%s", one.said);
    cr_expect_eq(two.joined, 0, "%s", two.said);
    cr_expect_eq(one.stepped, 0, "%s", one.said);
    cr_expect_eq(two.stepped, 0, "%s", two.said);
    cr_expect_eq(one.left, 0);
    cr_expect_eq(two.left, 0);
    cr_expect_leq(one.steps, 50);
    cr_expect_leq(two.steps, 100);
    cr_expect_gt(one.steps, 0);
    /* Before a count arrives, the input has the connection's initial value. If node two is late, a
     * count has arrived. */
    cr_expect(two.first == 7 || (two.first >= 1 && two.first <= one.steps), "%g", two.first);
    cr_expect_gt(two.last, 0);
    cr_expect_leq(two.last, one.steps);
    cr_expect_leq(one.last, 2 * one.steps);
    cr_expect_eq(one.t_ns % 1000000, 0);
    cr_expect_lt(one.t_ns, 50000000);
}

/* Much longer than its period. */
static double give_late(double in)
{
    usleep(20000);
    return in;
}

Test(join, it_counts_the_steps_that_it_missed)
{
    struct joiner one = {.node = "one", .work = count}, two = {.node = "two", .work = give_late};

    run_both(&one, &two);
    cr_expect_eq(two.joined, 0, "%s", two.said);
    cr_expect_gt(two.steps, 1);
    cr_expect_gt(two.missed, 0);
}

Test(join, it_keeps_a_record_and_a_summary)
{
    char out[64];
    struct joiner one = {.node = "one", .work = count, .out = out};
    struct joiner two = {.node = "two", .work = give_twice};
    struct stat file;

    snprintf(out, sizeof out, "%s", in_folder("out"));
    run_both(&one, &two);
    cr_expect_eq(one.left, 0, "%s", one.said);
    cr_expect_eq(stat(in_folder("out/trace.h5"), &file), 0);
    json_t *summary = json_load_file(in_folder("out/summary.json"), 0, NULL);
    int complete = 0;
    double elapsed_s = 0;
    cr_assert_eq(json_unpack(summary, "{s:F, s:{s:{s:{s:b}}}}", "elapsed_s", &elapsed_s, "validity",
                             "checks", "incomplete", "passed", &complete),
                 0);
    cr_expect(complete);
    cr_expect_gt(elapsed_s, 0);
    json_decref(summary);
    cr_expect_eq(stat(in_folder("out/scenario.yaml"), &file), 0);
}

static double count_elsewhere(double twice)
{
    cr_expect_eq(chdir("/"), 0);
    return count(twice);
}

Test(join, the_program_may_change_its_folder)
{
    struct joiner one = {.node = "one", .work = count_elsewhere, .out = "own"};
    struct joiner two = {.node = "two", .work = give_twice};
    struct stat file;

    cr_assert_eq(chdir(folder), 0);
    run_both(&one, &two);
    cr_expect_eq(one.left, 0, "%s", one.said);
    cr_expect_eq(stat(in_folder("own/summary.json"), &file), 0);
    cr_expect_eq(stat(in_folder("own/trace.h5"), &file), 0);
}

static double count_with_comma(double twice)
{
    cr_expect_str_eq(localeconv()->decimal_point, ",");
    return count(twice);
}

Test(join, the_program_may_have_a_decimal_comma)
{
    char command[128];
    struct joiner one = {.node = "one", .work = count_with_comma, .sets = {"duration_s=0.0625"}};
    struct joiner two = {.node = "two", .work = give_twice, .sets = {"duration_s=0.0625"}};

    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8", folder);
    setenv("LOCPATH", folder, 1);
    if (system(command) || !setlocale(LC_ALL, "de_DE.UTF-8"))
        cr_skip_test("no locale with a decimal comma can be made here");
    run_both(&one, &two);
    cr_expect_eq(one.joined, 0, "%s", one.said);
    cr_expect_eq(two.joined, 0, "%s", two.said);
    cr_expect_eq(one.left, 0, "%s", one.said);
    cr_expect_gt(one.steps, 0);
}

Test(join, one_that_leaves_is_lost)
{
    struct joiner one = {.node = "one", .work = count, .leaves_after = 3};
    struct joiner two = {.node = "two", .work = give_twice};

    one.sets[0] = two.sets[0] = "duration_s=100";
    run_both(&one, &two);
    cr_expect_eq(one.steps, 3);
    cr_expect_eq(one.left, 0);
    cr_expect_eq(two.stepped, -ECONNRESET);
    cr_expect_eq(two.left, -ECONNRESET);
    cr_expect_str_eq(two.said, "lost one, which left or died before the end\n");
}

Test(join, what_is_no_number_ends_the_run)
{
    struct joiner one = {.node = "one", .work = give_no_number};
    struct joiner two = {.node = "two", .work = give_twice};

    one.sets[0] = two.sets[0] = "duration_s=100";
    run_both(&one, &two);
    cr_expect_eq(one.steps, 1);
    cr_expect_eq(one.stepped, -ENOTRECOVERABLE);
    cr_expect(strstr(one.said, "counter") && strstr(one.said, "count is NaN"), "%s", one.said);
    cr_expect_eq(two.stepped, -ECONNRESET);
}

Test(join, another_scenario_is_refused)
{
    struct joiner one = {.node = "one", .work = count, .sets = {"nodes.two.period_us=400"}};
    struct joiner two = {.node = "two", .work = give_twice};

    run_both(&one, &two);
    cr_expect_eq(one.joined, -EPROTO);
    cr_expect_eq(two.joined, -EPROTO);
    cr_expect_str_eq(two.said, "one has another scenario: nodes.two.period_us is 500 here and 400 "
                               "there\n");
}

/* --- the thread ------------------------------------------------------------------------------ */

struct asked {
    struct hiloco_node *node;
    int stepped, left;
};

static void *ask_from_elsewhere(void *asked)
{
    struct asked *a = asked;
    double in[1], out[3] = {0};

    a->stepped = hiloco_node_step(a->node, in, out);
    a->left = hiloco_node_leave(a->node);
    return NULL;
}

Test(join, it_says_what_there_is_and_gives_the_thread_back)
{
    struct joiner one = {.node = "one"}, two = {.node = "two", .work = give_twice};
    const struct hiloco_signal *in, *out;
    struct asked asked = {0};
    pthread_t thread;
    cpu_set_t before, after;

    one.sets[0] = two.sets[0] = "duration_s=100";
    one.sets[1] = two.sets[1] = "nodes.one.cpu=0";
    put("scenario.yaml", scenario);
    mkdir(meeting_path, 0700);
    sched_getaffinity(0, sizeof before, &before);
#if defined(__x86_64__)
    const unsigned arithmetic = _mm_getcsr();
#endif
    cr_assert_eq(pthread_create(&thread, NULL, join_and_run, &two), 0);
    const struct hiloco_join join = asks(&one);
    cr_assert_eq(hiloco_node_join(&asked.node, &join), 0, "%s", one.said);
    sched_getaffinity(0, sizeof after, &after);
    cr_expect_eq(CPU_COUNT(&after), 1);

    cr_expect_eq(hiloco_node_inputs(asked.node, &in), 1u);
    cr_expect_str_eq(in[0].name, "twice");
    cr_expect_str_eq(in[0].unit, "");
    cr_assert_eq(hiloco_node_outputs(asked.node, &out), 3u);
    cr_expect_str_eq(out[0].name, "count");
    cr_expect_str_eq(out[1].name, "pair_v[0]");
    cr_expect_str_eq(out[2].name, "pair_v[1]");
    cr_expect_str_eq(out[2].unit, "V");
    cr_expect_eq(hiloco_node_outputs(asked.node, NULL), 3u);
    cr_expect_eq(hiloco_node_period_ns(asked.node), 1000000u);

    pthread_t other;
    cr_assert_eq(pthread_create(&other, NULL, ask_from_elsewhere, &asked), 0);
    pthread_join(other, NULL);
    cr_expect_eq(asked.stepped, -EPERM);
    cr_expect_eq(asked.left, -EPERM);

    cr_expect_eq(hiloco_node_leave(asked.node), 0);
    sched_getaffinity(0, sizeof after, &after);
    cr_expect(CPU_EQUAL(&before, &after));
#if defined(__x86_64__)
    cr_expect_eq(_mm_getcsr() & 0xffc0, arithmetic & 0xffc0);
#endif
    pthread_join(thread, NULL);
    cr_expect_eq(two.stepped, -ECONNRESET);
}

/* --- refusals -------------------------------------------------------------------------------- */

static void expect_refused(struct joiner *j, const char *words)
{
    const struct hiloco_join join = asks(j);
    struct hiloco_node *node = NULL;

    cr_expect_eq(hiloco_node_join(&node, &join), -EINVAL);
    cr_expect_null(node);
    cr_expect(strstr(j->said, words), "%s", j->said);
}

Test(join, what_is_wrong_is_said)
{
    put("scenario.yaml", scenario);
    expect_refused(&(struct joiner){.node = "three"}, "three");
    expect_refused(&(struct joiner){.node = "one", .sets = {"duration_s=no"}},
                   "duration_s is 'no'");
    expect_refused(&(struct joiner){.node = "one", .parameters = {"/nowhere/a.ssv"}},
                   "/nowhere/a.ssv:1:1: it cannot be read");
    put("scenario.yaml", "name: other\nduration_s: 1\nnodes:\n  one: {period_us: 100}\n"
                         "components:\n  law: {model: gain, node: one}\n"
                         "sources:\n  s: {to: law.input, constant: 1}\n");
    expect_refused(&(struct joiner){.node = "one"}, "'one' is not a node with a component outside");
    expect_refused(&(struct joiner){.node = "one", .sets = {"components.law.model=outside"}},
                   "components.law.model is 'outside', but it takes nothing and gives nothing");
}

Test(join, a_join_of_another_size_is_refused)
{
    struct hiloco_join join = HILOCO_JOIN;
    struct hiloco_node *node;

    join.scenario = join.node = "x";
    join.size--;
    cr_expect_eq(hiloco_node_join(&node, &join), -EINVAL);
    cr_expect_eq(hiloco_node_join(&node, NULL), -EINVAL);
    cr_expect_eq(hiloco_node_leave(NULL), 0);
}

/* A folder that does not belong to this user alone, and a file where the folder of results should
 * be. */
Test(join, a_place_that_will_not_do_is_said)
{
    struct joiner one = {.node = "one", .out = scenario_path};
    const struct hiloco_join results = asks(&one);
    struct hiloco_node *node;

    put("scenario.yaml", scenario);
    mkdir(meeting_path, 0755);
    cr_expect_lt(hiloco_node_join(&node, &results), 0);
    cr_expect(strstr(one.said, "scenario.yaml: "), "%s", one.said);
    one = (struct joiner){.node = "one"};
    const struct hiloco_join meeting = asks(&one);
    cr_expect_eq(hiloco_node_join(&node, &meeting), -EPERM);
    cr_expect(strstr(one.said, "others may use the folder"), "%s", one.said);
}
