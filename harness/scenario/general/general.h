/*
 * The general form of a scenario (nodes, components, connections, sources, record, measures,
 * placement) becomes a struct hil_system. Its tree has been checked against the schema: each key is
 * known, each value of its type and in its range. What depends on models, and on two values
 * together, is looked at here. Each part has its own file; all report, and return -ENOMEM or 0.
 */
#ifndef SCENARIO_GENERAL_H
#define SCENARIO_GENERAL_H

#include <stdarg.h>

#include "../names.h"
#include "../pool.h"
#include "../ssv.h"
#include "../system.h"
#include "../yaml/scenario_check.h"

/* An entry of nodes: or components:, and where what it makes stands in the system. */
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
    struct scenario_names names;
};

/* An input or an output of a component. */
struct general_element {
    unsigned component, number;
};

struct general_elements {
    struct general_element *at;
    unsigned count;
};

/* A connection, of one element to another. */
struct general_edge {
    struct general_element from, to;
    double scale, offset, initial;
};

struct general {
    struct scenario_node *root;
    struct scenario_report *report;
    struct hil_scenario *scenario;
    struct ssv *parameters; /* laid over what the scenario says of components */
    struct hil_system *system;
    struct general_groups nodes, components;
    struct hil_feed *feeds;                /* of each component's inputs in turn */
    const struct scenario_node **fed;      /* what feeds it; NULL: nothing yet */
    unsigned *first_input, *first_output;  /* of each component, in them */
    const struct hil_quantity **input_row; /* of each input, its row in the model's table */
    struct general_edge *edges;
    unsigned edge_count;
};

/* Makes the system of a checked tree, over which it lays `parameters`. Returns 0, -EINVAL or
 * -ENOMEM; hil_system_free's in any case. */
int scenario_general_resolve(struct hil_system **system, struct scenario_node *root,
                             struct ssv *parameters, struct hil_scenario *scenario,
                             struct scenario_report *report);

/* The same entries for the system; NULL: no memory. */
struct hil_array *general_arrays(const struct general *g, const struct general_groups *groups);

int general_nodes(struct general *g);
int general_components(struct general *g);
int general_parameters(struct general *g); /* of components whose models are known */
int general_sources(struct general *g);
int general_connections(struct general *g);
int general_wiring(struct general *g); /* feeds, links and the order of steps, from the edges */
int general_record(struct general *g);
int general_faults(struct general *g);
int general_limits(struct general *g);
int general_placement(struct general *g);
int general_latencies(struct general *g);
int general_outside(struct general *g); /* which nodes are run by a process that joins */
int general_once(struct general *g);    /* whether models are there more often than they may be */

/* Fills sources that replay what the block names: one, or one for each of `inputs`; sets how many.
 */
int general_replay(const struct general *g, const struct scenario_node *block, unsigned inputs,
                   struct hil_source *sources, unsigned *count);

/* --- numbers of a checked block -------------------------------------------------------------- */

/* The number under `key`; where there is a list, its entry `i`. 0 where there is nothing. */
double general_number(const struct scenario_node *block, const char *key, unsigned i);
/* The same, of a time, in ns; `per_unit` as in scenario_ns. */
uint64_t general_ns(const struct scenario_node *block, const char *key, unsigned i,
                    double per_unit);
bool general_true(const struct scenario_node *block, const char *key);
/* The text under `key`, or NULL. */
const char *general_text(const struct scenario_node *block, const char *key);
/* Which of these words stands under `key`. */
unsigned general_word(const struct scenario_node *block, const char *key, const char *const *words,
                      unsigned count);

/* Reports a list under `key` that does not have one value for each of `count` `things`. */
bool general_fits(const struct general *g, const struct scenario_node *block, const char *key,
                  unsigned count, const char *things);

/* The column of the CSV file that a block names by `file`, with `time` and `between`. What is wrong
 * is reported. 0 or -ENOMEM. */
int general_csv(const struct general *g, const struct scenario_node *block, const char *column,
                struct hil_column_source *source);

/* Reports what is wrong with an entry of a list by names, "limits" or "faults": at the value of its
 * key, or, without a key or a value, at the entry itself. */
__attribute__((format(printf, 5, 0))) void
general_entry_mistake(const struct general *g, const char *list, const struct scenario_entry *entry,
                      const char *key, const char *format, va_list args);

/* Which one of `subjects` an entry of such a list is of; one of them is `from`, of a link, which
 * goes with `to`. -1 after a report. `of_link` is its number. */
int general_subject(const struct general *g, const char *list, const struct scenario_entry *entry,
                    const char *const *subjects, unsigned count, unsigned of_link);

/* --- references ---------------------------------------------------------------------------- */

/* The texts of a value that is one, or a list of them: how many, and number i. */
unsigned general_text_count(const struct scenario_node *node);
const struct scenario_node *general_text_at(const struct scenario_node *node, unsigned i);

/*
 * Nodes or components by name: NAME, NAME[2], NAME[0-9] or NAME[*]. `text` is from `node`, and ends
 * at `length`. Sets first..last, places in the system. False after a report.
 */
bool general_find(const struct general *g, const struct general_groups *groups,
                  const struct scenario_node *node, size_t length, unsigned *first, unsigned *last);

/* The same of measures. */
bool general_find_measures(const struct general *g, const struct scenario_node *node,
                           unsigned *first, unsigned *last);

/* What stands in brackets after a name: [2], [0-9], [*]; or nothing. */
struct general_index {
    bool given, all;
    unsigned first, last;
};

/* Whether the index is one of `of` things, or of one thing that is not numbered (0); sets first and
 * last where the text does not. */
bool general_index_in(struct general_index *index, unsigned of);

/* COMPONENTS.NAME[INDEX]: components first..last, and what of them. */
struct general_named {
    unsigned first, last;
    char name[80];
    struct general_index index;
};

/* Splits such a text, which names a `thing`, as in `allowed`. Returns 0, or -EINVAL after a report.
 */
int general_split(const struct general *g, const struct scenario_node *node, const char *thing,
                  const char *allowed, struct general_named *named);

/* A signal as a node has it: its own, or sent to it. False: neither; the rest is then set. In
 * `number` the inputs follow the outputs, as of GENERAL_EITHER. */
bool general_signal_at(const struct general *g, struct general_element element, unsigned node,
                       struct hil_signal *signal);

/* Reports that it is neither. */
void general_absent(const struct general *g, const struct scenario_node *text,
                    const struct hil_signal *signal, unsigned node);

/* Whether the node records the signal; and has it do so, after what it records already. */
bool general_records(const struct hil_node_config *node, const struct hil_signal *signal);
int general_record_add(const struct general *g, unsigned node, struct hil_signal signal);

enum general_side { GENERAL_INPUTS = 1, GENERAL_OUTPUTS = 2, GENERAL_EITHER = 3 };

/* Signals: COMPONENTS.SIGNAL, where the signal of a wide row has a number of its own. Adds them, in
 * order; of an input and an output with the same name it takes the output. The inputs of a
 * component follow its outputs in `number` when `side` is GENERAL_EITHER. Returns 0, -EINVAL after
 * a report, or -ENOMEM. */
int general_signals(const struct general *g, const struct scenario_node *node,
                    enum general_side side, struct general_elements *elements);

/* "motor.speed_rad_s" */
void general_name(const struct general *g, struct general_element element, bool output,
                  char text[HIL_SIGNAL_NAME_BYTES]);

/* The row of a table that has the place `number`, where wide rows have `width` places. */
const struct hil_quantity *general_row(const struct hil_quantities *table, unsigned width,
                                       unsigned number, unsigned *place);

/* The link from one node to another that has this output among its values, and where. */
bool general_find_link(const struct hil_system *system, unsigned from, unsigned to, unsigned out,
                       unsigned *link, unsigned *at);

/* Says once that an input is fed, and reports it when it was before. */
bool general_feed(struct general *g, struct general_element to, const struct scenario_node *by,
                  const struct hil_feed *feed);

#endif
