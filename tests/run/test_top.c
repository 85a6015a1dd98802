/*
 * `hiloco top`: a run watched from another process, as samples and on a terminal.
 *
 * The machine may run other things, also other runs: each test asks for its own by name.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process.h"
#include "results.h"
#include "terminal.h"
#include "workspace.h"

/* Runs in virtual time take a core; those in real time two. */
TestSuite(top, ALONE, .init = workspace_open_alone, .fini = workspace_close);

/* --- runs to watch ---------------- */

/* On the ordinary scheduler and any core, so that who watches gets on as well. */
#define SHARED                                                                                     \
    "--set nodes.controller.priority=0 --set nodes.converter.priority=0 --set "                    \
    "nodes.controller.cpu=-1 "                                                                     \
    "--set nodes.converter.cpu=-1 --quiet "

static bool is_seen(void *which)
{
    struct ended e = run_command("hiloco top %s --json --count 1", (const char *)which);

    return e.status == 0 && strstr(e.out, "\"controller\":{\"state\":\"run\"");
}

/* Starts a run, and waits until it can be watched. */
static struct process start_run(const char *line, const char *out)
{
    struct arguments a = command("%s --set name=%s --out %s", line, own_name(), out);
    struct process p = start(&a);

    cr_assert(wait_until(is_seen, (void *)out, 30), "no run of %s is to be seen", out);
    return p;
}

static struct process start_real(const char *out, double seconds)
{
    char line[400];

    skip_on_one_core();
    snprintf(line, sizeof line,
             "hiloco run configs/dcdc20.yaml --mode realtime " SHARED "--set duration_s=%g",
             seconds);
    return start_run(line, out);
}

static struct process start_virtual(const char *out)
{
    return start_run("hiloco run configs/dcdc20.yaml --mode virtual --quiet --set duration_s=3600 "
                     "--set record.0.decimation=0",
                     out);
}

static void end_run(struct process *p)
{
    kill(p->pid, SIGTERM);
    struct ended e = finish(p);
    expect_status(&e, 130);
}

/* --- samples ---------------- */

struct samples {
    json_t *at[10000];
    unsigned count;
};

static struct samples samples_of(const struct ended *e)
{
    struct samples s = {0};
    char *rest = e->out, *line;
    json_error_t error;

    while ((line = strsep(&rest, "\n")) && *line) {
        cr_assert_lt(s.count, sizeof s.at / sizeof s.at[0]);
        s.at[s.count] = json_loads(line, 0, &error);
        cr_assert_not_null(s.at[s.count], "%s: %s", error.text, line);
        s.count++;
    }
    cr_assert_gt(s.count, 0);
    return s;
}

static struct samples watch(const char *which, const char *options)
{
    struct ended e = run_command("hiloco top %s --json %s", which, options);

    expect_status(&e, 0);
    return samples_of(&e);
}

static json_t *converter_at(json_t *sample, size_t i)
{
    return json_array_get(json_at(sample, "nodes.converter.each"), i);
}

static const char *state_of(json_t *node)
{
    return json_string_value(json_at(node, "state"));
}

/* Times and steps only grow, and not only when the run ends. */
static void expect_growth(const struct samples *s)
{
    for (unsigned i = 1; i < s->count; i++) {
        json_t *a = s->at[i - 1], *b = s->at[i];
        cr_expect_leq(number_at(a, "elapsed_s"), number_at(b, "elapsed_s"));
        cr_expect_leq(number_at(a, "nodes.controller.steps"),
                      number_at(b, "nodes.controller.steps"));
        cr_expect_leq(number_at(converter_at(a, 19), "steps"),
                      number_at(converter_at(b, 19), "steps"));
    }
    json_t *first = s->at[0], *later = s->at[s->count / 2];
    cr_expect_lt(number_at(first, "elapsed_s"), number_at(later, "elapsed_s"));
    cr_expect_lt(number_at(first, "nodes.controller.steps"),
                 number_at(later, "nodes.controller.steps"));
    cr_expect_lt(number_at(converter_at(first, 7), "steps"),
                 number_at(converter_at(later, 7), "steps"));
}

static void expect_same(json_t *a, json_t *b, const char *path)
{
    double x = number_at(a, path), y = number_at(b, path);

    cr_expect(fabs(x - y) <= 1e-6 * fabs(y) || (isnan(x) && isnan(y)), "%s: %.9g, and %.9g", path,
              x, y);
}

static void expect_same_node(json_t *sample, json_t *summary)
{
    expect_same(sample, summary, "period_us");
    expect_same(sample, summary, "steps");
    expect_same(sample, summary, "missed");
    expect_same(sample, summary, "late_us.max");
    expect_same(sample, summary, "late_us.p99");
}

/* "Samples advance and agree with the final summary." */
Test(top, samples_advance_and_agree_with_the_summary)
{
    const char *out = in_workspace("out");
    struct process p = start_real(out, 3);
    struct samples s = watch(out, "--interval 50");
    struct ended e = finish(&p);
    json_t *last = s.at[s.count - 1], *summary = summary_of(out);

    expect_ran(&e);
    expect_growth(&s);
    cr_expect_str_eq(state_of(s.at[0]), "running");
    cr_expect_str_eq(state_of(last), "ended");
    cr_expect_str_eq(state_of(json_at(last, "nodes.controller")), "stopped");
    expect_same(last, summary, "elapsed_s");
    cr_expect_str_eq(json_string_value(json_at(last, "measure.name")), "output_v");
    cr_expect_str_eq(json_string_value(json_at(last, "measure.unit")), "V");
    cr_expect_float_eq(number_at(last, "measure.reference"),
                       number_at(summary, "measures.output_v.reference"), 1e-5);
    cr_expect_float_eq(number_at(last, "measure.value"),
                       number_at(summary, "measures.output_v.final"), 1e-5);
    expect_same(json_at(last, "nodes.converter"), json_at(summary, "nodes.converter"), "steps");
    expect_same(json_at(last, "nodes.converter"), json_at(summary, "nodes.converter"), "missed");
    expect_same_node(json_at(last, "nodes.controller"), json_at(summary, "nodes.controller"));
    for (size_t i = 0; i < 20; i++)
        expect_same_node(converter_at(last, i),
                         json_array_get(json_at(summary, "nodes.converter.each"), i));
    cr_expect_gt(number_at(last, "nodes.controller.input_age_us"), 0);
    cr_expect_gt(number_at(converter_at(last, 3), "input_age_us"), 0);
}

Test(top, so_many_samples_as_asked_for)
{
    const char *out = in_workspace("out");
    struct process p = start_virtual(out);
    struct samples s = watch(out, "--interval 100 --count 4");

    cr_expect_eq(s.count, 4);
    expect_growth(&s); /* virtual time as well */
    cr_expect_float_eq(number_at(s.at[3], "measure.reference"), 240, 1e-9);
    end_run(&p);
}

/* As who watches finds it, but to write. */
static int open_memory(pid_t pid)
{
    char path[64], target[64];

    for (int i = 0; i < 1000; i++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, i);
        ssize_t length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        if (strstr(target, "hiloco-run"))
            return open(path, O_RDWR);
    }
    return -1;
}

/* Nothing of a run can be changed by who watches: the kernel refuses. */
Test(top, the_memory_of_a_run_is_read_only)
{
    struct process p = start_virtual(in_workspace("out"));
    int file = open_memory(p.pid);

    cr_assert_geq(file, 0);
    cr_expect_eq(write(file, "x", 1), -1);
    cr_expect_eq(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), MAP_FAILED);
    cr_expect_neq(ftruncate(file, 0), 0);
    cr_expect_neq(mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0), MAP_FAILED);
    end_run(&p);
}

/* --- parts on their own: the converters' rows come through the SST ---------------- */

static struct process start_part(const char *ids)
{
    struct arguments a = command("converter configs/dcdc20.yaml --id %s --wait 60 --set "
                                 "duration_s=120 --set name=%s " SHARED,
                                 ids, own_name());

    return start(&a);
}

/* Three that spin may have two cores: some may stand still for a while, but not for ever. */
static bool all_have_stepped(void *out)
{
    struct samples s = watch(out, "--count 1");

    for (size_t i = 0; i < 20; i++)
        if (number_at(converter_at(s.at[0], i), "input_age_us") == 0)
            return false;
    return true;
}

static bool have_gone_on(void *sample)
{
    struct samples s = watch(in_workspace("out"), "--count 1");

    for (size_t i = 0; i < 20; i++)
        if (number_at(converter_at(s.at[0], i), "steps") <=
            number_at(converter_at(sample, i), "steps"))
            return false;
    return true;
}

/* Only who has a node's histogram knows percentiles. */
static void expect_part(json_t *sample, size_t count, bool elsewhere)
{
    cr_expect_eq(json_array_size(json_at(sample, "nodes.converter.each")), count);
    for (size_t i = 0; i < count; i++) {
        json_t *one = converter_at(sample, i);
        cr_expect_str_eq(state_of(one), "run");
        cr_expect_gt(number_at(one, "steps"), 0);
        cr_expect_eq(json_is_null(json_at(one, "late_us.p99")), elsewhere);
        cr_expect_geq(number_at(one, "late_us.max"), number_at(one, "late_us.recent_max"));
    }
}

/* Of converters in another process the controller's launcher has what they told; a launcher of
 * converters knows its own. */
Test(top, the_controller_hears_of_converters_elsewhere)
{
    struct process parts[] = {start_part("0-9"), start_part("10-19")};
    struct process controller =
        start_run("controller configs/dcdc20.yaml --wait 60 --set duration_s=120 " SHARED,
                  in_workspace("out"));
    char pid[20];

    cr_assert(wait_until(all_have_stepped, (void *)in_workspace("out"), 60));
    struct samples here = watch(in_workspace("out"), "--count 1");
    expect_part(here.at[0], 20, true);
    cr_expect(wait_until(have_gone_on, here.at[0], 60));
    snprintf(pid, sizeof pid, "%d", (int)parts[1].pid);
    struct samples there = watch(pid, "--count 1");
    expect_part(there.at[0], 10, false);
    cr_expect_null(json_object_get(json_at(there.at[0], "nodes"), "controller"));
    cr_expect_str_eq(json_string_value(json_at(converter_at(there.at[0], 0), "node")),
                     "converter[10]");
    end_run(&controller);
    for (int i = 0; i < 2; i++) {
        kill(parts[i].pid, SIGTERM);
        finish(&parts[i]);
    }
}

/* --- which run ---------------- */

Test(top, of_two_runs_one_is_to_be_named)
{
    struct process one = start_virtual(in_workspace("one"));
    struct process two = start_virtual(in_workspace("two"));
    struct ended e = run_command("hiloco top --json");

    expect_status(&e, 2);
    expect_said(&e, " runs; name one"); /* other tests may run some as well */
    expect_said(&e, in_workspace("one"));
    expect_said(&e, in_workspace("two"));
    struct samples s = watch(in_workspace("two"), "--count 1");
    cr_expect_eq(number_at(s.at[0], "pid"), two.pid);
    e = run_command("hiloco top %s --json", own_name());
    expect_status(&e, 2);
    end_run(&one);
    s = watch(own_name(), "--count 1");
    cr_expect_eq(number_at(s.at[0], "pid"), two.pid);
    end_run(&two);
}

Test(top, a_run_that_has_ended_is_said_to_have)
{
    const char *out = in_workspace("out");
    struct process p = start_virtual(out);

    end_run(&p);
    struct ended e = run_command("hiloco top %s", out);
    expect_status(&e, 1);
    expect_said(&e, "has ended");
    expect_said(&e, "summary.json");
}

Test(top, a_run_that_is_not_there_is_not_found)
{
    struct ended e = run_command("hiloco top no-such-run --json");

    expect_status(&e, 1);
    expect_said(&e, "there is no run with the name, process id or folder of results no-such-run");
}

/* Somebody who runs nothing: what others run is not seen. */
Test(top, without_a_run_it_says_so)
{
    if (geteuid() != 0)
        cr_skip_test("only the superuser can be somebody else");
    if (run_command("setpriv --reuid 65534 --clear-groups %s --help", program_path("hiloco"))
            .status)
        cr_skip_test("nobody may not run hiloco here");
    struct ended e =
        run_command("setpriv --reuid 65534 --clear-groups %s top --json", program_path("hiloco"));
    expect_status(&e, 1);
    expect_said(&e, "there is no run here");
}

/* A name may have 64 letters, and is shown whole. */
Test(top, a_long_name)
{
    char name[65];

    memset(name, 'n', 64);
    name[64] = '\0';
    struct arguments a = command("hiloco run configs/dcdc20.yaml --mode virtual --quiet "
                                 "--set duration_s=3600 --set record.0.decimation=0 "
                                 "--set name=%s --out %s",
                                 name, in_workspace("long"));
    struct process p = start(&a);
    char out[200];

    snprintf(out, sizeof out, "%s", in_workspace("long"));
    cr_assert(wait_until(is_seen, out, 30), "no run of %s is to be seen", out);
    struct samples s = watch(name, "--count 1");
    cr_expect_str_eq(json_string_value(json_at(s.at[0], "scenario")), name);
    end_run(&p);
}

Test(top, mistakes_on_the_command_line)
{
    struct ended e = run_command("hiloco top --interval soon");

    expect_status(&e, 2);
    e = run_command("hiloco top --count 3");
    expect_status(&e, 2);
    expect_said(&e, "--json");
    e = run_command("hiloco top no-such-run --all-users");
    expect_status(&e, 1);
    e = run_command("hiloco top one two");
    expect_status(&e, 2);
}

/* --- how it ends ---------------- */

static bool is_begun(void *process)
{
    const char *path = ((struct process *)process)->out_path;

    return exists(path) && strchr(read_text(path), '\n');
}

static void expect_end(int signal, const char *state, const char *said)
{
    struct process p = start_virtual(in_workspace("out"));
    struct arguments a = command("hiloco top %s --json --interval 20", in_workspace("out"));
    struct process top = start(&a);

    cr_assert(wait_until(is_begun, &top, 30));
    kill(p.pid, signal);
    struct ended e = finish(&top);
    finish(&p);
    expect_status(&e, 0);
    expect_said(&e, said);
    struct samples s = samples_of(&e);
    cr_expect_str_eq(state_of(s.at[s.count - 1]), state);
}

Test(top, it_says_that_the_run_was_interrupted)
{
    expect_end(SIGINT, "interrupted", "was interrupted after");
}

Test(top, it_says_that_the_run_was_killed)
{
    expect_end(SIGKILL, "failed", "was killed after");
}

/* --- a node that falls silent ---------------- */

static bool is_silent(void *out)
{
    struct samples s = watch(out, "--interval 700 --count 2");

    return strcmp(state_of(converter_at(s.at[1], 0)), "silent") == 0;
}

static bool is_not_silent(void *out)
{
    return !is_silent(out);
}

/* The children, in the order in which they were started: the controller, the converters. */
static pid_t second_child(pid_t parent)
{
    char path[64];
    int first = 0, second = 0;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    cr_assert_eq(sscanf(read_text(path), "%d %d", &first, &second), 2);
    return second;
}

Test(top, a_node_that_stands_still_is_silent)
{
    const char *out = in_workspace("out");
    struct process p = start_real(out, 60);
    pid_t converters = second_child(p.pid);

    cr_expect(wait_until(is_not_silent, (void *)out, 30));
    kill(converters, SIGSTOP);
    cr_expect(wait_until(is_silent, (void *)out, 30));
    struct samples s = watch(out, "--count 1");
    cr_expect_str_eq(state_of(json_at(s.at[0], "nodes.controller")), "run");
    kill(converters, SIGCONT);
    end_run(&p);
}

/* One node is dead for a while, another one stands still: both are known, and the first one's state
 * is not what it had when it died. */
static const char faulted[] =
    "duration_s: 100\n"
    "mode: realtime\n"
    "on_lost: restart\n"
    "nodes:\n"
    "  controller: {period_us: 2000, wait: hybrid}\n"
    "  plant: {period_us: 2000, count: 2, wait: hybrid}\n"
    "components:\n"
    "  law: {model: gain, node: controller, count: 2, safe: {output: 0}}\n"
    "  lag: {model: first_order_lag, node: 'plant[*]'}\n"
    "connections:\n"
    "  - {from: 'lag[*].output', to: 'law[*].input', age_limit_us: 100000, on_old: safe}\n"
    "  - {from: 'law[*].output', to: 'lag[*].input'}\n"
    "placement:\n"
    "  - {nodes: [controller, 'plant[1]'], wait: hybrid}\n"
    "  - {nodes: 'plant[0]', wait: hybrid}\n"
    "faults:\n"
    "  gone: {nodes: 'plant[0]', kind: restart, at_s: 2, duration_s: 90}\n"
    "  still: {nodes: 'plant[1]', kind: stall, at_s: 2}\n";

static bool shows_faults(void *out)
{
    struct samples s = watch(out, "--interval 700 --count 2");
    json_t *plants = json_at(s.at[1], "nodes.plant.each");

    return strcmp(state_of(json_at(s.at[1], "nodes.controller")), "safe") == 0 &&
           strcmp(state_of(json_array_get(plants, 0)), "init") == 0 &&
           strcmp(state_of(json_array_get(plants, 1)), "silent") == 0;
}

Test(top, nodes_during_faults)
{
    const char *out = in_workspace("out"), *path = in_workspace("faulted.yaml");
    char text[2000], line[400];

    skip_on_one_core();
    snprintf(text, sizeof text, "name: faulted\n%s", faulted);
    write_text(path, text);
    snprintf(line, sizeof line, "hiloco run %s --quiet", path);
    struct process p = start_run(line, out);
    cr_expect(wait_until(shows_faults, (void *)out, 30));
    end_run(&p);
}

/* --- on a terminal ---------------- */

static struct terminal open_view(int lines, int columns)
{
    struct arguments a = command("hiloco top %s --interval 50", in_workspace("out"));

    return start_on_terminal(&a, lines, columns);
}

static void expect_restored(struct terminal *t)
{
    cr_expect(was_shown(t, "\033[?1049l"), "the screen of before is not back");
    cr_expect(was_shown(t, "\033[?25h") || was_shown(t, "\033[?12l\033[?25h"), "no cursor");
    cr_expect(is_ordinary(t), "the terminal is left as the view had it");
}

Test(top, a_terminal_shows_the_run)
{
    static const char *const words[] = {"output", "reference", "240.00", "controller", "run",
                                        "MISSED", "PERIOD",    "p99",    "INPUT",      "40.0us",
                                        "quit",   "virtual",   "now"};
    struct process p = start_virtual(in_workspace("out"));
    struct terminal t = open_view(24, 80);

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        expect_shown(&t, words[i]);
    expect_shown(&t, "\xe2\xa3\x80"); /* a Braille pattern of the chart */
    cr_expect_not(was_shown(&t, "converter[19]"), "there is no room for all");
    cr_expect_not(is_ordinary(&t));
    press(&t, "q");
    cr_expect_eq(finish_on_terminal(&t), 0);
    expect_restored(&t);
    end_run(&p);
}

Test(top, keys_sort_pause_and_scroll)
{
    struct process p = start_virtual(in_workspace("out"));
    struct terminal t = open_view(24, 80);

    expect_shown(&t, "vNODE");
    press(&t, "s");
    expect_shown(&t, "vMISSED");
    press(&t, "r");
    expect_shown(&t, "^MISSED");
    press(&t, "p");
    expect_shown(&t, "PAUSED");
    press(&t, "p");
    press(&t, "\033OB\033OB\033OB"); /* down */
    expect_shown(&t, "4-16");
    press(&t, "\033OA"); /* up */
    expect_shown(&t, "3-15");
    press(&t, "q");
    cr_expect_eq(finish_on_terminal(&t), 0);
    end_run(&p);
}

Test(top, a_view_follows_the_size_of_its_window)
{
    struct process p = start_virtual(in_workspace("out"));
    struct terminal t = open_view(24, 80);

    expect_shown(&t, "1-13");
    resize(&t, 50, 200);
    expect_shown(&t, "1-21");
    resize(&t, 5, 20); /* hardly anything fits, and nothing breaks */
    usleep(300000);
    resize(&t, 24, 80);
    expect_shown(&t, "1-13");
    press(&t, "q");
    cr_expect_eq(finish_on_terminal(&t), 0);
    end_run(&p);
}

Test(top, a_view_ends_with_the_run_and_says_how)
{
    struct process p = start_virtual(in_workspace("out"));
    struct terminal t = open_view(24, 80);

    expect_shown(&t, "controller");
    end_run(&p);
    cr_expect_eq(finish_on_terminal(&t), 0);
    cr_expect(was_shown(&t, "was interrupted after"));
    expect_restored(&t);
}

Test(top, an_interrupt_restores_the_terminal)
{
    struct process p = start_virtual(in_workspace("out"));
    struct terminal t = open_view(24, 80);

    expect_shown(&t, "controller");
    press(&t, "\003");
    cr_expect_eq(finish_on_terminal(&t), 0);
    expect_restored(&t);
    end_run(&p);
}

Test(top, without_a_terminal_it_points_at_json)
{
    struct process p = start_virtual(in_workspace("out"));
    struct ended e = run_command("hiloco top %s", in_workspace("out"));

    expect_status(&e, 2);
    expect_said(&e, "--json");
    end_run(&p);
}
