/*
 * Values with a unit: "10us" where a key is in us, "47uH" where one is in H. They become numbers
 * without a unit before anything else reads them.
 */
#ifndef HIL_VALUE_UNITS_H
#define HIL_VALUE_UNITS_H

#include "../../models/models.h"
#include "scenario_schema.h"
#include "scenario_tree.h"

enum { SCENARIO_VALUE_BYTES = 128, SCENARIO_UNIT_WHY_BYTES = 100 };

/*
 * Writes the value of a text such as "10us" or "-1.5 kV" as a decimal number of `unit`, without any
 * rounding. Returns false if the text is not a number with a unit, or if that number cannot be
 * written; `why`, unless it is NULL, then gets the reason, or "" if the text has no number.
 */
bool scenario_value_convert(char number[SCENARIO_VALUE_BYTES], const char *text, const char *unit,
                            char why[SCENARIO_UNIT_WHY_BYTES]);

/*
 * A key whose name ends in its unit may be without it if its value has one: `period: 10us` is
 * period_us. Sets `stem` to the name without the unit; false: the name does not end in it.
 */
enum { SCENARIO_STEM_BYTES = 128 };
bool scenario_stem(char stem[SCENARIO_STEM_BYTES], const char *name, const char *unit);

/* The same of a number among a block's fields, and of a row of a model's table. Also false if the
 * block or the table has another key of that name. */
bool scenario_field_stem(char stem[SCENARIO_STEM_BYTES], const cyaml_schema_field_t *fields,
                         const cyaml_schema_field_t *field, const char *unit);
bool scenario_quantity_stem(char stem[SCENARIO_STEM_BYTES], const struct hil_quantities *table,
                            const struct hil_quantity *quantity);

/* Gives the block's entry `stem` this name if its value has a unit that fits. --set replaces what
 * the file has under either name. Returns 0 or -ENOMEM. */
int scenario_take_stem(struct scenario_node *block, const char *stem, const char *name,
                       const char *unit);

/* Converts a scalar, or all scalars of a list and of lists in it. What is no value with a unit that
 * fits stays, for the check. Returns 0 or -ENOMEM. */
int scenario_node_convert(struct scenario_node *node, const char *unit);

/* The blocks of a component that have a model's names, and the table with the names of one. */
enum { SCENARIO_MODEL_BLOCKS = 4 };
extern const char *const scenario_model_blocks[SCENARIO_MODEL_BLOCKS];
const struct hil_quantities *scenario_block_table(const struct hil_model *m, const char *block);

/* Converts the values in these blocks of a component, or of one of its overrides, that this model
 * knows. Returns 0 or -ENOMEM. */
int scenario_model_convert(const struct scenario_node *component, const struct hil_model *m);

#endif
