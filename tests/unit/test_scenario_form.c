/* Tests which models the power_controller form of a scenario accepts. */
#include "test_scenario.h"

#include "harness/scenario/form/form.h"

/* --- a plant and a law, small ---------------- */

enum { INS = 2, LAW_INS };

static int small_create(void **self, const struct hil_config *config)
{
    (void)self, (void)config;
    return 0;
}

static void small_destroy(void *self)
{
    (void)self;
}

static int plant_output(const void *self, const double *in, double *out)
{
    (void)self, (void)in, (void)out;
    return 0;
}

static int plant_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    (void)t_ns;
    return plant_output(self, in, out);
}

static int law_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    (void)self, (void)t_ns, (void)in, (void)out;
    return 0;
}

static const struct hil_quantity plant_inputs[INS] = {
    {"duty", "", 0, 0, 1, HIL_REQUIRED, "duty"},
    {"slope", "", 7, 0, 10, 0, "what nothing feeds"},
};
static const struct hil_quantity plant_outputs[] = {
    {"current_a", "A", 0, 0, 0, 0, "current"},
    {"voltage_v", "V", 0, 0, 0, 0, "voltage"},
};
static const struct hil_quantity law_inputs[LAW_INS] = {
    {"slope", "", 7, 0, 10, 0, "what nothing feeds"},
    {"voltage_v", "V", 0, -1e9, 1e9, HIL_REQUIRED, "voltage"},
    {"reference_v", "V", 0, -1e9, 1e9, HIL_REQUIRED, "reference"},
};
static const struct hil_quantity law_outputs[] = {{"duty", "", 0, 0, 1, 0, "duty"}};
static const struct hil_quantity law_parameters[] = {
    {"duty_min", "", 0, 0, 1, 0, "least"},
    {"duty_max", "", 1, 0, 1, 0, "most"},
};

static const struct hil_model small_plant = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "small_plant",
    .doc = "A plant without load_ohm and input_voltage_v",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .inputs = HIL_QUANTITIES(plant_inputs),
    .outputs = HIL_QUANTITIES(plant_outputs),
    .create = small_create,
    .output = plant_output,
    .step = plant_step,
    .destroy = small_destroy,
};

static const struct hil_model small_law = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "small_law",
    .doc = "A law without current_a",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(law_parameters),
    .inputs = HIL_QUANTITIES(law_inputs),
    .outputs = HIL_QUANTITIES(law_outputs),
    .create = small_create,
    .step = law_step,
    .destroy = small_destroy,
};

/* --- which fit ---------------- */

static void expect_misfit(bool (*fits)(const struct hil_model *, char *),
                          const struct hil_model *model, const char *expected)
{
    char why[FORM_WHY_BYTES] = "";

    cr_expect_not(fits(model, why), "%s", expected);
    cr_expect_str_eq(why, expected);
}

#define PLANT(change, expected)                                                                    \
    do {                                                                                           \
        struct hil_model m = small_plant;                                                          \
        m.change;                                                                                  \
        expect_misfit(form_plant_fits, &m, expected);                                              \
    } while (0)

#define LAW(change, expected)                                                                      \
    do {                                                                                           \
        struct hil_model m = small_law;                                                            \
        m.change;                                                                                  \
        expect_misfit(form_law_fits, &m, expected);                                                \
    } while (0)

/* Without voltage_v it would give 0 V for ever, without any message. */
Test(scenario_form, a_plant_needs_a_duty_a_voltage_and_a_current)
{
    static const struct hil_quantity in_mv[] = {{"voltage_v", "mV", 0, 0, 0, 0, "voltage"}};
    static const struct hil_quantity wide[] = {{"duty", "", 0, 0, 1, HIL_WIDE, "duties"}};
    char why[FORM_WHY_BYTES];

    cr_expect(form_plant_fits(&small_plant, why));
    PLANT(outputs.count = 1, "it has no output voltage_v");
    PLANT(outputs.at = in_mv; m.outputs.count = 1, "its output voltage_v is not one number in V");
    PLANT(outputs.at = &plant_outputs[1]; m.outputs.count = 1, "it has no output current_a");
    PLANT(inputs.count = 0, "it has no input duty");
    PLANT(inputs.at = wide; m.inputs.count = 1, "its input duty is wide, but the model is not");
    PLANT(width_max = 2, "it is wide");
    PLANT(abi = 0, "its interface has version 0; allowed: 1");
    expect_misfit(form_plant_fits, &small_law, "it is not continuous");
}

Test(scenario_form, a_law_needs_a_duty_its_limits_and_inputs_that_there_are)
{
    static const struct hil_quantity speed[] = {
        {"speed_rad_s", "rad/s", 0, -1, 1, HIL_REQUIRED, "what nothing feeds"}};
    char why[FORM_WHY_BYTES];

    cr_expect(form_law_fits(&small_law, why));
    LAW(outputs.count = 0, "it has no output duty");
    LAW(parameters.count = 1, "it has no parameter duty_max");
    LAW(inputs.at = speed; m.inputs.count = 1, "nothing feeds its input speed_rad_s");
    expect_misfit(form_law_fits, &small_plant, "it is not sampled");
}

Test(scenario_form, a_model_that_does_not_fit_is_told_why)
{
    cr_expect_str_eq(refusal(SMALL, SETS("controller.law=buck")),
                     with_provided("--set controller.law=buck: controller.law is 'buck' (it is not "
                                   "sampled); allowed: pid, pi, type3, state_feedback, "));
    cr_expect_str_eq(
        refusal(SMALL, SETS("converters.plant=type3")),
        with_provided("--set converters.plant=type3: converters.plant is 'type3' (it is not "
                      "continuous); allowed: buck, boost, buck_boost, switched_buck, "
                      "switched_boost, switched_buck_boost, dead_time_buck, diode_buck, "
                      "diode_boost, "));
    cr_expect(strstr(refusal(SMALL, SETS("converters.overrides=[{id: 0, plant: type3}]")),
                     "converters.overrides.0.plant is 'type3' (it is not continuous)"));
}
