/*
 * The tree against the schema and the table of keys.
 */
#ifndef HIL_SCENARIO_CHECK_H
#define HIL_SCENARIO_CHECK_H

#include "scenario_schema.h"

/*
 * Reports every key that is unknown, missing or given twice, and every value of a wrong
 * type or out of its range. What depends on two values together is not looked at here.
 * A tree without mistakes is one that libcyaml loads. Returns 0, with mistakes too, or -ENOMEM.
 */
int scenario_check(const struct scenario_schema *schema, const struct scenario_node *root,
                   struct scenario_report *report);

/* Whether this can be the name of a node, a component, a source or a measure; and what can. */
bool scenario_name_fits(const char *name);
extern const char scenario_names_allowed[];

/* A decimal number, and no more. */
bool scenario_is_number(const char *text);

/* True when a scalar is written as its type is, and is what its key allows. */
bool scenario_scalar_fits(const struct scenario_schema *schema, const struct scenario_key *key,
                          enum cyaml_type type, const struct scenario_node *node);

/* What a value may be: "a number, 0 to 1e9 us", "realtime, virtual", ... */
void scenario_say_allowed(const struct scenario_schema *schema, const struct scenario_key *key,
                          const cyaml_schema_value_t *value, char *text, size_t size);

/* "0 to 1e9 us" */
void scenario_say_range(double min, double max, const char *unit, char *text, size_t size);

/* The names of fields, with commas between them. */
void scenario_say_fields(const cyaml_schema_field_t *fields, char *text, size_t size);

/* Reads "3" or "3-5" into *first and *last. False when the text is neither. */
bool scenario_ids_parse(const char *text, unsigned *first, unsigned *last);

/* A time of a scenario in whole ns, given how many ns its unit has. */
uint64_t scenario_ns(double time, double ns_per_unit);
double scenario_ns_per_unit(const struct scenario_key *key);

/* The cpus of this machine, as in "0-3,8"; false when it has none called `cpu`. */
bool scenario_cpu_exists(int cpu, char *online, size_t size);

#endif
