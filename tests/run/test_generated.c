/* hiloco wrap, and the headers hiloco/code.h and hiloco/firmware.h: the commands of
 * docs/generated-code.md, the loops that its models close, and what is refused. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"
#include "results.h"
#include "workspace.h"

/* The workspace looks like the root of the project, and the headers as they are installed. */
static void open_project(void)
{
    char *root = getcwd(NULL, 0), text[9000];

    workspace_open();
    cr_assert_eq(mkdir(in_workspace("include"), 0700), 0);
    snprintf(text, sizeof text, "%s/plants", root);
    cr_assert_eq(symlink(text, in_workspace("include/hiloco")), 0);
    snprintf(text, sizeof text, "%s/docs", root);
    cr_assert_eq(symlink(text, in_workspace("docs")), 0);
    snprintf(text, sizeof text, "Name: hiloco\nDescription: test\nVersion: 0\nCflags: -I%s\n",
             in_workspace("include"));
    write_text(in_workspace("hiloco.pc"), text);
    setenv("PKG_CONFIG_PATH", workspace, 1);
    setenv("CFLAGS", "-O0", 1); /* compiles in half of the time */
    snprintf(text, sizeof text, "%s:%s", program_path(""), getenv("PATH"));
    setenv("PATH", text, 1);
    free(root);
}

TestSuite(generated, .init = open_project, .fini = workspace_close, .timeout = 300);

static struct ended run_script(const char *text)
{
    char script[20000];

    snprintf(script, sizeof script, "set -e\nunset MAKEFLAGS MAKELEVEL\ncd %s\n%s", workspace,
             text);
    write_text(in_workspace("script.sh"), script);
    return run_command("sh %s", in_workspace("script.sh"));
}

/* The shell blocks of the document, one after the other. */
static struct ended run_document(void)
{
    struct ended e = run_script("awk '/^```sh$/ { p = 1; next } /^```$/ { p = 0 } p' "
                                "docs/generated-code.md >commands.sh; sh -e commands.sh");

    expect_status(&e, 0);
    return e;
}

static double greatest_difference(const char *one, const char *other)
{
    const struct column a = column_of(in_workspace("results/loops"), one);
    const struct column b = column_of(in_workspace("results/loops"), other);
    double greatest = 0;

    cr_assert_eq(a.rows, b.rows);
    for (size_t i = 0; i < a.rows; i++)
        greatest = fmax(greatest, fabs(a.at[i] - b.at[i]));
    return greatest;
}

Test(generated, code_closes_the_loop_of_the_built_in_law)
{
    run_document();
    const struct column fix = column_of(in_workspace("results/loops"), "stage/by_fix.voltage_v");

    cr_expect_eq(greatest_difference("stage/by_ert.voltage_v", "stage/by_law.voltage_v"), 0);
    cr_expect_eq(greatest_difference("stage/by_plecs.voltage_v", "stage/by_law.voltage_v"), 0);
    cr_expect_lt(greatest_difference("stage/by_plain.voltage_v", "stage/by_law.voltage_v"), 1e-5);
    cr_expect_lt(greatest_difference("stage/by_isr.voltage_v", "stage/by_law.voltage_v"),
                 64.0 / 4096);
    cr_expect_float_eq(
        fix.at[fix.rows - 1],
        column_of(in_workspace("results/loops"), "stage/by_law.voltage_v").at[fix.rows - 1], 0.005);
}

Test(generated, models_shows_the_tables_of_the_headers)
{
    run_document();
    struct ended e = run_script("hiloco models loops/ert/buck_pi.so; "
                                "hiloco models loops/plecs/buck_plecs.so");
    static const char *const rows[] = {
        "parameters kp                       -        0.001           -inf .. inf       Variable: "
        "Kp "
        "(tunable)",
        "limits_1                 -        0.95            -inf .. inf ",
        "inputs     reference_v              -        0               -inf .. inf       "
        "'<Root>/reference_v' (required)",
        "enable                   -        0                  0 .. 1         buck_plecs/Enable",
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect(strstr(e.out, rows[i]), "no row %s in\n%s", rows[i], e.out);
}

/* --- rates, scaling and delays, computed once more ------------------------------------------- */

#define OPEN_LOOP                                                                                  \
    "name: open\nduration_s: 0.004\nmode: virtual\nnodes: {n: {period_us: %s}}\n"                  \
    "components:\n  c: {model: %s, node: n%s}\n  twice: {model: gain, node: n, parameters: "       \
    "{gain: 2}}\n"                                                                                 \
    "sources:\n"                                                                                   \
    "  r: {to: twice.input, sine: {amplitude: 35, frequency_hz: 333}}\n"                           \
    "  v: {to: c.%s, sine: {amplitude: 20, frequency_hz: 777, mean: 5}}\n"                         \
    "connections:\n  - {from: twice.output, to: c.%s}\n"                                           \
    "record:\n  - {node: n, signals: [c.%s, c.%s, c.duty]}\n"

static void run_open_loop(const char *period, const char *model, const char *more,
                          const char *reference, const char *voltage)
{
    char text[2000];

    run_document();
    snprintf(text, sizeof text, OPEN_LOOP, period, model, more, voltage, reference, reference,
             voltage);
    write_text(in_workspace("loops/open.yaml"), text);
    struct ended e = run_command("hiloco run %s --out %s", in_workspace("loops/open.yaml"),
                                 in_workspace("results/open"));
    expect_status(&e, 0);
}

static struct column of_open_loop(const char *signal)
{
    char name[100];

    snprintf(name, sizeof name, "n/%s", signal);
    return column_of(in_workspace("results/open"), name);
}

static long q9(double volts) /* rounded, and within 16 bits */
{
    const double n = nearbyint(volts * 512);

    return n > 32767 ? 32767 : n < -32768 ? -32768 : (long)n;
}

/* The node's period is half of the code's, whose second task runs at every fifth step. */
Test(generated, rates_and_fixed_point_numbers_are_those_of_the_code)
{
    long filtered = 0, used = 0, integral = 0;
    double duty = 0;
    bool saturated = false;

    run_open_loop("10", "./reusable/buck_fix.so", "", "reference", "voltage");
    const struct column r = of_open_loop("reference"), v = of_open_loop("voltage");
    const struct column d = of_open_loop("duty");
    for (size_t i = 0; i < d.rows; i++) {
        if (i % 2 == 0) {
            const long error = used - q9(v.at[i]), value = integral + 419 * error;
            const long sum = (1049 * error + value) / 16384;
            const long limited = sum > 31130 ? 31130 : sum < 0 ? 0 : sum;
            if (limited == sum || (sum > 0) != (error > 0))
                integral = value;
            saturated |= fabs(r.at[i]) > 64;
            duty = (double)limited / 32768;
            if (i % 10 == 0)
                used = filtered += (q9(r.at[i]) - filtered) / 2;
        }
        cr_assert_eq(d.at[i], duty, "row %zu: %.9g, not %.9g", i, d.at[i], duty);
    }
    cr_expect(saturated && d.rows > 390);
}

static long counts(double volts) /* of the converter with 12 bits for 64 V */
{
    const double n = floor(volts * 4096 / 64);

    return n > 4095 ? 4095 : n < 0 ? 0 : (long)n;
}

/* An interrupt each 20 us, whose compare value takes force 15 us later. */
Test(generated, an_interrupt_has_its_own_rate_and_delay)
{
    float integral = 0, duty[5000] = {0};

    run_open_loop("5", "./isr.so", ", parameters: {isr_period_us: 20, isr_delay_us: 15}",
                  "reference_v", "voltage_v");
    const struct column r = of_open_loop("reference_v"), v = of_open_loop("voltage_v");
    const struct column d = of_open_loop("duty");
    cr_assert_lt(d.rows, 5000);
    for (size_t i = 0; i < d.rows; i++) {
        duty[i] = i ? duty[i - 1] : 0;
        if (i % 4 == 0) {
            const float error =
                (float)counts(r.at[i]) * (64.0f / 4096) - (float)counts(v.at[i]) * (64.0f / 4096);
            const float value = integral + 20.0f * 20e-6f * error, sum = 0.001f * error + value;
            if (!((sum > 0.95f && error > 0) || (sum < 0 && error < 0)))
                integral = value;
            duty[i] = floorf((sum > 0.95f ? 0.95f : sum < 0 ? 0 : sum) * 4000);
        }
        const double expected = i < 3 ? 0 : (double)duty[i - 3] / 4000;
        cr_assert_eq(d.at[i], expected, "row %zu: %.9g, not %.9g", i, d.at[i], expected);
    }
}

Test(generated, each_component_has_its_own_state)
{
    run_document();
    write_text(in_workspace("loops/two.yaml"),
               "name: two\nduration_s: 0.004\nmode: virtual\nnodes: {n: {period_us: 20}}\n"
               "components:\n  c: {model: ./ert/buck_pi.so, node: n, count: 2}\n"
               "sources:\n  r: {to: 'c[*].reference_v', constant: 10}\n"
               "  v0: {to: 'c[0].voltage_v', constant: 9}\n"
               "  v1: {to: 'c[1].voltage_v', constant: 11}\n"
               "record:\n  - {node: n, signals: 'c.duty'}\n");
    struct ended e = run_command("hiloco run %s --out %s", in_workspace("loops/two.yaml"),
                                 in_workspace("results/two"));
    expect_status(&e, 0);
    const struct column d = column_of(in_workspace("results/two"), "n/duty");
    cr_assert_eq(d.width, 2);
    cr_expect_float_eq(d.at[2 * (d.rows - 1)], 0.001 + 4e-4 * (double)d.rows, 1e-9);
    cr_expect_eq(d.at[2 * (d.rows - 1) + 1], 0);
}

/* --- what goes wrong ------------------------------------------------------------------------- */

Test(generated, a_period_that_does_not_fit_is_refused)
{
    run_document();
    struct ended e = run_command("hiloco run %s --set nodes.controller.period_us=15",
                                 in_workspace("loops/loops.yaml"));

    expect_status(&e, 2);
    expect_said(&e, "its period of 20 us is no whole number of the node's periods, 15 us");
}

Test(generated, an_error_of_the_code_ends_the_run)
{
    run_document();
    struct ended e = run_script("sed -i 's/!isfinite(error)/buck_plecs_X > 0.1/' "
                                "loops/plecs/buck_plecs.c; make -s -C loops/plecs; "
                                "hiloco run loops/loops.yaml --out results/error");

    expect_status(&e, 1);
    expect_said(&e, "plecs: The measurement is not a number.");
}

static void expect_refused(const char *files, const char *said)
{
    char script[4000];

    snprintf(script, sizeof script, "mkdir x\ncd x\n%s", files);
    struct ended e = run_script(script);
    expect_status(&e, 2);
    expect_said(&e, said);
    cr_expect_not(exists(in_workspace("x/hiloco_model.c")));
    e = run_script("rm -r x");
    expect_status(&e, 0);
}

#define CODE   "void a_initialize(void); void a_step(void);"
#define OUTPUT "typedef struct { double y; } ExtY_a_T; extern ExtY_a_T a_Y;"

Test(generated, what_wrap_refuses)
{
    expect_refused("hiloco wrap ert .", "has no headers; allowed: a folder with *.h");
    expect_refused("hiloco wrap ert nowhere", "has no headers");
    expect_refused("hiloco wrap grt .", "hiloco wrap: grt: allowed: ert FOLDER or plecs FOLDER");
    expect_refused("hiloco wrap .", "allowed: ert FOLDER or plecs FOLDER");
    expect_refused("echo 'int a;' >a.h; hiloco wrap ert .",
                   "no header declares NAME_initialize() and NAME_step()");
    expect_refused("echo '" CODE "' >a.h; hiloco wrap ert .", "a has no outputs");
    expect_refused("echo '" CODE "' >a.h; sed s/a_/b_/g a.h >b.h; hiloco wrap ert .",
                   "several codes are there; allowed: the header of one of a, b");
    expect_refused("echo '" CODE "' >a.h; hiloco wrap ert b.h",
                   "no header declares b_initialize() and b_step()");
    expect_refused("echo '" CODE OUTPUT "typedef struct { double u[N]; } ExtU_a_T; extern ExtU_a_T "
                   "a_U;' >a.h; hiloco wrap ert .",
                   "a_U.u: the length of double[] is no number");
    expect_refused("echo '" CODE OUTPUT "typedef struct { double *u; } ExtU_a_T; extern ExtU_a_T "
                   "a_U;' >a.h; hiloco wrap ert .",
                   "a_U.u is a pointer; allowed: numbers");
    expect_refused("echo '" CODE OUTPUT "typedef struct { double u, U; } ExtU_a_T; extern ExtU_a_T "
                   "a_U;' >a.h; hiloco wrap ert .",
                   "two signals would be called u");
    expect_refused("echo 'void a_initialize(void); void a_step0(void); void a_step1(void);" OUTPUT
                   "' >a.h; hiloco wrap ert .",
                   "no main program says how often task 1 of 2 runs; allowed: --rates");
    expect_refused("echo '" CODE OUTPUT "' >a.h; hiloco wrap ert . --rates 0",
                   "--rates 0: up to 31 whole numbers from 1 to 1000000 are allowed");
}

Test(generated, nothing_is_overwritten)
{
    struct ended e = run_script("mkdir x; cd x; echo '" CODE OUTPUT "' >a.h\n"
                                "echo mine >Makefile; hiloco wrap ert .");

    expect_status(&e, 2);
    expect_said(&e, "./Makefile is there already");
    cr_expect_str_eq(read_text(in_workspace("x/Makefile")), "mine\n");
    cr_expect_not(exists(in_workspace("x/hiloco_model.c")));
}

/* Arguments by value and by pointer, a task's number as an argument, other names, nested types. */
static struct column run_shapes(const char *rates)
{
    char script[4000];

    snprintf(
        script, sizeof script,
        "mkdir -p x; cd x\n"
        "cat >shapes.h <<'end'\n"
        "typedef double real_T; typedef int int_T; typedef unsigned char boolean_T;\n"
        "typedef struct { real_T Vdc; real_T Iabc[2][2]; } Meas;\n"
        "typedef struct { Meas meas; boolean_T On; } ExternalInputs;\n"
        "extern ExternalInputs rtU;\n"
        "extern void shapes_initialize(boolean_T firstTime);\n"
        "extern void shapes_output(int_T tid, const real_T gain[2], real_T *shapes_Y_Duty);\n"
        "extern void shapes_update(int_T tid);\n"
        "end\n"
        "cat >shapes.c <<'end'\n"
        "#include \"shapes.h\"\n"
        "ExternalInputs rtU;\n"
        "static real_T slow, first;\n"
        "void shapes_initialize(boolean_T firstTime) { first = firstTime; }\n"
        "void shapes_output(int_T tid, const real_T gain[2], real_T *shapes_Y_Duty)\n"
        "{ if (tid == 0) *shapes_Y_Duty = first * rtU.meas.Iabc[1][0] * gain[1] + slow; }\n"
        "void shapes_update(int_T tid) { if (tid == 1) slow += rtU.On; }\n"
        "end\n"
        "hiloco wrap ert shapes.h %s; make -s; hiloco models ./shapes.so\n"
        "cat >s.yaml <<'end'\n"
        "name: s\nduration_s: 0.001\nmode: virtual\nnodes: {n: {period_us: 50}}\ncomponents:\n"
        "  c: {model: ./shapes.so, node: n, inputs: {meas_vdc: 1, meas_iabc_0_0: 2,\n"
        "      meas_iabc_0_1: 3, meas_iabc_1_0: 4, meas_iabc_1_1: 5, on: 1, gain_0: 6, gain_1: "
        "7}}\n"
        "record:\n  - {node: n, signals: c.duty}\n"
        "end\n"
        "hiloco run s.yaml --out out >/dev/null",
        rates);
    struct ended e = run_script(script);
    expect_status(&e, 0);
    return column_of(in_workspace("x/out"), "n/duty");
}

Test(generated, other_shapes_of_code)
{
    const struct column d = run_shapes("--rates 3 --period-us 50");

    for (size_t i = 0; i < d.rows; i++)
        cr_expect_eq(d.at[i], 28 + (double)((i + 2) / 3), "row %zu: %g", i, d.at[i]);
}

/* Its second task begins with its counter at 2, so it runs in steps 1, 4, 7, ... */
Test(generated, rates_are_read_from_the_main_program)
{
    cr_assert_eq(mkdir(in_workspace("x"), 0700), 0);
    write_text(
        in_workspace("x/ert_main.c"),
        "/* Attach rt_OneStep to a timer or interrupt service routine with\n"
        " * period 5.0E-5 seconds (base rate of the model) here. */\n"
        "void rt_OneStep(void)\n{\n  static int_T taskCounter[2] = { 0, 2 };\n"
        "  taskCounter[1]++;\n  if (taskCounter[1] == 3) {\n    taskCounter[1]= 0;\n  }\n}\n");
    const struct column d = run_shapes("");

    for (size_t i = 0; i < d.rows; i++)
        cr_expect_eq(d.at[i], 28 + (double)((i + 1) / 3), "row %zu: %g", i, d.at[i]);
    char *model = read_text(in_workspace("x/hiloco_model.c"));
    cr_expect(strstr(model, ".period_s = 5e-05,"));
    free(model);
}
