/*
 * Tests FMUs that `hiloco export-fmu` makes, in another tool (fmu_tool.h): they give the same
 * numbers as the models, bit for bit, and refuse invalid calls.
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fmu_tool.h"
#include "folder.h"
#include "harness/base/units.h"
#include "harness/models/circuit.h"
#include "harness/tools/export_fmu/export.h"
#include "model_rig.h"

TestSuite(export_fmu, .init = folder_open, .fini = folder_close);

enum { PERIOD_NS = 20000, STEPS = 100 };

static const double period_s = PERIOD_NS * 1e-9;

/* --- making one ----------------------------------------------------------------------------- */

static void export_as(struct fmu_tool *tool, const struct hil_fmu_export *export, const char *name)
{
    char path[256], wrong[1024];

    snprintf(path, sizeof path, "%s", in_folder("%s.fmu", name));
    cr_assert_eq(hil_fmu_export(export, path, wrong, sizeof wrong), 0, "%s: %s",
                 export->model->name, wrong);
    tool_open(tool, path, name);
}

static struct hil_fmu_export export_of(const char *model, int version, unsigned width)
{
    return (struct hil_fmu_export){
        .model = hil_model_find(model), .version = version, .width = width, .period_ns = PERIOD_NS};
}

static void open_fmu(struct fmu_tool *tool, const char *model, int version, unsigned width)
{
    const struct hil_fmu_export export = export_of(model, version, width);

    export_as(tool, &export, "fmu");
}

/* --- the same numbers ----------------------------------------------------------------------- */

/* An input that changes from step to step, within its range. */
static double varied(const struct hil_quantity *q, unsigned step, unsigned place)
{
    const double low = fmax(q->min, q->value - 1), high = fmin(q->max, q->value + 1);

    return low + (high - low) * ((step * 7 + place * 3) % 11) / 10;
}

/* Gets a row's values; in 2.0 one by one. */
static void put_row(const struct fmu_tool *tool, void *instance, const char *name,
                    const double *values, unsigned count)
{
    char element[100];

    if (tool->version == 3 || count == 1) {
        cr_assert_eq(tool_set(tool, instance, name, values, count), TOOL_OK, "%s", tool_said);
        return;
    }
    for (unsigned k = 0; k < count; k++) {
        snprintf(element, sizeof element, "%s[%u]", name, k);
        cr_assert_eq(tool_set(tool, instance, element, &values[k], 1), TOOL_OK, "%s", tool_said);
    }
}

static void get_row(const struct fmu_tool *tool, void *instance, const char *name, double *values,
                    unsigned count)
{
    char element[100];

    if (tool->version == 3 || count == 1) {
        cr_assert_eq(tool_get(tool, instance, name, values, count), TOOL_OK, "%s", tool_said);
        return;
    }
    for (unsigned k = 0; k < count; k++) {
        snprintf(element, sizeof element, "%s[%u]", name, k);
        cr_assert_eq(tool_get(tool, instance, element, &values[k], 1), TOOL_OK, "%s", tool_said);
    }
}

static unsigned places(const struct hil_quantity *q, unsigned width)
{
    return q->flags & HIL_WIDE ? width : 1;
}

static void vary_inputs(const struct fmu_tool *tool, void *instance, struct rig *rig,
                        unsigned width, unsigned step)
{
    const struct hil_quantities *table = &rig->model->inputs;
    double *at = rig->in;

    for (unsigned i = 0; i < table->count; at += places(&table->at[i], width), i++) {
        for (unsigned k = 0; k < places(&table->at[i], width); k++)
            at[k] = varied(&table->at[i], step, i + k);
        put_row(tool, instance, table->at[i].name, at, places(&table->at[i], width));
    }
}

static void expect_outputs(const struct fmu_tool *tool, void *instance, const struct rig *rig,
                           unsigned width, unsigned step)
{
    const struct hil_quantities *table = &rig->model->outputs;
    const double *at = rig->out;

    for (unsigned i = 0; i < table->count; at += places(&table->at[i], width), i++) {
        double theirs[RIG_PLACES];
        get_row(tool, instance, table->at[i].name, theirs, places(&table->at[i], width));
        cr_assert_eq(memcmp(theirs, at, places(&table->at[i], width) * sizeof *at), 0,
                     "%s %d, step %u: %s is %.17g, not %.17g", rig->model->name, tool->version,
                     step, table->at[i].name, theirs[0], at[0]);
    }
}

static void expect_same_run(const char *model, int version, unsigned width)
{
    double parameters[RIG_PLACES], states[RIG_PLACES];
    struct fmu_tool tool;
    struct rig rig;

    rig_values(&hil_model_find(model)->parameters, width, parameters);
    rig_values(&hil_model_find(model)->states, width, states);
    cr_assert_eq(rig_try(&rig, model, width, parameters, states, period_s), 0);
    rig_values(&rig.model->inputs, width, rig.in);
    rig_values(&rig.model->outputs, width, rig.out);
    if (rig.model->output)
        rig.model->output(rig.self, rig.in, rig.out);

    open_fmu(&tool, model, version, width);
    void *instance = tool_instantiate(&tool, NULL);
    cr_assert(instance, "%s: %s", model, tool_said);
    cr_assert_eq(tool_initialize(&tool, instance, 0), TOOL_OK, "%s: %s", model, tool_said);
    expect_outputs(&tool, instance, &rig, width, 0);
    const bool at_end = rig.model->kind == HIL_CONTINUOUS;
    for (unsigned step = 0; step < STEPS; step++) {
        vary_inputs(&tool, instance, &rig, width, step);
        rig.model->step(rig.self, (uint64_t)(step + at_end) * PERIOD_NS, rig.in, rig.out);
        cr_assert_eq(tool_step(&tool, instance, step * period_s, period_s), TOOL_OK, "%s: %s",
                     model, tool_said);
        expect_outputs(&tool, instance, &rig, width, step + 1);
    }
    tool_free(&tool, instance);
    tool_close(&tool);
    rig_end(&rig);
    take_away("fmu");
}

Test(export_fmu, every_model_gives_its_own_numbers)
{
    for (const struct hil_model *const *m = hil_models; *m; m++)
        for (int version = 2; version <= 3; version++)
            expect_same_run((*m)->name, version, 1);
}

Test(export_fmu, wide_ones_too)
{
    for (int version = 2; version <= 3; version++) {
        expect_same_run("sum", version, 3);
        expect_same_run("series_bucks", version, 4);
    }
}

/* --- steps ---------------------------------------------------------------------------------- */

static double get(const struct fmu_tool *tool, void *instance, const char *name)
{
    double value = NAN;

    cr_expect_eq(tool_get(tool, instance, name, &value, 1), TOOL_OK, "%s", tool_said);
    return value;
}

static int set(const struct fmu_tool *tool, void *instance, const char *name, double value)
{
    return tool_set(tool, instance, name, &value, 1);
}

/* Checks that this message was logged. */
static void expect_said_part(const char *part)
{
    cr_expect(strstr(tool_said, part), "'%s', not '%s'", tool_said, part);
}

Test(export_fmu, a_communication_step_may_be_several_periods)
{
    for (int version = 2; version <= 3; version++) {
        struct fmu_tool tool;
        open_fmu(&tool, "buck", version, 1);
        void *one = tool_instantiate(&tool, NULL), *five = tool_instantiate(&tool, NULL);
        cr_assert_eq(set(&tool, one, "duty", 0.5), TOOL_OK);
        cr_assert_eq(set(&tool, five, "duty", 0.5), TOOL_OK);
        cr_assert_eq(tool_initialize(&tool, one, 2), TOOL_OK, "%s", tool_said);
        cr_assert_eq(tool_initialize(&tool, five, 2), TOOL_OK, "%s", tool_said);
        for (unsigned i = 0; i < 5; i++)
            cr_expect_eq(tool_step(&tool, one, 2 + i * period_s, period_s), TOOL_OK);
        cr_expect_eq(tool_step(&tool, five, 2, 5 * period_s), TOOL_OK);
        cr_expect_gt(get(&tool, one, "voltage_v"), 0);
        cr_expect_eq(get(&tool, one, "voltage_v"), get(&tool, five, "voltage_v"));
        cr_expect_float_eq(get(&tool, five, "time"), 2 + 5 * period_s, 1e-12);

        cr_expect_eq(tool_step(&tool, five, 2 + 5 * period_s, 1.5 * period_s), TOOL_ERROR);
        expect_said_part("the communication step is 3e-05 s; allowed: step_size_s, 2e-05 s");
        cr_expect_eq(tool_step(&tool, five, 2 + 7 * period_s, period_s), TOOL_ERROR);
        expect_said_part("begins at 2.00014 s; allowed: 2.0001 s");
        tool_free(&tool, one);
        tool_free(&tool, five);
        tool_close(&tool);
        take_away("fmu");
    }
}

Test(export_fmu, the_period_is_a_parameter)
{
    for (int version = 2; version <= 3; version++) {
        struct fmu_tool tool;
        open_fmu(&tool, "integrator", version, 1);
        void *instance = tool_instantiate(&tool, NULL);
        cr_expect_eq(get(&tool, instance, "step_size_s"), period_s);
        cr_expect_eq(set(&tool, instance, "step_size_s", 0.5), TOOL_OK);
        cr_expect_eq(set(&tool, instance, "initial.output", 3), TOOL_OK);
        cr_expect_eq(set(&tool, instance, "input", 4), TOOL_OK);
        cr_expect_eq(tool_initialize(&tool, instance, 0), TOOL_OK, "%s", tool_said);
        cr_expect_eq(get(&tool, instance, "output"), 3);
        cr_expect_eq(tool_step(&tool, instance, 0, 0.5), TOOL_OK);
        cr_expect_eq(get(&tool, instance, "output"), 5);

        cr_expect_eq(tool_reset(&tool, instance), TOOL_OK);
        cr_expect_eq(get(&tool, instance, "initial.output"), 0);
        cr_expect_eq(set(&tool, instance, "step_size_s", 1e-4 / 3), TOOL_OK);
        cr_expect_eq(tool_initialize(&tool, instance, 0), TOOL_ERROR);
        expect_said_part("allowed: whole nanoseconds");
        tool_free(&tool, instance);
        tool_close(&tool);
        take_away("fmu");
    }
}

/* --- variables ------------------------------------------------------------------------------ */

Test(export_fmu, parameters_are_checked)
{
    for (int version = 2; version <= 3; version++) {
        struct fmu_tool tool;
        open_fmu(&tool, "delay", version, 1);
        void *instance = tool_instantiate(&tool, NULL);
        cr_expect_eq(set(&tool, instance, "steps", -1), TOOL_DISCARD);
        expect_said_part("steps is -1; allowed: 0 to 10000");
        cr_expect_eq(get(&tool, instance, "steps"), 1);
        cr_expect_eq(tool_enter(&tool, instance, 0), TOOL_OK);
        cr_expect_eq(get(&tool, instance, "output"), 0); /* computed from the values set so far */
        cr_expect_eq(set(&tool, instance, "steps", 2), TOOL_OK);
        cr_expect_eq(tool_exit(&tool, instance), TOOL_OK);
        cr_expect_eq(set(&tool, instance, "input", 7), TOOL_OK);
        cr_expect_eq(set(&tool, instance, "input", NAN), TOOL_DISCARD);
        cr_expect_eq(set(&tool, instance, "output", 7), TOOL_ERROR);
        cr_expect_eq(set(&tool, instance, "steps", 3), TOOL_ERROR);
        expect_said_part("it is fixed");
        for (unsigned step = 0; step < 4; step++) {
            cr_expect_eq(tool_step(&tool, instance, step * period_s, period_s), TOOL_OK);
            cr_expect_eq(get(&tool, instance, "output"), step < 2 ? 0 : 7, "step %u", step);
        }
        tool_free(&tool, instance);
        tool_close(&tool);
        take_away("fmu");
    }
}

Test(export_fmu, a_model_says_what_it_does_not_like)
{
    struct fmu_tool tool;

    open_fmu(&tool, "pi", 2, 1);
    void *instance = tool_instantiate(&tool, NULL);
    cr_expect_eq(set(&tool, instance, "duty_min", 0.9), TOOL_OK);
    cr_expect_eq(set(&tool, instance, "duty_max", 0.1), TOOL_OK);
    cr_expect_eq(tool_initialize(&tool, instance, 0), TOOL_ERROR);
    cr_expect(strstr(tool_said, "pi cannot be made"), "%s", tool_said);
    tool_free(&tool, instance);
    tool_close(&tool);
}

Test(export_fmu, another_token_and_another_order_are_refused)
{
    for (int version = 2; version <= 3; version++) {
        struct fmu_tool tool;
        open_fmu(&tool, "gain", version, 1);
        cr_expect_null(tool_instantiate(&tool, "{another}"));
        expect_said_part("the token (guid) is {another}; this FMU has {");
        void *instance = tool_instantiate(&tool, NULL);
        cr_expect_eq(tool_step(&tool, instance, 0, period_s), TOOL_ERROR);
        expect_said_part("a step was told before the initialization mode");
        cr_expect_eq(tool_initialize(&tool, instance, 0), TOOL_OK);
        cr_expect_eq(tool_initialize(&tool, instance, 0), TOOL_ERROR);
        tool_free(&tool, instance);
        tool_close(&tool);
        take_away("fmu");
    }
}

/* --- a model from a shared library ---------------------------------------------------------- */

static const char accumulator[] =
    "#include <errno.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"model.h\"\n"
    "struct acc { double gain, sum; };\n"
    "static const struct hil_quantity p[] = {{\"gain\", \"kV\", 2, 0, 9, HIL_TUNABLE, \"a <b> & "
    "\\\"c\\\"\"}};\n"
    "static const struct hil_quantity i[] = {{\"x\", \"florin\", 1, -9, 9, 0, \"in\"}};\n"
    "static const struct hil_quantity o[] = {{OUTPUT, \"V\", 0, 0, 0, 0, \"out\"}};\n"
    "static int create(void **self, const struct hil_config *c)\n"
    "{ struct acc *a = calloc(1, sizeof *a); a->gain = c->parameters[0]; *self = a; return 0; }\n"
    "static int step(void *self, uint64_t t, const double *in, double *out)\n"
    "{ struct acc *a = self; (void)t; out[0] = a->sum += a->gain * in[0];\n"
    "  return in[0] == 9 ? -ESHUTDOWN : 0; }\n"
    "static int tune(void *self, uint32_t place, double value)\n"
    "{ (void)place; if (value == 5) return -EDOM; ((struct acc *)self)->gain = value; return 0; }\n"
    "static int64_t save(const void *self, void *bytes, size_t size)\n"
    "{ if (size >= sizeof(struct acc)) memcpy(bytes, self, sizeof(struct acc));\n"
    "  return sizeof(struct acc); }\n"
    "static int restore(void *self, const void *bytes, size_t size)\n"
    "{ if (size != sizeof(struct acc)) return -EINVAL; memcpy(self, bytes, size); return 0; }\n"
    "const struct hil_model hiloco_model = {.abi = HIL_MODEL_ABI, .size = sizeof hiloco_model,\n"
    "    .name = \"2nd accumulator\", .doc = \"Sum\", .kind = HIL_SAMPLED, .width_max = 1,\n"
    "    .parameters = HIL_QUANTITIES(p), .inputs = HIL_QUANTITIES(i),\n"
    "    .outputs = HIL_QUANTITIES(o), .create = create, .step = step, .destroy = free,\n"
    "    .tune = tune, .save = save, .restore = restore};\n";

/* Makes a model with an output of this name. */
static struct hil_fmu_export compiled(const char *output, int version)
{
    const struct hil_loaded *loaded;
    char command[1024], wrong[1024], *root = getcwd(NULL, 0);
    const struct hil_said said = {wrong, sizeof wrong, NULL};

    put("acc.c", accumulator);
    snprintf(command, sizeof command, "cc -w -shared -fPIC -I%s/plants -DOUTPUT='\"%s\"' -o %s %s",
             root, output, in_folder("%s.so", output), in_folder("acc.c"));
    free(root);
    cr_assert_eq(system(command), 0, "%s", command);
    cr_assert_eq(hil_model_load(&loaded, in_folder("%s.so", output), "/", NULL, &said), 0, "%s",
                 wrong);
    return (struct hil_fmu_export){.model = loaded->model,
                                   .library = loaded->name,
                                   .hash = loaded->hash,
                                   .version = version,
                                   .width = 1,
                                   .period_ns = PERIOD_NS};
}

static double sum_after_step(const struct fmu_tool *tool, void *instance, unsigned step)
{
    cr_assert_eq(tool_step(tool, instance, step * period_s, period_s), TOOL_OK, "%s", tool_said);
    return get(tool, instance, "sum");
}

Test(export_fmu, a_shared_library_goes_with_it)
{
    for (int version = 2; version <= 3; version++) {
        const struct hil_fmu_export export = compiled("sum", version);
        struct fmu_tool tool;
        export_as(&tool, &export, "fmu");
        cr_expect_str_eq(tool.identifier, "_2nd_accumulator");
        cr_expect(strstr(tool.xml, "description=\"a &lt;b> &amp; &quot;c&quot;\""), "%s", tool.xml);
        cr_expect(strstr(tool.xml, "<Unit name=\"florin\"></Unit>"), "%s", tool.xml);
        cr_expect(strstr(tool.xml, "factor=\"1000\""), "%s", tool.xml);
        cr_expect(strstr(tool.xml, "variability=\"tunable\""), "%s", tool.xml);
        void *instance = tool_instantiate(&tool, NULL);
        cr_assert(instance, "%s", tool_said);
        cr_assert_eq(tool_initialize(&tool, instance, 0), TOOL_OK, "%s", tool_said);
        cr_expect_eq(sum_after_step(&tool, instance, 0), 2);
        cr_expect_eq(set(&tool, instance, "gain", 3), TOOL_OK);
        cr_expect_eq(sum_after_step(&tool, instance, 1), 5);
        cr_expect_eq(set(&tool, instance, "gain", 5), TOOL_DISCARD);
        expect_said_part("gain cannot become 5");
        cr_expect_eq(get(&tool, instance, "gain"), 3);
        tool_free(&tool, instance);
        tool_close(&tool);
        take_away("fmu");
    }
}

/* --- circuits -------------------------------------------------------------------------------- */

static void expect_circuit_outputs(const struct fmu_tool *tool, void *instance,
                                   const struct hil_model *model, const double *out, unsigned step)
{
    for (unsigned i = 0; i < model->outputs.count; i++) {
        const double theirs = get(tool, instance, model->outputs.at[i].name);
        cr_assert_eq(memcmp(&theirs, &out[i], sizeof theirs), 0,
                     "%s %d, step %u: %s is %.17g, not %.17g", model->name, tool->version, step,
                     model->outputs.at[i].name, theirs, out[i]);
    }
}

static void circuit_log(void *path, const char *line)
{
    cr_assert_fail("%s: %s", (const char *)path, line);
}

/* The netlist goes with the FMU, which gives the numbers of the circuit itself, bit for bit. */
static void expect_same_circuit(const char *path, int version)
{
    double parameters[RIG_PLACES], in[RIG_PLACES], out[RIG_PLACES];
    const struct hil_loaded *loaded;
    struct fmu_tool tool;
    char wrong[1024];
    void *component;

    cr_assert_eq(
        hil_model_load(&loaded, path, ".", NULL, &(struct hil_said){wrong, sizeof wrong, NULL}), 0,
        "%s: %s", path, wrong);
    const struct hil_model *model = loaded->model;
    rig_values(&model->parameters, 1, parameters);
    rig_values(&model->inputs, 1, in);
    const struct hil_config config = {.size = sizeof config,
                                      .width = 1,
                                      .period_s = period_s,
                                      .parameters = parameters,
                                      .log = circuit_log,
                                      .log_arg = (void *)(uintptr_t)path,
                                      .model = model};
    cr_assert_eq(model->create(&component, &config), 0, "%s", path);
    const struct hil_fmu_export export = {.model = model,
                                          .netlist = hil_circuit_netlist(loaded),
                                          .hash = loaded->hash,
                                          .version = version,
                                          .width = 1,
                                          .period_ns = PERIOD_NS};
    export_as(&tool, &export, "fmu");
    void *instance = tool_instantiate(&tool, NULL);
    cr_assert(instance, "%s: %s", path, tool_said);
    cr_assert_eq(tool_initialize(&tool, instance, 0), TOOL_OK, "%s: %s", path, tool_said);
    cr_assert_eq(model->output(component, in, out), 0);
    expect_circuit_outputs(&tool, instance, model, out, 0);
    for (unsigned step = 0; step < STEPS; step++) {
        cr_assert_eq(model->step(component, (uint64_t)(step + 1) * PERIOD_NS, in, out), 0);
        cr_assert_eq(tool_step(&tool, instance, step * period_s, period_s), TOOL_OK, "%s: %s", path,
                     tool_said);
        expect_circuit_outputs(&tool, instance, model, out, step + 1);
    }
    tool_free(&tool, instance);
    tool_close(&tool);
    model->destroy(component);
    take_away("fmu");
}

Test(export_fmu, a_netlist_goes_with_it)
{
    glob_t found;

    cr_assert_eq(glob("plants/circuits/*.cir", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        expect_same_circuit(found.gl_pathv[i], 2 + (int)i % 2);
    globfree(&found);
}

/* With what the netlist includes: the FMU has one file. */
Test(export_fmu, a_netlist_goes_with_what_it_includes)
{
    put("values.inc", "* of the filter\n.param res={2*500}\n");
    put("stage.cir",
        "An RC filter\n"
        "*hiloco vin: input Vin_v V 10 0 100 voltage of the Source = 'it'\n"
        "*hiloco v(out): output out_v V\n"
        "*hiloco res: parameter res_ohm Ohm 1k 1 1meg\n"
        ".include values.inc\nvin in 0 external\nr1 in out\n+ {res} ; of it\nC1 out 0 '2*0.5u'\n"
        ".end\n");
    expect_same_circuit(in_folder("stage.cir"), 3);
}

/* --- ends --------------------------------------------------------------------------------------
 */

/* It is no error, and the outputs of the last step are there. */
Test(export_fmu, a_model_may_end_the_simulation)
{
    for (int version = 2; version <= 3; version++) {
        const struct hil_fmu_export export = compiled("sum", version);
        struct fmu_tool tool;
        double last = 0;

        export_as(&tool, &export, "fmu");
        void *instance = tool_instantiate(&tool, NULL);
        cr_assert(instance, "%s", tool_said);
        cr_assert_eq(tool_initialize(&tool, instance, 0), TOOL_OK, "%s", tool_said);
        cr_expect_eq(set(&tool, instance, "x", 9), TOOL_OK);
        cr_expect(tool_step_is_the_last(&tool, instance, 0, 3 * period_s, &last), "%d: %s", version,
                  tool_said);
        cr_expect_eq(last, period_s);
        cr_expect_eq(get(&tool, instance, "sum"), 18);
        tool_free(&tool, instance);
        tool_close(&tool);
        take_away("fmu");
    }
}

Test(export_fmu, states_are_saved_and_restored)
{
    for (int version = 2; version <= 3; version++) {
        const struct hil_fmu_export export = compiled("sum", version);
        void *saved = NULL, *carried = NULL;
        struct fmu_tool tool;
        export_as(&tool, &export, "fmu");
        void *one = tool_instantiate(&tool, NULL), *other = tool_instantiate(&tool, NULL);
        cr_assert_eq(tool_initialize(&tool, one, 0), TOOL_OK, "%s", tool_said);
        cr_expect_eq(set(&tool, one, "gain", 3), TOOL_OK);
        cr_expect_eq(sum_after_step(&tool, one, 0), 3);
        cr_assert_eq(tool_get_state(&tool, one, &saved), TOOL_OK, "%s", tool_said);
        cr_expect_eq(set(&tool, one, "gain", 4), TOOL_OK);
        cr_expect_eq(sum_after_step(&tool, one, 1), 7);
        cr_assert_eq(tool_set_state(&tool, one, saved), TOOL_OK, "%s", tool_said);
        cr_expect_eq(get(&tool, one, "gain"), 3);
        cr_expect_eq(get(&tool, one, "sum"), 3);
        cr_expect_eq(sum_after_step(&tool, one, 1), 6);

        cr_assert_eq(tool_carry_state(&tool, one, saved, other, &carried), TOOL_OK);
        cr_assert_eq(tool_set_state(&tool, other, carried), TOOL_OK, "%s", tool_said);
        cr_expect_eq(sum_after_step(&tool, other, 1), 6);
        cr_expect_eq(tool_free_state(&tool, one, &saved), TOOL_OK);
        cr_expect_null(saved);
        cr_expect_eq(tool_free_state(&tool, other, &carried), TOOL_OK);
        tool_free(&tool, one);
        tool_free(&tool, other);
        tool_close(&tool);
        take_away("fmu");
    }
}

/* --- what tools look for -------------------------------------------------------------------- */

/* The functions of fmi2Functions.h and of fmi3Functions.h, by the text of the standards. A tool may
 * look for all of them, whatever the kind of FMU. */
static const char *const functions2[] = {"GetTypesPlatform",
                                         "GetVersion",
                                         "SetDebugLogging",
                                         "Instantiate",
                                         "FreeInstance",
                                         "SetupExperiment",
                                         "EnterInitializationMode",
                                         "ExitInitializationMode",
                                         "Terminate",
                                         "Reset",
                                         "GetReal",
                                         "GetInteger",
                                         "GetBoolean",
                                         "GetString",
                                         "SetReal",
                                         "SetInteger",
                                         "SetBoolean",
                                         "SetString",
                                         "GetFMUstate",
                                         "SetFMUstate",
                                         "FreeFMUstate",
                                         "SerializedFMUstateSize",
                                         "SerializeFMUstate",
                                         "DeSerializeFMUstate",
                                         "GetDirectionalDerivative",
                                         "EnterEventMode",
                                         "NewDiscreteStates",
                                         "EnterContinuousTimeMode",
                                         "CompletedIntegratorStep",
                                         "SetTime",
                                         "SetContinuousStates",
                                         "GetDerivatives",
                                         "GetEventIndicators",
                                         "GetContinuousStates",
                                         "GetNominalsOfContinuousStates",
                                         "SetRealInputDerivatives",
                                         "GetRealOutputDerivatives",
                                         "DoStep",
                                         "CancelStep",
                                         "GetStatus",
                                         "GetRealStatus",
                                         "GetIntegerStatus",
                                         "GetBooleanStatus",
                                         "GetStringStatus",
                                         NULL};

static const char *const functions3[] = {"GetVersion",
                                         "SetDebugLogging",
                                         "InstantiateModelExchange",
                                         "InstantiateCoSimulation",
                                         "InstantiateScheduledExecution",
                                         "FreeInstance",
                                         "EnterInitializationMode",
                                         "ExitInitializationMode",
                                         "EnterEventMode",
                                         "Terminate",
                                         "Reset",
                                         "GetFloat32",
                                         "GetFloat64",
                                         "GetInt8",
                                         "GetUInt8",
                                         "GetInt16",
                                         "GetUInt16",
                                         "GetInt32",
                                         "GetUInt32",
                                         "GetInt64",
                                         "GetUInt64",
                                         "GetBoolean",
                                         "GetString",
                                         "GetBinary",
                                         "GetClock",
                                         "SetFloat32",
                                         "SetFloat64",
                                         "SetInt8",
                                         "SetUInt8",
                                         "SetInt16",
                                         "SetUInt16",
                                         "SetInt32",
                                         "SetUInt32",
                                         "SetInt64",
                                         "SetUInt64",
                                         "SetBoolean",
                                         "SetString",
                                         "SetBinary",
                                         "SetClock",
                                         "GetNumberOfVariableDependencies",
                                         "GetVariableDependencies",
                                         "GetFMUState",
                                         "SetFMUState",
                                         "FreeFMUState",
                                         "SerializedFMUStateSize",
                                         "SerializeFMUState",
                                         "DeserializeFMUState",
                                         "GetDirectionalDerivative",
                                         "GetAdjointDerivative",
                                         "EnterConfigurationMode",
                                         "ExitConfigurationMode",
                                         "GetIntervalDecimal",
                                         "GetIntervalFraction",
                                         "GetShiftDecimal",
                                         "GetShiftFraction",
                                         "SetIntervalDecimal",
                                         "SetIntervalFraction",
                                         "SetShiftDecimal",
                                         "SetShiftFraction",
                                         "EvaluateDiscreteStates",
                                         "UpdateDiscreteStates",
                                         "EnterContinuousTimeMode",
                                         "CompletedIntegratorStep",
                                         "SetTime",
                                         "SetContinuousStates",
                                         "GetContinuousStateDerivatives",
                                         "GetEventIndicators",
                                         "GetContinuousStates",
                                         "GetNominalsOfContinuousStates",
                                         "GetNumberOfEventIndicators",
                                         "GetNumberOfContinuousStates",
                                         "EnterStepMode",
                                         "GetOutputDerivatives",
                                         "DoStep",
                                         "ActivateModelPartition",
                                         NULL};

static bool is_function(const char *name, int version)
{
    const char *const *functions = version == 2 ? functions2 : functions3;

    if (strncmp(name, version == 2 ? "fmi2" : "fmi3", 4) != 0)
        return false;
    while (*functions && strcmp(*functions, name + 4) != 0)
        functions++;
    return *functions;
}

/* The library exports each function of the standard, and nothing else. */
static void expect_functions(const struct fmu_tool *tool)
{
    const char *const *functions = tool->version == 2 ? functions2 : functions3;
    char line[512], name[100];

    for (; *functions; functions++) {
        snprintf(name, sizeof name, "fmi%d%s", tool->version, *functions);
        cr_expect(dlsym(tool->library, name), "there is no %s", name);
    }
    snprintf(line, sizeof line, "nm -D --defined-only -P %s/binaries/*/*.so", tool->folder);
    FILE *symbols = popen(line, "r");
    cr_assert_not_null(symbols);
    while (fgets(line, sizeof line, symbols))
        if (sscanf(line, "%99s", name) == 1)
            cr_expect(is_function(name, tool->version), "it exports %s", name);
    cr_expect_eq(pclose(symbols), 0);
}

Test(export_fmu, each_function_of_the_standard_is_there)
{
    for (int version = 2; version <= 3; version++) {
        struct fmu_tool tool;
        open_fmu(&tool, "buck", version, 1);
        expect_functions(&tool);
        tool_close(&tool);
        take_away("fmu");
    }
}

Test(export_fmu, it_is_for_co_simulation_only)
{
    struct fmu_tool tool;

    open_fmu(&tool, "buck", 2, 1);
    cr_expect_null(tool_instantiate_other(&tool, 0));
    expect_said_part("it is for co-simulation only");
    tool_close(&tool);
    take_away("fmu");
    open_fmu(&tool, "buck", 3, 1);
    for (unsigned kind = 0; kind < 2; kind++) {
        tool_said[0] = '\0';
        cr_expect_null(tool_instantiate_other(&tool, kind));
        expect_said_part("it is for co-simulation only");
    }
    tool_close(&tool);
}

/* The description offers a stop time, and a step past the tool's own one is refused. */
Test(export_fmu, there_is_a_stop_time)
{
    for (int version = 2; version <= 3; version++) {
        struct fmu_tool tool;
        open_fmu(&tool, "buck", version, 1);
        cr_expect(strstr(tool.xml, "startTime=\"0\" stopTime=\"0.02\" stepSize=\"2e-05\""), "%s",
                  tool.xml);
        tool.stop = 3 * period_s;
        void *instance = tool_instantiate(&tool, NULL);
        cr_assert_eq(tool_initialize(&tool, instance, 0), TOOL_OK, "%s", tool_said);
        for (unsigned step = 0; step < 3; step++)
            cr_expect_eq(tool_step(&tool, instance, step * period_s, period_s), TOOL_OK, "%s",
                         tool_said);
        cr_expect_eq(tool_step(&tool, instance, 3 * period_s, period_s), TOOL_ERROR);
        expect_said_part("ends at 8e-05 s; allowed: up to 6e-05 s, the stop time");
        cr_expect_eq(tool_reset(&tool, instance), TOOL_OK);
        cr_expect_eq(tool_initialize(&tool, instance, 1), TOOL_ERROR);
        tool_free(&tool, instance);
        tool_close(&tool);
        take_away("fmu");
    }
}

/* --- refused calls, and unchanged results --------------------------------------------------- */

Test(export_fmu, names_are_an_fmu_s_own)
{
    const struct hil_fmu_export twice = compiled("gain", 2), time = compiled("time", 2);
    char wrong[1024];

    cr_expect_eq(hil_fmu_export(&twice, in_folder("a.fmu"), wrong, sizeof wrong), -EINVAL);
    cr_expect(strstr(wrong, "two of its quantities are called gain"), "%s", wrong);
    cr_expect_eq(hil_fmu_export(&time, in_folder("a.fmu"), wrong, sizeof wrong), -EINVAL);
    cr_expect(strstr(wrong, "are called time"), "%s", wrong);
    cr_expect_neq(access(in_folder("a.fmu"), F_OK), 0);
}

Test(export_fmu, a_period_that_a_model_cannot_have_is_refused)
{
    struct hil_fmu_export export = export_of("switched_buck", 2, 1);
    char wrong[1024];

    export.period_ns = 10007; /* its switching frequency is 100 kHz */
    cr_expect_eq(hil_fmu_export(&export, in_folder("a.fmu"), wrong, sizeof wrong), -EDOM);
    cr_expect_neq(wrong[0], '\0');
    cr_expect_neq(access(in_folder("a.fmu"), F_OK), 0);
}

/* FMUs that differ have different tokens. Those that do not differ are the same file. */
Test(export_fmu, the_same_model_gives_the_same_file)
{
    struct hil_fmu_export export = export_of("buck", 2, 1);
    struct fmu_tool one, same, other;
    char command[600];

    export_as(&one, &export, "one");
    export_as(&same, &export, "same");
    export.period_ns *= 2;
    export_as(&other, &export, "other");
    cr_expect_str_eq(one.token, same.token);
    cr_expect_str_neq(one.token, other.token);
    snprintf(command, sizeof command, "cmp %s %s", in_folder("one.fmu"), in_folder("same.fmu"));
    cr_expect_eq(system(command), 0);

    /* Both FMUs are loaded in this process, and each has its own state. */
    void *first = tool_instantiate(&one, NULL), *second = tool_instantiate(&other, NULL);
    cr_expect(first && second, "%s", tool_said);
    cr_expect_eq(get(&one, first, "step_size_s"), period_s);
    cr_expect_eq(get(&other, second, "step_size_s"), 2 * period_s);
    tool_free(&one, first);
    tool_free(&other, second);
    tool_close(&one);
    tool_close(&same);
    tool_close(&other);
}

/* --- units ---------------------------------------------------------------------------------- */

static void expect_unit(const char *text, int kg, int m, int s, int a, int rad, double factor)
{
    struct hil_unit u;

    cr_assert(hil_unit_read(&u, text), "%s", text);
    cr_expect(u.exponents[HIL_KG] == kg && u.exponents[HIL_M] == m && u.exponents[HIL_S] == s &&
                  u.exponents[HIL_A] == a && u.exponents[HIL_RAD] == rad,
              "%s is kg%d m%d s%d A%d rad%d", text, u.exponents[HIL_KG], u.exponents[HIL_M],
              u.exponents[HIL_S], u.exponents[HIL_A], u.exponents[HIL_RAD]);
    cr_expect(fabs(u.factor - factor) <= 1e-12 * factor, "%s is %g", text, u.factor);
}

Test(export_fmu, units_are_read)
{
    struct hil_unit u;

    expect_unit("V", 1, 2, -3, -1, 0, 1);
    expect_unit("mOhm", 1, 2, -3, -2, 0, 1e-3);
    expect_unit("rad/s", 0, 0, -1, 0, 1, 1);
    expect_unit("kg m2", 1, 2, 0, 0, 0, 1);
    expect_unit("1/(V s)", -1, -2, 2, 1, 0, 1);
    expect_unit("Nm/A", 1, 2, -2, -1, 0, 1);
    expect_unit("km/h", 0, 1, -1, 0, 0, 1 / 3.6);
    expect_unit("m.s^-2", 0, 1, -2, 0, 0, 1);
    expect_unit("Ah", 0, 0, 1, 1, 0, 3600);
    cr_expect(hil_unit_read(&u, "degC"));
    cr_expect_eq(u.offset, 273.15);
    static const char *const unknown[] = {"", "florin", "V/", "1/(V s", "V)", "degC/s", "m/s/s/"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        cr_expect_not(hil_unit_read(&u, unknown[i]), "'%s'", unknown[i]);
}

/* Each unit of a built-in model is known. */
Test(export_fmu, our_units_are_known)
{
    for (const struct hil_model *const *m = hil_models; *m; m++) {
        const struct hil_quantities tables[] = {(*m)->parameters, (*m)->inputs, (*m)->outputs,
                                                (*m)->states};
        for (unsigned t = 0; t < 4; t++)
            for (unsigned i = 0; i < tables[t].count; i++) {
                const char *unit = tables[t].at[i].unit;
                struct hil_unit u;
                cr_expect(!*unit || hil_unit_read(&u, unit), "%s", unit);
            }
    }
}
