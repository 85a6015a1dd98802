/*
 * A plant: the thing controlled. One converter node owns one plant.
 *
 * Time advances in steps of a fixed period. Between two steps the inputs are held (that is
 * what a converter's duty-cycle register does); step() advances the state over one period
 * with the held inputs and gives the outputs at the period's end.
 *
 *      create --> output --> step --> step --> ... --> destroy
 *
 * The inputs that a model may name, and the harness knows how to feed:
 *      duty              from the controller
 *      input_voltage_v   from the scenario (constant or profile)
 *      load_ohm          from the scenario (constant or profile)
 * The outputs it may name: voltage_v (required), current_a.
 *
 * A model keeps no state outside what create() returned, and one plant is used by one
 * thread at a time. step() and output() neither allocate nor block nor call the system.
 */
#ifndef HILOCO_PLANT_H
#define HILOCO_PLANT_H

#include <stdint.h>

#include "quantity.h"

/* The version of this interface; a model states the one it was built for. */
#define PLANT_ABI 1u

struct plant_model {
    uint32_t abi; /* PLANT_ABI */
    const char *name;
    const char *doc; /* one line, no full stop */

    struct hil_quantities parameters; /* fixed for the life of a plant */
    struct hil_quantities inputs;     /* in the order of in[]; the values are defaults */
    struct hil_quantities outputs;    /* in the order of out[] */
    struct hil_quantities states;     /* what can be given an initial value */

    /*
     * Makes a plant. parameters[] and states[] follow the tables; the numbers have been
     * checked against the ranges. Returns 0, or -ENOMEM, or -EDOM when the parameters
     * together make no sense; *plant is set on success only.
     */
    int (*create)(void **plant, const double *parameters, const double *states, double period_s);

    /* The outputs in the present state, with these inputs held. */
    void (*output)(const void *plant, const double *in, double *out);

    /*
     * Advances one period with in[] held over it, then gives the outputs at its end.
     * Returns 0, or a negative errno when the plant failed (a model that diverged into
     * NaN does not: it reports what it computed).
     */
    int (*step)(void *plant, const double *in, double *out);

    void (*destroy)(void *plant);
};

/* The models built in, ended by NULL. */
extern const struct plant_model *const plant_models[];

/* The model called `name`, or NULL. */
const struct plant_model *plant_model_find(const char *name);

#endif
