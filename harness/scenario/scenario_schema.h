/*
 * What a scenario may say: its blocks as libcyaml loads them, and a table of every key.
 *
 * The blocks and types are libcyaml's schema, which also drives the checks. What it has no
 * place for (units, ranges, defaults, explanations) stands in a table of keys, looked up by
 * path. The mappings that name a model's own quantities (gains, parameters, initial states,
 * multipliers) are made from the models' tables, for the models that this scenario uses.
 */
#ifndef HIL_SCENARIO_SCHEMA_H
#define HIL_SCENARIO_SCHEMA_H

#include <cyaml/cyaml.h>
#include <stdbool.h>
#include <stdint.h>

#include "scenario.h"
#include "scenario_tree.h"

/* And a list that names each converter once is no longer. */
enum { SCENARIO_CONVERTERS_MAX = 10000, SCENARIO_NODES_MAX = 100000 };

/* --- the blocks, in the units of their keys -------------------------------------------- */

struct file_network {
    double latency_up_us, latency_down_us, jitter_us;
    uint32_t seed;
};

struct file_verbs_node {
    bool controller;
    char *converters; /* "0-9"; NULL: none */
    char *address;
};

struct file_verbs {
    struct file_verbs_node *nodes;
    unsigned node_count, port;
    enum hil_completions completions;
    unsigned send_depth, timeout_exponent, retry_count, traffic_class, flush_bytes;
};

/* What a loop does about being late, about peers that are, and about components that fail. */
struct file_late {
    enum hil_overrun overrun;
    double catch_up_limit, resync_after_us, input_age_limit_us;
    enum hil_on_stale on_stale_input;
    enum hil_on_error on_error;
    unsigned bad_inputs_limit;
};

struct file_limits {
    double duty_min, duty_max;
};

struct file_controller {
    int law; /* index in the schema's models */
    double period_us, phase_us, realtime_phase_us;
    bool computation_delay;
    int cpu, priority;
    enum hil_scheduler scheduler;
    enum hil_wait wait;
    struct file_late late;
    struct file_limits limits;
    double *gains; /* in the order of the law's parameters, without the limits */
};

/* Quantities of plants: an entry for each in the schema's table, NULL where none is given. */
struct file_override {
    char *id;
    int *plant; /* index in the schema's models; NULL: that of all */
    double *period_us, *phase_us, *duty_initial;
    double **parameters, **initial;
};

struct file_tolerance {
    double percent;
    uint32_t seed;
    double **multipliers; /* for each quantity, for each converter */
};

struct file_converters {
    unsigned count;
    int plant; /* index in the schema's models */
    double period_us, phase_us, stagger_us;
    int cpu, priority;
    enum hil_scheduler scheduler;
    enum hil_wait wait;
    struct file_late late;
    double duty_initial, duty_safe;
    double **parameters, **initial;
    struct file_tolerance tolerance;
    struct file_override *overrides;
    unsigned override_count;
};

struct file_change {
    double time_s, value, ramp_s;
};

struct file_profile {
    double value; /* of the reference only */
    struct file_change *changes;
    unsigned change_count;
};

struct file_validity {
    double missed_percent, gap_us, behind_us;
    unsigned stale_inputs, bad_inputs, lost_records;
    bool allow_degraded, required;
};

struct file_placement {
    bool controller;
    char *converters; /* "0-9"; NULL: none */
    int cpu, priority;
    enum hil_scheduler scheduler;
    enum hil_wait wait;
};

struct scenario_file {
    char *name;
    double duration_s;
    enum hil_mode mode;
    enum hil_on_lost on_lost;
    double hang_limit_s;
    enum hil_fabric fabric;
    struct file_verbs verbs;
    struct file_network network;
    struct file_controller controller;
    struct file_converters converters;
    struct file_profile reference, load, input_voltage;
    struct hil_recording_config recording;
    struct file_validity validity;
    struct hil_tracing_config trace;
    struct file_placement *placement;
    unsigned placement_count;
};

/* --- the keys --------------------------------------------------------------------------- */

enum scenario_rule {
    SCENARIO_RANGE,    /* a number in its range; nothing to check of what is no number */
    SCENARIO_WHOLE_NS, /* a time: in its range, and a whole number of ns */
    SCENARIO_CPU,      /* -1, or a cpu of this machine */
    SCENARIO_IDS,      /* a converter or a range of them */
    SCENARIO_NAME,     /* fit for the name of a folder */
    SCENARIO_ADDRESS,  /* of IPv4 or IPv6, or the name of a host */
    SCENARIO_TEXT,     /* any text: what it refers to is looked at when all is known */
};

struct scenario_key {
    /* "converters.overrides[].id": [] for each entry of a list; "nodes.*.cpu": * for any name. */
    const char *path;
    const char *unit;    /* "" where there is none */
    const char *initial; /* the default as YAML; NULL: none */
    double min, max;     /* both included; of a list of numbers, for each of them */
    enum scenario_rule rule;
    bool each;       /* a list is allowed as well: one value for each of several things */
    const char *doc; /* one line, no full stop */
};

/* The keys that every scenario has; those of the models' quantities come on top. */
extern const struct scenario_key scenario_keys[];
extern const unsigned scenario_key_count;

/* Quantities of several plants by name, the ranges widened to hold for any of them. */
struct scenario_quantities {
    struct hil_quantity *at;
    unsigned count;
};

struct scenario_schema {
    cyaml_schema_value_t top;

    /* What this scenario uses; NULL and 0 where it does not say so rightly. */
    const struct hil_model *law, *plant;
    unsigned converter_count;
    struct scenario_quantities gains;      /* of the law: its parameters without the limits */
    struct scenario_quantities parameters; /* with the inputs other than duty */
    struct scenario_quantities states;

    /* The parts of the schema that are made for it. */
    const struct hil_model **models; /* built in, then native: the enums are indices in it */
    cyaml_strval_t *law_names, *plant_names;
    unsigned law_count, plant_count;
    cyaml_schema_field_t *gain_fields, *parameter_fields, *state_fields, *multiplier_fields;
    cyaml_schema_field_t controller_fields[24], tolerance_fields[8], converters_fields[24],
        override_fields[12], top_fields[20];
    cyaml_schema_value_t override_entry;
    struct scenario_key *keys;
    unsigned key_count;
};

/* The schema of a scenario in its general form: that of `root`, when it has nodes or components. */
bool scenario_is_general(const struct scenario_node *root);
extern const cyaml_schema_value_t scenario_general;
/* The part of it that libcyaml loads, into a struct scenario_file. */
extern const cyaml_schema_value_t scenario_general_fixed;

/* A mapping whose keys are names that the scenario gives has one field, called so. */
bool scenario_field_is_any(const cyaml_schema_field_t *field);

/* Makes the schema for the scenario in `root`, right or wrong. Returns 0 or -ENOMEM. */
int scenario_schema_open(struct scenario_schema **schema, const struct scenario_node *root);
void scenario_schema_close(struct scenario_schema *schema);

/*
 * The part that reads the models' tables: fills law, plant, converter_count, parameters,
 * states and keys. Returns 0 or -ENOMEM; closing it is right after either.
 */
int scenario_quantities_open(struct scenario_schema *schema, const struct scenario_node *root);
void scenario_quantities_close(struct scenario_schema *schema);

/* The key at a path ("converters.overrides.0.id", with or without indices), or NULL. */
const struct scenario_key *scenario_key_find(const struct scenario_schema *schema,
                                             const char *path);

/* The shortest text of six digits or more that reads back as the same number. */
enum { SCENARIO_NUMBER_BYTES = 32 };
void scenario_number_text(char text[SCENARIO_NUMBER_BYTES], double value);

/* The index of the quantity called `name`, or -1. */
int scenario_quantity_find(const struct scenario_quantities *quantities, const char *name);

#endif
