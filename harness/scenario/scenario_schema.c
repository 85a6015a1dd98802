/*
 * The schema of libcyaml: static for the blocks that are always alike, made for the
 * scenario at hand where they name models or their quantities.
 */
#include "scenario_schema.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_form.h"
#include "system.h"

enum {
    MUST = CYAML_FLAG_DEFAULT,
    MAY = CYAML_FLAG_OPTIONAL | CYAML_FLAG_POINTER, /* NULL when it is not given */
    STRICT = CYAML_FLAG_STRICT,                     /* of an enum: its words, not their numbers */
};

/* --- what is always alike --------------------------------------------------------------- */

static const cyaml_strval_t modes[] = {{"realtime", HIL_REALTIME}, {"virtual", HIL_VIRTUAL}};
static const cyaml_strval_t losses[] = {{"end", HIL_END}, {"restart", HIL_RESTART}};
static const cyaml_strval_t record_errors[] = {{"go_on", HIL_RECORD_GO_ON},
                                               {"end", HIL_RECORD_END}};
static const cyaml_strval_t fabrics[] = {{"shm", HIL_FABRIC_SHM}, {"verbs", HIL_FABRIC_VERBS}};
static const cyaml_strval_t completions[] = {{"inline", HIL_INLINE}, {"polled", HIL_POLLED}};
static const cyaml_strval_t overruns[] = {
    {"catch_up", HIL_CATCH_UP}, {"skip", HIL_SKIP}, {"halt", HIL_HALT}};

static const cyaml_strval_t stale_actions[] = {
    {"hold", HIL_STALE_HOLD}, {"safe", HIL_STALE_SAFE}, {"end", HIL_STALE_END}};

static const cyaml_strval_t error_actions[] = {{"end", HIL_ERROR_END}, {"safe", HIL_ERROR_SAFE}};

static const cyaml_strval_t schedulers[] = {
    {"fifo", HIL_FIFO}, {"deadline", HIL_DEADLINE}, {"other", HIL_OTHER}};
static const cyaml_strval_t waits[] = {{"spin", HIL_SPIN}, {"hybrid", HIL_HYBRID}};

#define ENUM(key, structure, member, names)                                                        \
    CYAML_FIELD_ENUM(key, STRICT, structure, member, names, CYAML_ARRAY_LEN(names))

#define LATE_FIELDS(structure)                                                                     \
    ENUM("overrun", structure, late.overrun, overruns),                                            \
        CYAML_FIELD_FLOAT("catch_up_limit", MUST, structure, late.catch_up_limit),                 \
        CYAML_FIELD_FLOAT("resync_after_us", MUST, structure, late.resync_after_us),               \
        CYAML_FIELD_FLOAT("input_age_limit_us", MUST, structure, late.input_age_limit_us),         \
        ENUM("on_stale_input", structure, late.on_stale_input, stale_actions),                     \
        CYAML_FIELD_UINT("bad_inputs_limit", MUST, structure, late.bad_inputs_limit),              \
        ENUM("on_error", structure, late.on_error, error_actions)

static const cyaml_schema_field_t verbs_node_fields[] = {
    CYAML_FIELD_BOOL("controller", MUST, struct file_verbs_node, controller),
    CYAML_FIELD_STRING_PTR("converters", MAY, struct file_verbs_node, converters, 0,
                           CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("address", MUST, struct file_verbs_node, address, 0, CYAML_UNLIMITED),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t verbs_node = {
    CYAML_VALUE_MAPPING(MUST, struct file_verbs_node, verbs_node_fields)};

static const cyaml_schema_field_t verbs_fields[] = {
    CYAML_FIELD_SEQUENCE_COUNT("nodes", CYAML_FLAG_POINTER, struct file_verbs, nodes, node_count,
                               &verbs_node, 0, 1 + SCENARIO_CONVERTERS_MAX),
    CYAML_FIELD_UINT("port", MUST, struct file_verbs, port),
    ENUM("completions", struct file_verbs, completions, completions),
    CYAML_FIELD_UINT("send_depth", MUST, struct file_verbs, send_depth),
    CYAML_FIELD_UINT("timeout_exponent", MUST, struct file_verbs, timeout_exponent),
    CYAML_FIELD_UINT("retry_count", MUST, struct file_verbs, retry_count),
    CYAML_FIELD_UINT("traffic_class", MUST, struct file_verbs, traffic_class),
    CYAML_FIELD_UINT("flush_bytes", MUST, struct file_verbs, flush_bytes),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t network_fields[] = {
    CYAML_FIELD_FLOAT("latency_up_us", MUST, struct file_network, latency_up_us),
    CYAML_FIELD_FLOAT("latency_down_us", MUST, struct file_network, latency_down_us),
    CYAML_FIELD_FLOAT("jitter_us", MUST, struct file_network, jitter_us),
    CYAML_FIELD_UINT("seed", MUST, struct file_network, seed),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t limits_fields[] = {
    CYAML_FIELD_FLOAT("duty_min", MUST, struct file_limits, duty_min),
    CYAML_FIELD_FLOAT("duty_max", MUST, struct file_limits, duty_max),
    CYAML_FIELD_END,
};

/* A change of a reference, a load or an input voltage: alike but for one key. */
#define CHANGE_FIELDS(name, key)                                                                   \
    static const cyaml_schema_field_t name##_change_fields[] = {                                   \
        CYAML_FIELD_FLOAT("time_s", MUST, struct file_change, time_s),                             \
        CYAML_FIELD_FLOAT(key, MUST, struct file_change, value),                                   \
        CYAML_FIELD_FLOAT("ramp_s", MUST, struct file_change, ramp_s),                             \
        CYAML_FIELD_END,                                                                           \
    };                                                                                             \
    static const cyaml_schema_value_t name##_change = {                                            \
        CYAML_VALUE_MAPPING(MUST, struct file_change, name##_change_fields)};

#define CHANGES(name)                                                                              \
    CYAML_FIELD_SEQUENCE_COUNT("changes", CYAML_FLAG_POINTER, struct file_profile, changes,        \
                               change_count, &name##_change, 0, CYAML_UNLIMITED)

CHANGE_FIELDS(reference, "voltage_v")
CHANGE_FIELDS(load, "load_ohm")
CHANGE_FIELDS(input_voltage, "input_voltage_v")

static const cyaml_schema_field_t reference_fields[] = {
    CYAML_FIELD_FLOAT("voltage_v", MUST, struct file_profile, value),
    CHANGES(reference),
    CYAML_FIELD_END,
};
static const cyaml_schema_field_t load_fields[] = {CHANGES(load), CYAML_FIELD_END};
static const cyaml_schema_field_t input_voltage_fields[] = {CHANGES(input_voltage),
                                                            CYAML_FIELD_END};

static const cyaml_schema_field_t recording_fields[] = {
    CYAML_FIELD_BOOL("voltage", MUST, struct hil_recording_config, voltage),
    CYAML_FIELD_BOOL("duty", MUST, struct hil_recording_config, duty),
    CYAML_FIELD_UINT("decimation", MUST, struct hil_recording_config, decimation),
    CYAML_FIELD_UINT("converter_decimation", MUST, struct hil_recording_config,
                     converter_decimation),
    ENUM("on_error", struct hil_recording_config, on_error, record_errors),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t validity_fields[] = {
    CYAML_FIELD_FLOAT("missed_percent", MUST, struct file_validity, missed_percent),
    CYAML_FIELD_FLOAT("gap_us", MUST, struct file_validity, gap_us),
    CYAML_FIELD_FLOAT("behind_us", MUST, struct file_validity, behind_us),
    CYAML_FIELD_UINT("stale_inputs", MUST, struct file_validity, stale_inputs),
    CYAML_FIELD_UINT("bad_inputs", MUST, struct file_validity, bad_inputs),
    CYAML_FIELD_UINT("lost_records", MUST, struct file_validity, lost_records),
    CYAML_FIELD_BOOL("allow_degraded", MUST, struct file_validity, allow_degraded),
    CYAML_FIELD_BOOL("required", MUST, struct file_validity, required),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t trace_event_fields[] = {
    CYAML_FIELD_BOOL("step", MUST, struct hil_tracing_events, step),
    CYAML_FIELD_BOOL("miss", MUST, struct hil_tracing_events, miss),
    CYAML_FIELD_BOOL("round_trip", MUST, struct hil_tracing_events, round_trip),
    CYAML_FIELD_BOOL("push", MUST, struct hil_tracing_events, push),
    CYAML_FIELD_BOOL("pull", MUST, struct hil_tracing_events, pull),
    CYAML_FIELD_BOOL("fence", MUST, struct hil_tracing_events, fence),
    CYAML_FIELD_BOOL("lock", MUST, struct hil_tracing_events, lock),
    CYAML_FIELD_BOOL("barrier", MUST, struct hil_tracing_events, barrier),
    CYAML_FIELD_BOOL("peer", MUST, struct hil_tracing_events, peer),
    CYAML_FIELD_BOOL("state", MUST, struct hil_tracing_events, state),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t trace_fields[] = {
    CYAML_FIELD_BOOL("enable", MUST, struct hil_tracing_config, enable),
    CYAML_FIELD_UINT("buffer_kib", MUST, struct hil_tracing_config, buffer_kib),
    CYAML_FIELD_BOOL("kernel", MUST, struct hil_tracing_config, kernel),
    CYAML_FIELD_UINT("kernel_buffer_kib", MUST, struct hil_tracing_config, kernel_buffer_kib),
    CYAML_FIELD_MAPPING("events", MUST, struct hil_tracing_config, events, trace_event_fields),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t placement_fields[] = {
    CYAML_FIELD_BOOL("controller", MUST, struct file_placement, controller),
    CYAML_FIELD_STRING_PTR("converters", MAY, struct file_placement, converters, 0,
                           CYAML_UNLIMITED),
    CYAML_FIELD_INT("cpu", MUST, struct file_placement, cpu),
    CYAML_FIELD_INT("priority", MUST, struct file_placement, priority),
    ENUM("scheduler", struct file_placement, scheduler, schedulers),
    ENUM("wait", struct file_placement, wait, waits),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t placement_entry = {
    CYAML_VALUE_MAPPING(MUST, struct file_placement, placement_fields)};

/* --- the general form --------------------------------------------------------------------- */

/* These blocks are read from the tree: their numbers may be lists, and their keys names. */
#define OF_TYPE(name, type_)                                                                       \
    {                                                                                              \
        .key = name, .value = {.type = type_ }                                                     \
    }
#define MAYBE(name, type_)                                                                         \
    {                                                                                              \
        .key = name, .value = {.type = type_, .flags = CYAML_FLAG_OPTIONAL }                       \
    }
#define OF_WORDS(name, words)                                                                      \
    {                                                                                              \
        .key = name, .value = {                                                                    \
            .type = CYAML_ENUM,                                                                    \
            .enumeration = {.strings = words, .count = CYAML_ARRAY_LEN(words)}                     \
        }                                                                                          \
    }
#define OF_FIELDS(name, flags_, fields_)                                                           \
    {                                                                                              \
        .key = name, .value = {                                                                    \
            .type = CYAML_MAPPING,                                                                 \
            .flags = flags_,                                                                       \
            .mapping = {.fields = fields_}                                                         \
        }                                                                                          \
    }
#define OF_ENTRIES(name, flags_, entry_)                                                           \
    {                                                                                              \
        .key = name, .value = {                                                                    \
            .type = CYAML_SEQUENCE,                                                                \
            .flags = flags_,                                                                       \
            .sequence = {.entry = entry_, .max = CYAML_UNLIMITED}                                  \
        }                                                                                          \
    }

/* A list of blocks with these fields; blocks with these fields by any names. */
#define BLOCKS(name)                                                                               \
    static const cyaml_schema_value_t name##_entry = {.type = CYAML_MAPPING,                       \
                                                      .mapping = {.fields = name##_fields}}
#define NAMED(name)                                                                                \
    static const cyaml_schema_field_t name##_any[] = {                                             \
        OF_FIELDS("*", CYAML_FLAG_OPTIONAL, name##_fields), CYAML_FIELD_END}

static const cyaml_strval_t between[] = {{"line", true}, {"hold", false}};

static const cyaml_schema_field_t general_verbs_node_fields[] = {
    OF_TYPE("nodes", CYAML_STRING), OF_TYPE("address", CYAML_STRING), CYAML_FIELD_END};
BLOCKS(general_verbs_node);

static const cyaml_schema_field_t general_verbs_fields[] = {
    OF_ENTRIES("nodes", 0, &general_verbs_node_entry),
    OF_TYPE("port", CYAML_UINT),
    OF_WORDS("completions", completions),
    OF_TYPE("send_depth", CYAML_UINT),
    OF_TYPE("timeout_exponent", CYAML_UINT),
    OF_TYPE("retry_count", CYAML_UINT),
    OF_TYPE("traffic_class", CYAML_UINT),
    OF_TYPE("flush_bytes", CYAML_UINT),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t general_latency_fields[] = {
    OF_TYPE("from", CYAML_STRING), OF_TYPE("to", CYAML_STRING), OF_TYPE("latency_us", CYAML_FLOAT),
    CYAML_FIELD_END};
BLOCKS(general_latency);

static const cyaml_schema_field_t general_network_fields[] = {
    OF_TYPE("latency_us", CYAML_FLOAT),
    OF_TYPE("jitter_us", CYAML_FLOAT),
    OF_TYPE("seed", CYAML_UINT),
    OF_ENTRIES("links", 0, &general_latency_entry),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t node_fields[] = {
    MAYBE("count", CYAML_UINT),
    OF_TYPE("period_us", CYAML_FLOAT),
    OF_TYPE("phase_us", CYAML_FLOAT),
    OF_TYPE("stagger_us", CYAML_FLOAT),
    OF_TYPE("realtime_phase_us", CYAML_FLOAT),
    OF_TYPE("cpu", CYAML_INT),
    OF_TYPE("priority", CYAML_INT),
    OF_WORDS("scheduler", schedulers),
    OF_WORDS("wait", waits),
    OF_WORDS("overrun", overruns),
    OF_TYPE("catch_up_limit", CYAML_FLOAT),
    OF_TYPE("resync_after_us", CYAML_FLOAT),
    OF_TYPE("input_age_limit_us", CYAML_FLOAT),
    OF_WORDS("on_stale_input", stale_actions),
    OF_TYPE("bad_inputs_limit", CYAML_UINT),
    CYAML_FIELD_END,
};
NAMED(node);

static const cyaml_schema_field_t component_fields[] = {
    OF_TYPE("model", CYAML_STRING),
    OF_TYPE("node", CYAML_STRING),
    MAYBE("count", CYAML_UINT),
    OF_TYPE("width", CYAML_UINT),
    OF_TYPE("parameters", CYAML_IGNORE),
    OF_TYPE("initial", CYAML_IGNORE),
    OF_TYPE("inputs", CYAML_IGNORE),
    MAYBE("safe", CYAML_IGNORE),
    OF_TYPE("computation_delay", CYAML_BOOL),
    OF_WORDS("on_error", error_actions),
    CYAML_FIELD_END,
};
NAMED(component);

static const cyaml_schema_field_t connection_fields[] = {
    OF_TYPE("from", CYAML_STRING),  OF_TYPE("to", CYAML_STRING),   MAYBE("scale", CYAML_FLOAT),
    OF_TYPE("offset", CYAML_FLOAT), MAYBE("initial", CYAML_FLOAT), CYAML_FIELD_END};
BLOCKS(connection);

static const cyaml_schema_field_t source_change_fields[] = {
    OF_TYPE("time_s", CYAML_FLOAT), OF_TYPE("value", CYAML_FLOAT), OF_TYPE("ramp_s", CYAML_FLOAT),
    CYAML_FIELD_END};
BLOCKS(source_change);
static const cyaml_schema_field_t source_steps_fields[] = {
    OF_TYPE("initial", CYAML_FLOAT), OF_ENTRIES("changes", 0, &source_change_entry),
    CYAML_FIELD_END};
static const cyaml_schema_field_t source_sine_fields[] = {
    OF_TYPE("mean", CYAML_FLOAT), OF_TYPE("amplitude", CYAML_FLOAT),
    OF_TYPE("frequency_hz", CYAML_FLOAT), OF_TYPE("phase_deg", CYAML_FLOAT), CYAML_FIELD_END};
static const cyaml_schema_field_t source_pulses_fields[] = {
    OF_TYPE("low", CYAML_FLOAT),      OF_TYPE("high", CYAML_FLOAT),
    OF_TYPE("period_s", CYAML_FLOAT), OF_TYPE("width_s", CYAML_FLOAT),
    OF_TYPE("delay_s", CYAML_FLOAT),  CYAML_FIELD_END};
static const cyaml_schema_field_t source_csv_fields[] = {
    OF_TYPE("file", CYAML_STRING), OF_TYPE("time", CYAML_STRING), OF_TYPE("column", CYAML_STRING),
    OF_WORDS("between", between), CYAML_FIELD_END};

static const cyaml_schema_field_t source_fields[] = {
    OF_TYPE("to", CYAML_STRING),
    MAYBE("constant", CYAML_FLOAT),
    OF_FIELDS("steps", CYAML_FLAG_OPTIONAL, source_steps_fields),
    OF_FIELDS("sine", CYAML_FLAG_OPTIONAL, source_sine_fields),
    OF_FIELDS("pulses", CYAML_FLAG_OPTIONAL, source_pulses_fields),
    OF_FIELDS("csv", CYAML_FLAG_OPTIONAL, source_csv_fields),
    OF_TYPE("scale", CYAML_FLOAT),
    CYAML_FIELD_END,
};
NAMED(source);

static const cyaml_schema_field_t record_fields[] = {
    OF_TYPE("signals", CYAML_STRING), MAYBE("node", CYAML_STRING),
    OF_TYPE("decimation", CYAML_UINT), CYAML_FIELD_END};
BLOCKS(record);

static const cyaml_schema_field_t measure_fields[] = {
    OF_TYPE("of", CYAML_STRING),      OF_TYPE("each", CYAML_BOOL),
    MAYBE("reference", CYAML_STRING), OF_TYPE("reference_scale", CYAML_FLOAT),
    MAYBE("node", CYAML_STRING),      CYAML_FIELD_END};
NAMED(measure);

static const cyaml_schema_field_t general_placement_fields[] = {
    OF_TYPE("nodes", CYAML_STRING),    OF_TYPE("cpu", CYAML_INT), OF_TYPE("priority", CYAML_INT),
    OF_WORDS("scheduler", schedulers), OF_WORDS("wait", waits),   CYAML_FIELD_END,
};
BLOCKS(general_placement);

/* What libcyaml loads of it is what it shares with the power_controller form. */
#define SHARED_BEGIN                                                                               \
    CYAML_FIELD_STRING_PTR("name", MUST, struct scenario_file, name, 1, 64),                       \
        CYAML_FIELD_FLOAT("duration_s", MUST, struct scenario_file, duration_s),                   \
        ENUM("mode", struct scenario_file, mode, modes),                                           \
        ENUM("fabric", struct scenario_file, fabric, fabrics),                                     \
        ENUM("on_lost", struct scenario_file, on_lost, losses),                                    \
        CYAML_FIELD_FLOAT("hang_limit_s", MUST, struct scenario_file, hang_limit_s),               \
        ENUM("on_record_error", struct scenario_file, recording.on_error, record_errors)
#define SHARED_END                                                                                 \
    CYAML_FIELD_MAPPING("validity", MUST, struct scenario_file, validity, validity_fields),        \
        CYAML_FIELD_MAPPING("trace", MUST, struct scenario_file, trace, trace_fields)

static const cyaml_schema_field_t general_fields[] = {
    SHARED_BEGIN,
    OF_FIELDS("verbs", 0, general_verbs_fields),
    OF_FIELDS("network", 0, general_network_fields),
    OF_FIELDS("nodes", 0, node_any),
    OF_FIELDS("components", 0, component_any),
    OF_ENTRIES("connections", 0, &connection_entry),
    OF_FIELDS("sources", 0, source_any),
    OF_ENTRIES("record", 0, &record_entry),
    OF_FIELDS("measures", 0, measure_any),
    SHARED_END,
    OF_ENTRIES("placement", CYAML_FLAG_OPTIONAL, &general_placement_entry),
    CYAML_FIELD_END,
};
const cyaml_schema_value_t scenario_general = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct scenario_file, general_fields)};

static const cyaml_schema_field_t general_fixed_fields[] = {SHARED_BEGIN, SHARED_END,
                                                            CYAML_FIELD_END};
const cyaml_schema_value_t scenario_general_fixed = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct scenario_file, general_fixed_fields)};

bool scenario_field_is_any(const cyaml_schema_field_t *field)
{
    return field->key != NULL && strcmp(field->key, "*") == 0;
}

bool scenario_is_general(const struct scenario_node *root)
{
    return scenario_node_get(root, "nodes") != NULL ||
           scenario_node_get(root, "components") != NULL;
}

/* --- what is made for the scenario at hand ------------------------------------------------ */

static unsigned count_models(void)
{
    unsigned count = 0;

    while (hil_models[count] != NULL)
        count++;
    for (const struct hil_native *native = hil_natives(); native != NULL; native = native->next)
        count++;
    return count;
}

static void name_model(struct scenario_schema *schema, unsigned i, const char *text,
                       const struct hil_model *model)
{
    const cyaml_strval_t name = {text, i};
    char why[SCENARIO_WHY_BYTES];

    schema->models[i] = model;
    if (scenario_law_fits(model, why))
        schema->law_names[schema->law_count++] = name;
    if (scenario_plant_fits(model, why))
        schema->plant_names[schema->plant_count++] = name;
}

static int name_models(struct scenario_schema *schema)
{
    unsigned count = count_models(), i = 0;

    schema->models = calloc(count, sizeof(schema->models[0]));
    schema->law_names = calloc(count, sizeof(cyaml_strval_t));
    schema->plant_names = calloc(count, sizeof(cyaml_strval_t));
    if (schema->models == NULL || schema->law_names == NULL || schema->plant_names == NULL)
        return -ENOMEM;
    for (; hil_models[i] != NULL; i++)
        name_model(schema, i, hil_models[i]->name, hil_models[i]);
    for (const struct hil_native *native = hil_natives(); native != NULL; native = native->next)
        name_model(schema, i++, native->path, native->model);
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

static int make_model_fields(struct scenario_schema *schema)
{
    const struct scenario_quantities *parameters = &schema->parameters, *states = &schema->states;
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
 * A mapping into an array of `count` items of `size` bytes. Not looked into where the
 * model behind it is unknown: its name is the mistake then.
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

#define SET_FIELDS(to, ...)                                                                        \
    do {                                                                                           \
        const cyaml_schema_field_t set[] = {__VA_ARGS__, CYAML_FIELD_END};                         \
        static_assert(sizeof(set) <= sizeof(to), "more room for " #to);                            \
        memcpy(to, set, sizeof(set));                                                              \
    } while (0)

static void set_controller(struct scenario_schema *s)
{
    SET_FIELDS(
        s->controller_fields,
        CYAML_FIELD_ENUM("law", STRICT, struct file_controller, law, s->law_names, s->law_count),
        CYAML_FIELD_FLOAT("period_us", MUST, struct file_controller, period_us),
        CYAML_FIELD_FLOAT("phase_us", MUST, struct file_controller, phase_us),
        CYAML_FIELD_FLOAT("realtime_phase_us", MUST, struct file_controller, realtime_phase_us),
        CYAML_FIELD_BOOL("computation_delay", MUST, struct file_controller, computation_delay),
        CYAML_FIELD_INT("cpu", MUST, struct file_controller, cpu),
        CYAML_FIELD_INT("priority", MUST, struct file_controller, priority),
        ENUM("scheduler", struct file_controller, scheduler, schedulers),
        ENUM("wait", struct file_controller, wait, waits), LATE_FIELDS(struct file_controller),
        CYAML_FIELD_MAPPING("limits", MUST, struct file_controller, limits, limits_fields),
        array("gains", offsetof(struct file_controller, gains), MUST, sizeof(double),
              s->gains.count, s->gain_fields, s->law != NULL));
}

static void set_tolerance(struct scenario_schema *s)
{
    SET_FIELDS(s->tolerance_fields,
               CYAML_FIELD_FLOAT("percent", MUST, struct file_tolerance, percent),
               CYAML_FIELD_UINT("seed", MUST, struct file_tolerance, seed),
               array("multipliers", offsetof(struct file_tolerance, multipliers), MUST,
                     sizeof(double *), s->parameters.count, s->multiplier_fields,
                     s->plant != NULL && s->converter_count > 0));
}

static void set_overrides(struct scenario_schema *s)
{
    SET_FIELDS(s->override_fields,
               CYAML_FIELD_STRING_PTR("id", MUST, struct file_override, id, 0, CYAML_UNLIMITED),
               CYAML_FIELD_ENUM_PTR("plant", MAY | STRICT, struct file_override, plant,
                                    s->plant_names, s->plant_count),
               CYAML_FIELD_FLOAT_PTR("period_us", MAY, struct file_override, period_us),
               CYAML_FIELD_FLOAT_PTR("phase_us", MAY, struct file_override, phase_us),
               CYAML_FIELD_FLOAT_PTR("duty_initial", MAY, struct file_override, duty_initial),
               array("parameters", offsetof(struct file_override, parameters), MAY,
                     sizeof(double *), s->parameters.count, s->parameter_fields, s->plant != NULL),
               array("initial", offsetof(struct file_override, initial), MAY, sizeof(double *),
                     s->states.count, s->state_fields, s->plant != NULL));
    s->override_entry =
        (cyaml_schema_value_t){CYAML_VALUE_MAPPING(MUST, struct file_override, s->override_fields)};
}

static void set_converters(struct scenario_schema *s)
{
    SET_FIELDS(s->converters_fields, CYAML_FIELD_UINT("count", MUST, struct file_converters, count),
               CYAML_FIELD_ENUM("plant", STRICT, struct file_converters, plant, s->plant_names,
                                s->plant_count),
               CYAML_FIELD_FLOAT("period_us", MUST, struct file_converters, period_us),
               CYAML_FIELD_FLOAT("phase_us", MUST, struct file_converters, phase_us),
               CYAML_FIELD_FLOAT("stagger_us", MUST, struct file_converters, stagger_us),
               CYAML_FIELD_INT("cpu", MUST, struct file_converters, cpu),
               CYAML_FIELD_INT("priority", MUST, struct file_converters, priority),
               ENUM("scheduler", struct file_converters, scheduler, schedulers),
               ENUM("wait", struct file_converters, wait, waits),
               LATE_FIELDS(struct file_converters),
               CYAML_FIELD_FLOAT("duty_initial", MUST, struct file_converters, duty_initial),
               CYAML_FIELD_FLOAT("duty_safe", MUST, struct file_converters, duty_safe),
               array("parameters", offsetof(struct file_converters, parameters), MUST,
                     sizeof(double *), s->parameters.count, s->parameter_fields, s->plant != NULL),
               array("initial", offsetof(struct file_converters, initial), MUST, sizeof(double *),
                     s->states.count, s->state_fields, s->plant != NULL),
               CYAML_FIELD_MAPPING("tolerance", MUST, struct file_converters, tolerance,
                                   s->tolerance_fields),
               CYAML_FIELD_SEQUENCE_COUNT("overrides", CYAML_FLAG_POINTER, struct file_converters,
                                          overrides, override_count, &s->override_entry, 0,
                                          SCENARIO_CONVERTERS_MAX));
}

static void set_top(struct scenario_schema *s)
{
    SET_FIELDS(
        s->top_fields, CYAML_FIELD_STRING_PTR("name", MUST, struct scenario_file, name, 1, 64),
        CYAML_FIELD_FLOAT("duration_s", MUST, struct scenario_file, duration_s),
        ENUM("mode", struct scenario_file, mode, modes),
        ENUM("fabric", struct scenario_file, fabric, fabrics),
        ENUM("on_lost", struct scenario_file, on_lost, losses),
        CYAML_FIELD_FLOAT("hang_limit_s", MUST, struct scenario_file, hang_limit_s),
        CYAML_FIELD_MAPPING("verbs", MUST, struct scenario_file, verbs, verbs_fields),
        CYAML_FIELD_MAPPING("network", MUST, struct scenario_file, network, network_fields),
        CYAML_FIELD_MAPPING("controller", MUST, struct scenario_file, controller,
                            s->controller_fields),
        CYAML_FIELD_MAPPING("converters", MUST, struct scenario_file, converters,
                            s->converters_fields),
        CYAML_FIELD_MAPPING("reference", MUST, struct scenario_file, reference, reference_fields),
        CYAML_FIELD_MAPPING("load", MUST, struct scenario_file, load, load_fields),
        CYAML_FIELD_MAPPING("input_voltage", MUST, struct scenario_file, input_voltage,
                            input_voltage_fields),
        CYAML_FIELD_MAPPING("recording", MUST, struct scenario_file, recording, recording_fields),
        CYAML_FIELD_MAPPING("validity", MUST, struct scenario_file, validity, validity_fields),
        CYAML_FIELD_MAPPING("trace", MUST, struct scenario_file, trace, trace_fields),
        CYAML_FIELD_SEQUENCE_COUNT("placement", MAY, struct scenario_file, placement,
                                   placement_count, &placement_entry, 0,
                                   1 + SCENARIO_CONVERTERS_MAX));
    s->top = (cyaml_schema_value_t){
        CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct scenario_file, s->top_fields)};
}

int scenario_schema_open(struct scenario_schema **schema, const struct scenario_node *root)
{
    struct scenario_schema *s = calloc(1, sizeof(*s));

    if (s == NULL)
        return -ENOMEM;
    if (scenario_is_general(root)) {
        s->top = scenario_general;
        *schema = s;
        return 0;
    }
    if (scenario_quantities_open(s, root) != 0 || name_models(s) != 0 ||
        make_model_fields(s) != 0) {
        scenario_schema_close(s);
        return -ENOMEM;
    }
    set_controller(s);
    set_tolerance(s);
    set_overrides(s);
    set_converters(s);
    set_top(s);
    *schema = s;
    return 0;
}

void scenario_schema_close(struct scenario_schema *schema)
{
    if (schema == NULL)
        return;
    scenario_quantities_close(schema);
    free(schema->models);
    free(schema->law_names);
    free(schema->plant_names);
    free(schema->gain_fields);
    free(schema->parameter_fields);
    free(schema->state_fields);
    free(schema->multiplier_fields);
    free(schema);
}
