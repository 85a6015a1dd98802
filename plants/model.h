/*
 * The interface of a model. A model is anything that computes in a loop: a plant, a control law, a
 * filter, a source. Each is one struct hil_model. Its tables list the parameters, inputs, outputs
 * and states, and its functions run it. A component is an instance of a model, made by create().
 *
 * This header includes nothing else of hiloco and works with C11, C++17 and later versions of both,
 * so a model can be compiled outside hiloco's tree. It is a binary interface (HIL_MODEL_ABI).
 *
 * How a component is stepped. Its node has a loop of a fixed period with the steps 0, 1, 2, ...
 * Step n is due at t_n, in nanoseconds since the start of the run. In step n:
 *
 *      1. if n > 0, each continuous component advances over the interval that just ended, with the
 *         inputs that were held during it:                               step(self, t_n, in, out)
 *      2. the node sends these results to other nodes;
 *      3. the node takes in the newest values from other nodes, and the sources' values at t_n;
 *      4. each sampled component computes from the newest values:        step(self, t_n, in, out)
 *      5. the node sends these results, at once or one step later;
 *      6. the continuous components' inputs are latched for the coming interval:  apply(self, in)
 *
 * So the inputs of a continuous model (a plant) are constant over each period, as if they came from
 * a digital-to-analogue converter. Its out[] holds the values at the period's end. A sampled model
 * (a control law) computes at an instant, and its outputs hold until the next. Before step 0 the
 * outputs are those of output(). A sampled model without output() starts with the values in its
 * table.
 *
 * Values. in[] and out[] have a place for each row of the table, in its order; a wide row has as
 * many places as the component is wide. All of in[] is set at each call; an unconnected input has
 * the value in the table. A function that succeeds has set all of out[]. Both are in the table's
 * units. A name ends in its unit (speed_rad_s, load_ohm) and is also the key in a scenario.
 *
 * Hardware. A model with apply() drives a device: its inputs leave the program. So a whole run has
 * just one component of it: the node does not rehearse the component's steps before step 0, and
 * destroys it when the loop ends. Step 0 calls its step(), too, to read the device's first values.
 * Checking a scenario also creates components, with config->trial set: such a component leaves the
 * device alone and is destroyed at once.
 *
 * Real time. A loop calls step(), output(), apply() and tune(). They must not allocate, block or
 * make system calls, and should always take about the same time. The other functions have no such
 * limits.
 *
 * Threads. Only one thread at a time uses a component, but two threads may use two components of
 * one model at once, also in several processes. So a model keeps its state in the memory that
 * create() returned: the same calls with the same numbers always give the same numbers. A model in
 * a shared library may keep it in the library's own global variables instead, because each
 * component has a copy of the library.
 *
 * Errors. A function that fails first reports the reason through the log that create() was given,
 * as one line without a line end, and then returns a negative errno. The harness adds the
 * component's name and ends the run. A model that diverges just returns its outputs; the harness
 * detects values that are not finite. step() of a device may set all of out[] and return -ESTALE if
 * the data that it received is too old. The node then does what its scenario says about stale
 * inputs. step() of any model may set all of out[] and return -ESHUTDOWN to end the run in order.
 * These outputs still count, and the component is not stepped again.
 */
#ifndef HILOCO_MODEL_H
#define HILOCO_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It changes when models compiled for the version before no longer
 * run. Additions go to the end of a structure and show in its size, without a new version. */
#define HIL_MODEL_ABI 1u

/* --- tables ----------------------------------------------------------------------------------- */

/* Flags of a row; any combination, or 0. */
enum {
    HIL_REQUIRED = 1, /* for inputs: something must be connected */
    HIL_TUNABLE = 2,  /* for parameters: tune() can change it */
    HIL_WHOLE = 4,    /* for parameters: whole numbers only */
    HIL_WIDE = 8,     /* an array with as many places as the component is wide; not for states */
    HIL_ENABLE = 16,  /* for inputs of continuous models and outputs of sampled ones: 1 enables, and
                       * 0 disables, which is its safe value unless the scenario gives another */
    HIL_OWN = 32,     /* for parameters and states: the table does not know the default. If the
                       * scenario gives no value, config has NaN, and the model uses its own. Not
                       * with HIL_WIDE */
    HIL_SPREAD = 64,  /* for parameters and inputs: the value of a part, which differs from one
                       * piece to the next. A scenario's tolerance draws it */
};

/* A row: a parameter, an input, an output or a state. */
struct hil_quantity {
    const char *name; /* "inductance_h": lower-case letters, digits and '_' */
    const char *unit; /* "H"; "" for a pure number */
    double value;     /* the default; for a state or an output, the initial value */
    double min, max;  /* the allowed range, both ends included; ignored for an output */
    uint32_t flags;
    const char *doc; /* one line, no full stop */
};

struct hil_quantities {
    const struct hil_quantity *at;
    uint32_t count;
    uint32_t row_size; /* sizeof(struct hil_quantity) */
};

/* The greatest number of rows in a table. */
enum { HIL_QUANTITIES_MAX = 4096 };

/* The table of the first `rows` rows of an array; the table of the whole array. */
#define HIL_FIRST_QUANTITIES(array, rows)                                                          \
    {                                                                                              \
        (array), (rows), sizeof((array)[0])                                                        \
    }
#define HIL_QUANTITIES(array) HIL_FIRST_QUANTITIES(array, sizeof(array) / sizeof((array)[0]))

/* --- models ----------------------------------------------------------------------------------- */

/* Logs one line. Any thread may call it, but not in every step, as it may make system calls. */
typedef void hil_log_fn(void *arg, const char *line);

/* What a component counts about its steps; it only adds. The summary of the run shows it. */
struct hil_counts {
    uint64_t unresolved; /* steps whose outputs may be wrong: the run is not valid */
    uint64_t unprepared; /* steps that made what should have been ready, and so took longer */
};

/* The argument of create(). It belongs to the caller and is valid only during the call. */
struct hil_config {
    uint32_t size;  /* sizeof(struct hil_config) of the harness */
    uint32_t width; /* places of each wide row; 1 unless the model has such rows */
    double period_s;
    const double *parameters; /* in the table's order, checked against its ranges */
    const double *states;     /* initial values; in order and checked likewise */
    hil_log_fn *log;          /* never NULL; valid, with its argument, until destroy() */
    void *log_arg;
    const struct hil_model *model; /* the component's model: several models may share a create() */
    uint32_t trial;                /* 1: only checks that the component can be created */
    uint32_t real_time;            /* 1: steps run against the clock; 0: in virtual time */
    uint32_t index;                /* place in an array of components, from 0 */
    hil_log_fn
        *warn; /* like log, with log_arg, for what went not quite well; NULL: nobody listens */
    hil_log_fn *note;          /* likewise, for what is only worth knowing */
    struct hil_counts *counts; /* valid until destroy(); NULL: nobody listens */
};

/* Takes `count` consecutive numbers. */
typedef void hil_numbers_fn(void *arg, double *first, uint32_t count);

enum hil_model_kind {
    HIL_CONTINUOUS = 1, /* advances over the interval that ends now, with its inputs held */
    HIL_SAMPLED = 2,    /* computes at an instant from the newest inputs */
};

struct hil_model {
    uint32_t abi;  /* HIL_MODEL_ABI */
    uint32_t size; /* sizeof(struct hil_model) */
    const char *name;
    const char *doc;    /* one line, no full stop */
    uint32_t kind;      /* an enum hil_model_kind */
    uint32_t width_max; /* greatest width of a component; 1: the model has no wide rows */

    struct hil_quantities parameters; /* fixed for a component's life, except the tunable ones */
    struct hil_quantities inputs;
    struct hil_quantities outputs;
    struct hil_quantities states; /* those that a scenario can initialise */

    /*
     * Makes a component. Returns 0, -EDOM if the parameters and the period do not make sense
     * together, -ENOMEM, or another negative errno. Sets *self on success only.
     */
    int (*create)(void **self, const struct hil_config *config);

    /* Computes the outputs in the present state with these inputs held. A sampled model may have
     * NULL. */
    int (*output)(const void *self, const double *in, double *out);

    /* Advances a continuous model by one period, which ends at t_ns. Computes a sampled model's
     * outputs at t_ns. */
    int (*step)(void *self, uint64_t t_ns, const double *in, double *out);

    void (*destroy)(void *self);

    /* The functions from here on are optional and may be NULL. */

    /* Called when the inputs were latched, so that a model of hardware can output them now. A model
     * of hardware must have this function, even if its device has no outputs. */
    int (*apply)(void *self, const double *in);

    /*
     * Sets a tunable parameter between two steps. `place` is its index in config->parameters[]. The
     * caller has checked the value against the parameter's range. Returns -EDOM, with nothing
     * changed, if the value does not make sense together with the others.
     */
    int (*tune)(void *self, uint32_t place, double value);

    /*
     * Save and restore the state as opaque bytes. A component of the same model, made with the same
     * config, continues with exactly the same numbers once they are restored. save() returns the
     * number of bytes, and writes them if `size` is at least that. restore() returns -EINVAL for
     * bytes that save() did not write.
     */
    int64_t (*save)(const void *self, void *bytes, size_t size);
    int (*restore)(void *self, const void *bytes, size_t size);

    /*
     * Calls each(arg, ...) with the numbers that the state consists of, always in the same order,
     * so that each can be read, and be changed a little between two steps. What only counts or
     * decides, such as a step's number, is not among them. A model without a state calls nothing.
     * Linear models of a loop need it (hiloco linearize).
     */
    void (*numbers)(void *self, hil_numbers_fn *each, void *arg);
};

/* A shared library that is a model exports one descriptor of this name. A scenario then names the
 * library's file: "components.converter.model: ./motor.so". docs/writing-a-model.md shows how. */
#ifdef __GNUC__
__attribute__((visibility("default")))
#endif
extern const struct hil_model hiloco_model;

#ifdef __cplusplus
}
#endif

#endif
