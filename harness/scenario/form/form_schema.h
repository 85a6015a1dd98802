/*
 * The power_controller form as loaded by libcyaml, and its schema. Mappings that name a model's own
 * quantities (gains, parameters, initial states, multipliers) are generated from the tables of the
 * models in the scenario.
 */
#ifndef HIL_FORM_SCHEMA_H
#define HIL_FORM_SCHEMA_H

#include "../yaml/scenario_schema.h"

/* Also the longest list that names each converter once. */
enum { FORM_CONVERTERS_MAX = 10000 };

/* --- the blocks, in the units of their keys -------------------------------------------- */

struct form_file_network {
    double latency_up_us, latency_down_us, jitter_us;
    uint32_t seed;
};

struct form_file_host {
    bool controller;
    char *converters; /* "0-9"; NULL: none */
    char *address;
};

struct form_file_verbs {
    struct form_file_host *nodes;
    unsigned node_count, port;
    enum hil_completions completions;
    unsigned send_depth, timeout_exponent, retry_count, traffic_class, flush_bytes;
};

struct form_file_tcp {
    struct form_file_host *nodes;
    unsigned node_count, port, timeout_ms;
    int cpu;
    enum hil_service_wait wait;
};

/* The reaction of a loop to its own lateness, to late peers, and to failing components. */
struct form_file_late {
    enum hil_overrun overrun;
    double catch_up_limit, resync_after_us, input_age_limit_us;
    enum hil_on_stale on_stale_input;
    double age_limit_us, old_value; /* form_expand.c reads these three from the tree */
    enum hil_on_old on_old;
    enum hil_on_error on_error;
    unsigned bad_inputs_limit;
};

struct form_file_limits {
    double duty_min, duty_max;
};

struct form_file_controller {
    int law; /* index in the schema's models */
    double period_us, phase_us, realtime_phase_us;
    bool computation_delay;
    int cpu, priority;
    unsigned shards;
    int *shard_cpus;
    unsigned shard_cpu_count;
    enum hil_scheduler scheduler;
    enum hil_wait wait;
    struct form_file_late late;
    struct form_file_limits limits;
    double *gains; /* in the order of the law's parameters, without the limits */
};

/* Quantities of plants, with an entry for each in the schema's table; NULL if it is not given. */
struct form_file_override {
    char *id;
    int *plant; /* index in the schema's models; NULL: the common plant */
    double *period_us, *phase_us, *duty_initial;
    double **parameters, **initial;
};

struct form_file_tolerance {
    double percent;
    uint32_t seed;
    double **multipliers; /* by quantity, then by converter */
};

struct form_file_converters {
    unsigned count;
    int plant; /* index in the schema's models */
    double period_us, phase_us, stagger_us;
    int cpu, priority;
    enum hil_scheduler scheduler;
    enum hil_wait wait;
    struct form_file_late late;
    double duty_initial, duty_safe;
    double **parameters, **initial;
    struct form_file_tolerance tolerance;
    struct form_file_override *overrides;
    unsigned override_count;
};

struct form_file_change {
    double time_s, value, ramp_s;
};

struct form_file_profile {
    double value; /* only for the reference */
    struct form_file_change *changes;
    unsigned change_count;
};

struct form_file_placement {
    bool controller;
    char *converters; /* "0-9"; NULL: none */
    int cpu, priority;
    enum hil_scheduler scheduler;
    enum hil_wait wait;
};

struct form_file_recording {
    bool voltage, duty; /* of each converter, recorded at the controller */
    unsigned decimation, converter_decimation;
    enum hil_on_record_error on_error;
};

struct form_file {
    struct scenario_file run;
    struct form_file_verbs verbs;
    struct form_file_tcp tcp;
    struct form_file_network network;
    struct form_file_controller controller;
    struct form_file_converters converters;
    struct form_file_profile reference, load, input_voltage;
    struct form_file_recording recording;
    struct form_file_placement *placement;
    unsigned placement_count;
};

/* --- the schema -------------------------------------------------------------------------- */

/* Quantities of several plants by name, with ranges widened to hold for each of them. */
struct form_quantities {
    struct hil_quantity *at;
    unsigned count;
};

struct form_schema {
    /* The scenario's models and converters; NULL and 0 if the scenario is wrong there. */
    const struct hil_model *law, *plant;
    unsigned converter_count;
    struct form_quantities gains;      /* the law's parameters without the limits */
    struct form_quantities parameters; /* together with the inputs other than duty */
    struct form_quantities states;

    /* The parts of the schema that are made for it. */
    const struct hil_model **models; /* built-in, then native; the enums are indices in this list */
    cyaml_strval_t *law_names, *plant_names;
    unsigned law_count, plant_count;
    cyaml_schema_field_t *gain_fields, *parameter_fields, *state_fields, *multiplier_fields;
    cyaml_schema_field_t controller_fields[28], tolerance_fields[8], converters_fields[28],
        override_fields[12], top_fields[24], loaded_fields[24];
    cyaml_schema_value_t override_entry;
};

/* Makes the schema and its keys for the scenario in `root`, which may have mistakes. Returns 0 or
 * -ENOMEM. */
int form_schema_open(struct scenario_schema *schema, const struct scenario_node *root);
void form_schema_close(struct form_schema *form);

/*
 * The part that reads the models' tables: fills law, plant, converter_count, parameters, states and
 * the schema's keys. Returns 0 or -ENOMEM; close it in either case.
 */
int form_quantities_open(struct scenario_schema *schema, const struct scenario_node *root);
void form_quantities_close(struct form_schema *form);

/* The index of the quantity called `name`, or -1. */
int form_quantity_find(const struct form_quantities *quantities, const char *name);

/* Whether these are the enum words of its models. */
bool form_names_models(const struct scenario_schema *schema, const cyaml_strval_t *words);

/* The number of converters in the scenario; 0 if that is wrong or missing. */
unsigned form_converters(const struct scenario_schema *schema);

#endif
