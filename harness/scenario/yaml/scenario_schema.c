/*
 * The schema of a scenario. libcyaml loads the part about the run into a struct scenario_file.
 */
#include "scenario_schema.h"

#include <stddef.h>
#include <string.h>

#include "../faults.h"
#include "../limits.h"
#include "scenario_fields.h"

const cyaml_schema_field_t scenario_validity_fields[] = {
    CYAML_FIELD_FLOAT("missed_percent", MUST, struct scenario_file_validity, missed_percent),
    CYAML_FIELD_FLOAT("lost_percent", MUST, struct scenario_file_validity, lost_percent),
    CYAML_FIELD_FLOAT("gap_us", MUST, struct scenario_file_validity, gap_us),
    CYAML_FIELD_FLOAT("behind_us", MUST, struct scenario_file_validity, behind_us),
    CYAML_FIELD_UINT("stale_inputs", MUST, struct scenario_file_validity, stale_inputs),
    CYAML_FIELD_UINT("bad_inputs", MUST, struct scenario_file_validity, bad_inputs),
    CYAML_FIELD_UINT("absent_faults", MUST, struct scenario_file_validity, absent_faults),
    CYAML_FIELD_UINT("lost_records", MUST, struct scenario_file_validity, lost_records),
    CYAML_FIELD_BOOL("allow_degraded", MUST, struct scenario_file_validity, allow_degraded),
    CYAML_FIELD_BOOL("required", MUST, struct scenario_file_validity, required),
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

static const cyaml_strval_t trace_keeps[] = {{"recent", HIL_KEEP_RECENT}, {"all", HIL_KEEP_ALL}};

const cyaml_schema_field_t scenario_trace_fields[] = {
    CYAML_FIELD_BOOL("enable", MUST, struct hil_tracing_config, enable),
    ENUM("keep", struct hil_tracing_config, keep, trace_keeps),
    CYAML_FIELD_UINT("every", MUST, struct hil_tracing_config, every),
    CYAML_FIELD_UINT("buffer_kib", MUST, struct hil_tracing_config, buffer_kib),
    CYAML_FIELD_BOOL("kernel", MUST, struct hil_tracing_config, kernel),
    CYAML_FIELD_UINT("kernel_buffer_kib", MUST, struct hil_tracing_config, kernel_buffer_kib),
    CYAML_FIELD_MAPPING("events", MUST, struct hil_tracing_config, events, trace_event_fields),
    CYAML_FIELD_END,
};

/* --- the system --------------------------------------------------------------------------- */

/* These blocks are read from the tree, because their numbers may be lists, and their keys are
 * names. */
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
#define MAYBE_WORDS(name, words)                                                                   \
    {                                                                                              \
        .key = name, .value = {                                                                    \
            .type = CYAML_ENUM,                                                                    \
            .flags = CYAML_FLAG_OPTIONAL,                                                          \
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

/* A list of blocks with these fields, and a mapping from any names to such blocks. */
#define BLOCKS(name)                                                                               \
    static const cyaml_schema_value_t name##_entry = {.type = CYAML_MAPPING,                       \
                                                      .mapping = {.fields = name##_fields}}
#define NAMED(name)                                                                                \
    static const cyaml_schema_field_t name##_any[] = {                                             \
        OF_FIELDS("*", CYAML_FLAG_OPTIONAL, name##_fields), CYAML_FIELD_END}

static const cyaml_strval_t between[] = {{"line", true}, {"hold", false}};

static const cyaml_schema_field_t host_fields[] = {
    OF_TYPE("nodes", CYAML_STRING), OF_TYPE("address", CYAML_STRING), CYAML_FIELD_END};
BLOCKS(host);

static const cyaml_schema_field_t verbs_fields[] = {
    OF_ENTRIES("nodes", 0, &host_entry),     OF_TYPE("port", CYAML_UINT),
    OF_WORDS("completions", completions),    OF_TYPE("send_depth", CYAML_UINT),
    OF_TYPE("timeout_exponent", CYAML_UINT), OF_TYPE("retry_count", CYAML_UINT),
    OF_TYPE("timeout_ms", CYAML_UINT),       OF_TYPE("traffic_class", CYAML_UINT),
    OF_TYPE("flush_bytes", CYAML_UINT),      CYAML_FIELD_END,
};

static const cyaml_schema_field_t tcp_fields[] = {
    OF_ENTRIES("nodes", 0, &host_entry), OF_TYPE("port", CYAML_UINT),
    OF_TYPE("timeout_ms", CYAML_UINT),   OF_TYPE("cpu", CYAML_INT),
    OF_WORDS("wait", service_waits),     CYAML_FIELD_END,
};

static const cyaml_schema_field_t latency_fields[] = {
    OF_TYPE("from", CYAML_STRING), OF_TYPE("to", CYAML_STRING), OF_TYPE("latency_us", CYAML_FLOAT),
    CYAML_FIELD_END};
BLOCKS(latency);

static const cyaml_schema_field_t network_fields[] = {
    OF_TYPE("latency_us", CYAML_FLOAT),
    OF_TYPE("jitter_us", CYAML_FLOAT),
    OF_TYPE("seed", CYAML_UINT),
    OF_ENTRIES("links", 0, &latency_entry),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t shard_cpu = {.type = CYAML_INT};

static const cyaml_schema_field_t node_fields[] = {
    MAYBE("count", CYAML_UINT),
    OF_TYPE("period_us", CYAML_FLOAT),
    OF_TYPE("phase_us", CYAML_FLOAT),
    OF_TYPE("stagger_us", CYAML_FLOAT),
    OF_TYPE("realtime_phase_us", CYAML_FLOAT),
    OF_TYPE("cpu", CYAML_INT),
    OF_TYPE("shards", CYAML_UINT),
    OF_ENTRIES("shard_cpus", 0, &shard_cpu),
    OF_TYPE("priority", CYAML_INT),
    OF_WORDS("scheduler", schedulers),
    OF_WORDS("wait", waits),
    MAYBE_WORDS("overrun", overruns),
    OF_TYPE("catch_up_limit", CYAML_FLOAT),
    OF_TYPE("resync_after_us", CYAML_FLOAT),
    OF_TYPE("input_age_limit_us", CYAML_FLOAT),
    OF_WORDS("on_stale_input", stale_actions),
    OF_TYPE("bad_inputs_limit", CYAML_UINT),
    CYAML_FIELD_END,
};
NAMED(node);

static const cyaml_schema_field_t tolerance_fields[] = {
    OF_TYPE("percent", CYAML_FLOAT), OF_TYPE("seed", CYAML_UINT),
    OF_TYPE("multipliers", CYAML_IGNORE), CYAML_FIELD_END};

static const cyaml_schema_field_t override_fields[] = {
    OF_TYPE("id", CYAML_STRING),       MAYBE("model", CYAML_STRING),
    MAYBE("parameters", CYAML_IGNORE), MAYBE("initial", CYAML_IGNORE),
    MAYBE("inputs", CYAML_IGNORE),     CYAML_FIELD_END};
BLOCKS(override);

static const cyaml_schema_field_t component_fields[] = {
    OF_TYPE("model", CYAML_STRING),
    OF_TYPE("node", CYAML_STRING),
    MAYBE("count", CYAML_STRING),
    OF_TYPE("width", CYAML_UINT),
    MAYBE("settings", CYAML_IGNORE),
    OF_TYPE("parameters", CYAML_IGNORE),
    OF_TYPE("initial", CYAML_IGNORE),
    OF_TYPE("inputs", CYAML_IGNORE),
    MAYBE("safe", CYAML_IGNORE),
    OF_ENTRIES("overrides", CYAML_FLAG_OPTIONAL, &override_entry),
    OF_FIELDS("tolerance", CYAML_FLAG_OPTIONAL, tolerance_fields),
    OF_TYPE("computation_delay", CYAML_BOOL),
    MAYBE("before", CYAML_STRING),
    OF_WORDS("on_error", error_actions),
    CYAML_FIELD_END,
};
NAMED(component);

static const cyaml_schema_field_t connection_fields[] = {
    OF_TYPE("from", CYAML_STRING),
    OF_TYPE("to", CYAML_STRING),
    MAYBE("scale", CYAML_FLOAT),
    OF_TYPE("offset", CYAML_FLOAT),
    MAYBE("initial", CYAML_FLOAT),
    MAYBE("age_limit_us", CYAML_FLOAT),
    MAYBE_WORDS("on_old", old_actions),
    MAYBE("old_value", CYAML_FLOAT),
    CYAML_FIELD_END,
};
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

static const cyaml_schema_field_t source_record_fields[] = {
    OF_TYPE("run", CYAML_STRING), OF_TYPE("signal", CYAML_STRING), MAYBE("node", CYAML_STRING),
    OF_WORDS("between", between), OF_TYPE("shift_s", CYAML_FLOAT), CYAML_FIELD_END};

static const cyaml_schema_field_t source_fields[] = {
    OF_TYPE("to", CYAML_STRING),
    MAYBE("constant", CYAML_FLOAT),
    OF_FIELDS("steps", CYAML_FLAG_OPTIONAL, source_steps_fields),
    OF_FIELDS("sine", CYAML_FLAG_OPTIONAL, source_sine_fields),
    OF_FIELDS("pulses", CYAML_FLAG_OPTIONAL, source_pulses_fields),
    OF_FIELDS("csv", CYAML_FLAG_OPTIONAL, source_csv_fields),
    OF_FIELDS("record", CYAML_FLAG_OPTIONAL, source_record_fields),
    OF_TYPE("scale", CYAML_FLOAT),
    CYAML_FIELD_END,
};
NAMED(source);

static const cyaml_schema_field_t record_fields[] = {
    OF_TYPE("signals", CYAML_STRING), MAYBE("node", CYAML_STRING),
    OF_TYPE("decimation", CYAML_UINT), CYAML_FIELD_END};
BLOCKS(record);

static const cyaml_schema_field_t measure_fields[] = {MAYBE("sum", CYAML_STRING),
                                                      MAYBE("each", CYAML_STRING),
                                                      MAYBE("reference", CYAML_STRING),
                                                      OF_TYPE("reference_scale", CYAML_FLOAT),
                                                      OF_TYPE("band", CYAML_FLOAT),
                                                      MAYBE("node", CYAML_STRING),
                                                      CYAML_FIELD_END};
NAMED(measure);

#define FAULT_WORD(id, name, of, needs, may) {name, HIL_FAULT_##id},
static const cyaml_strval_t fault_kinds[] = {HIL_FAULT_KINDS(FAULT_WORD)};

static const cyaml_strval_t fault_events[] = {{"old", HIL_AWAITED_OLD},
                                              {"new", HIL_AWAITED_NEW},
                                              {"safe", HIL_AWAITED_SAFE},
                                              {"run", HIL_AWAITED_RUN},
                                              {"failed", HIL_AWAITED_FAILED}};

static const cyaml_schema_field_t fault_after_fields[] = {
    MAYBE("source", CYAML_STRING),
    MAYBE("change", CYAML_UINT),
    MAYBE("fault", CYAML_STRING),
    MAYBE("signal", CYAML_STRING),
    MAYBE("above", CYAML_FLOAT),
    MAYBE("below", CYAML_FLOAT),
    {.key = "event",
     .value = {.type = CYAML_ENUM,
               .flags = CYAML_FLAG_OPTIONAL,
               .enumeration = {fault_events, CYAML_ARRAY_LEN(fault_events)}}},
    MAYBE("of", CYAML_STRING),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t fault_fields[] = {
    MAYBE("signal", CYAML_STRING),
    MAYBE("component", CYAML_STRING),
    MAYBE("nodes", CYAML_STRING),
    MAYBE("from", CYAML_STRING),
    MAYBE("to", CYAML_STRING),
    OF_WORDS("kind", fault_kinds),
    MAYBE("parameter", CYAML_STRING),
    MAYBE("value", CYAML_FLOAT),
    MAYBE("factor", CYAML_FLOAT),
    MAYBE("probability", CYAML_FLOAT),
    MAYBE("seed", CYAML_UINT),
    MAYBE("delay_us", CYAML_FLOAT),
    OF_TYPE("at_s", CYAML_FLOAT),
    MAYBE("duration_s", CYAML_FLOAT),
    OF_FIELDS("after", CYAML_FLAG_OPTIONAL, fault_after_fields),
    CYAML_FIELD_END,
};
const cyaml_schema_field_t scenario_faults_fields[] = {
    OF_FIELDS("*", CYAML_FLAG_OPTIONAL, fault_fields), CYAML_FIELD_END};

static const cyaml_schema_field_t limit_band_fields[] = {
    MAYBE("min", CYAML_FLOAT), MAYBE("max", CYAML_FLOAT), CYAML_FIELD_END};
static const cyaml_schema_field_t limit_step_fields[] = {
    OF_TYPE("at_s", CYAML_FLOAT), OF_TYPE("within_ms", CYAML_FLOAT),
    OF_FIELDS("from", 0, limit_band_fields), OF_FIELDS("to", 0, limit_band_fields),
    CYAML_FIELD_END};
static const cyaml_schema_field_t limit_like_fields[] = {
    OF_FIELDS("csv", CYAML_FLAG_OPTIONAL, source_csv_fields),
    OF_FIELDS("record", CYAML_FLAG_OPTIONAL, source_record_fields), MAYBE("absolute", CYAML_FLOAT),
    MAYBE("relative_pct", CYAML_FLOAT), CYAML_FIELD_END};
static const cyaml_schema_field_t limit_time_fields[] = {
    MAYBE("p50", CYAML_FLOAT),   MAYBE("p99", CYAML_FLOAT), MAYBE("p999", CYAML_FLOAT),
    MAYBE("p9999", CYAML_FLOAT), MAYBE("max", CYAML_FLOAT), CYAML_FIELD_END};
static const cyaml_strval_t limit_events[] = {{"all", HIL_EVENTS_ALL},
                                              {"start_up", HIL_EVENTS_START_UP},
                                              {"later", HIL_EVENTS_LATER},
                                              {"last", HIL_EVENTS_LAST}};

static const cyaml_schema_field_t limit_fields[] = {
    MAYBE("measure", CYAML_STRING),
    MAYBE("signal", CYAML_STRING),
    MAYBE("nodes", CYAML_STRING),
    MAYBE("from", CYAML_STRING),
    MAYBE("to", CYAML_STRING),
    {.key = "events",
     .value = {.type = CYAML_ENUM,
               .flags = CYAML_FLAG_OPTIONAL,
               .enumeration = {limit_events, CYAML_ARRAY_LEN(limit_events)}}},
    MAYBE("overshoot_pct", CYAML_FLOAT),
    MAYBE("settling_ms", CYAML_FLOAT),
    MAYBE("recovery_ms", CYAML_FLOAT),
    MAYBE("dip_pct", CYAML_FLOAT),
    MAYBE("rise_pct", CYAML_FLOAT),
    MAYBE("ripple", CYAML_FLOAT),
    MAYBE("rms_error", CYAML_FLOAT),
    MAYBE("steady_error", CYAML_FLOAT),
    MAYBE("rise_time_ms", CYAML_FLOAT),
    MAYBE("min", CYAML_FLOAT),
    MAYBE("max", CYAML_FLOAT),
    MAYBE("from_s", CYAML_FLOAT),
    MAYBE("to_s", CYAML_FLOAT),
    MAYBE("slope_min", CYAML_FLOAT),
    MAYBE("slope_max", CYAML_FLOAT),
    MAYBE("slope_over_ms", CYAML_FLOAT),
    OF_FIELDS("step", CYAML_FLAG_OPTIONAL, limit_step_fields),
    OF_FIELDS("like", CYAML_FLAG_OPTIONAL, limit_like_fields),
    MAYBE("missed_percent", CYAML_FLOAT),
    OF_FIELDS("late_us", CYAML_FLAG_OPTIONAL, limit_time_fields),
    OF_FIELDS("step_us", CYAML_FLAG_OPTIONAL, limit_time_fields),
    OF_FIELDS("age_us", CYAML_FLAG_OPTIONAL, limit_time_fields),
    OF_FIELDS("round_trip_us", CYAML_FLAG_OPTIONAL, limit_time_fields),
    CYAML_FIELD_END,
};
const cyaml_schema_field_t scenario_limits_fields[] = {
    OF_FIELDS("*", CYAML_FLAG_OPTIONAL, limit_fields), CYAML_FIELD_END};

static const cyaml_schema_field_t bode_fields[] = {
    OF_TYPE("inject", CYAML_STRING),
    MAYBE("response", CYAML_STRING),
    MAYBE("from_hz", CYAML_FLOAT),
    MAYBE("to_hz", CYAML_FLOAT),
    OF_TYPE("points", CYAML_UINT),
    OF_TYPE("multisine", CYAML_BOOL),
    MAYBE("amplitude", CYAML_FLOAT),
    MAYBE("start_s", CYAML_FLOAT),
    MAYBE("phase_margin_deg", CYAML_FLOAT),
    MAYBE("gain_margin_db", CYAML_FLOAT),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t placement_fields[] = {
    OF_TYPE("nodes", CYAML_STRING),    OF_TYPE("cpu", CYAML_INT), OF_TYPE("priority", CYAML_INT),
    OF_WORDS("scheduler", schedulers), OF_WORDS("wait", waits),   CYAML_FIELD_END,
};
BLOCKS(placement);

#define ON_RECORD_ERROR                                                                            \
    ENUM("on_record_error", struct scenario_file, on_record_error, record_errors)

static const cyaml_schema_field_t top_fields[] = {
    RUN_FIELDS_BEGIN,
    ON_RECORD_ERROR,
    OF_FIELDS("verbs", 0, verbs_fields),
    OF_FIELDS("tcp", 0, tcp_fields),
    OF_FIELDS("network", 0, network_fields),
    OF_FIELDS("nodes", 0, node_any),
    OF_FIELDS("components", 0, component_any),
    OF_ENTRIES("connections", 0, &connection_entry),
    OF_FIELDS("sources", 0, source_any),
    OF_ENTRIES("record", CYAML_FLAG_OPTIONAL, &record_entry),
    OF_FIELDS("measures", 0, measure_any),
    OF_FIELDS("faults", 0, scenario_faults_fields),
    OF_FIELDS("limits", 0, scenario_limits_fields),
    OF_FIELDS("bode", CYAML_FLAG_OPTIONAL, bode_fields),
    RUN_FIELDS_END,
    OF_ENTRIES("placement", CYAML_FLAG_OPTIONAL, &placement_entry),
    CYAML_FIELD_END,
};
const cyaml_schema_value_t scenario_top = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct scenario_file, top_fields)};

static const cyaml_schema_field_t loaded_fields[] = {RUN_FIELDS_BEGIN, ON_RECORD_ERROR,
                                                     RUN_FIELDS_END, CYAML_FIELD_END};
const cyaml_schema_value_t scenario_loaded = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct scenario_file, loaded_fields)};

bool scenario_field_is_any(const cyaml_schema_field_t *field)
{
    return field->key != NULL && strcmp(field->key, "*") == 0;
}

bool scenario_type_is_number(enum cyaml_type type)
{
    return type == CYAML_FLOAT || type == CYAML_INT || type == CYAML_UINT;
}
