/*
 * What a scenario runs, in numbers: nodes with their components, where each input has its value
 * from, the links between nodes, and what is recorded and measured. Names are there for people;
 * everything else is by index, so that a step asks for nothing by name.
 *
 * The outputs of a node's components stand in one array, and their inputs in another; `in` and
 * `out` are places there.
 */
#ifndef HIL_SYSTEM_H
#define HIL_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "../../plants/model.h"
#include "profile.h"
#include "scenario.h"

enum { HIL_SIGNAL_NAME_BYTES = 160 };

/* --- where an input has its value from ----------------------------------------------------- */

enum hil_feed_kind {
    HIL_FEED_CONSTANT, /* `initial`, for ever */
    HIL_FEED_OUTPUT,   /* `at`: an output of this node */
    HIL_FEED_LINK,     /* `at`: a value of the incoming link `from` */
    HIL_FEED_SOURCE,   /* `from`: a source */
};

/* The value is scale x + offset, and before there is an x it is `initial`. */
struct hil_feed {
    enum hil_feed_kind kind;
    unsigned from, at;
    double scale, offset;
    double initial;
};

/* How old what a connection brings to an input may be: run/step_ages.c. */
struct hil_age_limit {
    unsigned component, number; /* the input: among the component's */
    uint64_t limit_ns;
    enum hil_on_old action;
    double value; /* of HIL_OLD_VALUE */
};

/* A signal as one node has it. */
enum hil_signal_place { HIL_AT_INPUT, HIL_AT_OUTPUT, HIL_AT_LINK };

/* What the name of a signal begins with that is as it would be without faults. */
#define HIL_ORIGINAL "original_"

struct hil_signal {
    enum hil_signal_place place;
    unsigned link; /* of HIL_AT_LINK */
    unsigned at;   /* in the node's inputs or outputs, or among the link's values */
    /* Whose it is. */
    unsigned component;
    bool output;
    unsigned number; /* among the component's inputs or outputs */
    bool original;   /* as it would be without the faults that act on it */
};

/* Whether both are the same input or output. */
static inline bool hil_signal_is(const struct hil_signal *a, const struct hil_signal *b)
{
    return a->component == b->component && a->output == b->output && a->number == b->number &&
           a->original == b->original;
}

/* --- nodes, components, links -------------------------------------------------------------- */

/* One of `of` things by this name in the file; `of` is 0 where the file says no count. */
struct hil_instance {
    const char *name;
    unsigned index, of;
};

/* What one entry of nodes: or components: makes, in a row. `of` as above. */
struct hil_array {
    const char *name;
    unsigned first, count, of;
};

struct hil_component {
    struct hil_instance is;
    unsigned array; /* of component_arrays */
    const struct hil_model *model;
    unsigned width;           /* of the model's wide rows */
    unsigned node;            /* that it is on */
    const double *parameters; /* in the order of the model's table; a wide row has `width` */
    const double *states;
    const double *safe; /* of a sampled one its outputs, of another its inputs; NULL: none given */
    bool computation_delay; /* what it computes is there one step later */
    enum hil_on_error on_error;
    unsigned in, in_count; /* its part of the node's */
    unsigned out, out_count;
};

struct hil_node_config {
    struct hil_instance is;
    unsigned array; /* of node_arrays */
    struct hil_timing timing;
    struct hil_stale_config stale;
    /* In the order in which they are stepped: first `continuous` ones, then the sampled ones, each
     * after those of this node whose outputs it takes in the same step. */
    const unsigned *components;
    unsigned component_count, continuous;
    const struct hil_feed *feeds; /* of each input */
    unsigned in_count, out_count;
    const unsigned *sources; /* that feed inputs, each once */
    unsigned source_count;
    unsigned first_link, link_count; /* those that go out, in a row */
    const unsigned *incoming;        /* those that come in, those of an array of links in a row */
    unsigned incoming_count;
    /* The node's own record: every `decimation` steps these signals, and the measures made here. */
    unsigned decimation; /* 0: none */
    const struct hil_signal *recorded;
    unsigned recorded_count;
    const unsigned *measures; /* that are made here */
    unsigned measure_count;
    const struct hil_signal *faulted; /* inputs and outputs that faults act on */
    unsigned faulted_count;
    unsigned first_fault, fault_count;   /* of the system's faults_here */
    const char *address;                 /* for a fabric that has them; else NULL */
    const struct hil_component *outside; /* that a process which joins computes; NULL: none */
    bool tuned;                          /* a tunable concerns it */
    unsigned shards;                     /* that its steps are split into; 1: they are not */
    const int *shard_cpus;               /* of each shard after the first */
};

/* All the signals from one node to another. */
struct hil_link {
    unsigned from, to;
    const unsigned *values;     /* outputs of `from`, ascending */
    const unsigned *components; /* whose they are */
    unsigned count;
    unsigned array;      /* of link_arrays */
    bool late;           /* has a value that is computed and sent in the same step */
    uint64_t latency_ns; /* of the network that virtual time simulates */
};

/* The links from the nodes of one array to those of another (or of the same). */
struct hil_link_array {
    unsigned from, to; /* node arrays */
    int back;          /* the array of the links the other way; -1: there are none */
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

/* A column over time; values between two rows lie on a line, or hold. */
struct hil_column_source {
    uint64_t *t_ns; /* ascending */
    double *values;
    unsigned count;
    bool linear;
};

struct hil_source {
    const char *name;
    const char *unit; /* of the first input that it feeds */
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
        struct hil_column_source column; /* of a CSV file or a record */
    };
};

/* The source's value at `t_ns` after the start of the run. Allocates nothing. */
double hil_source_at(const struct hil_source *source, uint64_t t_ns);

/* The sum of signals, in this order, against a reference: what the summary's figures are of. */
struct hil_measure {
    struct hil_instance is;
    const char *unit;
    unsigned node; /* where it is made */
    const struct hil_signal *signals;
    unsigned count;
    bool has_reference;
    struct hil_signal reference;
    double reference_scale;
    double band; /* to either side of the reference, settled; 0: a share of the reference */
};

/* --- the whole ----------------------------------------------------------------------------- */

struct hil_system {
    struct hil_array *node_arrays, *component_arrays; /* in the order of the file */
    struct hil_link_array *link_arrays;
    unsigned node_array_count, component_array_count, link_array_count;
    struct hil_node_config *nodes;
    struct hil_component *components; /* in the order of the file */
    struct hil_link *links;           /* in the order of sender, then of receiver */
    struct hil_source *sources;
    struct hil_measure *measures;
    struct hil_limit *limits;           /* limits.h */
    struct hil_age_limit *ages;         /* of inputs, in the order of the file */
    struct hil_fault *faults;           /* faults.h */
    struct hil_fault_here *faults_here; /* in the order of nodes, then of faults */
    struct hil_tunable *tunables;       /* tunables.h; none, unless the scenario lets it be tuned */
    unsigned node_count, component_count, link_count, source_count, measure_count, limit_count;
    unsigned age_count, fault_count, here_count, tunable_count;
    struct hil_executor_config *executors;
    unsigned executor_count;
    struct hil_pool *pool; /* what all these point to */
};

void hil_system_free(struct hil_system *system);

/* Whether a node is run by a process that joins. */
bool hil_system_is_joined(const struct hil_system *system);

/* The link from one node to another; -1: there is none. */
int hil_link_find(const struct hil_system *system, unsigned from, unsigned to);

/* The row of its model's table that the signal is of, and which place of a wide row. */
const struct hil_quantity *hil_signal_row(const struct hil_system *system,
                                          const struct hil_signal *signal, unsigned *place);

/* "cell[3].current_a", "mixer.input[2]"; and "cell[3]" */
void hil_signal_name(const struct hil_system *system, const struct hil_signal *signal,
                     char text[HIL_SIGNAL_NAME_BYTES]);
/* The row of a table that has the place `number`, where wide rows have `width` places. */
const struct hil_quantity *hil_place_row(const struct hil_quantities *table, unsigned width,
                                         unsigned number);

/* The first place of row `row`; of the row after the last, how many places there are. */
unsigned hil_places_before(const struct hil_quantities *table, unsigned width, unsigned row);

/* A place in a component's inputs or outputs: "current_a", "input[2]" */
void hil_place_name(const struct hil_quantities *table, unsigned width, unsigned number,
                    char text[HIL_SIGNAL_NAME_BYTES]);
void hil_instance_name(const struct hil_instance *is, char text[HIL_SIGNAL_NAME_BYTES]);

/* How many digits the index of one of `of` has where names are sorted as text: cell/007. */
static inline unsigned hil_index_digits(unsigned of)
{
    return of > 1000 ? 6 : 3;
}

/* The nodes first..last that a text of this length names: NAME, NAME[2], NAME[0-9] or NAME[*]. If
 * it names none, `message` says what is allowed. */
enum { HIL_REFERENCE_BYTES = 1400 };
bool hil_system_find_nodes(const struct hil_system *system, const char *text, size_t length,
                           unsigned *first, unsigned *last, char message[HIL_REFERENCE_BYTES]);

#endif
