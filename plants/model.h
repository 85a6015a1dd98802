/*
 * A model: whatever computes in a loop. A plant, a control law, a filter, a source: each is one
 * struct hil_model, which says in tables what it takes and gives, and has the functions to run it.
 * A component is an instance of a model: what create() returns.
 *
 * This header stands alone. It is C11 and later, and C++17 and later, so that a model can be
 * compiled outside hiloco's tree; what is here is a binary interface (HIL_MODEL_ABI).
 *
 * How a component is stepped. Its node has a loop of a fixed period. Of its steps 0, 1, 2, ...,
 * step n is due at t_n, in nanoseconds since the start of the run. In step n:
 *
 *      1. if n > 0, each continuous component advances over the interval that just ended, with the
 *         inputs that it held:                                           step(self, t_n, in, out)
 *      2. what was computed so far is sent to other nodes;
 *      3. the newest values from other nodes are taken in, and the sources' values at t_n;
 *      4. each sampled component computes, on the newest there is:       step(self, t_n, in, out)
 *      5. what they computed is sent, at once or one step later;
 *      6. the continuous components' inputs are latched for the coming interval:  apply(self, in)
 *
 * A continuous model (a plant) so sees inputs that are constant over each period, as behind a
 * digital-to-analogue converter, and out[] is what it gives at the period's end. A sampled model (a
 * law) computes at an instant, and holds its outputs until the next. Before step 0, the outputs are
 * those of output(); a sampled model without that function begins with its table's values.
 *
 * Values. in[] and out[] have a place for each row of the table, in its order; a wide row has as
 * many places as the component is wide. All of in[] is set at each call: an input that nothing is
 * connected to has its table's value. A function that succeeds has set all of out[]. Both are in
 * the table's units. A name ends in its unit (speed_rad_s, load_ohm), so that it is its own key in
 * a scenario.
 *
 * Hardware. A model with apply() is of a device: what it is given leaves the program. So one
 * component is made for a whole run: its node does not rehearse its steps before step 0, and
 * destroys it when the loop ends. It is stepped in step 0 too, to read what is there by then. To
 * check a scenario components are made as well, with config->trial: such a one leaves the device
 * alone, and is destroyed at once.
 *
 * Real time. step(), output(), apply() and tune() are called inside a loop: they neither allocate,
 * nor block, nor call the system, and take much the same time always. The other functions may do
 * what they like.
 *
 * Threads. One component is used by one thread at a time; two components of one model may be used
 * by two threads at once, and in several processes. So a model keeps no state outside what create()
 * returned: the same calls with the same numbers give the same numbers, always.
 *
 * Errors. A function that fails returns a negative errno, having said what is wrong through the log
 * that create() was given: one line without a line's end. The harness adds which component it was,
 * and ends the run. An output that is not finite is found by the harness: a model that diverges
 * reports what it computed. step() of a device may return -ESTALE, having set all of out[]: what it
 * should have received is older than it may be. The node then does what its scenario says of a
 * stale input.
 */
#ifndef HILOCO_MODEL_H
#define HILOCO_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It changes when a model that was compiled before no longer runs;
 * what is only added comes at the end of a structure, and shows in its size. */
#define HIL_MODEL_ABI 1u

/* --- tables ----------------------------------------------------------------------------------- */

/* What holds of a row: some of these, or 0. */
enum {
    HIL_REQUIRED = 1, /* of an input: something must be connected to it */
    HIL_TUNABLE = 2,  /* of a parameter: tune() takes it */
    HIL_WHOLE = 4,    /* of a parameter: whole numbers only */
    HIL_WIDE = 8,     /* an array, with as many places as the component is wide; not of a state */
};

/* A row: a parameter, an input, an output or a state. */
struct hil_quantity {
    const char *name; /* "inductance_h": lower-case letters, digits and '_' */
    const char *unit; /* "H"; "" for a pure number */
    double value;     /* the default; of a state and an output, what it begins with */
    double min, max;  /* the allowed range, both ends included; of an output, not looked at */
    uint32_t flags;
    const char *doc; /* one line, no full stop */
};

struct hil_quantities {
    const struct hil_quantity *at;
    uint32_t count;
    uint32_t row_size; /* sizeof(struct hil_quantity) */
};

/* The most rows that one table may have. */
enum { HIL_QUANTITIES_MAX = 4096 };

/* The table of the first `rows` rows of an array; the table of the whole array. */
#define HIL_FIRST_QUANTITIES(array, rows)                                                          \
    {                                                                                              \
        (array), (rows), sizeof((array)[0])                                                        \
    }
#define HIL_QUANTITIES(array) HIL_FIRST_QUANTITIES(array, sizeof(array) / sizeof((array)[0]))

/* --- models ----------------------------------------------------------------------------------- */

/* Takes one line. Any thread may call it, but not in each step: it may call the system. */
typedef void hil_log_fn(void *arg, const char *line);

/* What create() is given. It is the caller's, for the time of the call. */
struct hil_config {
    uint32_t size;  /* sizeof(struct hil_config) of the harness */
    uint32_t width; /* places of each wide row; 1 unless the model has such rows */
    double period_s;
    const double *parameters; /* in the table's order, checked against its ranges */
    const double *states;     /* the initial ones; likewise */
    hil_log_fn *log;          /* never NULL; valid, with its argument, until destroy() */
    void *log_arg;
    const struct hil_model *model; /* what is made: several models may share one create() */
    uint32_t trial;                /* 1: it is only made to see whether it can be */
    uint32_t real_time;            /* 1: it is stepped against the clock; 0: in virtual time */
    uint32_t index;                /* which one of an array of components it is, from 0 */
};

enum hil_model_kind {
    HIL_CONTINUOUS = 1, /* advances over the interval that ends now, with held inputs */
    HIL_SAMPLED = 2,    /* computes at an instant from the newest inputs */
};

struct hil_model {
    uint32_t abi;  /* HIL_MODEL_ABI */
    uint32_t size; /* sizeof(struct hil_model) */
    const char *name;
    const char *doc;    /* one line, no full stop */
    uint32_t kind;      /* an enum hil_model_kind */
    uint32_t width_max; /* of a component; 1: the model has no wide rows */

    struct hil_quantities parameters; /* fixed for a component's life, but for the tunable ones */
    struct hil_quantities inputs;
    struct hil_quantities outputs;
    struct hil_quantities states; /* what can be given an initial value */

    /*
     * Makes a component. Returns 0, -EDOM when the parameters or the period make no sense together,
     * -ENOMEM, or another negative errno; *self is set on success only.
     */
    int (*create)(void **self, const struct hil_config *config);

    /* The outputs in the present state, with these inputs held. May be NULL of a sampled model. */
    int (*output)(const void *self, const double *in, double *out);

    /* One period, which ends at t_ns, of a continuous model; of a sampled one, the work at t_ns. */
    int (*step)(void *self, uint64_t t_ns, const double *in, double *out);

    void (*destroy)(void *self);

    /* What follows is optional: NULL where a model has none. */

    /* The inputs were just latched. For models of hardware, which put them out now; such a model
     * has it even if it puts nothing out. */
    int (*apply)(void *self, const double *in);

    /*
     * Sets a tunable parameter, between two steps. `place` is where create() found it in
     * parameters[], and the value has been checked against its range. Returns -EDOM, with nothing
     * changed, when the value makes no sense beside the others.
     */
    int (*tune)(void *self, uint32_t place, double value);

    /*
     * The state as bytes, opaque, for a component of the same model made with the same config:
     * restored there it goes on with the very numbers. save() returns how many bytes there are, and
     * writes them if `size` is no less. restore() returns -EINVAL for bytes that are not such.
     */
    int64_t (*save)(const void *self, void *bytes, size_t size);
    int (*restore)(void *self, const void *bytes, size_t size);
};

/* What a shared library exports to be a model: one descriptor, of this name. A scenario then names
 * its file: "converters.plant: ./motor.so". docs/writing-a-model.md shows how. */
#ifdef __GNUC__
__attribute__((visibility("default")))
#endif
extern const struct hil_model hiloco_model;

#ifdef __cplusplus
}
#endif

#endif
