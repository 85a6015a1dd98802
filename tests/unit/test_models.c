/*
 * Tests properties that every built-in model must have, and the messages of hil_model_check for
 * wrong models. Tests of each model's numbers are in test_plants.c, test_controllers.c and the
 * like.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/models/pages.h"
#include "model_rig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- the interface ---------------- */

/* Models may have been compiled elsewhere, so existing members must keep their places. */
Test(models, the_interface_keeps_its_layout)
{
    cr_assert_eq(sizeof(void *), 8u, "the numbers are of 64 bits");
    cr_expect_eq(HIL_MODEL_ABI, 1u);
    cr_expect_eq(sizeof(struct hil_quantity), 56u);
    cr_expect_eq(sizeof(struct hil_quantities), 16u);
    cr_expect_eq(sizeof(struct hil_config), 96u);
    cr_expect_eq(sizeof(struct hil_model), 168u);
    cr_expect_eq(offsetof(struct hil_quantity, flags), 40u);
    cr_expect_eq(offsetof(struct hil_config, period_s), 8u);
    cr_expect_eq(offsetof(struct hil_config, log), 32u);
    cr_expect_eq(offsetof(struct hil_config, index), 64u);
    cr_expect_eq(offsetof(struct hil_config, warn), 72u);
    cr_expect_eq(offsetof(struct hil_config, counts), 88u);
    cr_expect_eq(offsetof(struct hil_model, kind), 24u);
    cr_expect_eq(offsetof(struct hil_model, parameters), 32u);
    cr_expect_eq(offsetof(struct hil_model, create), 96u);
    cr_expect_eq(offsetof(struct hil_model, apply), 128u);
}

/* --- tables ---------------- */

static const struct {
    const char *unit, *suffix;
} suffixes[] = {
    {"H", "_h"},
    {"F", "_f"},
    {"Ohm", "_ohm"},
    {"V", "_v"},
    {"A", "_a"},
    {"Hz", "_hz"},
    {"s", "_s"},
    {"1/V", "_per_v"},
    {"1/A", "_per_a"},
    {"s/V", "_s_per_v"},
    {"rad/s", "_rad_per_s"},
    {"1/(V s)", "_per_v_s"},
    {"1/s", "_per_s"},
    {"1/s2", "_per_s2"},
    {"rad", "_rad"},
    {"deg", "_deg"},
    {"Nm", "_nm"},
    {"Nm/A", "_nm_per_a"},
    {"Nm s", "_nm_s"},
    {"kg m2", "_kg_m2"},
    {"Wb", "_wb"},
    {"Ah", "_ah"},
    {"dB", "_db"},
    {"%", "_pct"},
    {"VA", "_va"},
    {"W", "_w"},
    {"var", "_var"},
    {"J", "_j"},
    {"A/K", "_a_per_k"},
    {"V/K", "_v_per_k"},
    {"F/V", "_f_per_v"},
    {"W/m2", "_w_per_m2"},
    {"degC", "_c"},
    {"", ""},
};

static bool ends_in_its_unit(const struct hil_quantity *quantity)
{
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        const size_t name = strlen(quantity->name), suffix = strlen(suffixes[i].suffix);

        if (strcmp(quantity->unit, suffixes[i].unit) == 0)
            return name > suffix && strcmp(quantity->name + name - suffix, suffixes[i].suffix) == 0;
    }
    return false;
}

static void check_table(const char *owner, const struct hil_quantities *table)
{
    for (unsigned i = 0; i < table->count; i++) {
        const struct hil_quantity *q = &table->at[i];

        cr_expect(ends_in_its_unit(q), "%s: %s [%s]", owner, q->name, q->unit);
        cr_expect(*q->doc && q->doc[strlen(q->doc) - 1] != '.', "%s: %s", owner, q->name);
        cr_expect_eq(hil_quantity_find(table, q->name), (int)i, "%s: %s twice", owner, q->name);
    }
    cr_expect_eq(hil_quantity_find(table, "no_such"), -1);
}

Test(models, all_are_right)
{
    for (const struct hil_model *const *m = hil_models; *m; m++) {
        char text[200] = "";

        cr_expect_eq(hil_model_check(*m, text, sizeof text), 0, "%s: %s", (*m)->name, text);
        cr_expect_eq(hil_model_find((*m)->name), *m, "%s twice", (*m)->name);
        cr_expect(*(*m)->doc && (*m)->doc[strlen((*m)->doc) - 1] != '.', "%s", (*m)->name);
        check_table((*m)->name, &(*m)->parameters);
        check_table((*m)->name, &(*m)->inputs);
        check_table((*m)->name, &(*m)->outputs);
        check_table((*m)->name, &(*m)->states);
    }
    cr_expect_null(hil_model_find("no_such"));
}

/* --- wrong models -------------------------------------------- */

static int never_create(void **self, const struct hil_config *config)
{
    (void)self, (void)config;
    return -ENOSYS;
}

static int never_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    (void)self, (void)t_ns, (void)in, (void)out;
    return -ENOSYS;
}

static void never_destroy(void *self)
{
    (void)self;
}

static int64_t never_save(const void *self, void *bytes, size_t size)
{
    (void)self, (void)bytes, (void)size;
    return -ENOSYS;
}

static const struct hil_quantity two[] = {{"a", "", 0, -1, 1, 0, "one"},
                                          {"b", "", 0, -1, 1, 0, "another"}};

static const struct hil_model right = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "right",
    .doc = "Nothing is wrong with it",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .inputs = HIL_QUANTITIES(two),
    .create = never_create,
    .step = never_step,
    .destroy = never_destroy,
};

static void expect_wrong(const struct hil_model *m, const char *expected)
{
    char text[200] = "";

    cr_expect_eq(hil_model_check(m, text, sizeof text), -EINVAL, "%s", expected);
    cr_expect_str_eq(text, expected);
}

#define WRONG(change, expected)                                                                    \
    do {                                                                                           \
        struct hil_model m = right;                                                                \
        m.change;                                                                                  \
        expect_wrong(&m, expected);                                                                \
    } while (0)

Test(models, check_says_what_is_wrong_with_a_descriptor)
{
    char text[200] = "";

    cr_expect_eq(hil_model_check(&right, text, sizeof text), 0, "%s", text);
    WRONG(abi = 2, "its interface has version 2; allowed: 1");
    WRONG(size = 8, "its descriptor is too small");
    WRONG(name = NULL, "it has no name or no explanation");
    WRONG(doc = NULL, "it has no name or no explanation");
    WRONG(kind = 0, "it is neither continuous nor sampled");
    WRONG(kind = HIL_CONTINUOUS, "it lacks one of create, output, step and destroy");
    WRONG(create = NULL, "it lacks one of create, output, step and destroy");
    WRONG(step = NULL, "it lacks one of create, output, step and destroy");
    WRONG(destroy = NULL, "it lacks one of create, output, step and destroy");
    WRONG(width_max = 0, "its components could have no width");
    WRONG(save = never_save, "it has only one of save and restore");
    WRONG(inputs.row_size = 64, "the rows of its inputs have 64 bytes; allowed: 56");
    WRONG(inputs.at = NULL, "its table of inputs is nowhere");
    WRONG(inputs.count = HIL_QUANTITIES_MAX + 1, "it has 4097 inputs; allowed: at most 4096");
    WRONG(outputs = right.inputs, "a is both an input and an output");
}

static void expect_wrong_row(struct hil_quantity row, const char *expected)
{
    const struct hil_quantity rows[] = {two[0], row};
    struct hil_model m = right;

    m.inputs.at = rows;
    expect_wrong(&m, expected);
    m.states = m.outputs = m.parameters = m.inputs;
    m.inputs.count = 0;
    cr_expect_eq(hil_model_check(&m, rig_said, sizeof rig_said), -EINVAL);
}

#define WRONG_ROW(change, expected)                                                                \
    do {                                                                                           \
        struct hil_quantity row = two[1];                                                          \
        row.change;                                                                                \
        expect_wrong_row(row, expected);                                                           \
    } while (0)

Test(models, check_says_what_is_wrong_with_a_row)
{
    WRONG_ROW(name = NULL, "number 1 of its inputs has no name");
    WRONG_ROW(name = "", "number 1 of its inputs has no name");
    WRONG_ROW(name = "a", "its input a is there twice");
    WRONG_ROW(name = "Speed", "its input Speed has a name with other than lower-case letters, "
                              "digits and '_'");
    WRONG_ROW(unit = NULL, "its input b has no unit or no explanation");
    WRONG_ROW(doc = NULL, "its input b has no unit or no explanation");
    WRONG_ROW(min = 2, "its input b has a range that is out of order");
    WRONG_ROW(max = NAN, "its input b has a range that is out of order");
    WRONG_ROW(value = 2, "its input b has a default outside its range");
    WRONG_ROW(value = NAN, "its input b has a default outside its range");
    WRONG_ROW(flags = HIL_WIDE, "its input b is wide, but the model is not");

    struct hil_quantity half = {"n", "", 0.5, 0, 1, HIL_WHOLE, "half of one"};
    expect_wrong_row(half, "its input n has a default that is not a whole number");
}

/* --- every component ---------------- */

Test(models, refuse_a_senseless_period)
{
    static const double periods[] = {0, -1e-6, NAN, INFINITY};

    for (const struct hil_model *const *m = hil_models; *m; m++)
        for (size_t i = 0; i < COUNT(periods); i++) {
            double parameters[HIL_QUANTITIES_MAX], states[HIL_QUANTITIES_MAX];
            struct rig rig;

            rig_values(&(*m)->parameters, 1, parameters);
            rig_values(&(*m)->states, 1, states);
            cr_expect_eq(rig_try(&rig, (*m)->name, 1, parameters, states, periods[i]), -EDOM,
                         "%s, %g", (*m)->name, periods[i]);
        }
}

/* Inputs that vary within their ranges, or about 1 where these are infinite. */
static void wander(struct rig *rig, unsigned k)
{
    const struct hil_quantities *inputs = &rig->model->inputs;

    for (unsigned i = 0; i < inputs->count; i++) {
        const struct hil_quantity *q = &inputs->at[i];
        double share = 0.5 + 0.4 * sin(0.7 * k + i);

        rig->in[i] = q->value != 0 ? q->value * (0.8 + 0.4 * share) : share;
        rig->in[i] = fmin(fmax(rig->in[i], q->min), q->max);
    }
}

/* Two components share no state: the same inputs give the same bits. All of out[] is set. */
Test(models, keep_no_state_outside)
{
    for (const struct hil_model *const *m = hil_models; *m; m++) {
        struct rig a = rig_open((*m)->name, NULL, NULL, 10e-6),
                   b = rig_open((*m)->name, NULL, NULL, 10e-6),
                   other = rig_open((*m)->name, NULL, NULL, 10e-6);

        for (unsigned k = 0; k < 200; k++) {
            wander(&a, k);
            wander(&b, k);
            wander(&other, 3 * k + 1);
            for (unsigned i = 0; i < RIG_PLACES; i++)
                b.out[i] = i < (*m)->outputs.count ? NAN : a.out[i];
            rig_step(&a);
            rig_step(&other);
            rig_step(&b);
            cr_assert(memcmp(a.out, b.out, sizeof(a.out)) == 0, "%s, step %u", (*m)->name, k);
            for (unsigned i = 0; i < (*m)->outputs.count; i++)
                cr_assert(isfinite(b.out[i]), "%s, %s", (*m)->name, (*m)->outputs.at[i].name);
        }
        rig_end(&a);
        rig_end(&b);
        rig_end(&other);
    }
}

/* output() of a continuous component after a step gives the outputs of that step. */
Test(models, outputs_are_those_of_the_state)
{
    for (const struct hil_model *const *m = hil_models; *m; m++) {
        struct rig rig = rig_open((*m)->name, NULL, NULL, 10e-6);
        double again[RIG_PLACES];

        for (unsigned k = 0; (*m)->kind == HIL_CONTINUOUS && k < 50; k++) {
            wander(&rig, k);
            rig_step(&rig);
            cr_assert_eq((*m)->output(rig.self, rig.in, again), 0);
            for (unsigned i = 0; i < (*m)->outputs.count; i++)
                cr_expect(fabs(again[i] - rig.out[i]) <= 1e-12 * fmax(1, fabs(again[i])),
                          "%s: %s is %g, then %g", (*m)->name, (*m)->outputs.at[i].name, rig.out[i],
                          again[i]);
        }
        rig_end(&rig);
    }
}

/* --- parameters that are tuned ---------------- */

/* Another value in the row's range, not far away. */
static double another_value(const struct hil_quantity *q)
{
    const double other = q->value == 0 ? (q->min + q->max) / 2 : 1.25 * q->value;

    return other <= q->max && other >= q->min ? other : 0.75 * q->value;
}

/* Makes steps with changing inputs, and compares the outputs of both components. */
static void expect_alike(struct rig *a, struct rig *b, const char *what)
{
    for (unsigned n = 0; n < 20; n++) {
        for (unsigned i = 0; i < a->model->inputs.count; i++)
            a->in[i] = b->in[i] = a->model->inputs.at[i].value + (n % 3 ? 0.25 : 0);
        rig_step(a);
        rig_step(b);
        cr_assert_eq(memcmp(a->out, b->out, sizeof a->out), 0, "%s: %s, step %u", a->model->name,
                     what, n);
    }
}

/* A component whose parameter was tuned behaves like one that was made with that value. */
static void expect_tuned(const struct hil_model *m, unsigned row)
{
    const struct hil_quantity *q = &m->parameters.at[row];
    const double value = another_value(q);
    double parameters[HIL_QUANTITIES_MAX];

    rig_values(&m->parameters, 1, parameters);
    struct rig tuned = rig_open(m->name, NULL, NULL, 10e-6);
    struct rig plain = rig_open(m->name, NULL, NULL, 10e-6);
    parameters[row] = value;
    struct rig made = rig_open(m->name, parameters, NULL, 10e-6);
    cr_assert_eq(m->tune(tuned.self, row, value), 0, "%s.%s", m->name, q->name);
    expect_alike(&tuned, &made, q->name);
    rig_end(&tuned);
    tuned = rig_open(m->name, NULL, NULL, 10e-6);
    cr_assert_eq(m->tune(tuned.self, row, value), 0);
    cr_assert_eq(m->tune(tuned.self, row, q->value), 0);
    expect_alike(&tuned, &plain, "and back");
    rig_end(&tuned);
    rig_end(&plain);
    rig_end(&made);
}

Test(models, what_is_tuned_is_as_if_made_so)
{
    unsigned tunable = 0;

    for (unsigned i = 0; hil_models[i]; i++) {
        unsigned rows = 0;
        for (unsigned k = 0; k < hil_models[i]->parameters.count; k++) {
            if (!(hil_models[i]->parameters.at[k].flags & HIL_TUNABLE))
                continue;
            cr_assert_not_null(hil_models[i]->tune, "%s", hil_models[i]->name);
            expect_tuned(hil_models[i], k);
            rows++;
        }
        cr_expect_eq(hil_models[i]->tune != NULL, rows > 0, "%s", hil_models[i]->name);
        tunable += rows;
    }
    cr_expect_gt(tunable, 60);
}

/* A lag that is tuned while it moves keeps its slope. */
Test(models, a_second_order_lag_that_is_tuned_keeps_its_slope)
{
    enum { FREQUENCY = 1 };
    struct rig rig = rig_open("second_order_lag", NULL, NULL, 1e-6);
    double before = 0;

    rig.in[0] = 1;
    for (unsigned n = 0; n < 500; n++) {
        before = rig.out[0];
        rig_step(&rig);
    }
    const double slope = rig.out[0] - before, at = rig.out[0];
    cr_assert_eq(rig.model->tune(rig.self, FREQUENCY, 500), 0);
    rig_step(&rig);
    cr_expect_float_eq((rig.out[0] - at) / slope, 1, 0.01);
    rig_end(&rig);
}

/* --- pages -------------------------------------------------------------------------------------
 */

/* The page of the model, to be freed. */
static char *page_of(const char *name)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    cr_assert_eq(hil_model_page_print(name, to), 0, "%s has no page", name);
    fclose(to);
    return text;
}

/* Each has a page, which begins with a file that there is, and has an equation or a sentence. */
Test(models, have_pages_with_their_sources)
{
    for (const struct hil_model *const *m = hil_models; *m; m++) {
        char *page = page_of((*m)->name), file[80];
        const char *text = strstr(page, ":\n\n");
        cr_assert_eq(sscanf(page, "  from %79[^:\n]:", file), 1, "%s", page);
        cr_expect_eq(access(file, R_OK), 0, "%s", file);
        cr_expect(text && strlen(text) > 15, "%s: %s", (*m)->name, page);
        cr_expect_not(strstr(page, "*/"), "%s", page);
        free(page);
    }
    char *buck = page_of("buck"), *pi = page_of("pi"), *dead_band = page_of("dead_band");
    cr_expect(strstr(buck, "L iL' = source (Vin - Rs iL)"), "%s", buck);
    cr_expect_not(strstr(buck, "dead time"), "that is not of this model: %s", buck);
    cr_expect(strstr(pi, "u = Kp (b reference - y)"), "%s", pi);
    cr_expect(strstr(dead_band, "input - the edge"), "%s", dead_band);
    free(buck);
    free(pi);
    free(dead_band);
    cr_expect_eq(hil_model_page_print("no_such_model", stderr), -ENOENT);
    cr_expect_eq(hil_model_page_print("pi_", stderr), -ENOENT);
}
