/*
 * The contents of a scenario in numbers: the nodes with their components, the feed of each input,
 * the links between nodes, and what is recorded and measured. Names are only for people; everything
 * else uses indices, so a step looks up nothing by name.
 *
 * The outputs of all components of a node are in one array, and their inputs in another; `in` and
 * `out` are positions there.
 */
#ifndef HIL_SYSTEM_H
#define HIL_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "../../plants/model.h"
#include "profile.h"
#include "scenario.h"

enum { HIL_SIGNAL_NAME_BYTES = 160 };

/* --- feeds of inputs ------------------------------------------------------------------------- */

enum hil_feed_kind {
    HIL_FEED_CONSTANT, /* always `initial` */
    HIL_FEED_OUTPUT,   /* output `at` of this node */
    HIL_FEED_LINK,     /* value `at` of the incoming link `from` */
    HIL_FEED_SOURCE,   /* source `from` */
};

/* The value is scale x + offset; before the first x it is `initial`. */
struct hil_feed {
    enum hil_feed_kind kind;
    unsigned from, at;
    double scale, offset;
    double initial;
};

/* The age limit of a value that a connection brings to an input: run/step_ages.c. */
struct hil_age_limit {
    unsigned component, number; /* the input: its component, and its index there */
    uint64_t limit_ns;
    enum hil_on_old action;
    double value; /* for HIL_OLD_VALUE */
};

/* A signal as seen by a node. */
enum hil_signal_place { HIL_AT_INPUT, HIL_AT_OUTPUT, HIL_AT_LINK };

/* Prefix of the name of a signal as it would be without faults. */
#define HIL_ORIGINAL "original_"

struct hil_signal {
    enum hil_signal_place place;
    unsigned link; /* for HIL_AT_LINK */
    unsigned at;   /* index in the node's inputs or outputs, or in the link's values */
    /* The owner of the signal. */
    unsigned component;
    bool output;
    unsigned number; /* index in the component's inputs or outputs */
    bool original;   /* without the effect of faults on it */
};

/* Whether both are the same input or output. */
static inline bool hil_signal_is(const struct hil_signal *a, const struct hil_signal *b)
{
    return a->component == b->component && a->output == b->output && a->number == b->number &&
           a->original == b->original;
}

/* --- nodes, components, links -------------------------------------------------------------- */

/* One of `of` things with this name in the file; `of` is 0 if the file gives no count. */
struct hil_instance {
    const char *name;
    unsigned index, of;
};

/* The consecutive things made by one entry of nodes: or components:. `of` as above. */
struct hil_array {
    const char *name;
    unsigned first, count, of;
};

struct hil_component {
    struct hil_instance is;
    unsigned array; /* index in component_arrays */
    const struct hil_model *model;
    unsigned width;           /* width of the model's wide rows */
    unsigned node;            /* its node */
    const double *parameters; /* in the order of the model's table; a wide row has `width` values */
    const double *states;
    const double *safe;     /* for a sampled model its outputs, else its inputs; NULL: not given */
    bool safe_given;        /* the scenario gives some of them */
    bool computation_delay; /* its outputs take effect one step later */
    enum hil_on_error on_error;
    unsigned in, in_count; /* its range in the node's inputs */
    unsigned out, out_count;
};

struct hil_node_config {
    struct hil_instance is;
    unsigned array; /* index in node_arrays */
    struct hil_timing timing;
    struct hil_stale_config stale;
    /* In the order of steps: first the `continuous` ones, then the sampled ones. A sampled
     * component comes after those of this node whose outputs it uses in the same step. */
    const unsigned *components;
    unsigned component_count, continuous;
    const struct hil_feed *feeds; /* the feed of each input */
    unsigned in_count, out_count;
    const unsigned *sources; /* those that feed inputs, each once */
    unsigned source_count;
    unsigned first_link, link_count; /* outgoing links, consecutive */
    const unsigned *incoming;        /* incoming links; those of one array of links are
                                      * consecutive */
    unsigned incoming_count;
    /* The node's own record: these signals, and the measures made here, every `decimation`
     * steps. */
    unsigned decimation; /* 0: no record */
    const struct hil_signal *recorded;
    unsigned recorded_count;
    const unsigned *measures; /* measures made here */
    unsigned measure_count;
    const struct hil_signal *faulted; /* inputs and outputs on which faults act */
    unsigned faulted_count;
    unsigned first_fault, fault_count;   /* range in the system's faults_here */
    const char *address;                 /* for a fabric with addresses; else NULL */
    const struct hil_component *outside; /* component that a joining process computes; NULL: none */
    bool tuned;                          /* a tunable belongs to it */
    unsigned shards;                     /* number of shards into which its steps are split; 1: not
                                          * split */
    const int *shard_cpus;               /* cpu of each shard after the first */
};

/* All signals from one node to another. */
struct hil_link {
    unsigned from, to;
    const unsigned *values;     /* indices of outputs of `from`, ascending */
    const unsigned *components; /* component of each value */
    unsigned count;
    unsigned array;      /* index in link_arrays */
    bool late;           /* has a value that is computed and sent in the same step */
    uint64_t latency_ns; /* of the simulated network in virtual time */
};

/* The links from the nodes of one array to those of another (or of the same) array. */
struct hil_link_array {
    unsigned from, to; /* node arrays */
    int back;          /* the array of the opposite links; -1: none */
};

/* --- sources, measures ----------------------------------------------------------------------- */

enum hil_source_kind {
    HIL_SOURCE_CONSTANT,
    HIL_SOURCE_STEPS,
    HIL_SOURCE_SINE,
    HIL_SOURCE_PULSES,
    HIL_SOURCE_CSV,
    HIL_SOURCE_RECORD,
};

/* A column over time. Between two rows its value is interpolated linearly, or held. */
struct hil_column_source {
    uint64_t *t_ns; /* ascending */
    double *values;
    unsigned count;
    bool linear;
};

struct hil_source {
    const char *name;
    const char *unit; /* unit of the first input that it feeds */
    enum hil_source_kind kind;
    union {
        double constant;
        struct hil_profile steps;
        struct {
            double mean, amplitude, frequency_hz, phase_deg;
        } sine;
        struct {
            double low, high;
            uint64_t delay_ns, width_ns, period_ns;
        } pulses;
        struct hil_column_source column; /* from a CSV file or a record */
    };
};

/* The source's value at `t_ns` after the start of the run. Allocates nothing. */
double hil_source_at(const struct hil_source *source, uint64_t t_ns);

/* The sum of signals, added in this order, with a reference. The summary's figures are about
 * measures. */
struct hil_measure {
    struct hil_instance is;
    const char *unit;
    unsigned node; /* the node that computes it */
    const struct hil_signal *signals;
    unsigned count;
    bool has_reference;
    struct hil_signal reference;
    double reference_scale;
    double band; /* half-width of the settling band around the reference; 0: a share of the
                  * reference */
};

/* --- the whole ----------------------------------------------------------------------------- */

struct hil_system {
    struct hil_array *node_arrays, *component_arrays; /* in the order of the file */
    struct hil_link_array *link_arrays;
    unsigned node_array_count, component_array_count, link_array_count;
    struct hil_node_config *nodes;
    struct hil_component *components; /* in the order of the file */
    struct hil_link *links;           /* in order of sender, then of receiver */
    struct hil_source *sources;
    struct hil_measure *measures;
    struct hil_limit *limits;             /* limits.h */
    const struct hil_loop_response *bode; /* loop_response.h; NULL: the scenario has none */
    struct hil_age_limit *ages;           /* age limits of inputs, in the order of the file */
    struct hil_fault *faults;             /* faults.h */
    struct hil_fault_here *faults_here;   /* in order of node, then of fault */
    struct hil_tunable *tunables;         /* tunables.h; empty unless the scenario has tuning */
    unsigned node_count, component_count, link_count, source_count, measure_count, limit_count;
    unsigned age_count, fault_count, here_count, tunable_count;
    struct hil_executor_config *executors;
    unsigned executor_count;
    struct hil_pool *pool; /* owns everything that these members point to */
};

void hil_system_free(struct hil_system *system);

/* Whether any node is run by a process that joins. */
bool hil_system_is_joined(const struct hil_system *system);

/* The link from one node to another; -1: none. */
int hil_link_find(const struct hil_system *system, unsigned from, unsigned to);

/* The signal's row in its model's table, and its place in a wide row. */
const struct hil_quantity *hil_signal_row(const struct hil_system *system,
                                          const struct hil_signal *signal, unsigned *place);

/* "cell[3].current_a", "mixer.input[2]"; and "cell[3]" */
void hil_signal_name(const struct hil_system *system, const struct hil_signal *signal,
                     char text[HIL_SIGNAL_NAME_BYTES]);
/* The row of a table for place `number`, when wide rows have `width` places. */
const struct hil_quantity *hil_place_row(const struct hil_quantities *table, unsigned width,
                                         unsigned number);

/* The first place of row `row`; for the row after the last, the number of places. */
unsigned hil_places_before(const struct hil_quantities *table, unsigned width, unsigned row);

/* The name of a place in a component's inputs or outputs: "current_a", "input[2]" */
void hil_place_name(const struct hil_quantities *table, unsigned width, unsigned number,
                    char text[HIL_SIGNAL_NAME_BYTES]);
void hil_instance_name(const struct hil_instance *is, char text[HIL_SIGNAL_NAME_BYTES]);

/* How many digits an index needs so that `of` names sort correctly as text: cell/007. */
static inline unsigned hil_index_digits(unsigned of)
{
    return of > 1000 ? 6 : 3;
}

/* Finds nodes first..last by a text of this length: NAME, NAME[2], NAME[0-9] or NAME[*]. If there
 * are none, `message` says what is allowed. */
enum { HIL_REFERENCE_BYTES = 1400 };
bool hil_system_find_nodes(const struct hil_system *system, const char *text, size_t length,
                           unsigned *first, unsigned *last, char message[HIL_REFERENCE_BYTES]);

#endif
