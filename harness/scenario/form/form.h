/*
 * The power_controller form of a scenario: `controller:` and `converters:` in place of nodes,
 * components and connections. It makes an instance of the law for each converter:
 *
 *      reference ------> reference_v +-----+ duty ---> duty +-------+ voltage_v ---+
 *                 +----> voltage_v   | law |                | plant | current_a --+|
 *                 |+---> current_a   +-----+                +-------+             ||
 *                 |+--------------------------------------------------------------+|
 *                 +----------------------------------------------------------------+
 *
 * The plant's other inputs have constants from converters.parameters; load: and input_voltage: may
 * change load_ohm and input_voltage_v.
 *
 * The form_*.c files say what its models need (form_models.c), make its schema (form_schema.c,
 * form_quantities.c) and its defaults (form_defaults.c), work out the numbers of each converter
 * (form_resolve.c, form_converters.c, form_profiles.c, form_nodes.c), and write all that in the
 * general form (form_expand.c). Nothing else knows of it.
 */
#ifndef HIL_FORM_H
#define HIL_FORM_H

#include "../pool.h"
#include "../profile.h"
#include "../yaml/scenario_resolve.h"
#include "form_schema.h"

/* --- which models fit ------------------------------------------------------------------------ */

/* Whether a model can be the plant, or the law. If not, `why` says what is in the way: "it has no
 * output voltage_v". */
enum { FORM_WHY_BYTES = 256 };
bool form_plant_fits(const struct hil_model *model, char why[FORM_WHY_BYTES]);
bool form_law_fits(const struct hil_model *model, char why[FORM_WHY_BYTES]);

/* The model called so that fits; NULL where there is none, or no name. */
const struct hil_model *form_plant_named(const char *name);
const struct hil_model *form_law_named(const char *name);

/* The input of a plant that the law feeds: not among converters.parameters. */
bool form_is_duty(const char *input);

/* A parameter of a law that controller.limits has: not among controller.gains. */
bool form_is_limit(const char *parameter);

/* --- its defaults ---------------------------------------------------------------------------- */

/* Fills the overrides that have another plant. These first: the defaults of the common plant are
 * none of theirs. Works on a wrong tree too. 0 or -ENOMEM. */
int form_fill_overrides(struct scenario_node *root);

/* Adds the multipliers that are to be drawn, and the placement, to a tree without mistakes. 0 or
 * -ENOMEM. */
int form_fill_derived(const struct form_schema *schema, struct scenario_node *root);

/* --- its numbers ----------------------------------------------------------------------------- */

struct form_controller {
    const struct hil_model *law;
    double *parameters; /* gains and limits, in the order of law->parameters */
};

struct form_converter {
    const struct hil_model *plant;
    double *parameters; /* in the order of plant->parameters */
    double *inputs;     /* constant inputs, in the order of plant->inputs */
    double *states;     /* initial, in the order of plant->states */
    double duty_initial;
    uint64_t period_ns, phase_ns;
    /* The converter's own factor on the load and input-voltage profiles. */
    double load_factor, input_voltage_factor;
};

/* What follows from several keys together. The rest of the file goes into the general form as it
 * stands. */
struct form {
    struct form_controller controller;
    struct form_converter *converters;
    unsigned converter_count;
    struct hil_profile reference;     /* V, for each converter */
    struct hil_profile load;          /* ohm; count 0: each converter's own constant */
    struct hil_profile input_voltage; /* V; count 0: each converter's own constant */
    struct hil_pool *pool;            /* of the models' numbers */
};

/* A file in this form that has been loaded, and where to complain about it. */
struct form_loaded {
    const struct scenario_schema *schema;
    struct scenario_node *root; /* for the places of mistakes */
    const struct form_file *file;
    struct scenario_report *report;
};

/*
 * Works out the numbers, and reports every mistake that lies in two values together. Returns 0,
 * -EINVAL or -ENOMEM; form_free's in any case.
 */
int form_resolve(const struct form_loaded *loaded, struct form *form);
void form_free(struct form *form);

/* The parts of it, each in its own file. They report, and return -ENOMEM or 0. */
int form_resolve_profiles(const struct form_loaded *loaded, struct form *form);
int form_resolve_converters(const struct form_loaded *loaded, struct form *form);
int form_check_nodes(const struct form_loaded *loaded);

/* Writes it in the general form. Returns 0, or -ENOMEM with nothing left. */
int form_expand(const struct form_loaded *loaded, const struct form *form,
                struct scenario_node **root);

/* Reports a mistake at the value with this path, such as "converters.overrides.0.id". */
__attribute__((format(printf, 3, 4))) void form_mistake(const struct form_loaded *loaded,
                                                        const char *path, const char *format, ...);

#endif
