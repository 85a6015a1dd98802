/* Tests FMUs: which are accepted, which are refused and with what message, the tables made from
 * them, and the life of their instances. The FMUs are those of tests/fmu; malformed ones are made
 * from them. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "harness/models/fmu/fmu_archive.h"
#include "harness/models/fmu/fmu_folder.h"
#include "model_rig.h"

static void open_fmus(void)
{
    folder_open();
    put("unpacked/none", "");
    setenv("TMPDIR", in_folder("unpacked"), 1);
}

TestSuite(fmu, .init = open_fmus, .fini = folder_close);

/* The path of an FMU of tests/fmu, or the given path. */
static const char *built(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    const char *build = getenv("HILOCO_BUILD");

    if (name[0] == '/')
        return name;
    char *path = paths[next++ % 4], *whole = realpath(build ? build : "build", NULL);
    snprintf(path, sizeof paths[0], "%s/fmu/%s", whole, name);
    free(whole);
    return path;
}

/* Loads the FMU with the settings KEY, TEXT, ... NULL. */
static int load_fmu(const struct hil_loaded **loaded, const char *path, const char *const *settings,
                    char text[1024])
{
    struct hil_setting at[8];
    struct hil_settings given = {at, 0};

    for (; settings && *settings; settings += 2)
        at[given.count++] = (struct hil_setting){settings[0], settings[1]};
    return hil_model_load(loaded, path, ".", &given, &(struct hil_said){text, 1024, NULL});
}
#define WITH(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct hil_model *loaded_fmu(const char *name, const char *const *settings)
{
    const struct hil_loaded *loaded;
    char text[1024] = "";

    cr_assert_eq(load_fmu(&loaded, built(name), settings, text), 0, "%s: %s", name, text);
    return loaded->model;
}

static const char *refused(const char *path, const char *const *settings)
{
    static char text[1024];
    const struct hil_loaded *loaded;

    text[0] = '\0';
    cr_expect_lt(load_fmu(&loaded, path, settings, text), 0, "%s loads", path);
    return text;
}

/* The number of this process's folders of FMUs, in its own folder. */
static unsigned count_unpacked(void)
{
    char base[300] = "";
    unsigned count = 0;

    DIR *dir = opendir(in_folder("unpacked"));
    for (struct dirent *e; (e = readdir(dir));)
        if (strncmp(e->d_name, "hiloco-fmu-", 11) == 0)
            snprintf(base, sizeof base, "%s/%.200s", in_folder("unpacked"), e->d_name);
    closedir(dir);
    dir = *base ? opendir(base) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir));)
        count += e->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count;
}

/* --- refusals ------------------------------------------------------------------------------- */

static const char *make_bad(const char *kind, const char *good)
{
    char command[1400];

    unlink(in_folder("bad.fmu"));
    snprintf(command, sizeof command, "%s %s %s %s", built("make_bad"), kind, built(good),
             in_folder("bad.fmu"));
    cr_assert_eq(system(command), 0, "%s", command);
    return in_folder("bad.fmu");
}

/* Under a name of its own, because a model that is loaded stays. */
static const char *make_odd(const char *kind, const char *good)
{
    const char *made = in_folder("%s-%s", kind, good);

    cr_assert_eq(rename(make_bad(kind, good), made), 0);
    return in_folder("%s-%s", kind, good);
}

static void expect_refused(const char *kind, const char *good, const char *expected)
{
    char name[64];

    for (int version = 2; version <= 3; version++) {
        snprintf(name, sizeof name, "%s%d.fmu", good, version);
        const char *said = refused(make_bad(kind, name), NULL);
        cr_expect(strstr(said, expected), "%s of %s: '%s', not '%s'", kind, name, said, expected);
        cr_expect_eq(count_unpacked(), 0u, "%s leaves a folder", kind);
    }
}

Test(fmu, an_archive_that_is_damaged_is_refused)
{
    expect_refused("truncated", "buck", "it is not a complete zip archive (");
    put("text.fmu", "no archive");
    cr_expect(strstr(refused(in_folder("text.fmu"), NULL), "it is not a complete zip archive ("));
    put("folder.fmu/none", "");
    cr_expect(strstr(refused(in_folder("folder.fmu"), NULL), "it cannot be read"));
    cr_expect(strstr(refused("/no/such.fmu", NULL), "it cannot be found (No such file"));
}

Test(fmu, nothing_leaves_the_folder)
{
    expect_refused("slip", "probe", "leads out of its folder");
    expect_refused("slip-inside", "probe", "leads out of its folder");
    expect_refused("absolute", "probe", "leads out of its folder");
    expect_refused("backslash", "probe", "leads out of its folder");
    expect_refused("symlink", "probe", "'resources/link' in it is a link or a device");
    cr_expect_eq(access("/tmp/escaped_from_an_fmu.txt", F_OK), -1);
    cr_expect_eq(access(in_folder("escaped_from_an_fmu.txt"), F_OK), -1);
}

Test(fmu, a_bomb_is_refused)
{
    expect_refused("bomb", "buck", "unpacked it has 4096 MiB; allowed: at most 1024 MiB");
    expect_refused("liar", "buck", "' in it is ");
    expect_refused("many", "buck", " files; allowed: at most 20000");
}

Test(fmu, one_without_a_binary_for_this_machine_is_refused)
{
    expect_refused("no-binary", "buck", "/buck.so, for this platform; it has win64-or-so; allowed");
}

Test(fmu, one_of_source_code_alone_is_refused)
{
    expect_refused("source-code", "buck",
                   "/buck.so, for this platform; it has none, as one of source");
}

Test(fmu, a_library_of_another_name_is_named)
{
    expect_refused("other-name", "probe", " is called other.so; allowed: probe.so, after its");
}

Test(fmu, what_its_library_lacks_is_named)
{
    expect_refused("symbol", "buck", "DoStep; allowed: all of FMI");
    expect_refused("library", "buck", "it needs the library libq.so.6, which is neither in it");
}

Test(fmu, its_description_is_checked)
{
    expect_refused("no-description", "buck", "it has no modelDescription.xml");
    expect_refused("xml", "buck", "it is no XML (");
    expect_refused("entities", "buck", "there is a document type; allowed: none");
    expect_refused("unit", "buck", "'input_voltage_v' is in V, but there is no such unit");
    expect_refused("type", "probe", "'behaviour' is of the type noBehaviour, but there is no such");
    expect_refused("start", "buck", "is 'one ");
    expect_refused("start", "probe", "is 'one ");
    expect_refused("model-exchange", "buck", "for model exchange or scheduled execution only");
    cr_expect(strstr(refused(make_bad("version", "buck2.fmu"), NULL),
                     "modelDescription.xml:2:1: fmiVersion is '1.0'; allowed: 2.0 or 3.0"));
    cr_expect(strstr(refused(make_bad("version", "buck3.fmu"), NULL),
                     "modelDescription.xml:2:1: fmiVersion is '4.0'; allowed: 2.0 or 3.0"));
}

Test(fmu, one_that_needs_a_tool_says_so)
{
    const struct hil_loaded *loaded;
    char text[1024];

    expect_refused("tool", "buck", "it needs a tool to run (needsExecutionTool)");
    cr_expect_eq(load_fmu(&loaded, in_folder("bad.fmu"), WITH("execution_tool", "present"), text),
                 0, "%s", text);
}

Test(fmu, settings_that_it_does_not_know_are_refused)
{
    cr_expect_str_eq(
        refused(built("probe2.fmu"), WITH("gain", "2")),
        "it has no setting gain; allowed: kind, log, start_time_s, execution_tool, message");
    cr_expect_str_eq(refused(built("buck2.fmu"), WITH("kind", "plant")),
                     "its setting kind is 'plant'; allowed: continuous, sampled");
}

/* --- tables --------------------------------------------------------------------------------- */

static const struct hil_quantity *row(const struct hil_quantities *table, const char *name)
{
    const int at = hil_quantity_find(table, name);

    cr_assert_geq(at, 0, "there is no %s", name);
    return &table->at[at];
}

Test(fmu, its_variables_are_tables)
{
    const struct hil_model *m = loaded_fmu("buck3.fmu", NULL);

    cr_expect_str_eq(m->name, "buck");
    cr_expect_eq(m->kind, (uint32_t)HIL_CONTINUOUS);
    cr_expect_eq(m->parameters.count, 8u);
    cr_expect_eq(m->inputs.count, 3u);
    cr_expect_eq(m->outputs.count, 2u);
    cr_expect_str_eq(row(&m->inputs, "load_ohm")->unit, "Ohm");
    cr_expect_eq(row(&m->inputs, "load_ohm")->min, 0, "of its declared type");
    cr_expect_eq(row(&m->parameters, "inductance_h")->value, 47e-6);
    cr_expect_eq(row(&m->parameters, "inductance_h")->max, 1);
}

Test(fmu, names_become_ours_and_theirs_stay_in_the_explanation)
{
    const struct hil_model *m = loaded_fmu("probe2.fmu", NULL);

    cr_expect_str_eq(row(&m->inputs, "u_2")->doc, "u[2]");
    cr_expect_str_eq(row(&m->outputs, "offset")->doc, "of resources/offset.txt");
    m = loaded_fmu("controller2.fmu", NULL);
    cr_expect_str_eq(row(&m->parameters, "gain_proportional")->doc, "gain.proportional");
    cr_expect(row(&m->parameters, "gain_proportional")->flags & HIL_TUNABLE);
    cr_expect_not(row(&m->parameters, "limit_low")->flags & HIL_TUNABLE);
}

Test(fmu, arrays_have_a_row_for_each_element)
{
    const struct hil_model *m = loaded_fmu("probe3.fmu", NULL);

    cr_expect_eq(row(&m->inputs, "u_3")->value, 3);
    cr_expect_str_eq(row(&m->inputs, "u_3")->doc, "u[3]");
    cr_expect_geq(hil_quantity_find(&m->outputs, "y_3"), 0, "of a structural parameter's size");
    cr_expect_lt(hil_quantity_find(&m->outputs, "y_4"), 0);
}

Test(fmu, a_structural_parameter_is_a_setting)
{
    const struct hil_model *m = loaded_fmu("probe3.fmu", WITH("elements", "2"));

    cr_expect_geq(hil_quantity_find(&m->outputs, "y_2"), 0);
    cr_expect_lt(hil_quantity_find(&m->outputs, "y_3"), 0);
    cr_expect(strstr(m->doc, "settings besides: elements, message"), "%s", m->doc);
    cr_expect_str_eq(refused(built("probe3.fmu"), WITH("elements", "4")),
                     "its setting elements is '4'; allowed: a whole number, 1 to 3");
    cr_expect_str_eq(refused(built("probe3.fmu"), WITH("elements", "two")),
                     "its setting elements is 'two'; allowed: a whole number, 1 to 3");
}

Test(fmu, integers_booleans_and_enumerations_are_whole_numbers)
{
    const struct hil_model *m = loaded_fmu("probe3.fmu", NULL);

    cr_expect(row(&m->parameters, "behaviour")->flags & HIL_WHOLE);
    cr_expect_eq(row(&m->parameters, "behaviour")->max, 15);
    cr_expect(strstr(row(&m->parameters, "behaviour")->doc, "5 hangs"));
    cr_expect_eq(row(&m->parameters, "enabled")->value, 1);
    cr_expect_eq(row(&m->inputs, "int8_in")->min, -128);
    cr_expect_not(row(&m->parameters, "gain")->flags & HIL_WHOLE);
}

/* --- instances ------------------------------------------------------------------------------ */

static struct rig open_fmu(const char *path, const char *const *settings, double period_s)
{
    const struct hil_loaded *loaded;
    char text[1024];

    cr_assert_eq(load_fmu(&loaded, path, settings, text), 0, "%s", text);
    struct rig rig = rig_open(loaded->name, NULL, NULL, period_s);
    rig.model = loaded->model;
    return rig;
}

static double *signal_of(const struct hil_quantities *table, double *values, const char *name)
{
    return &values[row(table, name) - table->at];
}

static double out(struct rig *rig, const char *name)
{
    return *signal_of(&rig->model->outputs, rig->out, name);
}

/* Makes an instance with one parameter changed. */
static struct rig open_changed(const char *name, const char *parameter, double value)
{
    const struct hil_model *m = loaded_fmu(name, NULL);
    double parameters[HIL_QUANTITIES_MAX];

    rig_values(&m->parameters, 1, parameters);
    *signal_of(&m->parameters, parameters, parameter) = value;
    return rig_open(hil_loaded_of(m)->name, parameters, NULL, 1e-3);
}

static void begin(struct rig *rig)
{
    cr_assert_eq(rig->model->output(rig->self, rig->in, rig->out), 0, "%s", rig_said);
}

static void slope(double dx[2], const double x[2])
{
    dx[0] = x[1];
    dx[1] = (1 - x[0] * x[0]) * x[1] - x[0];
}

/* The Runge-Kutta method with a hundred steps of 10 us, far finer than the FMU's own. */
static void go_on_finely(double x[2])
{
    const double h = 1e-5;

    for (int n = 0; n < 100; n++) {
        double a[2], b[2], c[2], d[2], y[2];
        slope(a, x);
        for (int i = 0; i < 2; i++)
            y[i] = x[i] + h / 2 * a[i];
        slope(b, y);
        for (int i = 0; i < 2; i++)
            y[i] = x[i] + h / 2 * b[i];
        slope(c, y);
        for (int i = 0; i < 2; i++)
            y[i] = x[i] + h * c[i];
        slope(d, y);
        for (int i = 0; i < 2; i++)
            x[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
    }
}

static void expect_oscillation(const char *name)
{
    struct rig rig = open_fmu(built(name), NULL, 1e-3);
    double x[2] = {2, 0};

    begin(&rig);
    cr_expect_eq(out(&rig, "x0"), 2);
    for (int n = 0; n < 10000; n++) {
        rig_step(&rig);
        go_on_finely(x);
        cr_assert_float_eq(out(&rig, "x0"), x[0], 1e-9, "%s at step %d", name, n);
    }
    rig_end(&rig);
}

Test(fmu, the_oscillator_is_as_a_fine_reference)
{
    expect_oscillation("vanderpol2.fmu");
    expect_oscillation("vanderpol3.fmu");
}

/* Between two bounces the path is a parabola. The moments of the bounces lie between steps. */
static void expect_bounces(const char *name)
{
    struct rig rig = open_fmu(built(name), NULL, 0.01);
    double t = 0, hit = sqrt(2 / 9.81), v = 0.7 * 9.81 * hit;

    begin(&rig);
    cr_expect_eq(out(&rig, "h"), 1);
    for (int n = 1; n <= 200; n++) {
        rig_step(&rig);
        t = n * 0.01;
        double since = t - hit;
        if (since < 0) {
            cr_expect_float_eq(out(&rig, "h"), 1 - 9.81 / 2 * t * t, 1e-9);
            continue;
        }
        if (since > 2 * v / 9.81) {
            hit += 2 * v / 9.81;
            v *= 0.7;
            since = t - hit;
        }
        cr_expect_float_eq(out(&rig, "h"), v * since - 9.81 / 2 * since * since, 1e-9, "%g s", t);
    }
    cr_expect_gt(out(&rig, "bounces"), 3);
    rig_end(&rig);
}

Test(fmu, the_ball_bounces_inside_its_steps)
{
    expect_bounces("ball2.fmu");
    expect_bounces("ball3.fmu");
}

Test(fmu, what_it_begins_with_can_be_set)
{
    const struct hil_model *m = loaded_fmu("ball3.fmu", NULL);
    double states[HIL_QUANTITIES_MAX], in[1] = {0}, values[16];

    rig_values(&m->states, 1, states);
    *signal_of(&m->states, states, "h") = 5;
    struct rig rig = rig_open(hil_loaded_of(m)->name, NULL, states, 1e-3);
    cr_expect_eq(m->output(rig.self, in, values), 0);
    cr_expect_eq(*signal_of(&m->outputs, values, "h"), 5);
    rig_end(&rig);
}

/* A law computes from its inputs at an instant. */
static void expect_controls(const char *name, double integral)
{
    struct rig rig = open_fmu(built(name), WITH("kind", "sampled"), 1e-3);

    cr_expect_eq(rig.model->kind, (uint32_t)HIL_SAMPLED);
    cr_expect_null(rig.model->output);
    *signal_of(&rig.model->inputs, rig.in, "setpoint") = 2;
    *signal_of(&rig.model->inputs, rig.in, "measurement") = 1;
    rig_step(&rig);
    cr_expect_eq(out(&rig, "output"), 0.001 + integral);
    rig_step(&rig);
    cr_expect_eq(out(&rig, "output"), 0.001 + 2 * integral);
    rig_end(&rig);
}

Test(fmu, a_controller_is_a_law)
{
    expect_controls("controller2.fmu", 20 * 1e-3);
    expect_controls("controller3.fmu", 20 * 1e-3);
}

Test(fmu, numbers_of_all_types_go_in_and_come_out)
{
    static const struct {
        const char *type;
        double given, got;
    } cases[] = {
        {"float32", 1.5, 1.5},
        {"float32", 0.1, 0.1f},
        {"int8", -128, -128},
        {"int8", 200, 127},
        {"uint8", 255, 255},
        {"uint8", -1, 0},
        {"int16", -32768, -32768},
        {"uint16", 65535, 65535},
        {"uint32", 4294967295., 4294967295.},
        {"int64", -0x1p53, -0x1p53},
        {"uint64", 0x1p63, 0x1p63},
        {"int16", 2.6, 3},
        {"uint64", -5, 0},
        {"int64", 0x1p70, 0x1p63 - 1024},
    };
    struct rig rig = open_fmu(built("probe3.fmu"), NULL, 1e-3);
    char name[32];

    begin(&rig);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(name, sizeof name, "%s_in", cases[i].type);
        *signal_of(&rig.model->inputs, rig.in, name) = cases[i].given;
        rig_step(&rig);
        snprintf(name, sizeof name, "%s_out", cases[i].type);
        cr_expect_eq(out(&rig, name), cases[i].got, "%s: %g is %g", name, cases[i].given,
                     out(&rig, name));
    }
    rig_end(&rig);
}

/* Reads a resource, gets arrays, booleans and integers, and tunes a parameter. */
static void expect_probed(const char *name)
{
    struct rig rig = open_fmu(built(name), NULL, 1e-3);
    double offset;

    begin(&rig);
    offset = out(&rig, "offset");
    cr_expect_neq(offset, 0, "resources/offset.txt");
    rig.in[0] = 7;
    rig_step(&rig);
    cr_expect_eq(out(&rig, "y_1"), 7 + offset);
    cr_expect_eq(out(&rig, "y_3"), 3 + offset);
    cr_expect_eq(out(&rig, "steps"), 1);
    cr_expect_eq(out(&rig, "even"), 0);
    cr_expect_eq(rig.model->tune(rig.self, 0, 2), 0, "%s", rig_said);
    rig_step(&rig);
    cr_expect_eq(out(&rig, "y_1"), 14 + offset);
    cr_expect_eq(out(&rig, "even"), 1);
    rig_end(&rig);
}

Test(fmu, what_goes_in_comes_out)
{
    expect_probed("probe2.fmu");
    expect_probed("probe3.fmu");
}

/* The FMU's time begins with its DefaultExperiment, or where the setting says. */
Test(fmu, its_time_has_a_start)
{
    for (int version = 2; version <= 3; version++) {
        const char *good = version == 2 ? "probe2.fmu" : "probe3.fmu";
        struct rig plain = open_fmu(built(good), NULL, 1e-3);
        struct rig later = open_fmu(make_odd("starts-later", good), NULL, 1e-3);
        struct rig set =
            open_fmu(in_folder("starts-later-%s", good), WITH("start_time_s", "-7"), 1e-3);
        struct rig *const rigs[] = {&plain, &later, &set};
        static const double ends[] = {1e-3, 2.5 + 1e-3, -7 + 1e-3};
        for (unsigned i = 0; i < 3; i++) {
            begin(rigs[i]);
            rig_step(rigs[i]);
            cr_expect_float_eq(out(rigs[i], "until"), ends[i], 1e-12);
            rig_end(rigs[i]);
        }
    }
    cr_expect_str_eq(refused(built("probe2.fmu"), WITH("start_time_s", "soon")),
                     "its setting start_time_s is 'soon'; allowed: a number");
}

/* The first output after a step with this gain; NAN: it is not given. */
static double first_output(const char *path, double gain)
{
    const struct hil_loaded *loaded;
    double parameters[64];
    char text[1024];

    cr_assert_eq(load_fmu(&loaded, path, NULL, text), 0, "%s", text);
    rig_values(&loaded->model->parameters, 1, parameters);
    *signal_of(&loaded->model->parameters, parameters, "gain") = gain;
    struct rig rig = rig_open(loaded->name, parameters, NULL, 1e-3);
    begin(&rig);
    rig_step(&rig);
    const double y = out(&rig, "y_1") - out(&rig, "offset");
    rig_end(&rig);
    return y;
}

/* Only the FMU knows the value that it has by itself, so each given one is set. */
Test(fmu, a_parameter_without_a_start_value_is_set_if_it_is_given)
{
    for (int version = 2; version <= 3; version++) {
        const char *path = make_odd("no-start", version == 2 ? "probe2.fmu" : "probe3.fmu");
        const struct hil_model *m = loaded_fmu(path, NULL);
        cr_expect(row(&m->parameters, "gain")->flags & HIL_OWN);
        cr_expect_eq(first_output(path, 0), 0);
        cr_expect_eq(first_output(path, 2), 2);
        cr_expect_eq(first_output(path, NAN), 1, "its own");
    }
}

/* Variables that are no outputs are, if the scenario refers to them. */
Test(fmu, a_local_variable_may_be_an_output)
{
    for (int version = 2; version <= 3; version++) {
        const char *path = built(version == 2 ? "probe2.fmu" : "probe3.fmu");
        struct rig rig = open_fmu(path, WITH("", "inner_count", "", "y_1", "", "gain"), 1e-3);
        begin(&rig);
        rig_step(&rig);
        rig_step(&rig);
        cr_expect_eq(out(&rig, "inner_count"), 2);
        cr_expect_eq(out(&rig, "gain"), 1);
        cr_expect_eq(out(&rig, "y_1"), 1 + out(&rig, "offset"));
        cr_expect_str_eq(row(&rig.model->outputs, "inner_count")->doc, "Inner.count");
        rig_end(&rig);
        const struct hil_model *m = loaded_fmu(path, NULL);
        cr_expect_lt(hil_quantity_find(&m->outputs, "inner_count"), 0);
        cr_expect_geq(hil_quantity_find(&hil_loaded_of(m)->others, "inner_count"), 0);
    }
}

/* The structural parameter is set in configuration mode, before anything else. */
Test(fmu, an_array_has_the_size_that_is_set)
{
    struct rig rig = open_fmu(built("probe3.fmu"), WITH("elements", "1"), 1e-3);

    begin(&rig);
    rig.in[0] = 7;
    rig_step(&rig);
    cr_expect_eq(out(&rig, "y_1"), 7 + out(&rig, "offset"));
    rig_end(&rig);
}

Test(fmu, there_may_be_several_instances)
{
    struct rig one = open_fmu(built("probe2.fmu"), NULL, 1e-3);
    struct rig two = open_fmu(built("probe2.fmu"), WITH("message", "other"), 1e-3);

    begin(&one);
    begin(&two);
    rig_step(&one);
    rig_step(&two);
    rig_step(&two);
    cr_expect_eq(out(&two, "instances"), 2, "of one library");
    cr_expect_eq(out(&one, "steps"), 1);
    cr_expect_eq(out(&two, "steps"), 2);
    cr_expect_eq(count_unpacked(), 1u, "unpacked once");
    rig_end(&one);
    rig_end(&two);
}

/* --- errors --------------------------------------------------------------------------------- */

enum { WARNS = 1, DISCARDS, FAILS, DIES, ENDS = 10, STOPS_SHORT, LIES, CHATS, ODD, ODD_LATER };

static int step_once(struct rig *rig)
{
    return rig->model->step(rig->self, 1000000, rig->in, rig->out);
}

static void expect_failure(const char *name, double behaviour, int rc, const char *said)
{
    struct rig rig = open_changed(name, "behaviour", behaviour);

    begin(&rig);
    cr_expect_eq(step_once(&rig), rc);
    cr_expect(strstr(rig_said, said), "%s, not %s", rig_said, said);
    rig_end(&rig);
}

Test(fmu, a_status_is_obeyed)
{
    expect_failure("probe2.fmu", WARNS, 0, "it says (warning): as told");
    expect_failure("probe3.fmu", WARNS, 0, "it says (warning): as told");
    expect_failure("probe2.fmu", DISCARDS, -ECANCELED,
                   "fmi2DoStep returned discard for the step from 0 s to 0.001 s");
    expect_failure("probe3.fmu", DISCARDS, -ECANCELED,
                   "fmi3DoStep returned discard for the step from 0 s to 0.001 s");
    expect_failure("probe2.fmu", FAILS, -EIO, "fmi2DoStep returned error for the step from 0 s");
    expect_failure("probe3.fmu", FAILS, -EIO, "fmi3DoStep returned error for the step from 0 s");
}

/* A message with a pointer that is not the importer's goes to the instance that was called. */
Test(fmu, whose_message_it_is_is_not_believed)
{
    expect_failure("probe2.fmu", LIES, 0, "it says (warning): as told");
    expect_failure("probe3.fmu", LIES, 0, "it says (warning): as told");
}

Test(fmu, a_status_that_is_none_is_an_error)
{
    expect_failure("probe2.fmu", ODD, -EIO, "fmi2DoStep returned an unknown status");
    expect_failure("probe3.fmu", ODD, -EIO, "fmi3DoStep returned an unknown status");
    expect_failure("probe2.fmu", ODD_LATER, -EIO, "getting y_1 returned an unknown status");
    expect_failure("probe3.fmu", ODD_LATER, -EIO, "getting y_1 returned an unknown status");
}

/* The FMU must request neither, as it is told that there are no event mode and no early return. */
Test(fmu, one_that_stops_short_has_not_done_its_step)
{
    expect_failure(
        "probe2.fmu", STOPS_SHORT, -ECANCELED,
        "fmi2DoStep returned discard for the step from 0 s to 0.001 s, which it did up to "
        "0.0005 s");
    expect_failure(
        "probe3.fmu", STOPS_SHORT, -ECANCELED,
        "fmi3DoStep returned discard for the step from 0 s to 0.001 s, which it did up to "
        "0.0005 s");
}

/* The FMU's last outputs count. */
Test(fmu, one_may_end_the_simulation)
{
    for (int version = 2; version <= 3; version++) {
        struct rig rig =
            open_changed(version == 2 ? "probe2.fmu" : "probe3.fmu", "behaviour", ENDS);
        begin(&rig);
        rig.out[0] = 77;
        cr_expect_eq(step_once(&rig), -ESHUTDOWN);
        cr_expect_neq(rig.out[0], 77);
        rig_end(&rig);
    }
}

/* After fatal, no function of any instance may be called. */
Test(fmu, fatal_ends_all_instances)
{
    struct rig dies = open_changed("probe2.fmu", "behaviour", DIES);
    struct rig other = open_changed("probe2.fmu", "gain", 2);

    begin(&dies);
    begin(&other);
    cr_expect_eq(step_once(&dies), -EIO);
    cr_expect(strstr(rig_said, "fmi2DoStep returned fatal"), "%s", rig_said);
    cr_expect_eq(step_once(&other), -EIO);
    cr_expect_str_eq(rig_said, "another instance of this FMU returned fatal");
    rig_end(&dies);
    rig_end(&other);
}

Test(fmu, one_that_is_there_once_in_a_process_is_there_once)
{
    const struct hil_loaded *loaded;
    char text[1024];

    cr_assert_eq(load_fmu(&loaded, make_bad("once", "probe3.fmu"), NULL, text), 0, "%s", text);
    struct rig again, rig = rig_open(loaded->name, NULL, NULL, 1e-3);
    double parameters[16];
    rig_values(&loaded->model->parameters, 1, parameters);
    cr_expect_eq(rig_try(&again, loaded->name, 1, parameters, NULL, 1e-3), -EBUSY);
    cr_expect(strstr(rig_said, "only once in a process"), "%s", rig_said);
    rig_end(&rig);
    rig = rig_open(loaded->name, NULL, NULL, 1e-3);
    begin(&rig);
    rig_step(&rig);
    cr_expect_eq(out(&rig, "instances"), 1, "of a library that was loaded anew");
    rig_end(&rig);
}

Test(fmu, one_that_refuses_its_parameters_is_told_of)
{
    const struct hil_model *m = loaded_fmu("buck2.fmu", NULL);
    struct rig rig;
    double parameters[16];

    cr_assert_eq(make_bad("token", "buck2.fmu") != NULL, 1);
    const struct hil_loaded *loaded;
    char text[1024];
    cr_assert_eq(load_fmu(&loaded, in_folder("bad.fmu"), NULL, text), 0, "%s", text);
    rig_values(&m->parameters, 1, parameters);
    cr_expect_eq(rig_try(&rig, loaded->name, 1, parameters, NULL, 1e-5), -ENOEXEC);
    cr_expect(strstr(rig_said, "it refused to be instantiated"), "%s", rig_said);
}

Test(fmu, one_that_wants_event_mode_is_told_of)
{
    const struct hil_loaded *loaded;
    char text[1024];
    struct rig rig;
    double parameters[64];

    cr_assert_eq(load_fmu(&loaded, make_bad("needs-events", "probe3.fmu"), NULL, text), 0);
    rig_values(&loaded->model->parameters, 1, parameters);
    cr_expect_eq(rig_try(&rig, loaded->name, 1, parameters, NULL, 1e-3), -ENOEXEC);
    cr_expect(strstr(rig_said, "it refused to be instantiated without event mode (hasEventMode), "
                               "which hiloco does not use: the instantiation token"),
              "%s", rig_said);
}

/* --- other tools' interpretations of the standard --------------------------------------------- */

static void expect_steps(const char *kind, const char *good)
{
    struct rig rig = open_fmu(make_odd(kind, good), NULL, 1e-3);

    begin(&rig);
    rig_step(&rig);
    cr_expect_eq(out(&rig, "steps"), 1, "%s of %s", kind, good);
    rig_end(&rig);
}

Test(fmu, folders_may_be_divided_by_backslashes)
{
    expect_steps("windows-paths", "probe2.fmu");
    expect_steps("windows-paths", "probe3.fmu");
}

static void expect_warned(const char *kind, const char *good, const char *warning)
{
    const struct hil_loaded *loaded;
    char text[1024];

    cr_assert_eq(load_fmu(&loaded, make_odd(kind, good), NULL, text), 0, "%s", text);
    cr_assert_not_null(loaded->warning, "%s of %s", kind, good);
    cr_expect(strstr(loaded->warning, warning), "'%s', not '%s'", loaded->warning, warning);
}

Test(fmu, a_file_may_be_twice_in_an_archive)
{
    static const char warning[] =
        "1 of its files is there twice, as resources/offset.txt; the last one of each counts";

    for (int version = 2; version <= 3; version++) {
        const char *good = version == 2 ? "probe2.fmu" : "probe3.fmu";
        expect_warned("twice", good, warning);
        struct rig rig = open_fmu(in_folder("twice-%s", good), NULL, 1e-3);
        begin(&rig);
        cr_expect_eq(out(&rig, "offset"), 4.75);
        rig_end(&rig);
    }
}

Test(fmu, an_identifier_may_have_a_hyphen)
{
    static const char warning[] = "its modelIdentifier is pro-be, which is no name in C";

    expect_warned("hyphen", "probe2.fmu", warning);
    expect_steps("hyphen", "probe2.fmu");
    expect_warned("hyphen", "probe3.fmu", warning);
    expect_steps("hyphen", "probe3.fmu");
}

#ifdef __x86_64__
Test(fmu, one_of_2_0_may_have_the_platforms_name_of_3_0)
{
    expect_steps("other-platform", "probe2.fmu");
}
#endif

/* After a discarded step, the FMU cannot be asked how far the step came. */
Test(fmu, one_of_2_0_may_have_no_status)
{
    expect_steps("no-status", "probe2.fmu");
    expect_failure(in_folder("no-status-probe2.fmu"), DISCARDS, -ECANCELED,
                   "fmi2DoStep returned discard for the step from 0 s to 0.001 s");
}

/* --- the folder ----------------------------------------------------------------------------- */

Test(fmu, a_folder_is_its_own)
{
    struct stat s;
    char *path;

    cr_assert_eq(fmu_folder_new(&path), 0);
    cr_assert_eq(stat(path, &s), 0);
    cr_expect_eq(s.st_mode & 0777, 0700u);
    fmu_folder_remove(path);
    cr_expect_eq(stat(path, &s), -1);
    free(path);
}

Test(fmu, a_folder_is_kept_fresh)
{
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    struct stat s;

    put("tree/below/file", "old");
    cr_assert_eq(utimensat(AT_FDCWD, in_folder("tree/below/file"), old, 0), 0);
    fmu_folder_freshen(in_folder("tree"));
    cr_assert_eq(stat(in_folder("tree/below/file"), &s), 0);
    cr_expect_gt(s.st_mtim.tv_sec, 1000);
}

/* The killed process does none of the clean-up. */
Test(fmu, a_process_that_is_killed_leaves_no_folder)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    int ready[2];
    char byte;

    cr_assert_eq(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        loaded_fmu("probe2.fmu", NULL);
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    cr_expect_eq(count_unpacked(), 1u);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    while (count_unpacked())
        nanosleep(&moment, NULL);
}
