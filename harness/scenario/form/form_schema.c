/*
 * The schema of the power_controller form. Blocks that are the same for every scenario are static;
 * blocks that name models or their quantities are made for the scenario.
 */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../yaml/scenario_fields.h"
#include "form.h"

/* --- static parts ----------------------------------------------------------------------- */

#define LATE_FIELDS(structure)                                                                     \
    ENUM("overrun", structure, late.overrun, overruns),                                            \
        CYAML_FIELD_FLOAT("catch_up_limit", MUST, structure, late.catch_up_limit),                 \
        CYAML_FIELD_FLOAT("resync_after_us", MUST, structure, late.resync_after_us),               \
        CYAML_FIELD_FLOAT("input_age_limit_us", MUST, structure, late.input_age_limit_us),         \
        ENUM("on_stale_input", structure, late.on_stale_input, stale_actions),                     \
        CYAML_FIELD_FLOAT("age_limit_us", MAY, structure, late.age_limit_us),                      \
        CYAML_FIELD_ENUM("on_old", MAY | STRICT, structure, late.on_old, old_actions,              \
                         CYAML_ARRAY_LEN(old_actions)),                                            \
        CYAML_FIELD_FLOAT("old_value", MAY, structure, late.old_value),                            \
        CYAML_FIELD_UINT("bad_inputs_limit", MUST, structure, late.bad_inputs_limit),              \
        ENUM("on_error", structure, late.on_error, error_actions)

static const cyaml_schema_field_t host_fields[] = {
    CYAML_FIELD_BOOL("controller", MUST, struct form_file_host, controller),
    CYAML_FIELD_STRING_PTR("converters", MAY, struct form_file_host, converters, 0,
                           CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("address", MUST, struct form_file_host, address, 0, CYAML_UNLIMITED),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t host = {
    CYAML_VALUE_MAPPING(MUST, struct form_file_host, host_fields)};

static const cyaml_schema_field_t verbs_fields[] = {
    CYAML_FIELD_SEQUENCE_COUNT("nodes", CYAML_FLAG_POINTER, struct form_file_verbs, nodes,
                               node_count, &host, 0, 1 + FORM_CONVERTERS_MAX),
    CYAML_FIELD_UINT("port", MUST, struct form_file_verbs, port),
    ENUM("completions", struct form_file_verbs, completions, completions),
    CYAML_FIELD_UINT("send_depth", MUST, struct form_file_verbs, send_depth),
    CYAML_FIELD_UINT("timeout_exponent", MUST, struct form_file_verbs, timeout_exponent),
    CYAML_FIELD_UINT("retry_count", MUST, struct form_file_verbs, retry_count),
    CYAML_FIELD_UINT("traffic_class", MUST, struct form_file_verbs, traffic_class),
    CYAML_FIELD_UINT("flush_bytes", MUST, struct form_file_verbs, flush_bytes),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t tcp_fields[] = {
    CYAML_FIELD_SEQUENCE_COUNT("nodes", CYAML_FLAG_POINTER, struct form_file_tcp, nodes, node_count,
                               &host, 0, 1 + FORM_CONVERTERS_MAX),
    CYAML_FIELD_UINT("port", MUST, struct form_file_tcp, port),
    CYAML_FIELD_UINT("timeout_ms", MUST, struct form_file_tcp, timeout_ms),
    CYAML_FIELD_INT("cpu", MUST, struct form_file_tcp, cpu),
    ENUM("wait", struct form_file_tcp, wait, service_waits),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t network_fields[] = {
    CYAML_FIELD_FLOAT("latency_up_us", MUST, struct form_file_network, latency_up_us),
    CYAML_FIELD_FLOAT("latency_down_us", MUST, struct form_file_network, latency_down_us),
    CYAML_FIELD_FLOAT("jitter_us", MUST, struct form_file_network, jitter_us),
    CYAML_FIELD_UINT("seed", MUST, struct form_file_network, seed),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t limits_fields[] = {
    CYAML_FIELD_FLOAT("duty_min", MUST, struct form_file_limits, duty_min),
    CYAML_FIELD_FLOAT("duty_max", MUST, struct form_file_limits, duty_max),
    CYAML_FIELD_END,
};

/* A change of a reference, a load or an input voltage. They differ in one key. */
#define CHANGE_FIELDS(name, key)                                                                   \
    static const cyaml_schema_field_t name##_change_fields[] = {                                   \
        CYAML_FIELD_FLOAT("time_s", MUST, struct form_file_change, time_s),                        \
        CYAML_FIELD_FLOAT(key, MUST, struct form_file_change, value),                              \
        CYAML_FIELD_FLOAT("ramp_s", MUST, struct form_file_change, ramp_s),                        \
        CYAML_FIELD_END,                                                                           \
    };                                                                                             \
    static const cyaml_schema_value_t name##_change = {                                            \
        CYAML_VALUE_MAPPING(MUST, struct form_file_change, name##_change_fields)};

#define CHANGES(name)                                                                              \
    CYAML_FIELD_SEQUENCE_COUNT("changes", CYAML_FLAG_POINTER, struct form_file_profile, changes,   \
                               change_count, &name##_change, 0, CYAML_UNLIMITED)

CHANGE_FIELDS(reference, "voltage_v")
CHANGE_FIELDS(load, "load_ohm")
CHANGE_FIELDS(input_voltage, "input_voltage_v")

static const cyaml_schema_field_t reference_fields[] = {
    CYAML_FIELD_FLOAT("voltage_v", MUST, struct form_file_profile, value),
    CHANGES(reference),
    CYAML_FIELD_END,
};
static const cyaml_schema_field_t load_fields[] = {CHANGES(load), CYAML_FIELD_END};
static const cyaml_schema_field_t input_voltage_fields[] = {CHANGES(input_voltage),
                                                            CYAML_FIELD_END};

static const cyaml_schema_field_t recording_fields[] = {
    CYAML_FIELD_BOOL("voltage", MUST, struct form_file_recording, voltage),
    CYAML_FIELD_BOOL("duty", MUST, struct form_file_recording, duty),
    CYAML_FIELD_UINT("decimation", MUST, struct form_file_recording, decimation),
    CYAML_FIELD_UINT("converter_decimation", MUST, struct form_file_recording,
                     converter_decimation),
    ENUM("on_error", struct form_file_recording, on_error, record_errors),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t placement_fields[] = {
    CYAML_FIELD_BOOL("controller", MUST, struct form_file_placement, controller),
    CYAML_FIELD_STRING_PTR("converters", MAY, struct form_file_placement, converters, 0,
                           CYAML_UNLIMITED),
    CYAML_FIELD_INT("cpu", MUST, struct form_file_placement, cpu),
    CYAML_FIELD_INT("priority", MUST, struct form_file_placement, priority),
    ENUM("scheduler", struct form_file_placement, scheduler, schedulers),
    ENUM("wait", struct form_file_placement, wait, waits),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t placement_entry = {
    CYAML_VALUE_MAPPING(MUST, struct form_file_placement, placement_fields)};

static const cyaml_schema_value_t shard_cpu = {CYAML_VALUE_INT(MUST, int)};

/* --- parts made for each scenario --------------------------------------------------------- */

static unsigned count_models(void)
{
    unsigned count = 0;

    while (hil_models[count] != NULL)
        count++;
    for (const struct hil_loaded *l = hil_models_loaded(); l != NULL; l = l->next)
        count++;
    return count;
}

static void name_model(struct form_schema *schema, unsigned i, const char *text,
                       const struct hil_model *model)
{
    const cyaml_strval_t name = {text, i};
    char why[FORM_WHY_BYTES];

    schema->models[i] = model;
    if (form_law_fits(model, why))
        schema->law_names[schema->law_count++] = name;
    if (form_plant_fits(model, why))
        schema->plant_names[schema->plant_count++] = name;
}

static int name_models(struct form_schema *schema)
{
    unsigned count = count_models(), i = 0;

    schema->models = calloc(count, sizeof(schema->models[0]));
    schema->law_names = calloc(count, sizeof(cyaml_strval_t));
    schema->plant_names = calloc(count, sizeof(cyaml_strval_t));
    if (schema->models == NULL || schema->law_names == NULL || schema->plant_names == NULL)
        return -ENOMEM;
    for (; hil_models[i] != NULL; i++)
        name_model(schema, i, hil_models[i]->name, hil_models[i]);
    for (const struct hil_loaded *l = hil_models_loaded(); l != NULL; l = l->next)
        name_model(schema, i++, l->name, l->model);
    return 0;
}

/* --- fields of quantities --------------------------------------------------------------- */

static const cyaml_schema_value_t one_number = {CYAML_VALUE_FLOAT(MUST, double)};

/* The fields of an array of `count` items of `size` bytes, named as the quantities are. */
static cyaml_schema_field_t *make_fields(const struct hil_quantity *at, unsigned count, size_t size,
                                         cyaml_schema_value_t value)
{
    cyaml_schema_field_t *fields = calloc(count + 1, sizeof(*fields));

    for (unsigned i = 0; fields != NULL && i < count; i++)
        fields[i] = (cyaml_schema_field_t){
            .key = at[i].name, .data_offset = (uint32_t)(i * size), .value = value};
    return fields;
}

static int make_model_fields(struct form_schema *schema)
{
    const struct form_quantities *parameters = &schema->parameters, *states = &schema->states;
    const cyaml_schema_value_t optional = {CYAML_VALUE_FLOAT(MAY, double)};
    const cyaml_schema_value_t list = {
        CYAML_VALUE_SEQUENCE_FIXED(MAY, double, &one_number, schema->converter_count)};

    schema->gain_fields =
        make_fields(schema->gains.at, schema->gains.count, sizeof(double), one_number);
    schema->parameter_fields =
        make_fields(parameters->at, parameters->count, sizeof(double *), optional);
    schema->multiplier_fields =
        make_fields(parameters->at, parameters->count, sizeof(double *), list);
    schema->state_fields = make_fields(states->at, states->count, sizeof(double *), optional);
    bool made = schema->gain_fields != NULL && schema->parameter_fields != NULL &&
                schema->multiplier_fields != NULL && schema->state_fields != NULL;
    return made ? 0 : -ENOMEM;
}

/*
 * A mapping to an array of `count` items of `size` bytes. If its model is unknown its contents are
 * not checked, because the mistake is the model's name.
 */
static cyaml_schema_field_t array(const char *key, size_t offset, int flags, size_t size,
                                  unsigned count, const cyaml_schema_field_t *fields, bool known)
{
    return (cyaml_schema_field_t){
        .key = key,
        .data_offset = (uint32_t)offset,
        .value = {.type = known ? CYAML_MAPPING : CYAML_IGNORE,
                  .flags = (enum cyaml_flag)(flags | CYAML_FLAG_POINTER),
                  .data_size = (uint32_t)(size * (count > 0 ? count : 1)),
                  .mapping = {.fields = fields}},
    };
}

static void set_controller(struct form_schema *s)
{
    const cyaml_schema_field_t fields[] = {
        CYAML_FIELD_ENUM("law", STRICT, struct form_file_controller, law, s->law_names,
                         s->law_count),
        CYAML_FIELD_FLOAT("period_us", MUST, struct form_file_controller, period_us),
        CYAML_FIELD_FLOAT("phase_us", MUST, struct form_file_controller, phase_us),
        CYAML_FIELD_FLOAT("realtime_phase_us", MUST, struct form_file_controller,
                          realtime_phase_us),
        CYAML_FIELD_BOOL("computation_delay", MUST, struct form_file_controller, computation_delay),
        CYAML_FIELD_INT("cpu", MUST, struct form_file_controller, cpu),
        CYAML_FIELD_UINT("shards", MUST, struct form_file_controller, shards),
        CYAML_FIELD_SEQUENCE_COUNT("shard_cpus", CYAML_FLAG_POINTER, struct form_file_controller,
                                   shard_cpus, shard_cpu_count, &shard_cpu, 0, CYAML_UNLIMITED),
        CYAML_FIELD_INT("priority", MUST, struct form_file_controller, priority),
        ENUM("scheduler", struct form_file_controller, scheduler, schedulers),
        ENUM("wait", struct form_file_controller, wait, waits),
        LATE_FIELDS(struct form_file_controller),
        CYAML_FIELD_MAPPING("limits", MUST, struct form_file_controller, limits, limits_fields),
        array("gains", offsetof(struct form_file_controller, gains), MUST, sizeof(double),
              s->gains.count, s->gain_fields, s->law != NULL),
        CYAML_FIELD_END};

    static_assert(sizeof fields <= sizeof s->controller_fields,
                  "more room for s->controller_fields");
    memcpy(s->controller_fields, fields, sizeof fields);
}

static void set_tolerance(struct form_schema *s)
{
    const cyaml_schema_field_t fields[] = {
        CYAML_FIELD_FLOAT("percent", MUST, struct form_file_tolerance, percent),
        CYAML_FIELD_UINT("seed", MUST, struct form_file_tolerance, seed),
        array("multipliers", offsetof(struct form_file_tolerance, multipliers), MUST,
              sizeof(double *), s->parameters.count, s->multiplier_fields,
              s->plant != NULL && s->converter_count > 0),
        CYAML_FIELD_END};

    static_assert(sizeof fields <= sizeof s->tolerance_fields, "more room for s->tolerance_fields");
    memcpy(s->tolerance_fields, fields, sizeof fields);
}

static void set_overrides(struct form_schema *s)
{
    const cyaml_schema_field_t fields[] = {
        CYAML_FIELD_STRING_PTR("id", MUST, struct form_file_override, id, 0, CYAML_UNLIMITED),
        CYAML_FIELD_ENUM_PTR("plant", MAY | STRICT, struct form_file_override, plant,
                             s->plant_names, s->plant_count),
        CYAML_FIELD_FLOAT_PTR("period_us", MAY, struct form_file_override, period_us),
        CYAML_FIELD_FLOAT_PTR("phase_us", MAY, struct form_file_override, phase_us),
        CYAML_FIELD_FLOAT_PTR("duty_initial", MAY, struct form_file_override, duty_initial),
        array("parameters", offsetof(struct form_file_override, parameters), MAY, sizeof(double *),
              s->parameters.count, s->parameter_fields, s->plant != NULL),
        array("initial", offsetof(struct form_file_override, initial), MAY, sizeof(double *),
              s->states.count, s->state_fields, s->plant != NULL),
        CYAML_FIELD_END};

    static_assert(sizeof fields <= sizeof s->override_fields, "more room for s->override_fields");
    memcpy(s->override_fields, fields, sizeof fields);
    s->override_entry = (cyaml_schema_value_t){
        CYAML_VALUE_MAPPING(MUST, struct form_file_override, s->override_fields)};
}

static void set_converters(struct form_schema *s)
{
    const cyaml_schema_field_t fields[] = {
        CYAML_FIELD_UINT("count", MUST, struct form_file_converters, count),
        CYAML_FIELD_ENUM("plant", STRICT, struct form_file_converters, plant, s->plant_names,
                         s->plant_count),
        CYAML_FIELD_FLOAT("period_us", MUST, struct form_file_converters, period_us),
        CYAML_FIELD_FLOAT("phase_us", MUST, struct form_file_converters, phase_us),
        CYAML_FIELD_FLOAT("stagger_us", MUST, struct form_file_converters, stagger_us),
        CYAML_FIELD_INT("cpu", MUST, struct form_file_converters, cpu),
        CYAML_FIELD_INT("priority", MUST, struct form_file_converters, priority),
        ENUM("scheduler", struct form_file_converters, scheduler, schedulers),
        ENUM("wait", struct form_file_converters, wait, waits),
        LATE_FIELDS(struct form_file_converters),
        CYAML_FIELD_FLOAT("duty_initial", MUST, struct form_file_converters, duty_initial),
        CYAML_FIELD_FLOAT("duty_safe", MUST, struct form_file_converters, duty_safe),
        array("parameters", offsetof(struct form_file_converters, parameters), MUST,
              sizeof(double *), s->parameters.count, s->parameter_fields, s->plant != NULL),
        array("initial", offsetof(struct form_file_converters, initial), MUST, sizeof(double *),
              s->states.count, s->state_fields, s->plant != NULL),
        CYAML_FIELD_MAPPING("tolerance", MUST, struct form_file_converters, tolerance,
                            s->tolerance_fields),
        CYAML_FIELD_SEQUENCE_COUNT("overrides", CYAML_FLAG_POINTER, struct form_file_converters,
                                   overrides, override_count, &s->override_entry, 0,
                                   FORM_CONVERTERS_MAX),
        CYAML_FIELD_END};

    static_assert(sizeof fields <= sizeof s->converters_fields,
                  "more room for s->converters_fields");
    memcpy(s->converters_fields, fields, sizeof fields);
}

static const cyaml_schema_field_t faults_of_a_run = {
    .key = "faults",
    .value = {.type = CYAML_MAPPING, .mapping = {.fields = scenario_faults_fields}}};
static const cyaml_schema_field_t limits_of_a_run = {
    .key = "limits",
    .value = {.type = CYAML_MAPPING, .mapping = {.fields = scenario_limits_fields}}};

static void set_top(struct form_schema *s)
{
    const cyaml_schema_field_t fields[] = {
        RUN_FIELDS_BEGIN,
        CYAML_FIELD_MAPPING("verbs", MUST, struct form_file, verbs, verbs_fields),
        CYAML_FIELD_MAPPING("tcp", MUST, struct form_file, tcp, tcp_fields),
        CYAML_FIELD_MAPPING("network", MUST, struct form_file, network, network_fields),
        CYAML_FIELD_MAPPING("controller", MUST, struct form_file, controller, s->controller_fields),
        CYAML_FIELD_MAPPING("converters", MUST, struct form_file, converters, s->converters_fields),
        CYAML_FIELD_MAPPING("reference", MUST, struct form_file, reference, reference_fields),
        CYAML_FIELD_MAPPING("load", MUST, struct form_file, load, load_fields),
        CYAML_FIELD_MAPPING("input_voltage", MUST, struct form_file, input_voltage,
                            input_voltage_fields),
        CYAML_FIELD_MAPPING("recording", MUST, struct form_file, recording, recording_fields),
        faults_of_a_run,
        limits_of_a_run,
        RUN_FIELDS_END,
        CYAML_FIELD_SEQUENCE_COUNT("placement", MAY, struct form_file, placement, placement_count,
                                   &placement_entry, 0, 1 + FORM_CONVERTERS_MAX),
        CYAML_FIELD_END};

    static_assert(sizeof fields <= sizeof s->top_fields, "more room for s->top_fields");
    memcpy(s->top_fields, fields, sizeof fields);
}

/* libcyaml does not load faults and limits; they are read from the tree. */
static void set_loaded(struct form_schema *s)
{
    memcpy(s->loaded_fields, s->top_fields, sizeof s->top_fields);
    for (cyaml_schema_field_t *field = s->loaded_fields; field->key != NULL; field++)
        if (strcmp(field->key, faults_of_a_run.key) == 0 ||
            strcmp(field->key, limits_of_a_run.key) == 0)
            field->value = (cyaml_schema_value_t){.type = CYAML_IGNORE};
}

static cyaml_schema_value_t top(const cyaml_schema_field_t *fields)
{
    return (cyaml_schema_value_t){
        CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct form_file, fields)};
}

int form_schema_open(struct scenario_schema *schema, const struct scenario_node *root)
{
    struct form_schema *s = schema->form = calloc(1, sizeof(*s));

    if (s == NULL || form_quantities_open(schema, root) != 0 || name_models(s) != 0 ||
        make_model_fields(s) != 0)
        return -ENOMEM;
    set_controller(s);
    set_tolerance(s);
    set_overrides(s);
    set_converters(s);
    set_top(s);
    set_loaded(s);
    schema->top = top(s->top_fields);
    schema->loaded = top(s->loaded_fields);
    return 0;
}

void form_schema_close(struct form_schema *form)
{
    if (form == NULL)
        return;
    form_quantities_close(form);
    free(form->models);
    free(form->law_names);
    free(form->plant_names);
    free(form->gain_fields);
    free(form->parameter_fields);
    free(form->state_fields);
    free(form->multiplier_fields);
    free(form);
}

unsigned form_converters(const struct scenario_schema *schema)
{
    return schema->form == NULL ? 0 : schema->form->converter_count;
}

bool form_names_models(const struct scenario_schema *schema, const cyaml_strval_t *words)
{
    const struct form_schema *form = schema->form;

    return form != NULL && (words == form->law_names || words == form->plant_names);
}
