/* Netlists, which ngspice simulates: the one that ships, in a closed loop beside our own
 * converters; and what is wrong with others. */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(netlist, .init = workspace_open, .fini = workspace_close, .timeout = 300);

/* --- beside our own --------------------------------------------------------------------------- */

static double greatest_difference(struct column a, struct column b)
{
    double greatest = 0;

    cr_assert(a.rows == b.rows && a.rows > 100);
    for (size_t i = 0; i < a.rows; i++)
        greatest = fmax(greatest, fabs(a.at[i] - b.at[i]));
    return greatest;
}

/* docs/netlists.md has the bounds. */
Test(netlist, the_buck_agrees_with_our_own)
{
    const char *out = in_workspace("out");
    struct ended e = run_command("hiloco run docs/examples/netlist/bucks.yaml --out %s", out);

    expect_status(&e, 0);
    const struct column ngspice = column_of(out, "control/ngspice.voltage_v");
    const struct column switched = column_of(out, "control/switched.voltage_v");
    const struct column averaged = column_of(out, "control/averaged.voltage_v");
    cr_log_info("switched %g V, averaged %g V", greatest_difference(ngspice, switched),
                greatest_difference(ngspice, averaged));
    cr_expect_lt(greatest_difference(ngspice, switched), 0.2);
    cr_expect_lt(greatest_difference(ngspice, averaged), 0.5);
    cr_expect_gt(ngspice.at[ngspice.rows - 1], 11.9);
}

/* --- what is refused -------------------------------------------------------------------------- */

/* A resistor and a capacitor; what is between the lines is each test's. */
static void write_rc(const char *declares, const char *elements)
{
    char text[2000];

    snprintf(text, sizeof text,
             "a capacitor behind a resistor\n"
             "*hiloco vin: input source_v V 1 -100 100 voltage\n"
             "*hiloco r: parameter resistance_ohm Ohm 1e3 1 1e6 resistance\n"
             "*hiloco v(out): output voltage_v V voltage\n%s\n"
             ".param r=50\n%s\nr1 in out {r}\nc1 out 0 1u ic=0\n.end\n",
             declares, elements);
    write_text(in_workspace("rc.cir"), text);
    snprintf(text, sizeof text,
             "name: %s\nduration_s: 0.01\nmode: virtual\n"
             "nodes: {stage: {period_us: 100}}\n"
             "components: {rc: {model: \"ngspice:./rc.cir\", node: stage}}\n"
             "record:\n  - {node: stage, signals: [rc.voltage_v]}\n",
             own_name());
    write_text(in_workspace("s.yaml"), text);
}

#define GOOD "vin in 0 external"

static void expect_refused(int status, const char *command_name, const char *why)
{
    struct ended e = run_command("hiloco %s %s", command_name, in_workspace("s.yaml"));

    expect_status(&e, status);
    expect_said(&e, why);
}

Test(netlist, a_row_that_is_none)
{
    write_rc("*hiloco v(out): output", GOOD);
    expect_refused(2, "check", "a line with a mistake: output NAME UNIT TEXT");
}

Test(netlist, a_comment_without_an_element)
{
    write_rc("*hiloco something", GOOD);
    expect_refused(2, "check", "ELEMENT: ROW");
}

Test(netlist, an_element_that_is_not_there)
{
    char out[200];

    write_rc("*hiloco v(nowhere): output other_v V voltage", GOOD);
    snprintf(out, sizeof out, "run --out %s", in_workspace("out"));
    expect_refused(1, out, "the circuit has no nowhere");
}

Test(netlist, a_source_with_a_value)
{
    write_rc("", "vin in 0 dc 1 external");
    expect_refused(2, "check", "the source vin is not external alone; allowed: vin NODE NODE");
}

/* --- its numbers ------------------------------------------------------------------------------ */

/* 1 ms is the time constant, with the parameter's default and not the netlist's. */
Test(netlist, a_parameter_takes_the_place_of_the_netlists)
{
    struct ended e;

    write_rc("*hiloco step: 5u", GOOD);
    e = run_command("hiloco run %s --out %s", in_workspace("s.yaml"), in_workspace("out"));
    expect_status(&e, 0);
    struct column v = column_of(in_workspace("out"), "stage/voltage_v");
    for (size_t i = 1; i < v.rows; i++)
        cr_expect_float_eq(v.at[i], 1 - exp(-(double)i * 0.1), 1e-3, "row %zu", i);
}

/* The current folder has others of the same names. */
Test(netlist, its_files_are_beside_it)
{
    write_rc("", GOOD);
    cr_assert_eq(mkdir(in_workspace("sub"), 0700), 0);
    write_text(in_workspace("sub/one.inc"), "* one\n.include two.inc\n");
    write_text(in_workspace("sub/two.inc"), ".param resistance=1k\n");
    cr_assert_eq(mkdir(in_workspace("elsewhere"), 0700), 0);
    write_text(in_workspace("elsewhere/two.inc"), ".param resistance=1\n");
    write_text(in_workspace("elsewhere/parts.lib"),
               "* parts\n.lib big\n.param capacitance=1n\n.endl\n");
    cr_assert_eq(chdir(in_workspace("elsewhere")), 0);
    write_text(in_workspace("parts.lib"), "* parts\n.lib big\n.param capacitance=1u\n.endl\n");
    write_text(in_workspace("rc.cir"), "a capacitor behind a resistor\n"
                                       "*hiloco vin: input source_v V 1 -100 100 voltage\n"
                                       "*hiloco v(out): output voltage_v V voltage\n"
                                       "*hiloco step: 5u\n"
                                       ".include sub/one.inc\n.lib parts.lib big\n" GOOD "\n"
                                       "r1 in out {resistance}\nc1 out 0 {capacitance} ic=0\n"
                                       ".end\n");
    struct ended e =
        run_command("hiloco run %s --out %s", in_workspace("s.yaml"), in_workspace("out"));
    expect_status(&e, 0);
    struct column v = column_of(in_workspace("out"), "stage/voltage_v");
    for (size_t i = 1; i < v.rows; i++)
        cr_expect_float_eq(v.at[i], 1 - exp(-(double)i * 0.1), 1e-3, "row %zu", i);
}

/* --- what goes wrong in a run ----------------------------------------------------------------- */

Test(netlist, that_hangs_is_named)
{
    write_rc("", GOOD);
    struct arguments a =
        command("hiloco run %s --set duration_s=1e5 --set hang_limit_s=2 --set record=[] --out %s",
                in_workspace("s.yaml"), in_workspace("out"));
    struct process run = start(&a);

    cr_assert(wait_until(is_running, &run, 60));
    struct ended e = run_command("pgrep -n -f %s", in_workspace("rc.cir"));
    const pid_t ngspice = atoi(e.out);
    cr_assert_gt(ngspice, 0, "%s%s", e.out, e.err); /* 0 would stop this test itself */
    cr_assert_eq(kill(ngspice, SIGSTOP), 0);
    e = finish(&run);
    expect_status(&e, 1);
    expect_said(&e, "it did not return for 2 s");
}

/* --- its memory ------------------------------------------------------------------------------- */

struct worker {
    FILE *in, *out;
    pid_t pid;
};

static struct worker start_worker(void)
{
    int ends[2];

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        char number[16];
        close(ends[0]);
        snprintf(number, sizeof number, "%d", ends[1]);
        setenv("HILOCO_FD", number, 1);
        execl(program_path("hiloco-netlist"), "hiloco-netlist", in_workspace("rc.cir"), NULL);
        _exit(127);
    }
    close(ends[1]);
    return (struct worker){fdopen(dup(ends[0]), "r"), fdopen(ends[0], "w"), pid};
}

static void ask(struct worker *w, const char *line)
{
    char answer[200];

    fprintf(w->out, "%s\n", line);
    fflush(w->out);
    cr_assert_not_null(fgets(answer, sizeof answer, w->in), "no answer to %s", line);
}

static long pages_of(pid_t pid)
{
    char path[64];
    long size, resident;

    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "r");
    cr_assert(file && fscanf(file, "%ld %ld", &size, &resident) == 2);
    fclose(file);
    return resident;
}

Test(netlist, its_memory_does_not_grow)
{
    char line[64] = "";
    long early = 0;

    write_rc("", GOOD);
    struct worker w = start_worker();
    while (strncmp(line, "ready", 5) != 0)
        cr_assert_not_null(fgets(line, sizeof line, w.in));
    ask(&w, "create 1e-4 1e3");
    ask(&w, "output 0");
    for (int n = 1; n <= 100000; n++) {
        snprintf(line, sizeof line, "step %d00000 %d", n, n / 10 % 2);
        ask(&w, line);
        if (n == 1000)
            early = pages_of(w.pid);
    }
    cr_expect_leq(pages_of(w.pid), early + 16, "%ld pages, and %ld before", pages_of(w.pid), early);
    fclose(w.out);
    fclose(w.in);
}
