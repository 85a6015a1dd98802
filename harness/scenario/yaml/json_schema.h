/*
 * The scenario as a JSON Schema, for editors and other programs: made of the schema, the table of
 * keys, and the tables of the built-in models.
 */
#ifndef HIL_JSON_SCHEMA_H
#define HIL_JSON_SCHEMA_H

#include <jansson.h>

/* The whole schema, of draft-07. Returns NULL when memory runs out. */
json_t *hil_json_schema_make(void);

/* What json_schema.c and json_schema_models.c share. A number of this range; infinite ends have no
 * bound. With a unit, a text with one is allowed, too. */
json_t *hil_json_schema_number(const char *type, double min, double max, const char *unit);

/* The schema with one more type; and a copy of one that also allows lists of `items`, which it
 * takes ownership of. Both return NULL when memory runs out. */
json_t *hil_json_schema_allow(json_t *schema, const char *type);
json_t *hil_json_schema_or_list(const json_t *one, json_t *items);

/* Adds the name without its unit of a key that has this schema. Returns the properties, or NULL. */
json_t *hil_json_schema_stem(json_t *properties, const char *stem, const char *name,
                             const json_t *schema);

/* "DOC (UNIT)" as the description of a schema. Returns the schema. */
json_t *hil_json_schema_describe(json_t *schema, const char *doc, const char *unit);

/* The tables of the built-in models, by "MODEL.BLOCK" for "#/definitions/..."; the schema of the
 * key components.*.model; and the conditions that pick the tables of a component's model. */
json_t *hil_json_schema_tables(void);
json_t *hil_json_schema_model(void);
json_t *hil_json_schema_conditions(void);

#endif
