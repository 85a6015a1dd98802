/*
 * `hiloco set` and `hiloco control`: runs that are changed while they run, from another process.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../sets.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(tuning, .init = workspace_open, .fini = workspace_close);

/* --- runs to change -------------------------------------------------------------------------- */

/* On the ordinary scheduler and any core, so that who changes it gets on as well. */
#define SHARED                                                                                     \
    "--set nodes.controller.priority=0 --set nodes.converter.priority=0 --set "                    \
    "nodes.controller.cpu=-1 "                                                                     \
    "--set nodes.converter.cpu=-1 --quiet "

static bool can_be_set(void *which)
{
    return run_command("hiloco set %s", (const char *)which).status == 0;
}

static struct process start_run(const char *line, const char *out)
{
    struct arguments a = command("%s --set name=%s --out %s", line, own_name(), out);
    struct process p = start(&a);

    cr_assert(wait_until(can_be_set, (void *)own_name(), 30), "%s cannot be set", line);
    return p;
}

/* It takes seconds, in which it is changed. */
#define VIRTUAL                                                                                    \
    "hiloco run configs/quickstart.yaml --quiet --set nodes.converter.count=3 "                    \
    "--set network.jitter_us=1 --set record.0.decimation=50 "

static struct process start_virtual(const char *out)
{
    return start_run(VIRTUAL "--allow-set --set duration_s=3000", out);
}

static struct process start_real(const char *out, const char *options)
{
    char line[400];

    skip_on_one_core();
    snprintf(line, sizeof line,
             "hiloco run configs/quickstart.yaml --mode realtime " SHARED "--allow-set "
             "--set nodes.controller.period_us=1000 --set nodes.converter.period_us=500 %s",
             options);
    return start_run(line, out);
}

static void end_run(struct process *p)
{
    kill(p->pid, SIGTERM);
    struct ended e = finish(p);
    expect_status(&e, 130);
}

static struct ended set(const char *what)
{
    return run_command("hiloco set %s %s", own_name(), what);
}

static struct ended control(const char *what)
{
    return run_command("hiloco control %s %s", own_name(), what);
}

static json_t *set_json(const char *what)
{
    struct ended e = run_command("hiloco set %s %s --json", own_name(), what);
    json_error_t error;

    expect_status(&e, 0);
    json_t *answer = json_loads(e.out, 0, &error);
    cr_assert_not_null(answer, "%s: %s", error.text, e.out);
    return answer;
}

/* --- what is recorded ------------------------------------------------------------------------ */

/* The rows of events.csv with this kind and this name; the step and the value of the last. */
static unsigned events_of(const char *out, const char *kind, const char *of, double *step,
                          double *value)
{
    char path[300], *text, *rest, *line;
    unsigned count = 0;

    struct ended e = run_command("hiloco export %s --csv", out);
    expect_status(&e, 0);
    snprintf(path, sizeof path, "%s/events.csv", out);
    text = rest = read_text(path);
    while ((line = strsep(&rest, "\n"))) {
        char node[100], is_kind[100], is_of[100];
        double time_s, at, is;
        if (sscanf(line, "%lf,%lf,%99[^,],%99[^,],%99[^,],%lf", &time_s, &at, node, is_kind, is_of,
                   &is) != 6 ||
            strcmp(is_kind, kind) != 0 || strcmp(is_of, of) != 0)
            continue;
        *step = at;
        *value = is;
        count++;
    }
    free(text);
    return count;
}

static bool same(const char *a, const char *b, const char *file)
{
    return run_command("cmp -s %s/%s %s/%s", a, file, b, file).status == 0;
}

/* --- virtual time ---------------------------------------------------------------------------- */

Test(tuning, a_run_that_was_tuned_while_it_ran_is_done_again_bit_for_bit)
{
    const char *one = in_workspace("one"), *two = in_workspace("two"), *plain = in_workspace("p");
    struct process p = start_run(VIRTUAL "--allow-set --set duration_s=20", one);
    struct ended e = set("control[0].kp_per_v=0.02");

    expect_status(&e, 0);
    e = set("reference=11 --ramp 0.003");
    expect_status(&e, 0);
    e = control("pause");
    expect_status(&e, 0);
    e = set("converter[1].esr_ohm=0.04 converter[2].esr_ohm=0.05 reference=10");
    cr_expect(strstr(e.out, "reference = 10 when the run, which is paused, continues"), "%s",
              e.out);
    e = control("step 5");
    expect_status(&e, 0);
    e = set("control[2].ki_per_v_s=100");
    expect_status(&e, 0);
    e = control("resume");
    expect_status(&e, 0);
    e = set("reference=13 --ramp 0.1");
    expect_status(&e, 0);
    e = finish(&p);
    expect_status(&e, 0);

    e = run_command(VIRTUAL "--tuning %s --set duration_s=20 --set name=%s --out %s", one,
                    own_name(), two);
    expect_status(&e, 0);
    cr_expect(same(one, two, "trace.h5"), "the records differ");
    e = run_command(VIRTUAL "--allow-set --set duration_s=20 --set name=%s --out %s", own_name(),
                    plain);
    cr_expect_not(same(one, plain, "trace.h5"), "it changed nothing");
    double step, value;
    cr_expect_eq(events_of(two, "asked", "reference", &step, &value), 3);
    cr_expect_eq(value, 13);
    cr_expect_eq(events_of(two, "set", "converter[2].esr_ohm", &step, &value), 1);
}

Test(tuning, a_change_is_acknowledged_with_its_step_which_is_an_event_of_the_record)
{
    const char *out = in_workspace("out");
    struct process p = start_virtual(out);
    json_t *answer = set_json("converter[1].esr_ohm=40mOhm");
    double step, value;

    cr_expect_str_eq(json_string_value(json_at(answer, "applied.0.node")), "converter[1]");
    cr_expect_eq(number_at(answer, "applied.0.value"), 0.04);
    end_run(&p);
    cr_expect_eq(events_of(out, "set", "converter[1].esr_ohm", &step, &value), 1);
    cr_expect_eq(step, number_at(answer, "applied.0.step"));
    cr_expect_eq(value, 0.04);
}

static void expect_in_file(const char *path, const char *text)
{
    char *all = read_text(path);

    cr_expect(strstr(all, text), "%s has no %s", path, text);
    free(all);
}

Test(tuning, what_was_set_is_seen_in_figures_report_export_and_comparison)
{
    const char *out = in_workspace("out"), *plain = in_workspace("plain");
    struct process p = start_virtual(out);
    struct ended e = set("reference=11.25");

    expect_status(&e, 0);
    end_run(&p);
    e = run_command("hiloco plot %s", out);
    expect_status(&e, 0);
    expect_in_file(in_workspace("out/output.svg"), "reference = 11.25");
    e = run_command("hiloco report %s", out);
    expect_status(&e, 0);
    expect_in_file(in_workspace("out/report.html"), "\"kind\":\"set\",\"of\":\"reference\"");
    e = run_command("hiloco export %s --csv --mcap", out);
    expect_status(&e, 0);
    expect_in_file(in_workspace("out/events.csv"), "controller,set,reference,11.25");
    e = run_command(VIRTUAL "--set duration_s=1 --out %s", plain);
    e = run_command("hiloco compare %s %s", out, plain);
    cr_expect(strstr(e.out, "set reference"), "%s", e.out);
}

Test(tuning, what_can_be_set_is_listed)
{
    struct process p = start_virtual(in_workspace("out"));
    struct ended e = set("control[0].kp_per_v=0.0123");

    expect_status(&e, 0);
    e = set("");
    expect_status(&e, 0);
    cr_expect(strstr(e.out, "control[0].kp_per_v"), "%s", e.out);
    cr_expect(strstr(e.out, "0.0123"), "%s", e.out);
    cr_expect(strstr(e.out, "0 to 1e6 1/V"), "%s", e.out);
    cr_expect(strstr(e.out, "proportional gain"), "%s", e.out);
    cr_expect(strstr(e.out, "as planned"), "%s", e.out);
    cr_expect(strstr(e.out, "what the source gives: 12, 10 in 0.005 s from 0.1 s"), "%s", e.out);
    end_run(&p);
}

static double elapsed_s(void)
{
    struct ended e = run_command("hiloco top %s --json --count 1", own_name());
    json_t *sample = json_loads(e.out, 0, NULL);

    return number_at(sample, "elapsed_s");
}

static bool is_paused(void)
{
    struct ended e = run_command("hiloco top %s --json --count 1", own_name());

    return strstr(e.out, "\"state\":\"paused\"") != NULL;
}

/* Before its first step, and after it at 0, a run is 0 s old. */
static bool has_stepped(void *unused)
{
    (void)unused;
    return elapsed_s() > 0;
}

/* The controller steps each 20 us, the converters each 10 us: so there is an instant each 10 us. */
Test(tuning, virtual_time_is_paused_stepped_and_resumed)
{
    struct process p = start_virtual(in_workspace("out"));

    cr_assert(wait_until(has_stepped, NULL, 30));
    struct ended e = control("pause");
    expect_status(&e, 0);
    cr_expect(strstr(e.out, "stands still"), "%s", e.out);
    cr_expect(is_paused());
    const double before = elapsed_s();
    e = control("pause");
    expect_status(&e, 0);
    cr_expect_eq(elapsed_s(), before);
    e = control("step 200");
    expect_status(&e, 0);
    cr_expect_float_eq(elapsed_s(), before + 0.002, 1e-9);
    cr_expect(is_paused());
    e = control("step");
    e = control("step");
    cr_expect_float_eq(elapsed_s(), before + 0.00202, 1e-9);
    e = control("resume");
    expect_status(&e, 0);
    cr_expect_not(is_paused());
    cr_expect_gt(elapsed_s(), before + 0.003);
    e = control("stop");
    expect_status(&e, 0);
    e = finish(&p);
    expect_status(&e, 130);
}

Test(tuning, a_paused_run_ends_when_it_is_told_to)
{
    struct process p = start_virtual(in_workspace("out"));
    struct ended e = control("pause");

    expect_status(&e, 0);
    end_run(&p);
    e = set("reference=3");
    expect_status(&e, 1);
}

/* --- against the clock ----------------------------------------------------------------------- */

TestSuite(tuning_by_the_clock, ALONE, .init = workspace_open_alone, .fini = workspace_close);

/* Which row is of that step: some may have been left out before it. */
static size_t row_of(const char *out, const char *steps, double step)
{
    const struct column at = column_of(out, steps);
    size_t row = 0;

    while (row < at.rows && at.at[row] < step)
        row++;
    cr_assert_lt(row, at.rows, "there is no step %g", step);
    return row;
}

Test(tuning_by_the_clock, a_run_against_the_clock_is_changed_at_a_step)
{
    const char *out = in_workspace("out");
    struct process p = start_real(
        out,
        "--set duration_s=100 --set sources.reference={'to':control.reference_v,'constant':12} "
        "--set record.0.decimation=1");
    json_t *answer = set_json("reference=9");
    struct ended e = set("converter[0].esr_ohm=0.05");

    cr_expect(strstr(e.out, "converter[0].esr_ohm = 0.05 at converter"), "%s%s", e.out, e.err);
    end_run(&p);
    const struct column reference = column_of(out, "controller/reference_v");
    const size_t row = row_of(out, "controller/step", number_at(answer, "applied.0.step"));
    cr_expect_eq(reference.at[row - 1], 12);
    cr_expect_eq(reference.at[row], 9);
}

Test(tuning_by_the_clock, against_the_clock_a_run_is_stopped_and_not_paused)
{
    struct process p = start_real(in_workspace("out"), "--set duration_s=100");
    struct ended e = control("pause");

    expect_status(&e, 2);
    expect_said(&e, "in real time, which does not wait");
    e = control("stop");
    expect_status(&e, 0);
    e = finish(&p);
    expect_status(&e, 130);
}

/* What the launcher's memory holds of it outlives the process. */
Test(tuning_by_the_clock, a_node_that_died_comes_back_as_it_was_tuned)
{
    const char *out = in_workspace("out");
    struct process p = start_real(out, "--set duration_s=100 --set on_lost=restart");
    struct ended e = set("converter[0].esr_ohm=0.05");
    struct family f = {.parent = p.pid};

    expect_status(&e, 0);
    cr_assert(wait_until(find_children, &f, 20));
    kill(f.children[CONVERTERS], SIGKILL);
    for (int i = 0; i < 100; i++) {
        e = set("converter[0].esr_ohm=0.06"); /* of one that is away it is refused, in time */
        if (e.status == 0)
            break;
        cr_expect_eq(e.status, 1, "%s", e.err);
    }
    expect_status(&e, 0);
    end_run(&p);
}

/* --- over tcp, by processes that are started by hand ----------------------------------------- */

static unsigned free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int file = socket(AF_INET, SOCK_STREAM, 0);

    cr_assert_eq(bind(file, (struct sockaddr *)&address, size), 0);
    cr_assert_eq(getsockname(file, (struct sockaddr *)&address, &size), 0);
    close(file);
    return ntohs(address.sin_port) < 65535 ? ntohs(address.sin_port) : 20000;
}

static const char *write_pair(void)
{
    static char text[2000];

    snprintf(text, sizeof text,
             "name: %s\n"
             "duration_s: 100\n"
             "tuning: true\n"
             "fabric: tcp\n"
             "tcp: {port: %u, nodes: [{nodes: [a, b], address: 127.0.0.1}]}\n"
             "nodes: {a: {period_us: 5000}, b: {period_us: 2000}}\n"
             "placement:\n"
             "  - {nodes: a, priority: 0}\n"
             "  - {nodes: b, priority: 0}\n"
             "components:\n"
             "  g: {model: gain, node: a}\n"
             "  h: {model: gain, node: b, parameters: {gain: 3}}\n"
             "connections: [{from: g.output, to: h.input}]\n"
             "sources: {u: {to: g.input, constant: 1}}\n"
             "record: [{signals: h.output, node: b}]\n",
             own_name(), free_port());
    write_text(in_workspace("pair.yaml"), text);
    return in_workspace("pair.yaml");
}

static bool node_runs(void *pid)
{
    struct ended e = run_command("hiloco top %s --json --count 1", (const char *)pid);

    return strstr(e.out, "\"state\":\"run\"") != NULL;
}

Test(tuning_by_the_clock, over_tcp_a_node_in_another_process_is_tuned)
{
    const char *file = write_pair(), *out_b = in_workspace("b");
    struct arguments a = command("hiloco node a %s --out %s --quiet", file, in_workspace("a"));
    struct arguments b = command("hiloco node b %s --out %s --quiet", file, out_b);
    struct process first, second;
    double step, value;

    setenv("HILOCO_SECRET", "0123456789abcdef0123456789abcdef", 1);
    first = start(&a);
    second = start(&b);
    char pid[20];
    snprintf(pid, sizeof pid, "%d", (int)first.pid);
    cr_assert(wait_until(node_runs, pid, 30));
    struct ended e = run_command("hiloco set %d h.gain=5 u=2", (int)first.pid);
    expect_status(&e, 0);
    cr_expect(strstr(e.out, "h.gain = 5 at b"), "%s", e.out);
    e = run_command("hiloco set %d h.gain=6", (int)second.pid);
    expect_status(&e, 2);
    expect_said(&e, "the node a, which accepts all changes, runs elsewhere");
    kill(first.pid, SIGTERM);
    kill(second.pid, SIGTERM);
    finish(&first);
    finish(&second);
    cr_assert_eq(events_of(out_b, "set", "h.gain", &step, &value), 1);
    const struct column output = column_of(out_b, "b/output");
    const size_t row = row_of(out_b, "b/step", step);
    /* By when u came to a. */
    cr_expect(output.at[row - 1] == 3 || output.at[row - 1] == 6, "%g", output.at[row - 1]);
    cr_expect(output.at[row] == 5 || output.at[row] == 10, "%g", output.at[row]);
    unsetenv("HILOCO_SECRET");
}

/* An answer has a line for each node, however many there are and whatever a socket holds. */
Test(tuning, thousands_of_nodes_answer)
{
    enum { NODES = 3000 };
    static bool seen[NODES];
    const char *path = in_workspace("many.yaml");
    char line[400], *text, *rest;
    unsigned node, count = 0;

    write_text(path, "name: many\nduration_s: 1e6\nmode: virtual\ntuning: true\n"
                     "nodes: {n: {count: 3000, period_us: 100000}}\n"
                     "components: {g: {model: gain, node: 'n[*]'}}\n"
                     "sources: {u: {to: 'g[*].input', constant: 1}}\nrecord: []\n");
    snprintf(line, sizeof line, "hiloco run %s --quiet", path);
    struct process p = start_run(line, in_workspace("out"));
    struct ended e = set("u=2");
    expect_status(&e, 0);
    rest = e.out;
    while ((text = strsep(&rest, "\n")) && *text) {
        cr_assert_eq(sscanf(text, "u = 2 at n[%u], from its step", &node), 1, "%s", text);
        cr_assert(node < NODES && !seen[node], "%s", text);
        seen[node] = true;
        count++;
    }
    cr_expect_eq(count, NODES);
    end_run(&p);
}

/* --- who may, and what is refused ------------------------------------------------------------ */

Test(tuning, a_run_that_does_not_allow_it_says_so)
{
    struct arguments a = command(VIRTUAL "--set duration_s=3000 --set name=%s --out %s", own_name(),
                                 in_workspace("out"));
    struct process p = start(&a);
    struct ended e;

    do
        e = set("reference=3");
    while (strstr(e.err, "there is no run with the name"));
    expect_status(&e, 1);
    expect_said(&e, "hiloco run --allow-set");
    e = set("");
    expect_status(&e, 1);
    expect_said(&e, "hiloco run --allow-set");
    e = control("pause");
    expect_status(&e, 1);
    end_run(&p);
}

Test(tuning, what_makes_no_sense_is_refused_with_status_2)
{
    static const struct {
        const char *asked, *said;
    } refused[] = {
        {"control[0].kp_per=1", "did you mean 'control[0].kp_per_v'?"},
        {"reference", "NAME=VALUE is allowed"},
        {"reference=x", "VALUE a number, perhaps with a unit"},
        {"reference=3A", "reference: '3A' is no number: A is no unit of what is in V; allowed: a "
                         "number, perhaps with a unit, of V"},
        {"reference=3x", "'x' is no known unit"},
        {"reference=nan", "VALUE a number"},
        {"=3", "NAME=VALUE is allowed"},
        {"control[0].kp_per_v=-1", "control[0].kp_per_v: -1 is out of range; allowed: 0 to 1e6"},
        {"control[0].kp_per_v=1 --ramp 1", "is a parameter, and has no ramp"},
        {"reference=1 --ramp -1", "a time in seconds"},
        {"reference=1 reference=2", "set twice"},
    };
    struct process p = start_virtual(in_workspace("out"));

    for (unsigned i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct ended e = set(refused[i].asked);
        expect_status(&e, 2);
        expect_said(&e, refused[i].said);
    }
    struct ended e = control("step 0");
    expect_status(&e, 2);
    e = control("jump");
    expect_status(&e, 2);
    expect_said(&e, "one of pause, resume, step, stop");
    e = run_command("hiloco control %s", own_name());
    expect_status(&e, 2);
    end_run(&p);
}

/* Only the model knows that its limits would cross. */
Test(tuning, what_the_model_refuses_is_told)
{
    const char *out = in_workspace("out");
    struct process p = start_virtual(out);
    struct ended e = set("control[1].duty_min=0.9");
    double step, value;

    expect_status(&e, 1);
    expect_said(&e, "control[1].duty_min: the model refuses 0.9");
    e = set("");
    cr_expect(strstr(e.out, "control[1].duty_min"), "%s", e.out);
    end_run(&p);
    cr_expect_eq(events_of(out, "not set", "control[1].duty_min", &step, &value), 1);
    cr_expect_eq(events_of(out, "set", "control[1].duty_min", &step, &value), 0);
}

enum { LOOPS, WRITER }; /* the launcher's children in virtual time */

/* Nobody knows then whether the change will be made. */
Test(tuning, nodes_that_stand_still_do_not_answer)
{
    struct process p = start_virtual(in_workspace("out"));
    struct family f = {.parent = p.pid};

    cr_assert(wait_until(find_children, &f, 20));
    kill(f.children[LOOPS], SIGSTOP);
    struct ended e = set("converter[0].esr_ohm=0.05");
    kill(f.children[LOOPS], SIGCONT);
    expect_status(&e, 1);
    expect_said(&e, "the nodes do not answer; they may make the change later");
    end_run(&p);
}

Test(tuning, a_run_that_is_not_there_cannot_be_set)
{
    struct ended e = run_command("hiloco set no-such-run a=1");

    expect_status(&e, 1);
    expect_said(&e, "there is no run with the name, process id or folder of results no-such-run");
}

Test(tuning, a_record_that_does_not_fit_is_refused_before_anything_runs)
{
    const char *out = in_workspace("out");
    struct process p = start_virtual(out);
    struct ended e = set("control[2].kp_per_v=0.02");

    expect_status(&e, 0);
    end_run(&p);
    e = run_command("hiloco run configs/quickstart.yaml --tuning %s --out %s", out,
                    in_workspace("two"));
    expect_status(&e, 2);
    expect_said(&e, "sets control[2].kp_per_v to 0.02, which is not tunable in this scenario");
    cr_expect_not(exists(in_workspace("two")));
    e = run_command("hiloco run configs/quickstart.yaml --tuning %s", in_workspace("none"));
    expect_status(&e, 2);
}

/* --- the launcher's socket ------------------------------------------------------------------- */

/* The name of the launcher's socket, as everybody can see it. */
static const char *socket_of(pid_t launcher)
{
    static char name[100];
    char line[300], begin[40];
    FILE *sockets = fopen("/proc/net/unix", "r");

    snprintf(begin, sizeof begin, "@hiloco-run-%d-", (int)launcher);
    while (sockets && fgets(line, sizeof line, sockets)) {
        const char *at = strstr(line, begin);
        if (at)
            snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
    }
    fclose(sockets);
    cr_assert(name[0]);
    return name;
}

static int connect_to(pid_t launcher)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *name = socket_of(launcher);
    const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(address.sun_path + 1, name, strlen(name));
    cr_assert_eq(connect(file, (struct sockaddr *)&address,
                         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))),
                 0);
    return file;
}

Test(tuning, somebody_else_is_not_answered)
{
    struct process p = start_virtual(in_workspace("out"));

    if (geteuid() != 0 || access("/usr/bin/python3", X_OK))
        cr_skip_test("only the superuser can be somebody else");
    struct arguments a =
        command("setpriv --reuid 65534 --clear-groups --pdeathsig KILL /usr/bin/python3 -c");
    add(&a,
        "import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0%s'); "
        "print(s.recv(999))",
        socket_of(p.pid));
    struct ended e = run(&a);
    cr_expect(strstr(e.out, "another user"), "%s%s", e.out, e.err);
    end_run(&p);
}

static bool are_taken(void *line)
{
    return exists(line) && strstr(read_text(line), "taken");
}

/* Another user connects without end, and takes every name that a launcher could have had. */
Test(tuning, somebody_else_keeps_nobody_from_setting)
{
    struct process p = start_virtual(in_workspace("out"));

    if (geteuid() != 0 || access("/usr/bin/python3", X_OK))
        cr_skip_test("only the superuser can be somebody else");
    struct arguments a =
        command("setpriv --reuid 65534 --clear-groups --pdeathsig KILL /usr/bin/python3 -c");
    add(&a,
        "import socket\n"
        "def name(n):\n"
        "    s = socket.socket(socket.AF_UNIX); s.bind('\\0hiloco-run-%%d' %% n); return s\n"
        "kept = [name(%d + n) for n in range(400)]\n"
        "print('taken', flush=True)\n"
        "while True:\n"
        "    s = socket.socket(socket.AF_UNIX); s.settimeout(1)\n"
        "    try: s.connect('\\0%s')\n"
        "    except OSError: pass\n"
        "    kept = kept[-600:] + [s]\n",
        (int)getpid() + 1, socket_of(p.pid));
    struct process other = start(&a);
    cr_assert(wait_until(are_taken, other.out_path, 60));
    for (int i = 0; i < 5; i++) {
        struct ended e = set("reference=11");
        expect_status(&e, 0);
    }
    struct ended e = run_command("hiloco run configs/quickstart.yaml --allow-set --mode virtual "
                                 "--set duration_s=0.01 --out %s",
                                 in_workspace("two"));
    expect_status(&e, 0);
    kill(other.pid, SIGKILL);
    finish(&other);
    end_run(&p);
}

/* Lines that never end, are too long, or are nonsense; and who goes away without a word. */
Test(tuning, who_connects_and_says_nothing_right_does_not_hold_up_the_others)
{
    struct process p = start_virtual(in_workspace("out"));
    static char long_line[100000];
    int files[40];

    memset(long_line, 'x', sizeof long_line);
    for (unsigned i = 0; i < 40; i++) {
        files[i] = connect_to(p.pid);
        if (i % 4 == 1)
            send(files[i], long_line, sizeof long_line, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (i % 4 == 2)
            send(files[i], "{\"set\":", 7, MSG_NOSIGNAL);
        if (i % 4 == 3)
            close(files[i]);
    }
    struct ended e = set("reference=11");
    expect_status(&e, 0);
    for (unsigned i = 0; i < 40; i++)
        if (i % 4 != 3)
            close(files[i]);
    end_run(&p);
}

Test(tuning, of_two_who_set_at_once_both_are_answered)
{
    const char *out = in_workspace("out");
    struct process p = start_virtual(out), setters[8];
    double step, value;

    for (int i = 0; i < 8; i++) {
        struct arguments a = command("hiloco set %s reference=%d", own_name(), 5 + i);
        setters[i] = start(&a);
    }
    for (int i = 0; i < 8; i++) {
        struct ended e = finish(&setters[i]);
        expect_status(&e, 0);
    }
    end_run(&p);
    cr_expect_eq(events_of(out, "set", "reference", &step, &value), 8);
}

/* What it asked for is done. */
Test(tuning, a_setter_that_is_killed_does_not_hold_up_the_others)
{
    static const char request[] = "{\"set\":[{\"name\":\"reference\",\"value\":7}]}\n";
    const char *out = in_workspace("out");
    struct process p = start_virtual(out);
    double step, value;

    for (int i = 0; i < 5; i++) {
        const int file = connect_to(p.pid);
        send(file, request, sizeof request - 1, MSG_NOSIGNAL);
        close(file);
    }
    struct ended e = set("reference=8");
    expect_status(&e, 0);
    end_run(&p);
    cr_expect_eq(events_of(out, "set", "reference", &step, &value), 6);
    cr_expect_eq(value, 8);
}
