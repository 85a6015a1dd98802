/* Reading the short form of a scenario, and writing a scenario of today. */
#ifndef HIL_REWRITING_H
#define HIL_REWRITING_H

#include "../../models/models.h"
#include "../yaml/scenario_report.h"
#include "../yaml/scenario_tree.h"

struct rewriting {
    const struct scenario_node *from, *controller, *converters, *overrides;
    const char *folder;
    struct scenario_report *report;
    unsigned count; /* of converters */
    const struct hil_model *law;
    const struct hil_model **plants; /* of each converter */
    int error;                       /* the first one; nothing more is written after it */
};

/* --- reading ------------------------------------------------------------------------------- */

/* The text or number of a value, or what it is without one. */
const char *short_text(const struct scenario_node *block, const char *key, const char *without);
double short_number(const struct scenario_node *block, const char *key, double without);
bool short_is(const struct scenario_node *block, const char *key, const char *word);
/* The model of this name. NULL after a mistake, which is reported at the value. */
const struct hil_model *short_model(struct rewriting *x, const struct scenario_node *name);
bool short_law_takes(const struct rewriting *x, const char *input);
bool short_plant_takes(const struct rewriting *x, unsigned i, const char *input);

/* The override of a converter, or NULL. */
const struct scenario_node *short_override(const struct rewriting *x, unsigned converter);
bool short_any_overrides(const struct rewriting *x, const char *key);
/* Finds the models, and reports those that there are not. Returns 0 or a negative errno. */
int short_open(struct rewriting *x);

/* --- writing ------------------------------------------------------------------------------- */

/* Adds an empty list or mapping, and returns it; NULL after an error. */
struct scenario_node *short_block(struct rewriting *x, struct scenario_node *to, const char *key,
                                  enum scenario_kind kind);
struct scenario_node *short_entry(struct rewriting *x, struct scenario_node *list);

/* A text as it is; one that may have an index in brackets; a number. */
void short_say(struct rewriting *x, struct scenario_node *to, const char *key, const char *text);
void short_name(struct rewriting *x, struct scenario_node *to, const char *key, const char *text);
void short_count(struct rewriting *x, struct scenario_node *to, const char *key, double number);

/* Copies a value, if there is one, under another key. */
void short_move(struct rewriting *x, struct scenario_node *to, const char *key,
                const struct scenario_node *block, const char *from);

/* Copies the values of these keys, and of all. */
void short_keys(struct rewriting *x, struct scenario_node *to, const struct scenario_node *block,
                const char *const *keys);
void short_entries(struct rewriting *x, struct scenario_node *to,
                   const struct scenario_node *block);

/* A number of each converter: its override's, or the common one. */
void short_each(struct rewriting *x, struct scenario_node *to, const char *key,
                double (*number)(const struct rewriting *x, unsigned i));
#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Reports keys that the short form does not have. */
void short_check(const struct scenario_node *root, struct scenario_report *report);

/* --- the parts ----------------------------------------------------------------------------- */

void short_nodes(struct rewriting *x, struct scenario_node *root);
void short_components(struct rewriting *x, struct scenario_node *root);

/* With a safe duty other than 0 the gates stay driven, so that it has an effect. */
bool short_stays_enabled(const struct rewriting *x);

/* The changes over time of a plant's input; NULL: it does not change. */
const struct scenario_node *short_changes(const struct rewriting *x, const char *input);

#endif
