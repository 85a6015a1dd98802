/*
 * Checks the tree against the schema and the table of keys.
 */
#ifndef HIL_SCENARIO_CHECK_H
#define HIL_SCENARIO_CHECK_H

#include "scenario_schema.h"

/*
 * Reports every key that is unknown, missing or duplicate, and every value with a wrong type or out
 * of its range. Values are not compared with each other. libcyaml can load a tree without mistakes.
 * Returns 0, even with mistakes, or -ENOMEM.
 */
int scenario_check(const struct scenario_node *root, struct scenario_report *report);

/* Whether the text can be the name of a node, a component, a source or a measure; and the rule in
 * words. */
bool scenario_name_fits(const char *name);
extern const char scenario_names_allowed[];

/* The length of the decimal number with which the text begins; 0: it begins with none. */
size_t scenario_number_length(const char *text);

/* Whether the text is exactly one decimal number. */
bool scenario_is_number(const char *text);

/* Whether a scalar is written as its type requires, and is allowed by its key. */
bool scenario_scalar_fits(const struct scenario_key *key, enum cyaml_type type,
                          const struct scenario_node *node);

/* Describes the allowed values: "a number, 0 to 1e9 us", "realtime, virtual", ... */
void scenario_say_allowed(const struct scenario_key *key, const cyaml_schema_value_t *value,
                          char *text, size_t size);

/* "0 to 1e9 us" */
void scenario_say_range(double min, double max, const char *unit, char *text, size_t size);

/* Parses "3" or "3-5" into *first and *last. False when the text is neither. */
bool scenario_ids_parse(const char *text, unsigned *first, unsigned *last);

/* Converts a time to whole ns, given the ns per unit. */
uint64_t scenario_ns(double time, double ns_per_unit);
double scenario_ns_per_unit(const struct scenario_key *key);

#endif
