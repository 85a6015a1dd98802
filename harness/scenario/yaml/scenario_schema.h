/*
 * What a scenario may say: the part of it that libcyaml loads, and a table of every key.
 *
 * The blocks and types are libcyaml's schema, which also drives the checks. What it has no
 * place for (units, ranges, defaults, explanations) stands in a table of keys, looked up by
 * path.
 */
#ifndef HIL_SCENARIO_SCHEMA_H
#define HIL_SCENARIO_SCHEMA_H

#include <cyaml/cyaml.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../models/models.h"
#include "../scenario.h"
#include "scenario_tree.h"

enum { SCENARIO_NODES_MAX = 100000, SCENARIO_SHARDS_MAX = 64 };

/* --- the run, in the units of its keys ------------------------------------------------- */

struct scenario_file_validity {
    double missed_percent, gap_us, behind_us;
    unsigned stale_inputs, bad_inputs, absent_faults, lost_records;
    bool allow_degraded, required;
};

struct scenario_file {
    char *name;
    double duration_s;
    enum hil_mode mode;
    enum hil_on_lost on_lost;
    double hang_limit_s, stop_ramp_s;
    bool tuning;
    enum hil_fabric fabric;
    char *rendezvous; /* or NULL */
    enum hil_on_record_error on_record_error;
    struct scenario_file_validity validity;
    struct hil_tracing_config trace;
};

/* --- the keys --------------------------------------------------------------------------- */

enum scenario_rule {
    SCENARIO_RANGE,    /* a number in its range; nothing to check of what is no number */
    SCENARIO_WHOLE_NS, /* a time: in its range, and a whole number of ns */
    SCENARIO_CPU,      /* -1, or a cpu of this machine */
    SCENARIO_IDS,      /* a converter or a range of them */
    SCENARIO_NAME,     /* fit for the name of a folder */
    SCENARIO_ADDRESS,  /* of IPv4 or IPv6, or the name of a host */
    SCENARIO_MEETING,  /* such an address, and perhaps a port */
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

struct scenario_schema {
    cyaml_schema_value_t top;
    cyaml_schema_value_t loaded; /* the part of it that libcyaml loads */
    struct scenario_key *keys;   /* of the models' quantities */
    unsigned key_count;
    struct form_schema *form; /* of the power_controller form; NULL: of the general one */
};

/* The schema of a scenario in its general form: that of `root`, when it has nodes or components. */
bool scenario_is_general(const struct scenario_node *root);
extern const cyaml_schema_value_t scenario_general;

/* A mapping whose keys are names that the scenario gives has one field, called so. */
bool scenario_field_is_any(const cyaml_schema_field_t *field);

/* Makes the schema for the scenario in `root`, right or wrong. Returns 0 or -ENOMEM. */
int scenario_schema_open(struct scenario_schema **schema, const struct scenario_node *root);
void scenario_schema_close(struct scenario_schema *schema);

/* The key at a path ("converters.overrides.0.id", with or without indices), or NULL. */
const struct scenario_key *scenario_key_find(const struct scenario_schema *schema,
                                             const char *path);

/* The shortest text of six digits or more that reads back as the same number. */
enum { SCENARIO_NUMBER_BYTES = 32 };
void scenario_number_text(char text[SCENARIO_NUMBER_BYTES], double value);

#endif
