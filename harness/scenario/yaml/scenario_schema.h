/*
 * The schema of a scenario: the part that libcyaml loads, and a table of every key.
 *
 * libcyaml's schema has the blocks and types, and also drives the checks. The table of keys, looked
 * up by path, has what libcyaml's schema cannot hold: units, ranges, defaults and explanations.
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
    double missed_percent, lost_percent, gap_us, behind_us;
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
    SCENARIO_RANGE,    /* a number in its range; other values are not checked */
    SCENARIO_WHOLE_NS, /* a time in its range that is a whole number of ns */
    SCENARIO_CPU,      /* -1, or a cpu that is allowed here */
    SCENARIO_COUNT,   /* how many components; or the name of an array of nodes, as many as it has */
    SCENARIO_NAME,    /* suitable as the name of a folder */
    SCENARIO_ADDRESS, /* an IPv4 or IPv6 address, or a host name */
    SCENARIO_MEETING, /* such an address, optionally with a port */
    SCENARIO_TEXT,    /* any text; references are checked later, when everything is known */
};

struct scenario_key {
    /* "record[].signals": [] stands for each entry of a list; "nodes.*.cpu": * for any name. */
    const char *path;
    const char *unit;    /* "" if it has none */
    const char *initial; /* the default as YAML; NULL: none */
    double min, max;     /* inclusive; for a list of numbers, for each of them */
    enum scenario_rule rule;
    bool each;       /* a list is also allowed, with one value for each of several things */
    const char *doc; /* one line without a full stop */
};

/* Every key of a scenario except the models'. */
extern const struct scenario_key scenario_keys[];
extern const unsigned scenario_key_count;

/* The whole schema, and the part that libcyaml loads. */
extern const cyaml_schema_value_t scenario_top, scenario_loaded;

/* A mapping whose keys are names chosen by the scenario has a single field, with this name. */
bool scenario_field_is_any(const cyaml_schema_field_t *field);

/* Whether values of this type are numbers. */
bool scenario_type_is_number(enum cyaml_type type);

/* The key at a path ("record.0.signals", with or without indices), or NULL. */
const struct scenario_key *scenario_key_find(const char *path);

/* The shortest text with at least six digits that reads back as the same number. */
enum { SCENARIO_NUMBER_BYTES = 32 };
void scenario_number_text(char text[SCENARIO_NUMBER_BYTES], double value);

#endif
