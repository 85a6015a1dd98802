/*
 * Resolves a scenario (nodes, components, connections, sources, record, measures, placement) to a
 * struct hil_system. Its tree has been checked against the schema: each
 * key is known, and each value has the right type and range. Mistakes that depend on models, or on
 * two values together, are found here. Each part has its own file; each reports mistakes, and
 * returns 0 or -ENOMEM.
 */
#ifndef SCENARIO_GENERAL_H
#define SCENARIO_GENERAL_H

#include <stdarg.h>

#include "../../base/names.h"
#include "../../base/pool.h"
#include "../system.h"
#include "../yaml/scenario_check.h"
#include "mentioned.h"
#include "ssv.h"

/* An entry of nodes: or components:, and the place of its results in the system. */
struct general_group {
    const char *name;
    const struct scenario_node *block;
    unsigned first, count;
    unsigned of; /* as in struct hil_instance */
};

struct general_groups {
    const char *kind; /* "node", "component" */
    struct general_group *at;
    unsigned count;
    struct hil_names names;
};

/* An input or an output of a component. */
struct general_element {
    unsigned component, number;
};

struct general_elements {
    struct general_element *at;
    unsigned count;
};

/* A connection from one element to another. */
struct general_edge {
    struct general_element from, to;
    double scale, offset, initial;
};

struct general {
    struct scenario_node *root;
    struct scenario_report *report;
    struct hil_scenario *scenario;
    struct ssv *parameters; /* replace the scenario's values for components */
    struct hil_system *system;
    struct general_groups nodes, components;
    struct scenario_mentioned mentioned;   /* signals in the tree */
    struct hil_feed *feeds;                /* the inputs of each component in turn */
    double *input_factor;                  /* of each input's constant or source: its tolerance */
    const struct scenario_node **fed;      /* the element that feeds each input; NULL: nothing
                                            * yet */
    unsigned *first_input, *first_output;  /* by component: index of its first input and output */
    const struct hil_quantity **input_row; /* by input: its row in the model's table */
    struct general_edge *edges;
    unsigned edge_count;
};

/* Makes the system of a checked tree with the values of `parameters`. Returns 0, -EINVAL or
 * -ENOMEM. Call hil_system_free in any case. */
int scenario_general_resolve(struct hil_system **system, struct scenario_node *root,
                             struct ssv *parameters, struct hil_scenario *scenario,
                             struct scenario_report *report);

/* The entries as arrays of the system; NULL: memory ran out. */
struct hil_array *general_arrays(const struct general *g, const struct general_groups *groups);

int general_nodes(struct general *g);
int general_components(struct general *g);
int general_feeds(struct general *g); /* numbers the inputs and outputs, sets the feeds */
int general_numbers(struct general *g, const struct general_group *group);
int general_override_models(struct general *g);
int general_override_values(struct general *g); /* for components whose models are known */
int general_parameters(struct general *g);      /* likewise */
/* Multiplies parameters, and sets the factors of inputs. Reports mistakes. */
void general_tolerance(struct general *g, const struct general_group *group);
int general_sources(struct general *g);
int general_connections(struct general *g);
/* Adds a connection. Returns 0 or -ENOMEM. */
int general_connect(struct general *g, const struct general_edge *edge);
int general_before(struct general *g); /* once all inputs are fed */
int general_wiring(struct general *g); /* feeds, links and the order of steps, from the edges */
int general_record(struct general *g);
int general_faults(struct general *g);
int general_limits(struct general *g);
int general_bode(struct general *g);
int general_placement(struct general *g);
int general_latencies(struct general *g);
int general_outside(struct general *g); /* which nodes are run by processes that join */
int general_once(struct general *g);    /* that models with a limit of components are not used too
                                         * often */

/* Fills the sources for the replay that the block describes: one, or one for each of `inputs`. Sets
 * their number. */
int general_replay(const struct general *g, const struct scenario_node *block, unsigned inputs,
                   struct hil_source *sources, unsigned *count);

/* --- numbers of a checked block -------------------------------------------------------------- */

/* The number under `key`, or entry `i` of a list there; 0 if it is missing. */
double general_number(const struct scenario_node *block, const char *key, unsigned i);
/* The same for a time, in ns; `per_unit` as in scenario_ns. */
uint64_t general_ns(const struct scenario_node *block, const char *key, unsigned i,
                    double per_unit);
bool general_true(const struct scenario_node *block, const char *key);
/* The text under `key`, or NULL. */
const char *general_text(const struct scenario_node *block, const char *key);
/* The index of the word under `key` in `words`. */
unsigned general_word(const struct scenario_node *block, const char *key, const char *const *words,
                      unsigned count);

/* Reports a list under `key` that does not have exactly one value for each of `count` `things`. */
bool general_fits(const struct general *g, const struct scenario_node *block, const char *key,
                  unsigned count, const char *things);

/* The block of a component for a value of this name: that of `key`, but parameters and inputs may
 * both name a constant input, and then that which does. */
struct scenario_node *general_numbers_of(const struct general_group *group, const char *key,
                                         const char *name);

/* Expands a common value to a list of `count`; without a value, the list has no values. Returns 0
 * or -ENOMEM. */
int general_spread(struct scenario_node **to, unsigned count, const struct scenario_place *at);

/* In a list that was made of a common value, components of an array whose model does not have the
 * name get no value. Returns 0 or -ENOMEM. */
int general_blank(const struct general *g, const struct general_group *group, const char *name,
                  struct scenario_node *list);

/* Reads the column of the CSV file that a block names by `file`, with `time` and `between`.
 * Mistakes are reported. Returns 0 or -ENOMEM. */
int general_csv(const struct general *g, const struct scenario_node *block, const char *column,
                struct hil_column_source *source);

/* Reports a mistake in an entry of a list by names, "limits" or "faults": at the value of its key
 * or, without a key or a value, at the entry itself. */
__attribute__((format(printf, 5, 0))) void
general_entry_mistake(const struct general *g, const char *list, const struct scenario_entry *entry,
                      const char *key, const char *format, va_list args);

/* The index in `subjects` of an entry's subject. `from`, which goes with `to`, stands for a link;
 * `of_link` is its index. Returns -1 after a report. */
int general_subject(const struct general *g, const char *list, const struct scenario_entry *entry,
                    const char *const *subjects, unsigned count, unsigned of_link);

/* --- references ---------------------------------------------------------------------------- */

/* The texts of a value that is one text or a list of texts: their number, and text i. */
unsigned general_text_count(const struct scenario_node *node);
const struct scenario_node *general_text_at(const struct scenario_node *node, unsigned i);

/*
 * Finds nodes or components by name: NAME or NAME[*], NAME[2], NAME[0-9]. `text` belongs to `node`
 * and ends at `length`. Sets first..last, indices in the system. Returns false after a report.
 */
bool general_find(const struct general *g, const struct general_groups *groups,
                  const struct scenario_node *node, size_t length, unsigned *first, unsigned *last);

/* The same for measures. */
bool general_find_measures(const struct general *g, const struct scenario_node *node,
                           unsigned *first, unsigned *last);

/* The index in brackets after a name: [2], [0-9], [*]; or none, which means the same as [*]. */
struct general_index {
    bool given, all;
    unsigned first, last;
};

/* Whether the index fits `of` things (0: one thing without a number); sets first and last if the
 * text does not give them. */
bool general_index_in(struct general_index *index, unsigned of);

/* COMPONENTS.NAME[INDEX]: components first..last, and what they have in common. */
struct general_named {
    unsigned first, last;
    char name[80];
    struct general_index index;
};

/* Parses such a text, which names a `thing`, as in `allowed`. Returns 0, or -EINVAL after a
 * report. */
int general_split(const struct general *g, const struct scenario_node *node, const char *thing,
                  const char *allowed, struct general_named *named);

/* Finds a signal as seen by a node: its own, or one sent to it. Returns false if it is neither; the
 * other members are then still set. In `number` inputs follow the outputs, as with
 * GENERAL_EITHER. */
bool general_signal_at(const struct general *g, struct general_element element, unsigned node,
                       struct hil_signal *signal);

/* Reports that the signal is neither. */
void general_absent(const struct general *g, const struct scenario_node *text,
                    const struct hil_signal *signal, unsigned node);

/* Whether the node records the signal; and a function that makes the node record it, after its
 * other signals. */
bool general_records(const struct hil_node_config *node, const struct hil_signal *signal);
int general_record_add(const struct general *g, unsigned node, struct hil_signal signal);

enum general_side { GENERAL_INPUTS = 1, GENERAL_OUTPUTS = 2, GENERAL_EITHER = 3 };

/* Finds signals: COMPONENTS.SIGNAL, with an index for the signal of a wide row. Adds them in order.
 * If an input and an output have the same name, it takes the output. With `side` GENERAL_EITHER, a
 * component's inputs follow its outputs in `number`. Returns 0, -EINVAL after a report, or
 * -ENOMEM. */
int general_signals(const struct general *g, const struct scenario_node *node,
                    enum general_side side, struct general_elements *elements);

/* "motor.speed_rad_s" */
void general_name(const struct general *g, struct general_element element, bool output,
                  char text[HIL_SIGNAL_NAME_BYTES]);

/* Finds the link between two nodes that carries this output, and the output's position in it. */
bool general_find_link(const struct hil_system *system, unsigned from, unsigned to, unsigned out,
                       unsigned *link, unsigned *at);

/* Marks an input as fed, and reports it if it was fed before. */
bool general_feed(struct general *g, struct general_element to, const struct scenario_node *by,
                  const struct hil_feed *feed);

#endif
